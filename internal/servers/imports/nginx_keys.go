package imports

import (
	"net/textproto"
	"slices"
	"strings"

	"shadow/internal/request"
)

// What a zone counts by, from what its key is made of.

// A part of a key, as --by takes it.
type part struct{ text string }

func (p part) canLack() bool {
	kind, _, named := strings.Cut(p.text, ":")
	return p.text == "user" || p.text == "agent" || named && kind != "segment"
}

// partOf returns what limits count by for a variable of nginx itself; false where that is no part of a request.
func partOf(variable string) (p part, ok bool) {
	switch variable {
	case "binary_remote_addr", "remote_addr", "realip_remote_addr":
		return part{"client"}, true
	case "host", "http_host":
		return part{"host"}, true
	case "uri", "document_uri", "request_uri":
		return part{"path"}, true
	case "remote_user":
		return part{"user"}, true
	case "http_user_agent":
		return part{"agent"}, true
	case "request_method", "scheme", "server_port", "server_addr", "server_protocol", "https":
		return part{}, false
	}
	if strings.HasPrefix(variable, "client/") {
		return part{variable}, true
	}
	if name, is := strings.CutPrefix(variable, "http_"); is {
		return part{"header:" + textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))}, true
	}
	if name, is := strings.CutPrefix(variable, "cookie_"); is {
		return part{"cookie:" + name}, true
	}
	return part{"field:" + variable}, true
}

// listed are the requests that limit_req_whitelist leaves alone: those for which a variable has a value.
// Source: https://tengine.taobao.org/document/http_limit_req.html.
func (r *nginxReader) listed() Set {
	var sets []Set
	for _, d := range r.white {
		words := map[string]string{}
		for _, word := range d.Args {
			name, value, _ := strings.Cut(word, "=")
			words[name] = value
		}
		if words["geo_var_name"] == "" || len(words) != 2 {
			r.lose(d.Place(), "limit_req_whitelist %s: want geo_var_name=NAME geo_var_value=VALUE", strings.Join(d.Args, " "))
			continue
		}
		for _, c := range r.variable(words["geo_var_name"], d) {
			if text, fixed := fixedText(c.pieces); fixed && text == words["geo_var_value"] {
				sets = append(sets, c.set)
			}
		}
	}
	return union(sets...)
}

// keysOf are the cases of a zone's key.
func (r *nginxReader) keysOf(z *nginxZone) (all []keyCase) {
	empty := r.listed()
	cases := in(empty.except(), merged(r.cases(z.Args[0], z.Directive)))
	if i := slices.IndexFunc(cases, func(c valueCase) bool { return len(c.pieces) == 0 }); i >= 0 { // an empty key is not limited
		empty = union(empty, cases[i].set)
		cases = slices.Delete(cases, i, i+1)
	}
	for _, c := range cases {
		if other := empty.except(); len(cases) == 1 && other.size() < c.set.size() {
			c.set = other
		}
		words, fixed := []string(nil), false
		for _, p := range c.pieces {
			if p.variable == "" {
				fixed = true
				continue
			}
			part, ok := partOf(p.variable)
			if !ok {
				r.lose(z.Place(), "$%s is nothing that limits here count by, and left out of the key", p.variable)
				fixed = true
				continue
			}
			if p.variable == "request_uri" {
				r.lose(z.Place(), "$request_uri has the query, and paths here do not: requests that differ in it alone count together")
			}
			if !slices.Contains(words, part.text) {
				words = append(words, part.text)
			}
		}
		for _, k := range present(c.set, words, nil, fixed) {
			if _, err := request.ParseKey(k.by.String()); err != nil {
				r.lose(z.Place(), "%v", err)
				continue
			}
			all = append(all, k)
		}
	}
	return all
}

// present are the cases of a key by which of its parts a request has. What it lacks is no part of the key, but for one by
// client, which can do with it. With none of them, it is not limited, unless a text is fixed.
func present(set Set, words, have []string, fixed bool) (all []keyCase) {
	if set.never {
		return nil
	}
	for i, word := range words {
		if !(part{word}).canLack() || slices.Contains(words, "client") || slices.Contains(have, "client") {
			have = append(slices.Clip(have), word)
			continue
		}
		lacks := within("without", word)
		if word == "agent" {
			lacks = within("agent", noAgent)
		}
		return append(present(set.and(lacks.except()), words[i+1:], append(slices.Clip(have), word), fixed),
			present(set.and(lacks), words[i+1:], have, fixed)...)
	}
	switch {
	case len(have) > 0:
		key, err := request.ParseKey(strings.Join(have, "+"))
		if err != nil {
			key = request.Key(strings.Join(have, "+"))
		}
		return []keyCase{{set: set, by: key}}
	case fixed:
		return []keyCase{{set: set, by: request.BySite}}
	}
	return nil
}
