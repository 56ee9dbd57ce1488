package imports

import (
	"cmp"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
)

// What a route of Envoy matches, and its headers.

// route returns the requests of a route's match; false if not all of it is known.
func (r *envoyReader) route(d doc, m *policy.Tree) (set neutral.Set, known bool) {
	known = true
	for _, key := range m.Keys() {
		text := m.Say(key)
		switch key {
		case "prefix":
			set = set.And(neutral.Below(text))
		case "path_separated_prefix":
			set = set.And(segments(text))
		case "path":
			set = set.And(neutral.Exactly(text))
		case "safe_regex":
			one, ok := neutral.TextSet("regexp", "reg", []string{"^(?:" + m.Say(key, "regex") + ")$"}, false)
			set, known = set.And(one), known && ok
		case "headers":
			for _, h := range m.List(key) {
				one, ok := headerMatch(h)
				if !ok {
					r.Lose(d.place(h), "no condition says the header %s: it is taken to fit", h.Say("name"))
				}
				set, known = set.And(one), known && ok
			}
		default:
			r.Lose(d.place(m.Get(key)), "%s of a route is not read: it is taken to fit", key)
			known = false
		}
	}
	return set, known
}

// headerMatch returns the requests of a HeaderMatcher.
func headerMatch(h *policy.Tree) (set neutral.Set, known bool) {
	how, text := "", cmp.Or(h.Say("exact_match"), h.Say("string_match", "exact"))
	for key, kind := range map[string]string{"prefix": "beg", "suffix": "end", "contains": "sub"} {
		if v := cmp.Or(h.Say("string_match", key), h.Say(key+"_match")); v != "" {
			how, text = kind, v
		}
	}
	if v := cmp.Or(h.Say("string_match", "safe_regex", "regex"), h.Say("safe_regex_match", "regex")); v != "" {
		how, text = "reg", "^(?:"+v+")$"
	}
	fold := h.Say("string_match", "ignore_case") == "true"
	switch name := strings.ToLower(h.Say("name")); {
	case name == ":path" && text != "":
		set, known = neutral.TargetSet(how, text, fold)
	case name == ":method" && how == "" && text != "":
		set, known = neutral.Within("method", strings.ToUpper(text)), true
	case (name == ":authority" || name == "host") && how != "reg" && text != "":
		set, known = neutral.HostSet(how, []string{text})
	case name == "user-agent" && text != "":
		set, known = neutral.TextSet("agent", how, []string{text}, fold)
	case h.Get("present_match") != nil:
		key, err := request.ParseKey("header:" + name)
		set, known = neutral.Within("without", key.String()), err == nil
		if h.Say("present_match") != "false" {
			set = set.Except()
		}
	case h.Say("treat_missing_header_as_empty") == "true" && how == "reg": // the expression may fit an empty text
	case !fold && (how == "" || how == "reg"):
		set, known = headerText(name, how, text)
		if known && h.Say("invert_match") == "true" && h.Say("treat_missing_header_as_empty") != "true" { // a header that lacks fits neither way
			return set.Except().Having("header:" + name), true
		}
	}
	if !known {
		return neutral.Set{}, false
	}
	return set.Unless(h.Say("invert_match") == "true"), true
}

// headerText returns the requests whose header is a text, or fits an expression.
func headerText(name, how, text string) (set neutral.Set, known bool) {
	_, err := request.ParseKey("header:" + name)
	if err != nil || text == "" || name == "host" || strings.HasPrefix(name, ":") || how != "" && !neutral.Compiles(text) {
		return neutral.Set{}, false
	}
	return neutral.Within("with", "header:"+name+map[bool]string{true: "=", false: "~"}[how == ""]+text), true
}
