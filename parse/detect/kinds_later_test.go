package detect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/parse"
)

// later are logs of CDNs, of clouds and of applications that bring their own server.
var later = []kind{
	{"bunny.net", "docs.bunny.net/docs/cdn-log-format", "", func(v visit) string {
		return fmt.Sprintf("HIT|%d|%d|%d|390|%s|%s|https://example.org%s|WA|%s|322b688bd63fb63f2babe9de30a5d262|DE", v.status, v.at.UnixMilli(), v.bytes, v.client, v.referer, v.path, v.agent)
	}, "bunny", "host route method"},
	{"CDN77", "cdn77.com: raw logs", "", func(v visit) string {
		return object("timestamp", v.at.Format(time.RFC3339), "startTimeMs", v.at.UnixMilli(), "cacheStatus", "HIT", "clientIP", v.client, "clientRequestHost", v.host, "clientRequestMethod", v.method, "clientRequestPath", v.path,
			"clientRequestReferer", v.referer, "clientRequestUserAgent", v.agent, "responseStatus", v.status, "responseBytes", v.bytes)
	}, "json", "route"},
	{"Cloudflare's CSV", "developers.cloudflare.com/logs/logpush/logpush-job/log-output-options", "ClientIP,ClientRequestHost,ClientRequestMethod,ClientRequestURI,EdgeEndTimestamp,EdgeResponseBytes,EdgeResponseStatus,EdgeStartTimestamp,ClientRequestReferer,ClientRequestUserAgent\n", func(v visit) string {
		return v.fields(",", csv, "client", "host", "method", "path", "iso", "bytes", "status", "iso", "referer", "agent")
	}, "columns", "route"},
	{"Cloudflare's firewall events", "developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/firewall_events", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return object("Action", "block", "ClientIP", v.client, "ClientRequestHost", v.host, "ClientRequestMethod", v.method, "ClientRequestPath", stem, "ClientRequestQuery", "?"+query, "ClientRequestUserAgent", v.agent, "Datetime", v.iso(), "EdgeResponseStatus", v.status)
	}, "json", "route referer bytes"},
	{"Huawei's CDN", "support.huaweicloud.com/intl/en-us/usermanual-lts/lts_04_0536.html", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return object("request_time", fmt.Sprint(v.at.UnixMilli()), "domain", v.host, "method", v.method, "uri", stem, "uri_param", query, "client_ip", v.client, "response_time", "4", "response_size", fmt.Sprint(v.bytes), "http_code", fmt.Sprint(v.status), "user_agent", v.agent)
	}, "json", "route referer"},
	{"Alibaba's CDN", "alibabacloud.com/help/en/cdn/user-guide/download-logs", "", func(v visit) string {
		return fmt.Sprintf(`[%s] %s - 4 "%s" "%s http://example.org%s" %d %d HIT "%s" "text/html"`, v.local(), v.client, v.referer, v.method, v.path, v.status, v.bytes, v.agent)
	}, "guessed", "host route ms path referer"},
	{"HAProxy, option httplog clf", "docs.haproxy.org/3.0/configuration.html#8.2.3", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d "" "" 49408 409 "web" "app" "srv1" 20 0 1 4 27 ---- 1 1 0 0 0 0 0 "" "" "%s" "%s"`,
			v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
	{"SprintHost", "help.sprinthost.ru: access logs", "", func(v visit) string {
		return fmt.Sprintf(`[u][%s] 0.000 0.000 %d %s %s %s %s HTTP/1.1 "%s" "%s" %d 203.0.113.9 u1`,
			v.local(), v.status, v.client, v.host, v.method, v.path, v.agent, v.referer, v.bytes)
	}, "guessed", "route ms"},
	{"Railway", "docs.railway.com/guides/logs", "", func(v visit) string {
		return object("requestId", "x", "timestamp", v.iso(), "method", v.method, "path", v.path, "host", v.host, "httpStatus", v.status, "totalDuration", 4, "clientUa", v.agent, "txBytes", v.bytes, "rxBytes", 9, "srcIp", v.client)
	}, "json", "route referer"},
	{"Envoy Gateway", "gateway.envoyproxy.io/docs/tasks/observability/proxy-accesslog", "", func(v visit) string {
		return object("start_time", v.iso(), "method", v.method, "x-envoy-origin-path", v.path, "response_code", v.status, "bytes_sent", v.bytes, "duration", 4, "user-agent", v.agent, ":authority", v.host, "downstream_remote_address", v.client+":40112")
	}, "envoy json", "route referer"},
	{"ELB, HTTPS listeners", "docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html", "", func(v visit) string {
		return fmt.Sprintf(`%sZ my-lb %s:40112 10.0.0.1:80 0.000086 0.001048 0.001337 %d %d 0 %d "%s https://example.org:443%s HTTP/1.1" "%s" DHE-RSA-AES128-SHA TLSv1.2`,
			v.at.Format("2006-01-02T15:04:05.000000"), v.client, v.status, v.status, v.bytes, v.method, v.path, v.agent)
	}, "elb", "host route referer"},
	{"API Gateway's CSV", "docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html", "", func(v visit) string {
		return fmt.Sprintf("%s,-,-,%s,%s,%s,HTTP/1.1,%d,%d,c6af9ac6-7b61-11e6", v.client, v.local(), v.method, v.path, v.status, v.bytes)
	}, "guessed", "host route ms referer agent"},
	{"Athena's ALB", "docs.aws.amazon.com/athena/latest/ug/application-load-balancer-logs.html", `"type","time","elb","client_ip","client_port","target_ip","elb_status_code","target_status_code","received_bytes","sent_bytes","request_verb","request_url","request_proto","user_agent"` + "\n", func(v visit) string {
		return fmt.Sprintf(`"https","%s","app/a","%s","40112","10.0.0.5:80","%d","%d","89","%d","%s","https://example.org%s","HTTP/1.1","%s"`, v.iso(), v.client, v.status, v.status, v.bytes, v.method, v.path, v.agent)
	}, "columns", "host route referer"},
	{"Athena's CloudFront", "docs.aws.amazon.com/athena/latest/ug/cloudfront-logs.html", `"date","time","location","bytes","request_ip","method","host","uri","status","referrer","user_agent","query_string"` + "\n", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return fmt.Sprintf(`"%s","%s","FRA2","%d","%s","%s","example.org","%s","%d","%s","%s","%s"`, v.at.Format(time.DateOnly), v.at.Format(time.TimeOnly), v.bytes, v.client, v.method, stem, v.status, v.referer, v.agent, query)
	}, "columns", "route ms"},
	{"Google Cloud Storage", "cloud.google.com/storage/docs/access-logs", `"time_micros","c_ip","c_ip_type","cs_method","cs_uri","sc_status","cs_bytes","sc_bytes","time_taken_micros","cs_host","cs_referer","cs_user_agent"` + "\n", func(v visit) string {
		return fmt.Sprintf(`"%d","%s","1","%s","%s","%d","0","%d","4000","%s","%s","%s"`, v.at.UnixMicro(), v.client, v.method, v.path, v.status, v.bytes, v.host, v.referer, v.agent)
	}, "columns", "route"},
	{"Azure's API Management", "learn.microsoft.com/azure/api-management/gateway-log-schema-reference", "", func(v visit) string {
		return object("time", v.iso(), "category", "GatewayLogs", "callerIpAddress", v.client, "properties", map[string]any{"method": v.method, "url": "https://example.org" + v.path, "backendResponseCode": 200, "responseCode": v.status, "responseSize": v.bytes})
	}, "json", "host route referer agent"},
	{"WordPress VIP", "docs.wpvip.com/logs/log-shipping/log-contents", "", func(v visit) string {
		return object("request_url", v.path, "timestamp", v.local(), "request_type", v.method, "http_referer", v.referer, "http_x_forwarded_for", "", "remote_addr", v.client, "request_time", "0.004", "http_host", v.host, "http_user_agent", v.agent, "body_bytes_sent", fmt.Sprint(v.bytes), "status", fmt.Sprint(v.status))
	}, "json", "route ms end"},
	{"WildFly's console", "docs.wildfly.org: console access log", "", func(v visit) string {
		return object("eventSource", "web-access", "hostName", "default-host", "bytesSent", v.bytes, "dateTime", v.at.In(time.FixedZone("", -6*3600)).Format("2006-01-02T15:04:05.000-0700"), "remoteHost", v.client, "requestLine", v.method+" "+v.path+" HTTP/1.1", "responseCode", v.status)
	}, "json", "host route referer agent"},
	{"Tomcat's JsonAccessLogValve", "tomcat.apache.org/tomcat-10.1-doc/config/valve.html", "", func(v visit) string {
		return object("host", v.client, "logicalUserName", "-", "user", "-", "time", "["+v.local()+"]", "request", v.method+" "+v.path+" HTTP/1.1", "statusCode", fmt.Sprint(v.status), "size", fmt.Sprint(v.bytes))
	}, "json", "host route ms referer agent"},
	{"GitLab's Workhorse", "docs.gitlab.com/administration/logs", "", func(v visit) string {
		return object("correlation_id", "01", "host", v.host, "level", "info", "method", v.method, "msg", "access", "referrer", v.referer, "remote_addr", "127.0.0.1:0", "remote_ip", v.client, "status", v.status, "time", v.iso(), "uri", v.path, "user_agent", v.agent, "written_bytes", v.bytes)
	}, "json", "route"},
	{"Tyk", "tyk.io/docs/api-management/logs-metrics", "", func(v visit) string {
		return fmt.Sprintf(`time="%s" level=info api_id=b1 client_ip=%s host="%s" method=%s path=%s prefix=access-log remote_addr=127.0.0.1:40112 status=%d user_agent=%q`, v.iso(), v.client, v.host, v.method, v.path, v.status, v.agent)
	}, "logfmt", "route referer bytes"},
	{"MinIO's audit log", "min.io/docs: audit logging", "", func(v visit) string {
		return object("version", "1", "time", v.iso(), "api", map[string]any{"name": "GetObject", "status": "OK", "statusCode": v.status}, "remotehost", v.client, "userAgent", v.agent, "requestPath", v.path, "requestHost", v.host)
	}, "json", "route method referer bytes"},
	{"Docker's registry", "openshift/image-registry#110", "", func(v visit) string {
		return fmt.Sprintf(`time="%s" level=info msg="response completed" go.version=go1.9.2 http.request.host="%s" http.request.method=%s http.request.remoteaddr="%s:40112" http.request.uri="%s" http.request.useragent="%s" http.response.duration=4.1ms http.response.status=%d http.response.written=%d`,
			v.iso(), v.host, v.method, v.client, v.path, v.agent, v.status, v.bytes)
	}, "logfmt", "route referer"},
	{"APISIX's http-logger", "apisix.apache.org/docs/apisix/plugins/http-logger", "", func(v visit) string {
		return object("client_ip", v.client, "start_time", v.at.UnixMilli(), "latency", 4.0, "request", map[string]any{"method": v.method, "uri": v.path, "url": "http://example.org:9080" + v.path, "size": 90, "headers": map[string]any{"host": v.host, "user-agent": v.agent, "referer": v.referer}},
			"response", map[string]any{"status": v.status, "size": v.bytes})
	}, "json", "route"},
	{"AWS VPC Lattice", "docs.aws.amazon.com/vpc-lattice/latest/ug/monitoring-access-logs.html", "", func(v visit) string {
		return object("hostHeader", v.host, "requestMethod", v.method, "userAgent", v.agent, "sourceIpPort", v.client+":40112", "targetIpPort", "10.0.0.5:80", "requestPath", v.path, "startTime", v.iso(), "responseCode", v.status, "bytesReceived", 42, "bytesSent", v.bytes, "duration", 4)
	}, "json", "route referer"},
	{"App Engine", "cloud.google.com/appengine/docs: request_log", "", func(v visit) string {
		return object("protoPayload", map[string]any{"ip": v.client, "startTime": v.iso(), "method": v.method, "resource": v.path, "status": v.status, "responseSize": fmt.Sprint(v.bytes), "userAgent": v.agent, "referrer": v.referer, "host": v.host}, "insertId", "5", "timestamp", v.iso())
	}, "json", "route"},
	{"Logback's access events", "github.com/logfellow/logstash-logback-encoder", "", func(v visit) string {
		stem, _, _ := strings.Cut(v.path, "?")
		return object("@timestamp", v.iso(), "message", v.client+" - - ["+v.local()+"]", "method", v.method, "status_code", v.status, "requested_uri", stem, "remote_host", v.client, "content_length", v.bytes, "elapsed_time", 4)
	}, "json", "host route path referer agent"},
	{"WebLogic", "docs.oracle.com: extended log format", "#Version:\t1.0\n#Fields:\tc-ip date time time-taken cs-method cs-uri sc-status bytes cs(User-Agent)\n#Software:\tWebLogic\n", func(v visit) string {
		return fmt.Sprintf("%s\t%s\t%s\t0.004\t%s\t%s\t%d\t%d\t%q", v.client, v.at.Format(time.DateOnly), v.at.Format(time.TimeOnly), v.method, v.path, v.status, v.bytes, v.agent)
	}, "w3c", "host route ms end referer"},
	{"W3C with two counts of bytes", "", "#Fields: c-ip date time cs-method cs-uri sc-status sc-bytes bytes cs(User-Agent)\n", func(v visit) string {
		return fmt.Sprintf("%s %s %s %s %s %d %d 9 %s", v.client, v.at.Format(time.DateOnly), v.at.Format(time.TimeOnly), v.method, v.path, v.status, v.bytes, strings.ReplaceAll(v.agent, " ", "+"))
	}, "w3c", "host route ms end referer"},
	{"Gitea", "go-gitea/gitea#33814", "", func(v visit) string {
		return fmt.Sprintf("%s ...eb/routing/logger.go:102:func1() [I] router: completed %s %s for %s:40112, %d %s in 4.1ms @ web/home.go:32(web.Home)", v.at.Format("2006/01/02 15:04:05"), v.method, v.path, v.client, v.status, map[int]string{200: "OK", 404: "Not Found"}[v.status])
	}, "gitea", "host route ms referer agent bytes"},
	{"Jira", "confluence.atlassian.com: atlassian-jira-http-access.log", "", func(v visit) string {
		return fmt.Sprintf(`%s 1439x1x1 admin [%s] "%s %s HTTP/1.1" %d %d 4 "%s" "%s" "1abc"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
}

// What is not sure of a log is said, with the choice that was made.
func TestChoicesAreSaid(t *testing.T) {
	says := func(name string) func(visit) string {
		i := slices.IndexFunc(later, func(k kind) bool { return k.name == name })
		return later[i].line
	}
	for _, c := range []struct {
		line func(visit) string
		says string
	}{
		{says("GitLab's Workhorse"), "the client is remote_ip, not remote_addr, which is always 127.0.0.1"},
		{says("Tyk"), "the client is client_ip, not remote_addr"},
		{says("Tomcat's JsonAccessLogValve"), "host holds addresses and counts as the client"},
		{func(v visit) string {
			return object("time", v.at.Unix(), "client_ip", v.client, "url", v.path, "request_time", 12)
		}, "request_time holds whole numbers"},
		{func(v visit) string { return object("timestamp", v.iso(), "client_ip", v.client, "what", v.path) }, "no value has a name that is known of a path"},
		{func(v visit) string {
			return object("ip", v.client, "request", v.method+" "+v.path, "timestamp", v.iso(), "event", "request_started") + "\n" +
				object("ip", v.client, "request", v.method+" "+v.path, "timestamp", v.iso(), "event", "request_finished", "code", v.status)
		}, "of 40 lines 20 have no status"},
		{func(v visit) string {
			return fmt.Sprintf("%sZ %s %s https://example.org%s %d %d 0.004", v.at.Format("2006-01-02T15:04:05"), v.client, v.method, v.path, v.status, v.bytes)
		}, "the format is guessed"},
		{says("API Gateway's CSV"), "time_local,request_method,request_uri,field7,status,body_bytes_sent"},
	} {
		log := kind{line: c.line}.log(visits())
		d, err := detected(log, parse.Options{})
		if err != nil || !strings.Contains(strings.Join(d.Warnings, "\n"), c.says) {
			t.Errorf("%q, %v, want %q of %s", d.Warnings, err, c.says, log[:200])
		}
	}
}

// A name that is stated stays, whatever the values show.
func TestStatedNamesStay(t *testing.T) {
	var log strings.Builder
	for i := range 20 {
		fmt.Fprintf(&log, "time=1767225600 remote_addr=127.0.0.1 client_ip=192.0.2.%d url=/ request_time=1\n", i)
	}
	d, err := Choice{Fields: "client=remote_addr|client_ip,request_time=request_time"}.For([]byte(log.String()))
	if err != nil || strings.Contains(fmt.Sprint(d.Warnings), "request_time") || !strings.Contains(d.Format.Text, "client=remote_addr|client_ip,") || !d.Format.Has(parse.FieldRequestTime) {
		t.Errorf("%s, %q, %v", d.Format.Text, d.Warnings, err)
	}
}

// What servers have of themselves is not a client: their nodes, what they hand on to. Nor is each type of requests a method.
func TestNamesThatMislead(t *testing.T) {
	for _, c := range []struct {
		line   func(i int) string
		client string
	}{
		{func(i int) string {
			return fmt.Sprintf(`{"@timestamp":"2026-01-01T00:00:00Z","host":"10.0.1.%d","method":"GET","path":"/"}`, i)
		}, ""},
		{func(i int) string {
			return fmt.Sprintf(`{"@timestamp":"2026-01-01T00:00:00Z","host":"192.0.2.%d","method":"GET","path":"/"}`, i%3)
		}, ""},
		{func(i int) string {
			return fmt.Sprintf(`{"@timestamp":"2026-01-01T00:00:00Z","remote_addr":"127.0.0.1","addr":"10.0.9.%d","x_forwarded_for":"192.0.2.7","method":"GET","path":"/"}`, i)
		}, "client=remote_addr|addr,"},
		{func(i int) string {
			return fmt.Sprintf(`{"@timestamp":"2026-01-01T00:00:00Z","ip":"192.0.2.%d","request_type":"ajax","path":"/"}`, i)
		}, "client=ip,path=path"},
	} {
		var log strings.Builder
		for i := range 20 {
			log.WriteString(c.line(i) + "\n")
		}
		d, err := detected([]byte(log.String()), parse.Options{})
		if err != nil || !strings.Contains(d.Format.Text, c.client) || d.Format.Has(parse.FieldClient) != (c.client != "") {
			t.Errorf("%v, %v of %s", d.Format, err, c.line(0))
		}
	}
}

// A log that cannot be judged is refused by what it lacks.
func TestWhatIsLackingIsSaid(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"[negroni] 2026-01-01T00:00:00Z | 200 |      4.1ms | localhost:3000 | GET /", "the host and no address of a client"},
		{"00:00:00 | 200 |     4.1ms |   192.0.2.7 | GET     | /", "the times have no date"},
		{"GET / 200 4.123 ms - 312", "no line shows the address of a client"},
		{`[01/Jan/2026 00:00:00] "GET / HTTP/1.1" 200 312`, "no line shows the address of a client"},
		{"tls 2.0 2026-01-01T00:00:00 net/a/b c 192.0.2.7:40112 10.0.0.5:443 5 2 98 246", "connections and no requests"},
		{"Processing by UsersController#show as HTML\nCompleted 200 OK in 4ms (Views: 3.1ms)", "a log of Rails"},
		{"#Fields: date time c-ip cs-method\n2026-01-01 00:00:00 192.0.2.7  GET /", `no line has the columns of "#Fields: date time c-ip cs-method"`},
		{`Started GET "/a" for 192.0.2.7 at 2026-01-01 00:00:00 +0000`, `--format '$field1 $request_method "$request_uri" $field4 $remote_addr `},
		{`{"client_ip":"192.0.2.7","path":"/","when":"2026-01-01"}`, "the nearest is json, by which 0 of 20 lines make sense: no time"},
	} {
		head, line, found := strings.Cut(c.line, "\n")
		if !found || !strings.HasPrefix(head, "#") {
			head, line = "", c.line
		}
		log := head + "\n" + strings.Repeat(line+"\n", 20)
		if _, err := detected([]byte(log), parse.Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q of %s", err, c.says, c.line)
		}
	}
}
