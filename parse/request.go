package parse

import "bytes"

// requestParts splits a request line, "GET /path HTTP/1.1", into its method and its target. A line without a protocol
// is HTTP/0.9 when its target is a path. What else arrives on port 80 (TLS handshakes, scanners' probes) is no HTTP:
// method is nil, and target is all of it.
//
// A target may hold raw spaces; the protocol stands behind the last one.
func requestParts(line []byte) (method, target []byte) {
	end := methodEnd(line)
	if end == 0 {
		return nil, line
	}
	if last := protocol(line); last > end {
		return line[:end], line[end+1 : last]
	}
	if line[end+1] == '/' {
		return line[:end], line[end+1:]
	}
	return nil, line
}

// maxMethod is longer than any registered method (UPDATEREDIRECTREF has 17 letters).
const maxMethod = 32

// methodEnd is where the space behind the method stands, with something behind it; 0 if there is no method.
func methodEnd(line []byte) int {
	for i, c := range line[:min(len(line), maxMethod)] {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_':
		case c == ' ' && i+1 < len(line):
			return i
		default:
			return 0
		}
	}
	return 0
}

// protocol is where the space before the protocol stands, 0 if there is none.
func protocol(line []byte) int {
	space := len(line) - len(" HTTP/1.1")
	if space < 0 || line[space] != ' ' {
		space = bytes.LastIndexByte(line, ' ')
	}
	if space < 0 || !bytes.HasPrefix(line[space+1:], []byte("HTTP/")) {
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
