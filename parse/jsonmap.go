package parse

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// A FieldMapping says which JSON keys hold which field of a request: for each field the keys that may hold it, the
// best first. As text, fields stand side by side and alternatives apart by a bar:
//
//	time=ts,client=request.client_ip|request.remote_ip,agent=request.headers.User-Agent
//
// A key is a path: request.uri is "uri" within the object "request", and also the flat key "request.uri", as some
// loggers write it. Where the path leads to an array, its first element counts.
// headers[User-Agent] is the value of the pair of that name in an array of pairs. An array whose key ends in "!" may have
// one element only.
//
// The fields are those of Record, and some that are not: "request" is a whole request line ("GET / HTTP/1.1"); "query"
// goes behind a path without one;
// "start" is a time at which the request began, while "time" is, as in nginx, the time at which the line was written;
// request_time and upstream_time are seconds, and with _ms, _us or _ns at their end the unit that this names. Referer and
// agent may be _encoded, as in a URL.
type FieldMapping map[string][]string

// jsonFields are the left sides of a mapping, in the order in which its text states them.
var jsonFields = []struct {
	name string
	slot slot
	unit int8 // of a duration: the power of ten that makes it microseconds
}{
	{"time", slot(FieldTime), 0},
	{"start", slotStart, 0},
	{"client", slot(FieldClient), 0},
	{"user", slot(FieldUser), 0},
	{"request", slotRequest, 0},
	{"method", slot(FieldMethod), 0},
	{"path", slot(FieldPath), 0},
	{"query", slotQuery, 0},
	{"host", slot(FieldHost), 0},
	{"referer", slot(FieldReferer), 0},
	{"agent", slot(FieldAgent), 0},
	{"agent_encoded", slot(FieldAgent), percentEncoded},
	{"referer_encoded", slot(FieldReferer), percentEncoded},
	{"forwarded", slot(FieldForwarded), 0},
	{"route", slot(FieldRoute), 0},
	{"identity", slot(FieldIdentity), 0},
	{"status", slot(FieldStatus), 0},
	{"bytes", slot(FieldBytes), 0},
	{"request_time", slot(FieldRequestTime), UnitSeconds},
	{"request_time_ms", slot(FieldRequestTime), unitMillis},
	{"request_time_us", slot(FieldRequestTime), unitMicros},
	{"request_time_ns", slot(FieldRequestTime), unitNanos},
	{"upstream_time", slot(FieldUpstreamTime), UnitSeconds},
	{"upstream_time_ms", slot(FieldUpstreamTime), unitMillis},
	{"upstream_time_us", slot(FieldUpstreamTime), unitMicros},
	{"upstream_time_ns", slot(FieldUpstreamTime), unitNanos},
}

// percentEncoded is the unit of a text with %20 for a space, queried that of a path that has its query, appended that of a
// client that is the last of a list: in front of it stands what clients have sent themselves.
const percentEncoded, queried, appended = 1, 1, 1

// isAppended reports whether a key holds such a client: that of Heroku's router does.
func isAppended(key string) bool { return strings.HasSuffix("."+key, ".fwd") }

// ParseFieldMapping reads a mapping as --field takes it.
func ParseFieldMapping(text string) (FieldMapping, error) {
	m := FieldMapping{}
	var known []string
	for _, f := range jsonFields {
		known = append(known, f.name)
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		field, keys, ok := strings.Cut(part, "=")
		field = strings.TrimSpace(field)
		if !ok || keys == "" {
			return nil, fmt.Errorf("field mapping %q: want FIELD=KEY", part)
		}
		if !slices.Contains(known, field) {
			return nil, fmt.Errorf("field mapping %q: there is no field %q, but %s", part, field, strings.Join(known, ", "))
		}
		for key := range strings.SplitSeq(keys, "|") {
			m[field] = append(m[field], strings.TrimSpace(key))
		}
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("field mapping %q names no field", text)
	}
	return m, nil
}

// String is the mapping as ParseFieldMapping reads it.
func (m FieldMapping) String() string {
	var parts []string
	for _, f := range jsonFields {
		if keys := m[f.name]; len(keys) > 0 {
			parts = append(parts, f.name+"="+strings.Join(keys, "|"))
		}
	}
	return strings.Join(parts, ",")
}

// places are objects around the fields of a request, as Elastic, Google and OpenTelemetry call them.
var places = []string{"_source", "jsonPayload", "protoPayload", "attributes", "Attributes", "LogAttributes"}

// WithKnown is the mapping with the names that are known anyway for each field that it leaves open.
func (m FieldMapping) WithKnown() FieldMapping {
	full := FieldMapping{}
	maps.Copy(full, m)
	for field, keys := range knownJSONKeys {
		if m.settles(field) {
			continue
		}
		full[field] = slices.Clone(keys)
		for _, place := range places {
			for _, key := range keys {
				full[field] = append(full[field], place+"."+key)
			}
		}
	}
	return full
}

// under is the mapping below another one, which goes first.
func (m FieldMapping) under(other FieldMapping) FieldMapping {
	if len(other) == 0 {
		return m
	}
	full := maps.Clone(other)
	for field, keys := range m {
		if !other.settles(field) {
			full[field] = keys
		}
	}
	return full
}

// settles reports whether the mapping says where a field is found, or another that holds the same and would give way.
func (m FieldMapping) settles(field string) bool {
	switch field {
	case "time", "start":
		return m.has("time") || m.has("start")
	case "request":
		return m.has("request") || m.has("method") || m.has("path")
	}
	for stated := range m {
		if durationBase(stated) == durationBase(field) {
			return true
		}
	}
	return false
}

func (m FieldMapping) has(field string) bool { return len(m[field]) > 0 }

// durationBase is the field without its unit: request_time for request_time_ms.
func durationBase(field string) string {
	for _, unit := range []string{"_ms", "_us", "_ns", "_encoded"} {
		if base, ok := strings.CutSuffix(field, unit); ok {
			return base
		}
	}
	return field
}

// Found is the part of a mapping whose keys occur in lines of JSON.
func (m FieldMapping) Found(lines [][]byte) FieldMapping {
	root, numbers := &jsonNode{}, map[string]uint16{}
	for _, keys := range m {
		for _, key := range keys {
			t := jsonTarget{number: uint16(len(numbers))}
			if _, there := numbers[key]; !there && root.add(key, t) == nil {
				numbers[key] = t.number
			}
		}
	}
	s, occurs := jsonScanner{has: make([]bool, len(numbers))}, make([]bool, len(numbers))
	var work []byte // because the scanner undoes escapes in a line
	for _, line := range lines {
		clear(s.has)
		work = append(work[:0], line...)
		if !s.scan(work, root) {
			continue
		}
		for i, has := range s.has {
			occurs[i] = occurs[i] || has
		}
	}
	part := FieldMapping{}
	for field, keys := range m {
		for _, key := range keys {
			if number, there := numbers[key]; there && occurs[number] {
				part[field] = append(part[field], key)
			}
		}
	}
	return part
}

// Named is the part of a mapping whose keys are among names, whatever their case and the signs in them.
func (m FieldMapping) Named(names []string) FieldMapping {
	byFold := m.folds(names)
	part := FieldMapping{}
	for field, keys := range m {
		for _, key := range keys {
			name := byFold[foldName(key)]
			if slices.Contains(names, key) {
				name = key
			} else if strings.Contains(field, "_time") { // response_time is seconds, responseTime milliseconds
				continue
			}
			if name != "" && !slices.Contains(part[field], name) {
				part[field] = append(part[field], name)
			}
		}
	}
	return part
}

// folds returns names by what they are without case and signs: those that are no keys themselves, also within objects.
func (m FieldMapping) folds(names []string) map[string]string {
	exact, byFold := map[string]bool{}, map[string]string{}
	for _, keys := range m {
		for _, key := range keys {
			exact[key] = true
		}
	}
	for _, name := range names {
		for end, inner := name, !exact[name] && !strings.Contains(name, "["); inner; _, end, inner = strings.Cut(end, ".") {
			if fold := foldName(end); byFold[fold] == "" && (end == name || !common[end]) {
				byFold[fold] = name
			}
		}
	}
	return byFold
}

// common are names that mean something else within some objects: error.code.
var common = map[string]bool{"code": true, "size": true, "length": true, "user": true, "host": true, "client": true, "date": true, "addr": true, "remote": true, "auth": true, "peer": true}

// Or is the mapping with the fields of another one that it lacks.
func (m FieldMapping) Or(other FieldMapping) FieldMapping { return other.under(m) }

// Whole reports whether the mapping has who asked for what, and if all is set what else most logs have.
func (m FieldMapping) Whole(all bool) bool {
	return m.has("client") && (m.has("path") || m.has("request")) && (!all || m.has("status") && m.has("bytes") && m.has("agent"))
}

// NamesIn returns the keys of JSON objects, those of inner objects behind dots.
func NamesIn(lines [][]byte) (names []string) {
	var add func(path string, object map[string]any)
	add = func(path string, object map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if inner, is := object[key].(map[string]any); is {
				add(path+key+".", inner)
			} else if len(names) < mostColumns && !slices.Contains(names, path+key) {
				names = append(names, path+key)
			}
		}
	}
	for _, line := range lines[:min(len(lines), namedLines)] {
		var object map[string]any
		if json.Unmarshal(line, &object) == nil {
			add("", object)
		}
	}
	return names
}

// foldName is a name without what divides words in it, in lower case: clientip for client_ip, Client IP and clientIp.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Timed has the keys of a time of another mapping if it has none itself, so that it is one of requests.
func (m FieldMapping) Timed(other FieldMapping) FieldMapping {
	if !m.has("time") && !m.has("start") {
		m["time"] = other["time"]
	}
	return m
}

// knownJSONKeys are the names under which servers and common loggers write what we look for, the best first. A name
// stands here only if it leaves no doubt: "duration" and "latency" are seconds with one server and milliseconds with
// the next, so that they stand in the mappings of those servers alone.
var knownJSONKeys = FieldMapping{
	"time": {
		"msec", "time_msec", "timestamp_ns", "timestamp(ms)", "time_iso8601", "@timestamp", "ts", "timestamp", "timeUnixNano", "Timestamp", "time_local", "datetime", "date", "time",
		"_time", "time_stamp", "datetime_utc", "date_time", "event_time", "eventTime", "created_at", "logged_at", "requestTime", "asctime", "@t", "dt", "time_micros", "unixtime", "EdgeEndTimestamp",
	},
	"start": {"StartUTC", "StartLocal", "start_time", "started_at", "start_timestamp", "begin_time", "startTimeMs", "EdgeStartTimestamp"},
	"client": {
		"remote_addr", "ClientHost", "request.client_ip", "request.remote_ip", "client_ip", "clientip", "client.ip",
		"source.ip", "client.address", "source.address", "network.peer.address", "remote_ip", "remoteIp", "httpRequest.remoteIp", "client_addr", "ip", "client", "remote_host", "ClientAddr", "fwd", "remote",
		"src", "src_ip", "source_ip", "sourceIp", "sourceIPAddress", "remoteAddress", "req.remoteAddress", "req.ip", "req.clientIp", "remote_address", "remoteAddr", "remoteip", "clientIP", "clientIp", "ClientIP", "RemoteAddr", "client_address", "clientAddress", "c_ip", "cip", "ip_address", "client_ip_address", "remote_ip_address", "ip_addr", "ipAddress", "network.client.ip", "http.client_ip", "id.orig_h", "peer", "addr", "identity.sourceIp", "callerIpAddress", "request_ip", "sourceIpPort",
	},
	"user":    {"remote_user", "ClientUsername", "user_id", "user.name", "username", "auth_user", "user", "user_name", "userName", "remoteUser", "auth"},
	"request": {"request", "request_line", "req", "requestLine", "http_request", "request.line"},
	"method": {
		"request_method", "RequestMethod", "request.method", "http.request.method", "http.method", "httpRequest.requestMethod",
		"http_method", "method", "verb",
		"req.method", "httpMethod", "httpRequest.method", "requestMethod", "cs_method", "request_verb", "http_request_method", "request_type", "ClientRequestMethod",
	},
	"path": {
		"request_uri", "RequestPath", "request.uri", "url.original", "httpRequest.requestUrl", "uri", "request_path",
		"url.path", "http.target", "url", "path",
		"req.url", "req.path", "uri_path", "requestUri", "request_url", "requestUrl", "requestPath", "url_path", "http_path", "http.url_details.path", "originalUrl", "original_url", "cs_uri_stem", "resourcePath", "span.uri", "target", "endpoint", "http.url", "cs_uri", "ClientRequestURI", "ClientRequestPath", "requested_uri", "protoPayload.resource",
	},
	"query": {"args", "query_string", "url.query", "queryString", "query", "uri_query", "cs_uri_query", "httpRequest.args", "requestQuery", "queryStr", "request.query", "request_query", "uri_param", "ClientRequestQuery"},
	"host":  {"host", "http_host", "RequestHost", "request.host", "request.headers.host", "url.domain", "server.address", "server_name", "vhost", "authority", "domain", "headers.Host", "headers.host", "req.headers.host", "req.host", "req.hostname", "virtual_host", "domainName", "Host", "site", "cs(Host)", "ClientRequestHost", "hostHeader"},
	"referer": {
		"http_referer", "request.headers.Referer", "request_Referer", "http.request.referrer", "httpRequest.referer",
		"http_referrer", "referer", "referrer", "headers.Referer", "headers.referer",
		"req.headers.referer", "req.headers.referrer", "http.referer", "Referer", "cs_referer", "cs(Referer)", "request.headers.referer", "ClientRequestReferer",
	},
	"agent": {
		"http_user_agent", "request.headers.User-Agent", "request.headers.user-agent", "request_User-Agent", "user_agent.original", "http.user_agent", "httpRequest.userAgent",
		"user_agent", "userAgent", "useragent", "user-agent", "headers.User-Agent", "headers.user-agent", "agent", "ua",
		"req.headers.user-agent", "req.userAgent", "http.useragent", "UserAgent", "User-Agent", "cs_user_agent", "identity.userAgent", "cs(User-Agent)", "clientUa", "ClientRequestUserAgent",
	},
	"forwarded": {
		"http_x_forwarded_for", "request.headers.X-Forwarded-For", "request_X-Forwarded-For", "x_forwarded_for",
		"x-forwarded-for", "headers.X-Forwarded-For", "headers.x-forwarded-for", "forwarded_for", "xff",
		"req.headers.x-forwarded-for", "req.forwardedFor", "xforwardedfor", "forwardedfor", "xForwardedFor", "http_xff", "x_forward_for", "xforwordfor",
	},
	"status": {
		"status", "DownstreamStatus", "http.response.status_code", "http.status_code", "httpRequest.status", "status_code", "statusCode",
		"response_code", "response_status", "response.status", "response",
		"res.statusCode", "res.status", "code", "httpStatus", "http_status", "StatusCode", "responseCode", "response_status_code", "resp_status", "sc_status", "httpStatusCode", "http_code", "elb_status_code", "responseStatus", "EdgeResponseStatus",
	},
	"bytes": {
		"body_bytes_sent", "bytes_sent", "DownstreamContentSize", "http.response.body.bytes", "http.response.body.size", "httpRequest.responseSize", "response.size",
		"response_size", "bytes", "size", "length",
		"res.headers.content-length", "res.contentLength", "bytes_out", "bytesSent", "body_bytes", "response_bytes", "resp_bytes", "bytes_written", "content_length", "contentLength", "response_body_len", "responseSize", "responseLength", "body_size", "sc_bytes", "response_length", "sent_bytes", "written_bytes", "txBytes", "http.response.written", "EdgeResponseBytes",
	},
	"route":            {"http.route"},
	"request_time":     {"request_time", "reqtime"},
	"request_time_ns":  {"Duration"},
	"request_time_ms":  {"duration_ms", "latency_ms", "request_time_ms", "response_time_ms", "responseTime", "durationMs", "latencyMs", "elapsed_ms"},
	"request_time_us":  {"reqtime_microsec", "duration_us", "latency_us"},
	"upstream_time":    {"upstream_response_time", "apptime"},
	"upstream_time_ns": {"OriginDuration"},
}

// KnownJSON are the logs of servers that write JSON their own way.
var KnownJSON = []struct{ Name, Mapping, Example, Summary string }{
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
		"start=start_time,client=downstream_remote_address,method=method,path=path|x-envoy-origin-path,host=authority|:authority," +
			"agent=user_agent|user-agent,forwarded=x_forwarded_for|x-forwarded-for,status=response_code,bytes=bytes_sent," +
			"request_time_ms=duration,upstream_time_ms=upstream_service_time|x-envoy-upstream-service-time",
		`{"start_time":"2026-01-01T00:00:00.250Z","downstream_remote_address":"192.0.2.7:40112","method":"GET","path":"/","authority":"example.org","user_agent":"curl/8.5.0","response_code":200,"bytes_sent":312,"duration":4}`,
		"Envoy's access log as JSON",
	},
	{
		"nginx json",
		"time=msec|time_iso8601|time_local,client=remote_addr,user=remote_user,request=request,method=request_method," +
			"path=request_uri|uri,query=args|query_string,host=host|http_host|server_name,referer=http_referer,agent=http_user_agent," +
			"forwarded=http_x_forwarded_for,status=status,bytes=body_bytes_sent|bytes_sent,request_time=request_time," +
			"upstream_time=upstream_response_time",
		`{"msec":"1767225600.254","remote_addr":"192.0.2.7","request":"GET / HTTP/1.1","status":"200","body_bytes_sent":"312","request_time":"0.004","http_referer":"","http_user_agent":"curl/8.5.0"}`,
		"nginx with escape=json and keys that are called as the variables",
	},
	{
		"cloudflare json",
		"time=EdgeEndTimestamp,start=EdgeStartTimestamp,client=ClientIP,method=ClientRequestMethod,path=ClientRequestURI|ClientRequestPath," +
			"host=ClientRequestHost,referer=ClientRequestReferer,agent=ClientRequestUserAgent,forwarded=ClientXForwardedFor," +
			"status=EdgeResponseStatus,bytes=EdgeResponseBytes",
		`{"ClientIP":"192.0.2.7","ClientRequestHost":"example.org","ClientRequestMethod":"GET","ClientRequestURI":"/","ClientRequestUserAgent":"curl/8.5.0","EdgeResponseBytes":312,"EdgeResponseStatus":200,"EdgeStartTimestamp":"2026-01-01T00:00:00Z"}`,
		"Cloudflare Logpush, HTTP requests",
	},
	{
		"aws-waf json",
		"start=timestamp,client=httpRequest.clientIp,method=httpRequest.httpMethod,path=httpRequest.uri,query=httpRequest.args," +
			"host=httpRequest.headers[Host]|httpRequest.headers[host],referer=httpRequest.headers[Referer]|httpRequest.headers[referer]," +
			"agent=httpRequest.headers[User-Agent]|httpRequest.headers[user-agent]," +
			"forwarded=httpRequest.headers[X-Forwarded-For]|httpRequest.headers[x-forwarded-for],status=responseCodeSent",
		`{"timestamp":1767225600250,"formatVersion":1,"action":"ALLOW","httpRequest":{"clientIp":"192.0.2.7","headers":[{"name":"Host","value":"example.org"},{"name":"User-Agent","value":"curl/8.5.0"}],"uri":"/","args":"","httpMethod":"GET"},"responseCodeSent":200}`,
		"AWS WAF",
	},
	{
		"akamai json",
		"start=reqTimeSec,client=cliIP,method=reqMethod,path=reqPath,query=queryStr,host=reqHost,agent_encoded=UA,referer_encoded=referer," +
			"forwarded=xForwardedFor,status=statusCode,bytes=bytes,request_time_ms=transferTimeMSec",
		`{"version":1,"reqTimeSec":"1767225600.250","cliIP":"192.0.2.7","reqHost":"example.org","reqMethod":"GET","reqPath":"/","statusCode":"200","bytes":"312","UA":"curl%2F8.5.0","transferTimeMSec":"4"}`,
		"Akamai DataStream 2, JSON",
	},
	{
		"azure json",
		"time=timeStamp|time,client=properties.clientIP,method=properties.httpMethod,path=properties.originalRequestUriWithArgs|properties.requestUri,query=properties.requestQuery," +
			"host=properties.originalHost|properties.host,agent_encoded=properties.userAgent,status=properties.httpStatus," +
			"bytes=properties.sentBytes,request_time=properties.timeTaken",
		`{"timeStamp":"2026-01-01T00:00:00+00:00","category":"ApplicationGatewayAccessLog","properties":{"clientIP":"192.0.2.7","httpMethod":"GET","originalRequestUriWithArgs":"/","userAgent":"curl/8.5.0","httpStatus":200,"sentBytes":312,"timeTaken":0.004,"originalHost":"example.org"}}`,
		"Azure Application Gateway's access log (v2)",
	},
	{
		"gcp json",
		"start=timestamp,client=httpRequest.remoteIp,method=httpRequest.requestMethod,path=httpRequest.requestUrl,referer=httpRequest.referer," +
			"agent=httpRequest.userAgent,status=httpRequest.status,bytes=httpRequest.responseSize,request_time=httpRequest.latency",
		`{"timestamp":"2026-01-01T00:00:00.250Z","httpRequest":{"requestMethod":"GET","requestUrl":"https://example.org/","remoteIp":"192.0.2.7","userAgent":"curl/8.5.0","status":200,"responseSize":"312","latency":"0.004s"}}`,
		"Google Cloud's load balancer",
	},
	{
		"fastly json",
		"start=timestamp,client=client_ip,method=request_method,path=url,host=host,referer=request_referer,agent=request_user_agent," +
			"status=response_status,bytes=response_body_size",
		`{"timestamp":"2026-01-01T00:00:00+0000","client_ip":"192.0.2.7","host":"example.org","url":"/","request_method":"GET","request_referer":"","request_user_agent":"curl/8.5.0","response_status":200,"response_body_size":312,"fastly_server":"cache-fra1"}`,
		"Fastly, as its documentation writes JSON",
	},
	{
		"otlp json",
		otlp("time=|timeUnixNano,time=|observedTimeUnixNano,client=client.address,client=network.peer.address,client=net.sock.peer.addr," +
			"method=http.request.method,method=http.method,path=url.path,path=http.target,path=url.full,query=url.query,host=server.address," +
			"agent=user_agent.original,agent=http.user_agent,route=http.route,status=http.response.status_code,status=http.status_code," +
			"bytes=http.response.body.size"),
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600250000000","attributes":[{"key":"client.address","value":{"stringValue":"192.0.2.7"}},{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"url.path","value":{"stringValue":"/users/7"}},{"key":"http.route","value":{"stringValue":"/users/{id}"}},{"key":"http.response.status_code","value":{"intValue":"200"}},{"key":"user_agent.original","value":{"stringValue":"curl/8.5.0"}}]}]}]}]}`,
		"OpenTelemetry's file exporter, one record in a line",
	},
	{
		"trace json",
		"start=time,client=client,agent=agent,route=action,identity=identity,status=status",
		`{"time":"2026-01-01 00:00:00.25+00","client":"client-5f2a90c1d37be846","action":"/users/{id}","identity":"person","agent":"browser","status":200}`,
		"a trace that shadow wrote, line by line",
	},
}

// otlp is a mapping by the names of attributes of OpenTelemetry's records; behind a bar, of a field of theirs.
func otlp(attributes string) string {
	const record = "resourceLogs!.scopeLogs!.logRecords!."
	keys := map[string][]string{}
	var fields []string
	for part := range strings.SplitSeq(attributes, ",") {
		field, name, _ := strings.Cut(part, "=")
		if keys[field] == nil {
			fields = append(fields, field)
		}
		key, direct := strings.CutPrefix(name, "|")
		if !direct {
			key = "attributes[" + name + "]"
		}
		keys[field] = append(keys[field], record+key)
	}
	for i, field := range fields {
		fields[i] = field + "=" + strings.Join(keys[field], "|")
	}
	return strings.Join(fields, ",")
}
