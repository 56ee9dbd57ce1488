package parse

// knownJSONKeys are the names under which servers and common loggers write what we look for, the best first. A name
// stands here only if it leaves no doubt: "duration" and "latency" are seconds with one server and milliseconds with
// the next, so that they stand in the mappings of those servers alone.
var knownJSONKeys = FieldMapping{
	"time": {
		"msec", "time_msec", "timestamp_ns", "time_iso8601", "@timestamp", "ts", "timestamp", "time_local", "datetime", "date", "time",
	},
	"start": {"StartUTC", "StartLocal", "start_time"},
	"client": {
		"remote_addr", "ClientHost", "request.client_ip", "request.remote_ip", "client_ip", "clientip", "client.ip",
		"source.ip", "remote_ip", "remoteIp", "httpRequest.remoteIp", "client_addr", "ip", "client", "remote_host", "ClientAddr",
	},
	"user":    {"remote_user", "ClientUsername", "user_id", "user.name", "username", "auth_user", "user"},
	"request": {"request", "request_line"},
	"method": {
		"request_method", "RequestMethod", "request.method", "http.request.method", "httpRequest.requestMethod",
		"http_method", "method", "verb",
	},
	"path": {
		"request_uri", "RequestPath", "request.uri", "url.original", "httpRequest.requestUrl", "uri", "request_path",
		"url.path", "url", "path",
	},
	"host": {"host", "http_host", "RequestHost", "request.host", "url.domain", "server_name", "vhost", "authority", "domain"},
	"referer": {
		"http_referer", "request.headers.Referer", "request_Referer", "http.request.referrer", "httpRequest.referer",
		"http_referrer", "referer", "referrer",
	},
	"agent": {
		"http_user_agent", "request.headers.User-Agent", "request_User-Agent", "user_agent.original", "httpRequest.userAgent",
		"user_agent", "userAgent", "useragent", "user-agent", "agent", "ua",
	},
	"forwarded": {
		"http_x_forwarded_for", "request.headers.X-Forwarded-For", "request_X-Forwarded-For", "x_forwarded_for",
		"x-forwarded-for", "forwarded_for", "xff",
	},
	"status": {
		"status", "DownstreamStatus", "http.response.status_code", "httpRequest.status", "status_code", "statusCode",
		"response_code", "response_status",
	},
	"bytes": {
		"body_bytes_sent", "bytes_sent", "DownstreamContentSize", "http.response.body.bytes", "httpRequest.responseSize",
		"response_size", "bytes", "size", "length",
	},
	"request_time":     {"request_time"},
	"request_time_ns":  {"Duration"},
	"request_time_ms":  {"duration_ms", "latency_ms", "request_time_ms", "response_time_ms"},
	"upstream_time":    {"upstream_response_time"},
	"upstream_time_ns": {"OriginDuration"},
}

// knownJSON are the logs of servers that write JSON their own way.
var knownJSON = []struct{ name, mapping, example, summary string }{
	{
		"caddy json",
		"time=ts,client=request.client_ip|request.remote_ip,user=user_id,method=request.method,path=request.uri," +
			"host=request.host,referer=request.headers.Referer,agent=request.headers.User-Agent," +
			"forwarded=request.headers.X-Forwarded-For,status=status,bytes=size,request_time=duration",
		`{"ts":1767225600.25,"request":{"client_ip":"192.0.2.7","method":"GET","host":"example.org","uri":"/","headers":{"User-Agent":["curl/8.5.0"]}},"duration":0.004,"size":312,"status":200}`,
		"Caddy's access log",
	},
	{
		"traefik json",
		"start=StartUTC|StartLocal,client=ClientHost|ClientAddr,user=ClientUsername,method=RequestMethod,path=RequestPath," +
			"host=RequestHost,referer=request_Referer,agent=request_User-Agent,forwarded=request_X-Forwarded-For," +
			"status=DownstreamStatus,bytes=DownstreamContentSize,request_time_ns=Duration,upstream_time_ns=OriginDuration",
		`{"ClientHost":"192.0.2.7","DownstreamContentSize":312,"DownstreamStatus":200,"Duration":4000000,"RequestHost":"example.org","RequestMethod":"GET","RequestPath":"/","StartUTC":"2026-01-01T00:00:00.25Z","request_User-Agent":"curl/8.5.0"}`,
		"Traefik's access log with format: json",
	},
	{
		"envoy json",
		"start=start_time,client=downstream_remote_address,method=method,path=path|x-envoy-origin-path,host=authority," +
			"agent=user_agent|user-agent,forwarded=x_forwarded_for|x-forwarded-for,status=response_code,bytes=bytes_sent," +
			"request_time_ms=duration,upstream_time_ms=upstream_service_time|x-envoy-upstream-service-time",
		`{"start_time":"2026-01-01T00:00:00.250Z","downstream_remote_address":"192.0.2.7:40112","method":"GET","path":"/","authority":"example.org","user_agent":"curl/8.5.0","response_code":200,"bytes_sent":312,"duration":4}`,
		"Envoy's access log as JSON",
	},
	{
		"nginx json",
		"time=msec|time_iso8601|time_local,client=remote_addr,user=remote_user,request=request,method=request_method," +
			"path=request_uri|uri,host=host|http_host|server_name,referer=http_referer,agent=http_user_agent," +
			"forwarded=http_x_forwarded_for,status=status,bytes=body_bytes_sent|bytes_sent,request_time=request_time," +
			"upstream_time=upstream_response_time",
		`{"msec":"1767225600.254","remote_addr":"192.0.2.7","request":"GET / HTTP/1.1","status":"200","body_bytes_sent":"312","request_time":"0.004","http_referer":"","http_user_agent":"curl/8.5.0"}`,
		"nginx with escape=json and keys that are called as the variables",
	},
}
