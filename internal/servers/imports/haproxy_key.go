package imports

import (
	"slices"
	"strings"

	"shadow/internal/request"
)

// haproxyKey returns what a sample counts by.
func (r *haproxyReader) haproxyKey(rule haproxyRule, sample string, set Set) []keyCase {
	parts := haSample().FindStringSubmatch(sample)
	word := ""
	if parts != nil {
		name, _, _ := strings.Cut(parts[2], ",")
		switch parts[1] {
		case "src":
			if mask := maskSample().FindStringSubmatch(parts[3]); mask != nil {
				v4, v6 := "client/"+mask[1], "client"
				if mask[2] != "" {
					v6 = "client/" + mask[2]
				}
				return slices.Concat(present(set.and(within("network", "0.0.0.0/0")), []string{v4}, nil, true),
					present(set.and(within("network", "::/0")), []string{v6}, nil, true))
			}
			word = "client"
		case "req.hdr", "req.fhdr", "hdr", "req.hdr_ip", "hdr_ip", "req.hdr_host":
			switch word = "header:" + name; strings.ToLower(name) {
			case "host":
				word = "host"
			case "user-agent":
				word = "agent"
			case "x-forwarded-for":
				r.tell(r.place(rule), "clients are taken from X-Forwarded-For: --client-from x-forwarded-for, with --trusted-proxy")
				word = "client"
			}
		case "req.cook", "cook":
			word = "cookie:" + name
		case "url_param", "urlp":
			word = "field:" + name
		case "http_auth_user":
			word = "user"
		case "path", "url", "base":
			word = "path"
		case "base32", "url32":
			word = "host+path"
		case "base32+src", "url32+src":
			word = "client+host+path"
		case "int", "str", "bool", "always_true":
			return []keyCase{{set, request.BySite}}
		}
	}
	if strings.HasPrefix(sample, "base32+src") || strings.HasPrefix(sample, "url32+src") {
		word = "client+host+path"
	}
	if word == "" {
		r.lose(r.place(rule), "no limit here counts by %s: limits of this counter are left out", sample)
		return nil
	}
	var words []string
	for w := range strings.SplitSeq(word, "+") {
		if key, err := request.ParseKey(w); err == nil {
			w = key.String()
		}
		words = append(words, w)
	}
	return present(set, words, nil, false)
}
