package match

import (
	"bytes"

	"shadow/parse"
	"shadow/parse/lex"
)

// NginxURI returns a path as nginx has it in $uri, where it chooses locations too: decoded once, with one slash for
// several, without the segments . and … The latter takes the segment before it away:
//
//	//a  /%61  /x/../a  /./a    all are /a
//
// What nginx refuses stays as it is: a bad %XX, a zero byte, a path that leaves the root.
// Source: nginx/nginx 3f6f782, src/http/ngx_http_parse.c, ngx_http_parse_complex_uri.
func NginxURI(path []byte) []byte {
	if len(path) == 0 || path[0] != '/' || bytes.IndexByte(path, '%') < 0 && !bytes.Contains(path, []byte("//")) &&
		!bytes.Contains(path, []byte("/.")) {
		return path
	}
	text, ok := decoded(path)
	if !ok {
		return path
	}
	uri, open := make([]byte, 0, len(text)), false // whether it ends in a folder
	for segment := range bytes.SplitSeq(text[1:], []byte("/")) {
		open = true
		switch string(segment) {
		case "", ".":
		case "..":
			if len(uri) == 0 {
				return path
			}
			uri = uri[:bytes.LastIndexByte(uri, '/')]
		default:
			uri, open = append(append(uri, '/'), segment...), false
		}
	}
	if open {
		uri = append(uri, '/')
	}
	return uri
}

// decoded undoes each %XX once.
func decoded(path []byte) (text []byte, ok bool) {
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' {
			v, known := lex.Hex(path, i+1, i+3)
			if !known || v == 0 {
				return nil, false
			}
			c, i = byte(v), i+2
		}
		text = append(text, c)
	}
	return text, true
}

// URIOf returns the path of a request, and that of nginx where that is wanted.
func URIOf(r *parse.Record, nginx bool) []byte {
	path := PathOf(r.Path)
	if nginx {
		return NginxURI(path)
	}
	return path
}
