package imports

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/hcl"
)

var ruleWord = lazy.Regexp("`[^`]*`|\"[^\"]*\"|'[^']*'|\\w+|&&|\\|\\||\\S")

// parseRule reads a rule of a router: Host(`a`) && (PathPrefix(`/b`) || !Method(`POST`)). Matchers that no condition says
// are unknown, and taken to fit.
func parseRule(text string) (set Set, unknown []string, err error) {
	l := &logic{words: ruleWord().FindAllString(text, -1)}
	open := 0
	for _, word := range l.words {
		open += map[string]int{"(": 1, ")": -1}[word]
	}
	l.term = func(l *logic) (Set, bool) {
		name, values, opened := l.next(), []string(nil), l.take("(")
		for word := l.peek(); opened && len(word) > 1 && strings.ContainsAny(word[:1], "`\"'"); word = l.peek() {
			values = append(values, strings.Trim(l.next(), word[:1]))
			l.take(",")
		}
		if !opened || !l.take(")") || values == nil {
			err = cmp.Or(err, fmt.Errorf("%s lacks a value, a quote or a parenthesis", name))
			return none, false
		}
		set, known, bad := ruleSet(name, values)
		if err = cmp.Or(err, bad); !known {
			unknown = append(unknown, name+"("+strings.Join(values, ", ")+")")
		}
		return set, known
	}
	if len(l.words) == 0 {
		return Set{}, nil, nil
	}
	if set = l.either(); open != 0 {
		err = cmp.Or(err, errors.New("lacks a parenthesis"))
	} else if len(l.words) > 0 {
		err = cmp.Or(err, fmt.Errorf("is not understood from %q on", strings.Join(l.words, "")))
	}
	return set, unknown, err
}

// anyLabel matches any one label in front of a name, as Traefik writes it.
const anyLabel = "^[a-zA-Z0-9-]+"

// ruleSet is the set of one matcher; false if no condition says that.
func ruleSet(name string, values []string) (set Set, known bool, err error) {
	switch name {
	case "Host":
		set, known = hostSet("", values)
	case "HostRegexp":
		name, ok := strings.CutPrefix(values[0], anyLabel+`\.`)
		name = strings.ReplaceAll(strings.TrimSuffix(name, "$"), `\.`, ".")
		if ok && len(values) == 1 && strings.HasSuffix(values[0], "$") && !strings.ContainsAny(name, "\\[(*+?|^$") {
			set, known = within("host", "*."+strings.ToLower(name)), true
		}
	case "Method":
		set, known = within("method", values...), true
	case "Path", "PathPrefix":
		set, known = textSet("regexp", map[string]string{"PathPrefix": "beg"}[name], values, false)
	case "PathRegexp":
		for _, v := range values {
			_, bad := regexp.Compile(v)
			err = cmp.Or(err, bad)
		}
		set, known = within("regexp", values...), true
	case "ClientIP":
		if set, known = networkSet(values); !known {
			err = fmt.Errorf("%s is no network", strings.Join(values, ", "))
		}
	case "Header", "Headers":
		if len(values) == 2 && strings.EqualFold(values[0], "User-Agent") {
			set, known = within("agent", "^"+regexp.QuoteMeta(values[1])+"$"), true
		}
	case "HeaderRegexp", "HeadersRegexp":
		if len(values) == 2 && strings.EqualFold(values[0], "User-Agent") && compiles(values[1]) {
			set, known = within("agent", values[1]), true
		}
	}
	return set, known, err
}

// resourceName is the name of a middleware with its namespace, if a resource says that; one of another provider has none.
func resourceName(namespace string, of *policy.Tree) string {
	name := of.Say("name")
	if namespace = cmp.Or(of.Say("namespace"), namespace); namespace == "" || strings.Contains(name, "@") {
		return name
	}
	return namespace + "/" + name
}

// Traefik reads Ingresses too: an annotation names middlewares for all its routers, one for each path of each host.
// Source: traefik/traefik v3.6.0, pkg/provider/kubernetes/ingress/kubernetes.go (loadRouter, buildHostRule).

const traefikNote = "traefik.ingress.kubernetes.io/router."

// ingress takes down the routers of an Ingress.
func (c *traefikConfig) ingress(d doc) {
	notes := d.Get("metadata", "annotations")
	add := func(at, rule, priority string) {
		r := traefikRouter{name: d.Say("metadata", "name"), rule: rule, at: at}
		r.middlewares, r.entries = texts(notes.List(traefikNote+"middlewares")), texts(notes.List(traefikNote+"entrypoints"))
		r.priority, _ = strconv.Atoi(priority)
		c.routers = append(c.routers, r)
	}
	for _, rule := range d.List("spec", "rules") {
		host := rule.Say("host")
		if rest, wild := strings.CutPrefix(host, "*."); wild {
			host = "HostRegexp(`" + anyLabel + `\.` + regexp.QuoteMeta(rest) + "$`)"
		} else if host != "" {
			host = "Host(`" + host + "`)"
		}
		for _, path := range rule.List("http", "paths") {
			matcher := "PathPrefix"
			switch path.Say("pathType") {
			case "Exact":
				matcher = "Path"
			case "", "ImplementationSpecific":
				matcher = cmp.Or(notes.Say(traefikNote+"pathmatcher"), matcher)
			}
			rules := []string{host, fmt.Sprintf("%s(`%s`)", matcher, path.Say("path"))}
			if path.Say("path") == "" {
				rules = rules[:1]
			}
			add(d.place(path), strings.TrimPrefix(strings.Join(rules, " && "), " && "), notes.Say(traefikNote+"priority"))
		}
	}
	if d.Get("spec", "defaultBackend") != nil && len(d.List("spec", "rules")) == 0 {
		add(d.place(nil), "PathPrefix(`/`)", strconv.Itoa(math.MinInt32))
	}
}

var tomlHead = lazy.Regexp(`(?mi)^[ \t]*\[http\.(routers|middlewares)[^\[\]\n]*\]`)

var tomlTable = lazy.Regexp(`(?m)^[ \t]*\[\[?([^\[\]=\n]+)\]\]?[ \t]*(#.*)?$`)

// readTOML reads a dynamic configuration in TOML: tables by their names, whose lines are as in Terraform.
func readTOML(i *Import, file string, text []byte) error {
	root, at := policy.NewTree(1), 0
	into := root
	part := func(end int) {
		lines := hcl.Parse(strings.Repeat("\n", strings.Count(string(text[:at]), "\n")) + string(text[at:end]))
		for _, key := range lines.Keys() {
			into.Set(key, lines.Get(key))
		}
	}
	for _, span := range tomlTable().FindAllSubmatchIndex(text, -1) {
		part(span[0])
		into, at = root, span[1]
		line := strings.Count(string(text[:span[0]]), "\n") + 1
		for word := range strings.SplitSeq(string(text[span[2]:span[3]]), ".") {
			word = strings.Trim(strings.TrimSpace(word), `"'`)
			next := field(into, word)
			if next == nil || len(next.Items) > 0 {
				next = policy.NewTree(line)
				into.Set(word, next)
			}
			into = next
		}
	}
	part(len(text))
	i.docs = append(i.docs, doc{root, file})
	return nil
}
