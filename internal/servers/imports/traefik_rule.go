package imports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/hcl"
)

// A ruleParser reads a rule of a router: Host(`a`) && (PathPrefix(`/b`) || !Method(`POST`)).
type ruleParser struct {
	rest    string
	err     error
	unknown []string // matchers that no condition says: they are taken to fit
}

func parseRule(text string) (set Set, unknown []string, err error) {
	p := &ruleParser{rest: text}
	if strings.TrimSpace(text) == "" {
		return Set{}, nil, nil
	}
	set = p.either()
	if p.skip(); p.err == nil && p.rest != "" {
		p.fail("is not understood from %q on", p.rest)
	}
	return set, p.unknown, p.err
}

func (p *ruleParser) fail(text string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(text, args...)
	}
	p.rest = ""
}

func (p *ruleParser) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *ruleParser) take(sign string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, sign)
	p.rest = rest
	return ok
}

func (p *ruleParser) either() Set {
	set := p.both()
	for p.take("||") {
		set = union(set, p.both())
	}
	return set
}

func (p *ruleParser) both() Set {
	set := p.one()
	for p.take("&&") {
		set = set.and(p.one())
	}
	return set
}

func (p *ruleParser) one() Set {
	switch {
	case p.err != nil:
		return none
	case p.take("!"):
		before := len(p.unknown)
		set := p.one()
		if len(p.unknown) > before {
			return Set{}
		}
		return set.except()
	case p.take("("):
		set := p.either()
		if !p.take(")") {
			p.fail("lacks a parenthesis")
		}
		return set
	}
	p.skip()
	name, rest, ok := strings.Cut(p.rest, "(")
	if !ok {
		p.fail("is not understood from %q on", p.rest)
		return none
	}
	p.rest = rest
	var values []string
	for !p.take(")") {
		p.skip()
		if p.rest == "" || strings.IndexByte("`\"'", p.rest[0]) < 0 {
			p.fail("lacks a quote or a parenthesis behind %s", name)
			return none
		}
		value, after, ok := strings.Cut(p.rest[1:], p.rest[:1])
		if !ok {
			p.fail("lacks a quote behind %s", name)
			return none
		}
		values, p.rest = append(values, value), after
		p.take(",")
	}
	if len(values) == 0 {
		p.fail("%s has no value", name)
		return none
	}
	return p.matcher(strings.TrimSpace(name), values)
}

// anyLabel matches any one label in front of a name, as Traefik writes it.
const anyLabel = "^[a-zA-Z0-9-]+"

// matcher is the set of one matcher.
func (p *ruleParser) matcher(name string, values []string) Set {
	var sets []Set
	switch name {
	case "Host":
		for n := range values {
			values[n] = strings.ToLower(values[n])
		}
		return within("host", values...)
	case "HostRegexp":
		if name, ok := strings.CutPrefix(values[0], anyLabel+`\.`); ok && len(values) == 1 && strings.HasSuffix(name, "$") {
			name = strings.ReplaceAll(strings.TrimSuffix(name, "$"), `\.`, ".")
			if !strings.ContainsAny(name, "\\[(*+?|^$") {
				return within("host", "*."+strings.ToLower(name))
			}
		}
	case "Method":
		return within("method", values...)
	case "Path":
		for _, v := range values {
			sets = append(sets, exactly(v))
		}
		return union(sets...)
	case "PathPrefix":
		for _, v := range values {
			sets = append(sets, below(v))
		}
		return union(sets...)
	case "PathRegexp":
		for _, v := range values {
			if _, err := regexp.Compile(v); err != nil {
				p.fail("%v", err)
			}
		}
		return within("regexp", values...)
	case "ClientIP":
		for _, v := range values {
			prefix, err := parseNetwork(v)
			if err != nil {
				p.fail("%v", err)
				return none
			}
			sets = append(sets, within("network", networkText(prefix)))
		}
		return union(sets...)
	case "Header", "Headers":
		if len(values) == 2 && strings.EqualFold(values[0], "User-Agent") {
			return within("agent", "^"+regexp.QuoteMeta(values[1])+"$")
		}
	case "HeaderRegexp", "HeadersRegexp":
		if len(values) == 2 && strings.EqualFold(values[0], "User-Agent") && compiles(values[1]) {
			return within("agent", values[1])
		}
	}
	p.unknown = append(p.unknown, name+"("+strings.Join(values, ", ")+")")
	return Set{}
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

func looksLikeTOML(text []byte) bool { return tomlHead().Match(text) }

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
