package parse

import (
	"fmt"
	"strings"
)

// An nginx log_format holds $name and ${name}; all else stands in the line as it is. The names are those of
// nginx.org/en/docs/varindex.html.

// nginxVariables are the variables that feed a field; of those that feed the same, the one with the lowest rank does.
var nginxVariables = map[string]piece{
	"remote_addr":               {use: useClient},
	"proxy_protocol_addr":       {use: useClient, rank: 1},
	"http_x_real_ip":            {use: useClient, rank: 2},
	"http_cf_connecting_ip":     {use: useClient, rank: 3},
	"realip_remote_addr":        {use: useClient, rank: 4},
	"remote_user":               {use: useUser},
	"request":                   {use: useRequest},
	"request_method":            {use: useMethod},
	"request_uri":               {use: usePath, path: true},
	"uri":                       {use: usePath, path: true, rank: 1},
	"document_uri":              {use: usePath, path: true, rank: 2},
	"is_args":                   {use: useSkip, query: true},
	"args":                      {use: useSkip, query: true},
	"query_string":              {use: useSkip, query: true},
	"host":                      {use: useHost},
	"http_host":                 {use: useHost, rank: 1},
	"server_name":               {use: useHost, rank: 2},
	"ssl_server_name":           {use: useHost, rank: 3},
	"http_referer":              {use: useReferer},
	"http_user_agent":           {use: useAgent},
	"http_x_forwarded_for":      {use: useForwarded, list: true},
	"proxy_add_x_forwarded_for": {use: useForwarded, list: true, rank: 1},
	"status":                    {use: useStatus},
	"body_bytes_sent":           {use: useBytes},
	"bytes_sent":                {use: useBytes, rank: 1},
	"request_time":              {use: useSeconds},
	"upstream_response_time":    {use: useUpstream, list: true},
	"time_local":                {use: useLocal, rank: 3},
	"time_iso8601":              {use: useISO, rank: 2},
	"msec":                      {use: useEpoch, rank: 1},
}

// nginxPieces takes a log_format apart.
func nginxPieces(text string) ([]piece, error) {
	var pieces []piece
	for rest := text; rest != ""; {
		at := strings.IndexByte(rest, '$')
		if at < 0 {
			return append(pieces, piece{text: rest}), nil
		}
		if at > 0 {
			pieces = append(pieces, piece{text: rest[:at]})
		}
		name, width := nginxName(rest[at:])
		if width == 0 {
			return nil, fmt.Errorf("column %d: no name of a variable behind $", len(text)-len(rest)+at+1)
		}
		pieces = append(pieces, nginxVariable(name))
		rest = rest[at+width:]
	}
	return pieces, nil
}

// nginxName reads $name or ${name} and how wide it is; 0 when it is neither.
func nginxName(text string) (name string, width int) {
	open, shut := 1, 0
	if strings.HasPrefix(text, "${") {
		open, shut = 2, 1
	}
	end := open
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	if end == open || shut == 1 && (end == len(text) || text[end] != '}') {
		return "", 0
	}
	return text[open:end], end + shut
}

func isNameByte(c byte) bool {
	return c-'0' < 10 || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// nginxVariable says what a variable means. One that we do not know is skipped over; those about upstreams hold a
// list when there were several.
func nginxVariable(name string) piece {
	p, known := nginxVariables[name]
	if !known {
		p = piece{use: useSkip, list: strings.HasPrefix(name, "upstream_")}
	}
	p.name, p.key, p.extra = "$"+name, name, -1
	return p
}
