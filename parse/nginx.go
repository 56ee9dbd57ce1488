package parse

import (
	"errors"
	"strings"
)

// An nginx log_format holds $name and ${name}; all else stands in the line as it is. The names are those of
// nginx.org/en/docs/varindex.html.

// nginxVariables are the variables that feed a field; of those that feed the same, the one with the lowest rank does.
var nginxVariables = map[string]token{
	"remote_addr":               {kind: kindClient},
	"proxy_protocol_addr":       {kind: kindClient, rank: 1},
	"http_x_real_ip":            {kind: kindClient, rank: 2, header: "x-real-ip"},
	"http_cf_connecting_ip":     {kind: kindClient, rank: 3, header: "cf-connecting-ip"},
	"realip_remote_addr":        {kind: kindClient, rank: 4},
	"remote_user":               {kind: kindUser},
	"request":                   {kind: kindRequest},
	"request_method":            {kind: kindMethod},
	"request_uri":               {kind: kindPath, path: true},
	"uri":                       {kind: kindPath, path: true, rank: 1},
	"document_uri":              {kind: kindPath, path: true, rank: 2},
	"is_args":                   {kind: kindQuery, query: true},
	"args":                      {kind: kindQuery, query: true},
	"query_string":              {kind: kindQuery, query: true},
	"host":                      {kind: kindHost},
	"http_host":                 {kind: kindHost, rank: 1},
	"server_name":               {kind: kindHost, rank: 2},
	"ssl_server_name":           {kind: kindHost, rank: 3},
	"http_referer":              {kind: kindReferer},
	"http_user_agent":           {kind: kindAgent},
	"http_x_forwarded_for":      {kind: kindForwarded, list: true, header: "x-forwarded-for"},
	"proxy_add_x_forwarded_for": {kind: kindForwarded, list: true, rank: 1, header: "x-forwarded-for"},
	"http_true_client_ip":       {kind: kindForwarded, rank: 4, header: "true-client-ip"},
	"http_forwarded":            {kind: kindForwarded, list: true, rank: 5, header: "forwarded"},
	"status":                    {kind: kindStatus},
	"body_bytes_sent":           {kind: kindBytes},
	"bytes_sent":                {kind: kindBytes, rank: 1},
	"request_time":              {kind: kindSeconds},
	"timers":                    {kind: kindTimers}, // of HAProxy
	"upstream_response_time":    {kind: kindUpstream, list: true},
	"time_local":                {kind: kindLocal, rank: 3},
	"time_iso8601":              {kind: kindISO, rank: 2},
	"msec":                      {kind: kindEpoch, rank: 1},
}

// nginxTokens reads the variable that text opens with, $name or ${name}, and how wide it is. One that we do not know is
// skipped over; those about upstreams hold a list when there were several.
func nginxTokens(text string) (tokens []token, width int, err error) {
	open, shut := 1, 0
	if strings.HasPrefix(text, "${") {
		open, shut = 2, 1
	}
	end := open + nameBytes(text[open:])
	if end == open || shut == 1 && (end == len(text) || text[end] != '}') {
		return nil, 0, errors.New("no name of a variable behind $")
	}
	name := text[open:end]
	t, known := nginxVariables[name]
	if !known {
		t = token{kind: kindSkip, list: strings.HasPrefix(name, "upstream_")}
	}
	t.name, t.key, t.extra = "$"+name, name, -1
	return []token{t}, end + shut, nil
}

// nameBytes counts the letters, digits and underscores that text opens with.
func nameBytes(text string) (n int) {
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	return n
}

func isNameByte(c byte) bool {
	return c-'0' < 10 || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}
