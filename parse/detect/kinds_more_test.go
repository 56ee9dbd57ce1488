package detect

import (
	"fmt"
	"strings"
	"time"
)

// fields writes the values of a visit by name, each as pair says.
func (v visit) fields(apart string, pair func(name, value string) string, names ...string) string {
	values := map[string]string{
		"time": v.local(), "iso": v.iso(), "client": v.client, "method": v.method, "path": v.path, "host": v.host, "referer": v.referer, "agent": v.agent,
		"status": fmt.Sprint(v.status), "bytes": fmt.Sprint(v.bytes), "request": v.method + " " + v.path + " HTTP/1.1", "took": "0.004", "-": "-",
		"ms": v.at.Format("2006-01-02 15:04:05.000"), "port": "443",
	}
	var all []string
	for _, name := range names {
		of, as, found := strings.Cut(name, ">")
		if !found {
			as = of
		}
		all = append(all, pair(as, values[of]))
	}
	return strings.Join(all, apart)
}

func pairOf(sign string) func(string, string) string {
	return func(name, value string) string { return name + sign + value }
}

func quotedPair(name, value string) string { return name + `="` + value + `"` }

func csv(_, value string) string {
	if strings.ContainsAny(value, `," `) {
		return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return value
}

func valueOf(_, value string) string { return value }

func allQuoted(_, value string) string { return `"` + value + `"` }

// named are kinds whose values have names: in each line, or in a header.
var named = []kind{
	{"LTSV", "ltsv.org", "", func(v visit) string {
		return v.fields("\t", pairOf(":"), "time", "client>host", "-forwardedfor>forwardedfor", "request>req", "status", "bytes>size", "referer", "agent>ua", "took>reqtime", "host>vhost")
	}, "ltsv", "route ms end"},
	{"LTSV of Apache", "ltsv.org", "", func(v visit) string {
		return strings.Replace(v.fields("\t", pairOf(":"), "client>host", "->ident", "->user", "time", "request>req", "status", "bytes>size", "referer", "agent>ua"), "time:"+v.local(), "time:["+v.local()+"]", 1)
	}, "ltsv", "host route ms"},
	{"LTSV with names of nginx", "alp's README", "", func(v visit) string {
		return v.fields("\t", pairOf(":"), "time", "client>remote_addr", "host", "method", "path>uri", "status", "bytes>size", "took>reqtime", "took>apptime", "agent>ua", "referer")
	}, "ltsv", "route ms end"},
	{"LTSV of Envoy and others", "ltsv.org", "", func(v visit) string {
		return v.fields("\t", pairOf(":"), "iso>time", "client>remote_addr", "request", "status", "bytes>body_bytes_sent", "host>http_host", "referer>http_referer", "agent>http_user_agent")
	}, "ltsv", "route"},
	{"pairs for Splunk", "docs.splunk.com: Splunk add-on for NGINX", "", func(v visit) string {
		return v.fields(" ", quotedPair, "time>time_local", "method>http_method", "-scheme>scheme", "host>http_host", "client>src", "->user", "status", "bytes>bytes_out", "bytes>bytes_in",
			"referer>http_referer", "agent>http_user_agent", "path>uri_path", "took>response_time", "took>request_time")
	}, "logfmt", "route ms end"},
	{"pairs of Splunk's CIM", "docs.splunk.com: Web data model", "", func(v visit) string {
		return v.fields(", ", quotedPair, "iso>timestamp", "client>src_ip", "method>http_method", "path>uri_path", "host>site", "status", "bytes>bytes_out", "referer>http_referrer", "agent>http_user_agent")
	}, "pairs with commas", "route"},
	{"pairs with commas, quoted where needed", "hand-made formats", "", func(v visit) string {
		return v.fields(",", func(name, value string) string { return name + "=" + csv("", value) }, "iso>time", "client>ip", "method", "path>uri", "status", "bytes", "host", "referer", "agent>ua")
	}, "pairs with commas", "route"},
	{"pairs with bars", "hand-made formats", "", func(v visit) string {
		return v.fields(" | ", pairOf("="), "iso>time", "client>remote_addr", "request", "status", "bytes", "host", "referer", "agent>user_agent")
	}, "pairs with bars", "route"},
	{"pairs with tabs", "hand-made formats", "", func(v visit) string {
		return v.fields("\t", pairOf("="), "iso>time", "client>remote_addr", "request", "status", "bytes", "host", "referer", "agent>user_agent")
	}, "pairs with tabs", "route"},
	{"pairs with semicolons", "hand-made formats", "", func(v visit) string {
		return v.fields("; ", pairOf("="), "iso>ts", "client>client_ip", "method", "path>url", "status>status_code", "bytes>size", "host", "referer")
	}, "pairs with semicolons", "route agent"},
	{"CSV with a header", "Athena's exports", "time,client_ip,method,path,status,bytes,user_agent\n", func(v visit) string {
		return v.fields(",", csv, "ms", "client", "method", "path", "status", "bytes", "agent")
	}, "columns", "host route referer"},
	{"CSV of Kibana", "elastic.co/docs/explore-analyze", `"@timestamp","client.ip","http.request.method","url.original","http.response.status_code","http.response.body.bytes","user_agent.original"` + "\n", func(v visit) string {
		return `"` + v.at.Format("Jan 2, 2006 @ 15:04:05.000") + `",` + v.fields(",", allQuoted, "client", "method", "path", "status", "bytes", "agent")
	}, "columns", "host route referer"},
	{"CSV of BigQuery", "cloud.google.com/bigquery/docs/exporting-data", "timestamp,remoteIp,requestMethod,requestUrl,status,responseSize,userAgent,referer\n", func(v visit) string {
		return v.at.Format("2006-01-02 15:04:05.000000") + " UTC," + v.fields(",", csv, "client", "method", "path", "status", "bytes", "agent", "referer")
	}, "columns", "host route"},
	{"CSV of spreadsheets", "hand-made exports", "\ufeffDate,Time,Client IP,Request,Status Code,Bytes Sent,Host,Referer,User Agent\n", func(v visit) string {
		return v.at.Format("2006-01-02,15:04:05.000,") + v.fields(",", csv, "client", "request", "status", "bytes", "host", "referer", "agent")
	}, "columns", "route"},
	{"columns with semicolons", "exports of spreadsheets in Europe", "timestamp;ip;method;url;status;size;agent\n", func(v visit) string {
		return v.fields(";", allQuoted, "iso", "client", "method", "path", "status", "bytes", "agent")
	}, "columns", "host route referer"},
	{"TSV with a header", "ClickHouse's TabSeparatedWithNames", "event_time\tclient_ip\trequest_method\trequest_uri\tstatus\tbody_bytes_sent\thttp_referer\thttp_user_agent\n", func(v visit) string {
		return v.fields("\t", valueOf, "ms", "client", "method", "path", "status", "bytes", "referer", "agent")
	}, "columns", "host route"},
	{"bars with a header", "psql's unaligned output", "time|remote_addr|method|path|status|bytes|user_agent\n", func(v visit) string {
		return v.fields("|", valueOf, "ms", "client", "method", "path", "status", "bytes", "agent")
	}, "columns", "host route referer"},
	{"Zeek", "docs.zeek.org/en/master/logs/http.html", "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\thttp\n#open\t2026-01-01-00-00-00\n" +
		"#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\ttrans_depth\tmethod\thost\turi\treferrer\tversion\tuser_agent\torigin\trequest_body_len\tresponse_body_len\tstatus_code\tstatus_msg\n" +
		"#types\ttime\tstring\taddr\tport\taddr\tport\tcount\tstring\tstring\tstring\tstring\tstring\tstring\tstring\tcount\tcount\tcount\tstring\n", func(v visit) string {
		return fmt.Sprintf("%d.%06d\tCHhAvV\t%s\t40112\t10.0.0.5\t80\t1\t%s\t%s\t%s\t%s\t1.1\t%s\t-\t0\t%d\t%d\tOK", v.at.Unix(), v.at.Nanosecond()/1000, v.client, v.method, v.host, v.path, v.referer, v.agent, v.bytes, v.status)
	}, "columns", "route"},
	{"Zeek as JSON", "docs.zeek.org/en/master/log-formats.html", "", func(v visit) string {
		return object("ts", float64(v.at.UnixMicro())/1e6, "uid", "C", "id.orig_h", v.client, "id.orig_p", 40112, "method", v.method, "host", v.host, "uri", v.path, "referrer", v.referer,
			"user_agent", v.agent, "response_body_len", v.bytes, "status_code", v.status)
	}, "json", "route"},
	{"gin", "github.com/gin-gonic/gin", "", func(v visit) string {
		return fmt.Sprintf("[GIN] %s | %3d | %13v | %15s | %-7s %#v", v.at.Format("2006/01/02 - 15:04:05"), v.status, v.took, v.client, v.method, v.path)
	}, "gin", "host route ms end bytes referer agent"},
	{"gin in colours", "github.com/gin-gonic/gin", "", func(v visit) string {
		return fmt.Sprintf("[GIN] %s |\x1b[97;42m %3d \x1b[0m| %13v | %15s |\x1b[97;44m %-7s \x1b[0m %#v", v.at.Format("2006/01/02 - 15:04:05"), v.status, v.took, v.client, v.method, v.path)
	}, "gin in colours", "host route ms end bytes referer agent"},
	{"Werkzeug in colours", "werkzeug.palletsprojects.com", "", func(v visit) string {
		return fmt.Sprintf("%s - - [%s] \"\x1b[33m%s %s HTTP/1.1\x1b[0m\" %d -", v.client, v.at.Format("02/Jan/2006 15:04:05"), v.method, v.path, v.status)
	}, "common in colours", "host route ms bytes referer agent"},
	{"docker compose logs in colours", "docs.docker.com/reference/cli/docker/compose/logs", "", func(v visit) string { return "\x1b[36mweb-1  | \x1b[0m" + v.combined() }, "combined in compose in colours", "host route ms"},
	{"squid", "wiki.squid-cache.org/Features/LogFormat", "", func(v visit) string {
		return fmt.Sprintf("%d.%03d %6d %s TCP_MISS/%03d %d %s https://example.org%s - HIER_DIRECT/203.0.113.9 text/html", v.at.Unix(), v.at.Nanosecond()/1e6, 4, v.client, v.status, v.bytes, v.method, v.path)
	}, "squid", "host route end referer agent"},
	{"Nginx Proxy Manager, sites", "github.com/NginxProxyManager/nginx-proxy-manager", "", func(v visit) string {
		return fmt.Sprintf(`[%s] - %d %d - %s https %s "%s" [Client %s] [Length %d] [Gzip -] [Sent-to 10.0.0.5] "%s" "%s"`, v.local(), v.status, v.status, v.method, v.host, v.path, v.client, v.bytes, v.agent, v.referer)
	}, "npm-proxy", "route ms"},
	{"Nginx Proxy Manager, others", "github.com/NginxProxyManager/nginx-proxy-manager", "", func(v visit) string {
		return fmt.Sprintf(`[%s] %d - %s https %s "%s" [Client %s] [Length %d] [Gzip 2.10] "%s" "%s"`, v.local(), v.status, v.method, v.host, v.path, v.client, v.bytes, v.agent, v.referer)
	}, "npm-standard", "route ms"},
	{"Werkzeug", "werkzeug.palletsprojects.com", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d -`, v.client, v.at.Format("02/Jan/2006 15:04:05"), v.method, v.path, v.status)
	}, "common", "host route ms bytes referer agent"},
	{"Werkzeug behind Python's logging", "docs.python.org/3/library/logging.html", "", func(v visit) string {
		return fmt.Sprintf(`INFO:werkzeug:%s - - [%s] "%s %s HTTP/1.1" %d -`, v.client, v.at.Format("02/Jan/2006 15:04:05"), v.method, v.path, v.status)
	}, "common in python logging", "host route ms bytes referer agent"},
	{"syslog tag without colon", "elastic/logstash#2291", "", func(v visit) string { return "<133>" + v.at.Format(time.Stamp) + " media05 mds-acc " + v.combined() }, "combined behind syslog", "host route ms"},
	{"syslog host without tag", "Docker's syslog driver", "", func(v visit) string { return v.at.Format(time.Stamp) + " web1 " + v.combined() }, "combined behind syslog", "host route ms"},
	{"pino-http", "github.com/pinojs/pino-http", "", func(v visit) string {
		return object("level", 30, "time", v.at.UnixMilli(), "pid", 1, "hostname", "web", "req", map[string]any{"id": 1, "method": v.method, "url": v.path, "query": map[string]any{}, "headers": map[string]any{
			"host": v.host, "user-agent": v.agent, "referer": v.referer,
		}, "remoteAddress": v.client, "remotePort": 40112},
			"res", map[string]any{"statusCode": v.status, "headers": map[string]any{"content-length": fmt.Sprint(v.bytes)}}, "responseTime", 4, "msg", "request completed")
	}, "json", "route end"},
	{"fastify, two lines for each request", "fastify.dev/docs/latest/Reference/Logging", "", func(v visit) string {
		return object("level", 30, "time", v.at.UnixMilli(), "pid", 1, "hostname", "web", "reqId", "req-1", "req", map[string]any{
			"method": v.method, "url": v.path, "host": v.host, "remoteAddress": v.client, "remotePort": 40112,
		}, "msg", "incoming request") + "\n" +
			object("level", 30, "time", v.at.UnixMilli()+4, "pid", 1, "hostname", "web", "reqId", "req-1", "res", map[string]any{"statusCode": v.status}, "responseTime", 4.1, "msg", "request completed")
	}, "json", "route status bytes referer agent"},
	{"bunyan", "github.com/trentm/node-bunyan", "", func(v visit) string {
		return object("name", "shop", "hostname", "web", "pid", 1, "level", 30, "remote-address", v.client, "ip", v.client, "method", v.method, "url", v.path, "referer", v.referer,
			"user-agent", v.agent, "status-code", v.status, "response-length", v.bytes, "msg", v.client+" <-- GET", "time", v.iso(), "v", 0)
	}, "json", "host route"},
	{"Echo", "echo.labstack.com/docs/middleware/logger", "", func(v visit) string {
		return object("time", v.at.Format(time.RFC3339Nano), "id", "", "remote_ip", v.client, "host", v.host, "method", v.method, "uri", v.path, "user_agent", v.agent, "status", v.status,
			"error", "", "latency", 4000000, "latency_human", "4ms", "bytes_in", 0, "bytes_out", v.bytes)
	}, "json", "route referer"},
	{"API Gateway", "docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging.html", "", func(v visit) string {
		return object("requestId", "x", "ip", v.client, "requestTime", v.local(), "httpMethod", v.method, "path", v.path, "routeKey", "$default", "status", fmt.Sprint(v.status), "protocol", "HTTP/1.1",
			"responseLength", fmt.Sprint(v.bytes), "userAgent", v.agent)
	}, "json", "host route ms referer"},
	{"Azure Front Door", "learn.microsoft.com/azure/frontdoor/monitor-front-door-reference", "", func(v visit) string {
		return object("time", v.iso(), "category", "FrontDoorAccessLog", "properties", map[string]any{
			"httpMethod": v.method, "requestUri": v.path, "clientIp": v.client, "userAgent": v.agent, "referer": v.referer,
			"httpStatusCode": fmt.Sprint(v.status), "responseBytes": fmt.Sprint(v.bytes), "hostName": v.host,
		})
	}, "json", "host route"},
	{"Datadog", "docs.datadoghq.com/logs/log_configuration/attributes_naming_convention", "", func(v visit) string {
		return object("date", v.iso(), "network.client.ip", v.client, "http.method", v.method, "http.url_details.path", v.path, "http.status_code", v.status, "http.useragent", v.agent,
			"http.referer", v.referer, "network.bytes_written", v.bytes)
	}, "json", "host route"},
	{"JSON with the query apart", "gin-contrib/zap", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return object("level", "info", "time", v.iso(), "msg", stem, "status", v.status, "method", v.method, "path", stem, "query", query, "ip", v.client, "user-agent", v.agent, "latency", 0.004)
	}, "json", "host route referer bytes"},
	{"names of Java", "hand-made JSON", "", func(v visit) string {
		return object("eventTime", v.iso(), "clientIpAddress", v.client, "httpMethod", v.method, "requestUri", v.path, "httpStatus", v.status, "responseSize", v.bytes, "userAgent", v.agent)
	}, "json", "host route referer"},
}

// columned are kinds without names, whose columns signs divide.
var columned = []kind{
	{"CSV without a header", "hand-made formats of Apache", "", func(v visit) string {
		return v.fields(",", csv, "host", "port", "client", "->a", "->b", "time", "status", "bytes", "method", "path", "referer", "agent")
	}, "guessed", "route ms"},
	{"TSV without a header", "hand-made formats of nginx", "", func(v visit) string {
		return v.fields("\t", valueOf, "ms", "client", "request", "status", "bytes", "took", "referer", "agent")
	}, "guessed", "host route end"},
	{"bars without a header", "hand-made formats of nginx", "", func(v visit) string {
		return v.fields(" | ", valueOf, "time", "client", "host", "request", "status", "bytes", "referer", "agent")
	}, "guessed", "route ms"},
	{"bars with the query apart", "hand-made formats of nginx", "", func(v visit) string {
		return strings.Replace(v.fields("|", valueOf, "iso", "client", "method", "path", "status", "bytes", "agent"), "?", "|", 1)
	}, "guessed", "host route referer"},
	{"bars behind seconds of the epoch", "hand-made formats of nginx", "", func(v visit) string {
		return fmt.Sprintf("%d.%03d | %s | - | %s | %s | %d | %d | %s", v.at.Unix(), v.at.Nanosecond()/1e6, v.client, v.method, v.path, v.status, v.bytes, v.agent)
	}, "guessed", "host route referer"},
	{"bars without spaces", "hand-made formats of nginx", "", func(v visit) string {
		return v.fields("|", valueOf, "iso", "client", "method", "path", "status", "bytes", "agent")
	}, "guessed", "host route referer"},
	{"dashes", "hand-made formats of loggers", "", func(v visit) string {
		return v.fields(" - ", valueOf, "ms", "client", "request", "status", "bytes", "referer", "agent")
	}, "guessed", "host route"},
	{"chi", "github.com/go-chi/chi/middleware", "", func(v visit) string {
		return fmt.Sprintf(`%s "%s http://%s%s HTTP/1.1" from %s:40112 - %d %dB in 1.2ms`, v.at.Format("2006/01/02 15:04:05"), v.method, v.host, v.path, v.client, v.status, v.bytes)
	}, "guessed", "host route ms path bytes referer agent"},
	{"Actix", "docs.rs/actix-web/latest/actix_web/middleware/struct.Logger.html", "", func(v visit) string {
		return fmt.Sprintf(`[%s INFO  actix_web::middleware::logger] %s "%s %s HTTP/1.1" %d %d "%s" "%s" 0.000123`, v.at.Format("2006-01-02T15:04:05Z"), v.client, v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
	{"Nexus", "help.sonatype.com", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d - %d 4 "%s" [qtp1-17]`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.agent)
	}, "guessed", "host route ms bytes referer"},
	{"Logback behind a level", "logback.qos.ch", "", func(v visit) string {
		return fmt.Sprintf(`%s INFO [http-1] access - %s "%s %s HTTP/1.1" %d %d "%s" "%s"`, v.at.Format("2006-01-02 15:04:05,000"), v.client, v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route"},
}
