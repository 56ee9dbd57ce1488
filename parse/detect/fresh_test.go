package detect

import (
	"fmt"
	"strings"
	"time"
)

// fresh are logs as servers, frameworks and hosts write them unless they are told otherwise.
var fresh = []kind{
	{"uvicorn in colours, behind timestamps", "uvicorn.org/settings/#logging", "", func(v visit) string {
		return fmt.Sprintf("%s \x1b[32mINFO\x1b[0m:     %s:40112 - \"\x1b[1m%s %s HTTP/1.1\x1b[0m\" \x1b[32m%d OK\x1b[0m", v.at.Format(time.RFC3339Nano), v.client, v.method, v.path, v.status)
	}, "guessed behind syslog in colours", "host route bytes referer agent"},
	{"uvicorn behind timestamps", "uvicorn.org/settings/#logging", "", func(v visit) string {
		return fmt.Sprintf("%s INFO:     %s:40112 - \"%s %s HTTP/1.1\" %d OK", v.at.Format(time.RFC3339Nano), v.client, v.method, v.path, v.status)
	}, "guessed behind syslog", "host route bytes referer agent"},
	{"uvicorn with a time", "uvicorn.org/settings/#logging", "", func(v visit) string {
		return fmt.Sprintf("%s - uvicorn.access - INFO - %s:40112 - \"%s %s HTTP/1.1\" %d", v.at.Format("2006-01-02 15:04:05,000"), v.client, v.method, v.path, v.status)
	}, "guessed", "host route bytes referer agent"},
	{"zerolog's console in colours", "github.com/rs/zerolog", "", func(v visit) string {
		return fmt.Sprintf("\x1b[90m%s\x1b[0m \x1b[32mINF\x1b[0m request \x1b[36mip=\x1b[0m%s \x1b[36mmethod=\x1b[0m%s \x1b[36mpath=\x1b[0m%s \x1b[36mstatus=\x1b[0m%d", v.at.Format(time.RFC3339Nano), v.client, v.method, v.path, v.status)
	}, "guessed behind timestamps in colours", "host route bytes referer agent"},
	{"lograge", "github.com/roidrage/lograge", "", func(v visit) string {
		return fmt.Sprintf("%s method=%s path=%s format=html controller=UsersController action=show status=%d duration=4.00 view=2.00 db=1.00 ip=%s", v.at.Format(time.RFC3339Nano), v.method, v.path, v.status, v.client)
	}, "logfmt behind timestamps", "host route bytes referer agent"},
	{"fiber v1", "pkg.go.dev/github.com/gofiber/logger", "", func(v visit) string {
		return fmt.Sprintf("%s %s %s - %s - %d - 4.1ms", v.at.Format("2006-01-02 15:04:05"), v.method, v.path, v.client, v.status)
	}, "guessed", "host route ms bytes referer agent"},
	{"fiber v2 with a date", "docs.gofiber.io/api/middleware/logger", "", func(v visit) string {
		return fmt.Sprintf("[%s] %s %d - 4.1ms %s %s", v.at.Format("2006-01-02T15:04:05.000Z"), v.client, v.status, v.method, v.path)
	}, "guessed", "host route bytes referer agent"},
	{"fiber v3 with a date", "docs.gofiber.io/next/middleware/logger", "", func(v visit) string {
		return fmt.Sprintf("%s | %d |      4.1ms | %15s | %-7s | %s ", v.at.Format("2006-01-02 15:04:05"), v.status, v.client, v.method, v.path)
	}, "guessed", "host route ms end bytes referer agent"},
	{"morgan dev behind a time and an address", "github.com/expressjs/morgan", "", func(v visit) string {
		return fmt.Sprintf("%s %s %s %s %d 4.123 ms - %d", v.iso(), v.client, v.method, v.path, v.status, v.bytes)
	}, "guessed behind timestamps", "host route referer agent"},
	{"morgan short behind docker's time", "github.com/expressjs/morgan", "", func(v visit) string {
		return fmt.Sprintf("%s %s - %s %s HTTP/1.1 %d %d - 4.123 ms", v.at.Format(time.RFC3339Nano), v.client, v.method, v.path, v.status, v.bytes)
	}, "guessed behind timestamps", "host route referer agent"},
	{"morgan combined with the response time", "github.com/expressjs/morgan", "", func(v visit) string {
		return v.combined() + " - 4.123 ms"
	}, "combined", "host route ms"},
	{"Rack CommonLogger", "rack.github.io", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d 0.0041`, v.client, v.local(), v.method, v.path, v.status, v.bytes)
	}, "common", "host route ms end referer agent"},
	{"gunicorn", "docs.gunicorn.org/en/stable/settings.html", "", func(v visit) string { return v.combined() }, "combined", "host route ms"},
	{"aiohttp", "docs.aiohttp.org/en/stable/logging.html", "", func(v visit) string {
		return fmt.Sprintf(`%s [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "host route ms"},
	{"aiohttp behind Python's logging", "docs.aiohttp.org/en/stable/logging.html", "", func(v visit) string {
		return fmt.Sprintf(`INFO:aiohttp.access:%s [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed in python logging", "host route ms"},
	{"waitress behind TransLogger", "docs.pylonsproject.org/projects/waitress", "", func(v visit) string {
		return fmt.Sprintf(`INFO:wsgi:%s - - [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "combined in python logging", "host route ms"},
	{"Django's runserver with addresses", "docs.djangoproject.com/en/5.0/ref/django-admin", "", func(v visit) string {
		return fmt.Sprintf(`[%s] %s "%s %s HTTP/1.1" %d %d`, v.at.Format("02/Jan/2006 15:04:05"), v.client, v.method, v.path, v.status, v.bytes)
	}, "guessed", "host route ms referer agent"},
	{"uWSGI", "uwsgi-docs.readthedocs.io/en/latest/LogFormat.html", "", func(v visit) string {
		return fmt.Sprintf(`[pid: 17|app: 0|req: 1/1] %s () {40 vars in 600 bytes} [%s] %s %s => generated %d bytes in 4 msecs (HTTP/1.1 %d) 2 headers in 80 bytes (1 switches on core 0)`, v.client, v.at.Format("Mon Jan _2 15:04:05 2006"), v.method, v.path, v.bytes, v.status)
	}, "uwsgi", "host route ms referer agent"},
	{"h2o", "h2o.examp1e.net/configure/access_log_directives.html", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/2" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "combined", "host route ms"},
	{"OpenLiteSpeed, a quote in front", "allinurl/goaccess#2294", "", func(v visit) string { return `"` + v.combined() }, "combined in quotes", "host route ms"},
	{"OpenLiteSpeed in quotes", "docs.openlitespeed.org/config/logs", "", func(v visit) string { return `"` + v.combined() + `"` }, "combined in quotes", "host route ms"},
	{"OpenLiteSpeed's default", "docs.openlitespeed.org/config/logs", "", func(v visit) string {
		return fmt.Sprintf(`"%s - - [%s] "%s %s HTTP/1.1" %d %d"`, v.client, v.local(), v.method, v.path, v.status, v.bytes)
	}, "common in quotes", "host route ms referer agent"},
	{"Hypercorn", "hypercorn.readthedocs.io/en/latest/how_to_guides/logging.html", "", func(v visit) string {
		return fmt.Sprintf(`%s:40112 - - [%s] "%s %s 1.1" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "combined", "host route ms"},
	{"Hypercorn by HTTP/2", "hypercorn.readthedocs.io/en/latest/how_to_guides/logging.html", "", func(v visit) string {
		return fmt.Sprintf(`%s:40112 - - [%s] "%s %s 2" %d %d "%s" "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "combined", "host route ms"},
	{"Caddy 1 with hosts, behind a time", "allinurl/goaccess#1626", "", func(v visit) string {
		return v.at.Format("2006/01/02 15:04:05") + " example.org " + v.combined() + " 3"
	}, "guessed", "route ms end"},
	{"an agent without a referer", "allinurl/goaccess#1249", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d "%s"`, v.client, v.local(), v.method, v.path, v.status, v.bytes, v.agent)
	}, "combined without referer", "host route ms referer"},
	{"Aptible", "deploy-docs.aptible.com/docs/endpoint-logs", "", func(v visit) string {
		return fmt.Sprintf(`%s:40112 TLSv1.2/ECDHE-RSA-AES128-GCM-SHA256 %s - [%s] "%s %s HTTP/1.1" %d %d 0.004 "%s" "%s" "Root=1-5f" "-";`, v.client, v.host, v.local(), v.method, v.path, v.status, v.bytes, v.referer, v.agent)
	}, "guessed", "route ms end"},
	{"WildFly", "mirocupak.com/logging-requests-with-undertow", "", func(v visit) string {
		return fmt.Sprintf(`%s [%s] "%s %s HTTP/1.1" %d "%s"`, v.client, v.local(), v.method, v.path, v.status, v.agent)
	}, "guessed", "host route ms bytes referer"},
	{"Jetty", "jetty.org/docs/jetty/12/operations-guide/modules/standard.html", "", func(v visit) string { return v.combined() + " 4" }, "combined", "host route ms"},
	{"Tomcat with a thread", "tomcat.apache.org/tomcat-10.1-doc/config/valve.html", "", func(v visit) string {
		return fmt.Sprintf(`%s - - [%s] "%s %s HTTP/1.1" %d %d 4 http-nio-8080-exec-1`, v.client, v.local(), v.method, v.path, v.status, v.bytes)
	}, "common", "host route ms referer agent"},
	{"varnishncsa", "varnish-cache.org/docs/trunk/reference/varnishncsa.html", "", func(v visit) string {
		return strings.Replace(v.combined(), v.path, "http://example.org"+v.path, 1)
	}, "combined", "host route ms path"},
	{"echo's own", "echo.labstack.com/docs/middleware/logger", "", func(v visit) string {
		return fmt.Sprintf("method=%s, uri=%s, status=%d, time=%s, ip=%s", v.method, v.path, v.status, v.iso(), v.client)
	}, "pairs with commas", "host route bytes referer agent"},
	{"chi in colours", "github.com/go-chi/chi/middleware", "", func(v visit) string {
		return fmt.Sprintf("%s \x1b[36m\"\x1b[0m\x1b[1;35m%s \x1b[0m\x1b[36mhttp://%s%s HTTP/1.1\" \x1b[0mfrom %s:40112 - \x1b[1;32m%d\x1b[0m \x1b[1;34m%dB\x1b[0m in \x1b[32m1.2ms\x1b[0m", v.at.Format("2006/01/02 15:04:05"), v.method, v.host, v.path, v.client, v.status, v.bytes)
	}, "guessed in colours", "host route ms path bytes referer agent"},
	{"slog text", "pkg.go.dev/log/slog", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return fmt.Sprintf(`time=%s level=INFO msg="Incoming request" request.method=%s request.host=%s request.path=%s request.query="%s" request.ip=%s request.user-agent=%q response.status=%d response.length=%d`, v.iso(), v.method, v.host, stem, query, v.client, v.agent, v.status, v.bytes)
	}, "logfmt", "route referer"},
	{"httplog JSON", "github.com/go-chi/httplog", "", func(v visit) string {
		return object("timestamp", v.iso(), "level", "INFO", "message", "Response", "httpRequest", map[string]any{"proto": "HTTP/1.1", "remoteIP": v.client + ":40112", "requestMethod": v.method, "requestPath": v.path, "requestURL": "http://example.org" + v.path},
			"httpResponse", map[string]any{"bytes": v.bytes, "elapsed": 4.1, "status": v.status})
	}, "json", "host route referer agent"},
	{"tower-http JSON", "docs.rs/tower-http/latest/tower_http/trace", "", func(v visit) string {
		return object("timestamp", v.iso(), "level", "INFO", "fields", map[string]any{"message": "finished processing request", "latency": "4 ms", "status": v.status}, "target", "tower_http::trace::on_response",
			"span", map[string]any{"method": v.method, "uri": v.path, "client_ip": v.client, "name": "request"})
	}, "json", "host route bytes referer agent"},
	{"Vercel's log drain", "vercel.com/docs/drains/reference/logs", "", func(v visit) string {
		return object("id", "1573817187330377061717300000", "deploymentId", "dpl_2", "source", "static", "host", v.host, "timestamp", v.at.UnixMilli(), "projectId", "g", "level", "info", "proxy", map[string]any{
			"timestamp": v.at.UnixMilli(), "method": v.method, "host": v.host, "path": v.path, "userAgent": []string{v.agent}, "referer": v.referer, "statusCode": v.status, "clientIp": v.client, "scheme": "https", "responseByteSize": v.bytes, "cacheId": "x", "vercelCache": "HIT",
		})
	}, "json", "route bytes"},
	{"Netlify's log drain", "docs.netlify.com/monitor-sites/log-drains", "", func(v visit) string {
		return object("account_id", "a", "client_ip", v.client, "cache_status", "MISS", "content_type", "text/html", "country", "DE", "deploy_id", "d", "duration", 4, "log_type", "traffic", "method", v.method, "referrer", v.referer, "request_id", "01", "site_id", "s",
			"status_code", v.status, "timestamp", v.iso(), "url", "https://example.org"+v.path, "user_agent", v.agent, "response_size", v.bytes)
	}, "json", "host route"},
	{"CloudFront JSON", "docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logging.html", "", func(v visit) string {
		stem, query, _ := strings.Cut(v.path, "?")
		return object("date", v.at.Format(time.DateOnly), "time", v.at.Format(time.TimeOnly), "timestamp(ms)", fmt.Sprint(v.at.UnixMilli()), "x-edge-location", "FRA2", "sc-bytes", fmt.Sprint(v.bytes), "c-ip", v.client, "cs-method", v.method, "cs(Host)", v.host, "cs-uri-stem", stem,
			"sc-status", fmt.Sprint(v.status), "cs(Referer)", v.referer, "cs(User-Agent)", v.agent, "cs-uri-query", query, "time-taken", "0.004")
	}, "json", "host route end"},
	{"Splunk's CSV", "docs.splunk.com: export search results", `"_time","_raw",host,source` + "\n", func(v visit) string {
		return fmt.Sprintf(`"%s","%s",web1,"/var/log/nginx/access.log"`, v.at.Format("2006-01-02T15:04:05.000-0700"), strings.ReplaceAll(v.combined(), `"`, `""`))
	}, "combined in columns", "host route ms"},
	{"Datadog's CSV", "docs.datadoghq.com/logs/explorer/export", "Date,Host,Service,Message\n", func(v visit) string {
		return fmt.Sprintf(`"%s","web1","nginx","%s"`, v.iso(), strings.ReplaceAll(v.combined(), `"`, `""`))
	}, "combined in columns", "host route ms"},
	{"CloudWatch's CSV", "docs.aws.amazon.com/AmazonCloudWatch/latest/logs", "@timestamp,@message\n", func(v visit) string {
		return fmt.Sprintf(`%s,"%s"`, v.at.Format("2006-01-02 15:04:05.000"), strings.ReplaceAll(v.combined(), `"`, `""`))
	}, "combined in columns", "host route ms"},
	{"aws logs tail", "docs.aws.amazon.com/cli/latest/reference/logs/tail.html", "", func(v visit) string {
		return v.at.Format("2006-01-02T15:04:05.000000+00:00") + " web/nginx/0f8fad5b " + v.combined()
	}, "vhost-combined behind timestamps", "host route ms"},
	{"pm2", "pm2.keymetrics.io/docs/usage/log-management", "", func(v visit) string {
		return "0|web      | " + v.combined()
	}, "guessed", "host route ms"},
	{"journalctl -o short-iso", "freedesktop.org: journalctl", "", func(v visit) string {
		return v.at.Format("2006-01-02T15:04:05-0700") + " web1 nginx[17]: " + v.combined()
	}, "combined behind syslog", "host route ms"},
	{"stern", "github.com/stern/stern", "", func(v visit) string { return "web-7d9f8b-x2lkq nginx " + v.combined() }, "guessed", "host route ms"},
	{"Azure Front Door's archive", "learn.microsoft.com/azure/frontdoor/monitor-front-door-reference", "", func(v visit) string {
		return object("time", v.iso(), "resourceId", "/SUB", "category", "FrontdoorAccessLog", "operationName", "Microsoft.Cdn/Profiles/AccessLog/Write", "properties", map[string]any{
			"trackingReference": "x", "httpMethod": v.method, "httpVersion": "2.0", "requestUri": "https://example.org:443" + v.path, "clientIp": v.client, "socketIp": v.client, "clientPort": "40112", "timeTaken": "0.004", "requestProtocol": "HTTPS",
			"requestBytes": "100", "responseBytes": fmt.Sprint(v.bytes), "userAgent": v.agent, "referer": v.referer, "httpStatusCode": fmt.Sprint(v.status), "hostName": v.host, "timeToFirstByte": "0.003",
		})
	}, "json", "host route end"},
	{"Fly.io", "fly.io/docs/monitoring/exporting-logs", "", func(v visit) string {
		return fmt.Sprintf("%s app[9080e] fra [info] %s", v.iso(), v.combined())
	}, "guessed behind timestamps", "host route ms"},
	{"Kong", "docs.konghq.com/gateway/latest/reference/configuration", "", func(v visit) string { return v.combined() + ` kong_request_id: "0f8fad5b"` }, "combined", "host route ms"},
	{"Zeus", "Zeus Web Server", "", func(v visit) string { return `example.org ` + v.combined() + ` "-"` }, "vhost-combined with $http_x_forwarded_for", "route ms"},
	{"nginx with $request_id in front", "hand-made formats of nginx", "", func(v visit) string {
		return "0f8fad5bd9cb469fa16570867728950e " + v.combined()
	}, "vhost-combined", "host route ms"},
}
