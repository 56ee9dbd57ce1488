package detect

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/parse"
)

// A visit is a request as some server would log it.
type visit struct {
	at                                                time.Time // when it began
	took                                              time.Duration
	client, method, path, route, host, referer, agent string
	status, bytes                                     int
}

// visits are twenty requests of four clients, one every 1.25 s.
func visits() []visit {
	agents := []string{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36", "curl/8.5.0"}
	all := make([]visit, 20)
	for i := range all {
		all[i] = visit{
			at:   time.Date(2026, 1, 1, 23, 59, 50, 250e6, time.UTC).Add(time.Duration(i) * 1250 * time.Millisecond),
			took: 4 * time.Millisecond, client: fmt.Sprintf("192.0.2.%d", 1+i%4), method: []string{"GET", "POST"}[i%2],
			path: fmt.Sprintf("/users/%d?q=%d", i, i), route: "/users/{id}", host: "example.org",
			referer: "https://example.org/start", agent: agents[i%2], status: []int{200, 404}[i%2], bytes: 300 + i,
		}
	}
	return all
}

func (v visit) local() string { return v.at.Format("02/Jan/2006:15:04:05 -0700") }
func (v visit) iso() string   { return v.at.Format("2006-01-02T15:04:05.000Z") }

func (v visit) combined() string {
	return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
}

// object is a JSON object of pairs of a key and a value; a key with points is one of objects in objects.
func object(pairs ...any) string {
	root := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		at, steps := root, strings.Split(pairs[i].(string), ".")
		for _, step := range steps[:len(steps)-1] {
			if at[step] == nil {
				at[step] = map[string]any{}
			}
			at = at[step].(map[string]any)
		}
		at[steps[len(steps)-1]] = pairs[i+1]
	}
	text, _ := json.Marshal(root)
	return string(text)
}

// A kind is a log of which servers and collectors publish a description.
type kind struct {
	name   string
	source string // where it is described
	head   string // lines before the first
	line   func(v visit) string
	format string // what the format is called, by its beginning
	lacks  string // the fields that the kind does not log, or only in part
}

// kinds of logs that are read without a flag. The lines are written from the descriptions.
var kinds = []kind{
	{"combined", "httpd.apache.org/docs/2.4/logs.html", "", visit.combined, "combined", "host route ms"},
	{"vhost_combined", "Debian's apache2.conf", "", func(v visit) string { return "example.org:443 " + v.combined() }, "vhost-combined", "route ms"},
	{"main", "nginx's packages", "", func(v visit) string { return v.combined() + ` "-"` }, "main", "host route ms"},
	{"docker json-file", "docs.docker.com/engine/logging/drivers/json-file", "", func(v visit) string {
		return object("log", v.combined()+"\n", "stream", "stdout", "time", v.at.Format(time.RFC3339Nano))
	}, "combined in docker", "host route ms"},
	{"CRI", "Kubernetes' CRI logging", "", func(v visit) string {
		return v.at.Format("2006-01-02T15:04:05.000000000Z07:00") + " stdout F " + v.combined()
	}, "combined in cri", "host route ms"},
	{"docker compose logs", "docs.docker.com/reference/cli/docker/compose/logs", "", func(v visit) string { return "web-1  | " + v.combined() }, "combined in compose", "host route ms"},
	{"docker logs -t", "docs.docker.com/reference/cli/docker/container/logs", "", func(v visit) string {
		return v.at.Format("2006-01-02T15:04:05.000000000Z07:00") + " " + v.combined()
	}, "combined behind timestamps", "host route ms"},
	{"kubectl logs --prefix", "kubernetes.io/docs/reference/kubectl", "", func(v visit) string { return "[pod/web-7d9f8b-x2lkq/nginx] " + v.combined() }, "combined in kubectl", "host route ms"},
	{"journald JSON", "systemd.io/JOURNAL_EXPORT_FORMATS", "", func(v visit) string {
		return object("__REALTIME_TIMESTAMP", fmt.Sprint(v.at.UnixMicro()), "_HOSTNAME", "web", "PRIORITY", "6", "SYSLOG_IDENTIFIER", "nginx", "MESSAGE", v.combined())
	}, "combined in journald", "host route ms"},
	{"logcli --output=jsonl", "grafana.com/docs/loki/latest/query/logcli", "", func(v visit) string {
		return object("labels", map[string]string{"app": "web", "status": "1"}, "line", v.combined(), "timestamp", v.at.Format(time.RFC3339Nano))
	}, "combined in loki", "host route ms"},
	{"logcli", "grafana.com/docs/loki/latest/query/logcli", "", func(v visit) string { return v.at.Format(time.RFC3339) + ` {app="web", q="a } b"} ` + v.combined() }, "combined in logcli", "host route ms"},
	{"syslog RFC 3164", "RFC 3164", "", func(v visit) string { return "<190>" + v.at.Format(time.Stamp) + " web nginx: " + v.combined() }, "combined behind syslog", "host route ms"},
	{"syslog RFC 5424", "RFC 5424", "", func(v visit) string { return "<190>1 " + v.iso() + " web nginx 17 - - " + v.combined() }, "combined behind syslog", "host route ms"},
	{"Elastic hits", "elastic.co/docs/solutions/search/the-search-api", "", func(v visit) string {
		return object("_index", "web", "_id", "x", "_source.@timestamp", v.iso(), "_source.message", v.combined())
	}, "combined in elastic", "host route ms"},
	{"Elastic hits of fields", "elastic.co/docs/reference/ecs", "", func(v visit) string { return `{"_index":"web","_id":"x","_source":` + ecs(v) + `}` }, "json", "route end"},
	{"IIS", "learn.microsoft.com/windows/win32/http/w3c-logging", "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2026-01-01 00:00:00\n" +
		"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status sc-bytes time-taken\n", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return fmt.Sprintf("%s 10.0.0.5 %s %s %s 443 - %s %s %s %d 0 0 %d 4", v.at.Format(time.DateTime), v.method, stem, query, v.client,
			strings.ReplaceAll(v.agent, " ", "+"), v.referer, v.status, v.bytes)
	}, "w3c", "host route ms end"},
	{"CloudFront", "docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html", "#Version: 1.0\n" +
		"#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query time-taken\n", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return fmt.Sprintf("%s\t%s\tFRA2\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t0.004", v.at.Format(time.DateOnly), v.at.Format(time.TimeOnly), v.bytes, v.client,
			v.method, v.host, stem, v.status, v.referer, strings.ReplaceAll(v.agent, " ", "%20"), query)
	}, "w3c", "route ms end"},
	{"HAProxy", "docs.haproxy.org/3.0/configuration.html#8.2.3", "", func(v visit) string {
		return v.at.Format(time.Stamp) + fmt.Sprintf(" lb haproxy[17]: %s:40112 [%s] web~ shop/shop1 0/0/0/4/4 %d %d - - ---- 1/1/0/0/0 0/0 \"%s %s HTTP/1.1\"",
			v.client, v.at.Format("02/Jan/2006:15:04:05.000"), v.status, v.bytes, v.method, v.path)
	}, "haproxy", "host route agent referer"},
	{"Envoy", "envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage", "", func(v visit) string {
		return fmt.Sprintf(`[%s] "%s %s HTTP/2" %d - 0 %d 4 3 "%s" "%s" "0f8fad5b" "%s" "10.0.0.5:80"`, v.iso(), v.method, v.path, v.status, v.bytes, v.client, v.agent, v.host)
	}, "envoy", "route referer"},
	{"Istio", "istio.io/latest/docs/tasks/observability/logs/access-log", "", func(v visit) string {
		return fmt.Sprintf(`[%s] "%s %s HTTP/1.1" %d - via_upstream - "-" 0 %d 4 3 "-" "%s" "0f8fad5b" "%s" "10.0.0.5:80" inbound|80|| 127.0.0.6:5137 10.0.0.5:80 %s:40112 - default`,
			v.iso(), v.method, v.path, v.status, v.bytes, v.agent, v.host, v.client)
	}, "istio", "route referer"},
	{"ALB", "docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html", "", func(v visit) string {
		return fmt.Sprintf(`https %sZ app/shop/0f8f %s:40112 10.0.0.5:80 0.001 0.003 0.000 %d %d 89 %d "%s https://example.org:443%s HTTP/1.1" "%s" ECDHE-RSA TLSv1.2 arn "Root=1" "example.org" "arn" 0 %s "forward" "-" "-" "10.0.0.5:80" "200" "-" "-"`,
			v.at.Format("2006-01-02T15:04:05.000000"), v.client, v.status, v.status, v.bytes, v.method, v.path, v.agent, v.iso())
	}, "alb", "host route referer"},
	{"S3", "docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html", "", func(v visit) string {
		return fmt.Sprintf(`79a59df9 shop [%s] %s - 3E57427F REST.GET.OBJECT users "%s %s HTTP/1.1" %d - %d 312 4 3 "%s" "%s" - x= SigV4 ECDHE AuthHeader shop.s3.amazonaws.com TLSv1.2 - -`,
			v.local(), v.client, v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "s3", "host route ms"},
	{"Cloudflare Logpush", "developers.cloudflare.com/logs/reference/log-fields/zone/http_requests", "", func(v visit) string {
		return object("ClientIP", v.client, "ClientRequestHost", v.host, "ClientRequestMethod", v.method, "ClientRequestURI", v.path, "ClientRequestReferer", v.referer,
			"ClientRequestUserAgent", v.agent, "EdgeResponseBytes", v.bytes, "EdgeResponseStatus", v.status, "EdgeStartTimestamp", v.at.UnixNano(), "RayID", "x")
	}, "cloudflare json", "route"},
	{"AWS WAF", "docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		headers := []map[string]string{{"name": "Host", "value": v.host}, {"name": "User-Agent", "value": v.agent}, {"name": "Referer", "value": v.referer}}
		return object("timestamp", v.at.UnixMilli(), "formatVersion", 1, "action", "ALLOW", "httpRequest.clientIp", v.client, "httpRequest.country", "DE", "httpRequest.headers", headers,
			"httpRequest.uri", stem, "httpRequest.args", query, "httpRequest.httpMethod", v.method, "responseCodeSent", v.status)
	}, "aws-waf json", "route bytes"},
	{"Akamai DataStream 2", "techdocs.akamai.com/datastream2/docs/log-format", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return object("version", 1, "cp", "1", "reqTimeSec", fmt.Sprintf("%.3f", float64(v.at.UnixMilli())/1000), "cliIP", v.client, "reqHost", v.host, "reqMethod", v.method,
			"reqPath", stem, "queryStr", query, "statusCode", fmt.Sprint(v.status), "bytes", fmt.Sprint(v.bytes), "UA", url.PathEscape(v.agent), "referer", url.PathEscape(v.referer))
	}, "akamai json", "route"},
	{"Azure Application Gateway", "learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference", "", func(v visit) string {
		return object("timeStamp", v.at.Format(time.RFC3339), "category", "ApplicationGatewayAccessLog", "properties", map[string]any{
			"clientIP": v.client, "clientPort": 40112, "httpMethod": v.method, "originalRequestUriWithArgs": v.path, "requestUri": "/", "userAgent": v.agent,
			"httpStatus": v.status, "sentBytes": v.bytes, "timeTaken": 0.004, "originalHost": v.host,
		})
	}, "azure json", "route referer ms end"},
	{"Fastly", "fastly.com/documentation/guides/integrations/logging", "", func(v visit) string {
		return object("timestamp", v.at.Format("2006-01-02T15:04:05-0700"), "client_ip", v.client, "geo_country", "de", "host", v.host, "url", v.path, "request_method", v.method,
			"request_referer", v.referer, "request_user_agent", v.agent, "response_state", "HIT", "response_status", v.status, "response_body_size", v.bytes, "fastly_server", "cache")
	}, "fastly json", "route ms"},
	{"GCP load balancer", "cloud.google.com/load-balancing/docs/https/https-logging-monitoring", "", func(v visit) string {
		return object("insertId", "x", "timestamp", v.at.Format(time.RFC3339Nano), "httpRequest", map[string]any{
			"requestMethod": v.method, "requestUrl": "https://example.org" + v.path, "remoteIp": v.client, "userAgent": v.agent, "referer": v.referer,
			"status": v.status, "responseSize": fmt.Sprint(v.bytes), "latency": "0.004s", "serverIp": "10.0.0.5",
		})
	}, "gcp json", "host route"},
	{"lighttpd", "redmine.lighttpd.net/projects/lighttpd/wiki/Mod_accesslog", "", func(v visit) string {
		return strings.Replace(v.combined(), " - - ", " example.org - ", 1)
	}, "lighttpd", "route ms"},
	{"Tomcat", "tomcat.apache.org/tomcat-10.1-doc/config/valve.html", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d`, v.client, v.local(), v.method, v.path, v.status, v.bytes)
	}, "common", "host route ms referer agent"},
	{"Caddy JSON", "caddyserver.com/docs/caddyfile/directives/log", "", func(v visit) string {
		return `{"level":"info","ts":` + fmt.Sprintf("%.6f", float64(v.at.Add(v.took).UnixMicro())/1e6) + `,"logger":"http.log.access","msg":"handled request",` + caddy(v)[1:]
	}, "caddy json", "route"},
	{"Caddy console", "caddyserver.com/docs/caddyfile/directives/log", "", func(v visit) string {
		return v.at.Add(v.took).Format("2006/01/02 15:04:05.000") + "\tINFO\thttp.log.access.log0\thandled request\t" + caddy(v)
	}, "caddy json in caddy console", "route"},
	{"Traefik", "doc.traefik.io/traefik/observability/access-logs", "", func(v visit) string { return v.combined() + ` 17 "shop@docker" "http://10.0.0.5:80" 4ms` }, "traefik", "host route ms"},
	{"logfmt", "brandur.org/logfmt", "", func(v visit) string {
		return fmt.Sprintf(`time=%s level=info msg="handled request" method=%s path=%s status=%d bytes=%d remote_addr=%s:40112 host=%s referer=%s user_agent=%q duration_ms=4`,
			v.at.Add(v.took).Format(time.RFC3339Nano), v.method, v.path, v.status, v.bytes, v.client, v.host, v.referer, v.agent)
	}, "logfmt", "route"},
	{"Heroku's router", "devcenter.heroku.com/articles/http-routing", "", func(v visit) string {
		return fmt.Sprintf(`%s heroku[router]: at=info method=%s path="%s" host=%s request_id=0f8f fwd="%s" dyno=web.1 connect=0ms service=4ms status=%d bytes=%d`,
			v.iso(), v.method, v.path, v.host, v.client, v.status, v.bytes)
	}, "logfmt behind syslog", "route referer agent end"},
	{"Heroku's router, with a forged entry", "devcenter.heroku.com/articles/http-routing", "", func(v visit) string {
		return fmt.Sprintf(`%s heroku[router]: at=info method=%s path="%s" host=%s request_id=0f8f fwd="8.8.8.8, %s" dyno=web.1 connect=0ms service=4ms status=%d bytes=%d`,
			v.iso(), v.method, v.path, v.host, v.client, v.status, v.bytes)
	}, "logfmt behind syslog", "route referer agent end"},
	{"Kong's http-log", "docs.konghq.com/hub/kong-inc/http-log", "", func(v visit) string {
		return object("client_ip", v.client, "started_at", v.at.UnixMilli(), "request.method", v.method, "request.uri", v.path,
			"request.headers.user-agent", v.agent, "request.headers.host", v.host, "response.status", v.status, "response.size", fmt.Sprint(v.bytes))
	}, "json", "route referer"},
	{"APISIX", "apisix.apache.org/docs/apisix/plugins/file-logger", "", func(v visit) string {
		return strings.Replace(strings.Replace(v.combined(), `] "`, `] `+v.host+` "`, 1), ` "https://example.org/start"`, ` 0.004 "https://example.org/start"`, 1) +
			` 10.0.0.5:8080 200 0.003 "http://example.org"`
	}, "apisix", "route ms end"},
	{"Elastic Common Schema", "elastic.co/docs/reference/ecs", "", ecs, "json", "route end"},
	{"OpenTelemetry", "opentelemetry.io/docs/specs/semconv/http/http-spans", "", func(v visit) string {
		attribute := func(key string, value any) map[string]any {
			kind := "stringValue"
			if _, number := value.(int); number {
				kind, value = "intValue", fmt.Sprint(value)
			}
			return map[string]any{"key": key, "value": map[string]any{kind: value}}
		}
		path, query, _ := strings.Cut(v.path, "?")
		return object("resourceLogs", []any{map[string]any{"scopeLogs": []any{map[string]any{"logRecords": []any{map[string]any{
			"timeUnixNano": fmt.Sprint(v.at.UnixNano()), "attributes": []any{
				attribute("client.address", v.client), attribute("http.request.method", v.method), attribute("url.path", path), attribute("url.query", query), attribute("http.route", v.route),
				attribute("http.response.status_code", v.status), attribute("http.response.body.size", v.bytes), attribute("user_agent.original", v.agent),
				attribute("server.address", v.host),
			},
		}}}}}})
	}, "otlp json", "referer"},
	{"OpenTelemetry in columns", "opentelemetry.io/docs/specs/otel/logs/data-model", "", func(v visit) string {
		return object("Timestamp", v.at.Format(time.RFC3339Nano), "Attributes", map[string]any{
			"client.address": v.client, "http.request.method": v.method, "url.path": v.path, "http.route": v.route, "http.response.status_code": v.status,
			"user_agent.original": v.agent, "server.address": v.host, "http.response.body.size": v.bytes,
		})
	}, "json", "referer"},
}

// guessed are kinds of no name, whose columns the guesser must tell.
var guessed = []kind{
	{"request time before referer", "crowdsecurity/crowdsec#2447", "", func(v visit) string {
		return strings.Replace(v.combined(), ` "https://example.org/start"`, ` 0.004 "https://example.org/start"`, 1)
	}, "guessed", "host route ms end"},
	{"port in brackets", "allinurl/goaccess#2698", "", func(v visit) string {
		return strings.Replace(v.combined(), `] "`, `] [0.004] [PORT 80] "`, 1) + ` "-"`
	}, "guessed", "host route ms end"},
	{"host and arguments before the agent", "imooc's nginx", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d "%s" "%s" a=1 "%s" "-" 10.0.0.5:80 200 0.004 0.004`,
			v.client, v.local(), v.method, v.path, v.status, v.bytes, v.host, v.referer, v.agent)
	}, "guessed", "route ms end"},
	{"list of forwarded addresses", "nginx behind a balancer", "", func(v visit) string {
		return fmt.Sprintf(`10.0.0.9 %s "%s, 10.0.0.1" [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`,
			v.client, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
	{"agent before referer", "hand-made formats", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.agent, v.referer)
	}, "guessed", "host route ms"},
	{"two statuses", "hand-made formats", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" 10.0.0.5:80 200 %d %d 0.004 "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms end"},
	{"labels", "nginx's blog", "", func(v visit) string {
		return fmt.Sprintf(`site="%s" client=%s [%s] req="%s %s HTTP/1.1" st=%d sz=%d rt=0.004 ref="%s" ua="%s"`,
			v.host, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "", "host route ms end"},
	{"no closing bracket, no zone", "hand-made formats", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s "%s %s HTTP/1.1" %d %d "%s" "%s"`,
			v.client, v.at.Format("02/Jan/2006:15:04:05"), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
	{"query apart", "nginx's $uri and $args", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return fmt.Sprintf(`%s - - [%s] %s "%s" "%s" %d %d "%s" "%s"`, v.client, v.local(), v.method, stem, query, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
	{"query apart behind its sign", "HAProxy's %HM, %HP and %HQ", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return fmt.Sprintf(`%s:40112 [%s] %s %s ?%s %d %d web`, v.client, v.at.Format("02/Jan/2006:15:04:05.000"), v.method, stem, query, v.status, v.bytes)
	}, "guessed", "host route referer agent"},
	{"query in the place of the referer", "nginx's $args", "", func(v visit) string {
		return strings.Replace(v.combined(), v.referer, strings.SplitAfter(v.path, "?")[1], 1)
	}, "combined with $args", "host route ms referer"},
	{"target without its query, that in the place of the referer", "Apache's %m %U %H and %q", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return strings.NewReplacer(v.path, stem, v.referer, "?"+query).Replace(v.combined())
	}, "combined with $args", "host route ms referer"},
	{"time first, words", "hand-made formats", "", func(v visit) string {
		return fmt.Sprintf(`%s %s %s %s %d %d (0.004 s) "%s"`, v.at.Format("2006/01/02 15:04:05.000"), v.client, v.method, v.path, v.status, v.bytes, v.agent)
	}, "guessed", "host route referer"},
}

func ecs(v visit) string {
	return object("@timestamp", v.iso(), "source.ip", v.client, "http.request.method", v.method, "url.original", v.path, "url.domain", v.host,
		"http.request.referrer", v.referer, "http.response.status_code", v.status, "http.response.body.bytes", v.bytes, "user_agent.original", v.agent, "message", v.combined())
}

func caddy(v visit) string {
	return object("request.client_ip", v.client, "request.remote_ip", "10.0.0.1", "request.method", v.method, "request.host", v.host, "request.uri", v.path,
		"request.headers", map[string][]string{"User-Agent": {v.agent}, "Referer": {v.referer}}, "duration", v.took.Seconds(), "size", v.bytes, "status", v.status)
}

// log is the kind's log of visits.
func (k kind) log(all []visit) []byte {
	var b strings.Builder
	b.WriteString(k.head)
	for _, v := range all {
		b.WriteString(k.line(v) + "\n")
	}
	return []byte(b.String())
}

// check compares what a log was read as with what it was written from.
func (k kind) check(t *testing.T, format *parse.Format, log []byte, all []visit) {
	t.Helper()
	lacks := strings.Fields(k.lacks)
	parser, record := format.NewParser(), new(parse.Record)
	for rest := log; len(rest) > 0; {
		var line []byte
		line, rest = logfile.CutLine(rest)
		fault := parser.Parse(slices.Clone(line), record)
		if fault == parse.Comment {
			continue
		}
		if !fault.OK() || len(all) == 0 {
			t.Fatalf("%+v of %s", fault, line)
		}
		v := all[0]
		all = all[1:]
		at := v.at
		if slices.Contains(lacks, "ms") {
			at = at.Truncate(time.Second)
		}
		if slices.Contains(lacks, "end") { // the end is logged, so that the start lies before it
			at = at.Add(-time.Duration(max(0, record.RequestTime)) * time.Microsecond)
		}
		got := strings.TrimPrefix(strings.TrimPrefix(string(record.Path), "https://example.org"), ":443")
		for _, f := range []struct{ name, got, want string }{
			{"time", time.UnixMicro(int64(record.Start)).UTC().Format(time.RFC3339Nano), at.Format(time.RFC3339Nano)},
			{"client", string(record.Client), v.client},
			{"method", string(record.Method), v.method},
			{"path", got, v.path},
			{"host", string(record.Host), v.host},
			{"referer", string(record.Referer), v.referer},
			{"agent", string(record.Agent), v.agent},
			{"route", string(record.Route), v.route},
			{"status", fmt.Sprint(record.Status), fmt.Sprint(v.status)},
			{"bytes", fmt.Sprint(record.Bytes), fmt.Sprint(v.bytes)},
		} {
			if f.got != f.want && !slices.Contains(lacks, f.name) {
				t.Errorf("%s: got %q, want %q in %s", f.name, f.got, f.want, line)
				return
			}
		}
	}
	if len(all) > 0 {
		t.Errorf("%d lines are missing", len(all))
	}
}

// Every kind of log is recognised without a flag, and each line of it is read as it was written.
func TestKinds(t *testing.T) {
	for _, k := range slices.Concat(kinds, guessed, named, columned, fresh, later) {
		t.Run(k.name, func(t *testing.T) {
			log := k.log(visits())
			d, err := detected(log, parse.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, log[:min(len(log), 400)])
			}
			if !strings.HasPrefix(d.Format.Name, k.format) {
				t.Errorf("found %s, want %s", d.Format.Name, k.format)
			}
			k.check(t, d.Format, log, visits())
		})
	}
}

// wraps are the wrappings, as functions.
var wraps = map[string]func(line string) string{
	"docker": func(line string) string {
		return object("log", line+"\n", "stream", "stdout", "time", "2026-01-01T00:00:00Z")
	},
	"cri":     func(line string) string { return "2026-01-01T00:00:00.000000000Z stdout F " + line },
	"compose": func(line string) string { return "web-1  | " + line },
	"kubectl": func(line string) string { return "[pod/web-7d9f8b-x2lkq/nginx] " + line },
	"syslog":  func(line string) string { return "<190>1 2026-01-01T00:00:00Z web nginx 17 - [a b=\"]\"] " + line },
	"loki": func(line string) string {
		return object("labels", map[string]string{"a": "b"}, "line", line, "timestamp", "2026-01-01T00:00:00Z")
	},
	"elastic": func(line string) string {
		return object("_source.message", line, "_source.@timestamp", "2026-01-01T00:00:00Z")
	},
}

// Whatever one or two wrappings are around a log, what is read is what its lines hold.
func TestWrappingsAreTakenOff(t *testing.T) {
	random := testneeds.Rand(t, 17, 1)
	names := []string{"docker", "cri", "compose", "kubectl", "syslog", "loki", "elastic"}
	for range 200 {
		k := kinds[random.IntN(3)] // of text
		all := visits()
		for i := range all {
			all[i].path = "/" + strings.Map(func(r rune) rune { return r%94 + '!' }, fmt.Sprint(random.Uint64()))
			all[i].path = strings.NewReplacer(`"`, "a", `\`, "b").Replace(all[i].path)
		}
		outer, inner := names[random.IntN(len(names))], names[random.IntN(len(names))]
		text := []byte(k.wrapped(all, outer, inner, random.IntN(2) == 0))
		d, err := detected(text, parse.Options{})
		if err != nil {
			t.Fatalf("%s in %s in %s: %v", k.name, inner, outer, err)
		}
		k.check(t, d.Format, text, all)
	}
}

// wrapped is the kind's log in one or two wrappings.
func (k kind) wrapped(all []visit, outer, inner string, twice bool) string {
	var b strings.Builder
	for _, v := range all {
		line := k.line(v)
		if twice {
			line = wraps[inner](line)
		}
		b.WriteString(wraps[outer](line) + "\n")
	}
	return b.String()
}
