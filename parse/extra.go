package parse

import (
	"net/textproto"
	"slices"
	"strings"
)

// A name of Options.Extra is that of a variable of the format or of a key of JSON; or header:NAME or cookie:NAME, which
// servers spell in many ways:
//
//	header:X-Api-Key   $http_x_api_key, %{X-Api-Key}i, cs(X-Api-Key), request.headers.X-Api-Key, headers.x-api-key …
//	cookie:session     $cookie_session, %{session}C, cookies.session …
//	server_port        $server_port, %p, s-port, server.port, RequestPort

// ServerPort is the name of the port on which a request came.
const ServerPort = "server_port"

// headerOf is the name of the header that a name of Options.Extra means, cookieOf that of the cookie; "" for none.
func headerOf(extra string) string { return behind(extra, "header:") }

func cookieOf(extra string) string { return behind(extra, "cookie:") }

func behind(text, begin string) string {
	if rest, found := strings.CutPrefix(text, begin); found {
		return rest
	}
	return ""
}

// answers reports whether a variable is the field of a name of Options.Extra.
func (p *token) answers(extra string) bool {
	// Of Apache's directives with an argument, p.name ends with the letter that says what the argument is.
	verb := p.name[len(p.name)-1]
	switch header, cookie := headerOf(extra), cookieOf(extra); {
	case header != "" && p.fold:
		return verb != 'o' && verb != 'C' && strings.EqualFold(p.key, header)
	case header != "":
		return p.key == nginxHeader(header)
	case cookie != "" && p.fold:
		return verb == 'C' && p.key == cookie
	case cookie != "":
		return p.key == "cookie_"+cookie
	}
	if extra == ServerPort && (p.name == "%p" || p.name == "%{local}p" || p.name == "%{canonical}p") {
		return true
	}
	return p.key == extra || p.fold && strings.EqualFold(p.key, extra)
}

// nginxHeader is the variable of nginx that holds a header.
func nginxHeader(header string) string {
	return "http_" + strings.ToLower(strings.ReplaceAll(header, "-", "_"))
}

// extraKeys are the keys of JSON that may hold a field of Options.Extra, the best first.
func extraKeys(extra string) (keys []string) {
	if cookie := cookieOf(extra); cookie != "" {
		return []string{"cookie_" + cookie, "cookies." + cookie, "request.cookies." + cookie}
	}
	if extra == ServerPort {
		return []string{ServerPort, "server.port", "RequestPort"}
	}
	name := headerOf(extra)
	if name == "" {
		header := textproto.CanonicalMIMEHeaderKey(extra)
		return []string{extra, "request.headers." + header, "request_" + header}
	}
	header, lower := textproto.CanonicalMIMEHeaderKey(name), strings.ToLower(name)
	for _, key := range []string{
		name, header, lower, nginxHeader(name), "request.headers." + header, "request_" + header,
		"headers." + header, "headers." + lower, "request.headers." + lower, "req.headers." + lower,
		"request_headers." + lower, "http.request.headers." + lower, "http.request.header." + lower,
		"httpRequest.headers[" + header + "]", "httpRequest.headers[" + lower + "]", strings.ReplaceAll(lower, "-", "_"),
	} {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Names returns what the format calls the values of a line; nil if any line may have others, as lines of JSON may.
func (f *Format) Names() []string { return f.names }

// Unnamed returns the first name of a mapping that the format does not have, "" if it has all or may have any.
func (f *Format) Unnamed(m FieldMapping) string {
	if f.names == nil {
		return ""
	}
	for _, field := range jsonFields {
		if keys := m[field.name]; len(keys) > 0 && !slices.ContainsFunc(keys, f.named) {
			return keys[0]
		}
	}
	return ""
}

func (f *Format) named(key string) bool {
	return slices.ContainsFunc(f.names, func(name string) bool { return strings.EqualFold(name, key) })
}

// namesOf are the names of variables.
func namesOf(tokens []token) []string {
	names := []string{}
	for i := range tokens {
		if p := &tokens[i]; p.variable() && (p.fold || p.name[0] == '$') && !slices.Contains(names, p.key) {
			names = append(names, p.key)
		}
	}
	return names
}
