package parse

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unsafe"
)

// requestParts splits a request line, "GET /path HTTP/1.1", into its method and its target. Of what is not HTTP, method
// is nil, and target is all of it. No limiter sees that: the server answers 400, or 408 when nothing came, before it
// asks one.
//
//	GET /a?b=c HTTP/1.1         HTTP, with any method (RFC 9110, 9.1: a token); 499 and 408 may follow it as any status
//	GET http://example.org/ …   HTTP, as to a proxy (RFC 9112, 3.2.2: absolute-form)
//	CONNECT example.org:443 …   HTTP (3.2.3)
//	OPTIONS * HTTP/1.1          HTTP (3.2.4)
//	GET /a 1.1                  HTTP, from Hypercorn
//	GET /a                      HTTP/0.9, or a log format without the protocol, as GET http://example.org/a is
//	(empty) and "-"             not HTTP: the connection was closed, or timed out, before a request line came
//	\x16\x03\x01 …             not HTTP: the TLS handshake of a client that takes the port for one of HTTPS
//	<BADREQ>                    not HTTP: what HAProxy logs of a request that it cannot read
//	PRI * HTTP/2.0              not HTTP: the preface of a connection (RFC 9113, 3.4), to a server that does not speak it
//	OPTIONS / RTSP/1.0          not HTTP: another protocol
//	GET login.cgi HTTP/1.0      not HTTP: the target has none of the four forms (RFC 9112, 3.2)
//
// A target may hold raw spaces; the protocol stands behind the last one.
func requestParts(line []byte) (method, target []byte) {
	end := methodEnd(line)
	if end == 0 {
		return nil, line
	}
	method, target = line[:end], line[end+1:]
	if last := protocol(line); last > end {
		target = line[end+1 : last]
	} else if bytes.IndexByte(target, ' ') >= 0 || target[0] != '/' && !isAbsolute(method, target) {
		return nil, line
	}
	if len(target) > 0 && target[0] == '/' || otherTarget(method, target) {
		return method, target
	}
	return nil, line
}

// isAbsolute reports whether a request without a protocol is one as to a proxy. "see http://example.org/a" is none.
func isAbsolute(method, target []byte) bool {
	return (startsWith(target, "http://") || startsWith(target, "https://")) && !bytes.ContainsFunc(method, unicode.IsLower)
}

// otherTarget reports whether a target that is not a path is one that the method may have.
func otherTarget(method, target []byte) bool {
	switch {
	case string(target) == "*":
		return string(method) == "OPTIONS"
	case string(method) == "CONNECT":
		return len(target) > 0
	}
	scheme := bytes.Index(target, []byte("://"))
	return scheme > 0 && scheme+len("://") < len(target) && !bytes.ContainsAny(target[:scheme], "/?# ")
}

// withQuery is a path with the query that a log has beside it, unless it has one. One byte between them in the line is
// turned into the question mark; else the path gets bytes of its own.
func withQuery(path, query []byte) []byte {
	query = bytes.TrimPrefix(query, []byte("?")) // as Apache's %q has it
	end := len(path)
	switch {
	case len(query) == 0 || bytes.IndexByte(path, '?') >= 0:
		return path
	case cap(path) > end+1 && &path[:end+2][end+1] == &query[0]:
		path[:end+1][end] = '?'
		return path[:end+1+len(query)]
	}
	return slices.Concat(path, []byte("?"), query)
}

// maxMethod is longer than any registered method (UPDATEREDIRECTREF has 17 letters).
const maxMethod = 32

// methodEnd returns the place of the space behind the method, with something behind it; 0 if there is no method.
func methodEnd(line []byte) int {
	for i, c := range line[:min(len(line), maxMethod)] {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_' || c-'0' < 10 && i > 0:
		case c == ' ' && i+1 < len(line):
			return i
		default:
			return 0
		}
	}
	return 0
}

// bareVersions are protocols as Hypercorn writes them.
var bareVersions = []string{"1.1", "2", "1.0", "3", "ws"}

// protocol returns the place of the space before the protocol, 0 if there is none.
func protocol(line []byte) int {
	space := len(line) - len(" HTTP/1.1")
	if space < 0 || !startsWith(line[space:], " HTTP/") {
		space = bytes.LastIndexByte(line, ' ')
	}
	if space > 0 && slices.Contains(bareVersions, string(line[space+1:])) {
		return space
	}
	if space < 0 || !startsWith(line[space:], " HTTP/") {
		return 0
	}
	version := line[space+1+len("HTTP/"):]
	if len(version) == 0 || version[0]-'0' > 9 || version[len(version)-1]-'0' > 9 {
		return 0
	}
	return space
}

// host cuts the port off an address or a name: "192.0.2.1:443", "[2001:db8::1]:443", "example.com:80". An IPv6 address
// without brackets has more colons and no port.
func host(address []byte) []byte {
	if len(address) > 0 && address[0] == '[' {
		if shut := bytes.IndexByte(address, ']'); shut > 0 {
			return address[1:shut]
		}
	}
	i := len(address)
	for i > 0 && address[i-1]-'0' < 10 {
		i--
	}
	if i == 0 || address[i-1] != ':' || bytes.IndexByte(address[:i-1], ':') >= 0 {
		return address
	}
	return address[:i-1]
}

// maxHostName is the length of the longest name of a host (RFC 1035, 2.3.4), with a dot at its end.
const maxHostName = 254

// IsClient reports whether a text can be what a server logs of its peer: an address, a network in the place of one, or
// the name of a host, in whose last label a letter stands (RFC 1123, 2.1: so it is told from an address). A log may
// lack clients altogether, so nothing can be one as well. Neither need keep to the rules: a_b.example has an
// underscore, and who makes IPv6 addresses up for a published log may write too few groups, 2001:db8:17:1. A time of
// day has fewer colons.
func IsClient(client []byte) bool {
	if _, ok := Addr(client); ok {
		return true
	}
	if len(client) == 0 || bytes.IndexByte(client, ':') >= 0 || bytes.IndexByte(client, '/') >= 0 {
		return len(client) == 0 || isAddress(string(client))
	}
	letter := false
	for _, c := range client {
		switch {
		case c == '.':
			letter = false
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == '-':
			letter = true
		case c-'0' > 9:
			return false
		}
	}
	return letter && len(client) <= maxHostName || isAddress(string(client)) || client[len(client)-1] == '.' && len(client) > 1 && IsClient(client[:len(client)-1])
}

func isAddress(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	if strings.Count(text, ":") >= 3 && strings.Trim(text, "0123456789abcdefABCDEF:") == "" {
		return true
	}
	_, err := netip.ParsePrefix(text)
	return err == nil
}

// Addr is netip.ParseAddr for bytes, without zones, and with IPv4 in IPv6 taken as IPv4. What is no address costs no
// allocation, unless it is made of hexadecimal digits, colons and points alone.
func Addr(b []byte) (netip.Addr, bool) {
	for _, c := range b {
		if c-'0' > 9 && (c|0x20 < 'a' || c|0x20 > 'f') && c != ':' && c != '.' {
			return netip.Addr{}, false
		}
	}
	// The text shares the bytes of b. It is not kept: of its text, an address keeps only a zone.
	addr, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(b), len(b)))
	return addr.Unmap(), err == nil
}
