package imports

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/hcl"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

var ruleWord = lazy.Regexp("`[^`]*`|\"[^\"]*\"|'[^']*'|\\w+|&&|\\|\\||\\S")

// parseRule reads a rule of a router: Host(`a`) && (PathPrefix(`/b`) || !Method(`POST`)). Matchers that no condition says
// are unknown, and taken to fit.
func parseRule(text string) (set neutral.Set, unknown []string, err error) {
	l := &logic{words: ruleWord().FindAllString(text, -1)}
	open := 0
	for _, word := range l.words {
		open += map[string]int{"(": 1, ")": -1}[word]
	}
	l.term = func(l *logic) (neutral.Set, bool) {
		name, values, opened := l.next(), []string(nil), l.take("(")
		for word := l.peek(); opened && len(word) > 1 && strings.ContainsAny(word[:1], "`\"'"); word = l.peek() {
			values = append(values, strings.Trim(l.next(), word[:1]))
			l.take(",")
		}
		if !opened || !l.take(")") || values == nil {
			err = cmp.Or(err, fmt.Errorf("%s lacks a value, a quote or a parenthesis", name))
			return neutral.None, false
		}
		set, known, bad := ruleSet(name, values)
		if err = cmp.Or(err, bad); !known {
			unknown = append(unknown, name+"("+strings.Join(values, ", ")+")")
		}
		return set, known
	}
	if len(l.words) == 0 {
		return neutral.Set{}, nil, nil
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
func ruleSet(name string, values []string) (set neutral.Set, known bool, err error) {
	switch name {
	case "Host":
		set, known = neutral.HostSet("", values)
	case "HostRegexp":
		name, ok := strings.CutPrefix(values[0], anyLabel+`\.`)
		name = strings.ReplaceAll(strings.TrimSuffix(name, "$"), `\.`, ".")
		if ok && len(values) == 1 && strings.HasSuffix(values[0], "$") && !strings.ContainsAny(name, "\\[(*+?|^$") {
			set, known = neutral.Within("host", "*."+strings.ToLower(name)), true
		}
	case "Method":
		set, known = neutral.Within("method", values...), true
	case "Path", "PathPrefix":
		if strings.Contains(strings.Join(values, ""), "{") { // an expression, by the syntax of v2
			return neutral.Set{}, false, nil
		}
		set, known = neutral.TextSet("regexp", map[string]string{"PathPrefix": "beg"}[name], values, false)
	case "PathRegexp":
		for _, v := range values {
			_, bad := regexp.Compile(v)
			err = cmp.Or(err, bad)
		}
		set, known = neutral.Within("regexp", values...), true
	case "ClientIP":
		if set, known = neutral.NetworkSet(values); !known {
			err = fmt.Errorf("%s is no network", strings.Join(values, ", "))
		}
	case "Header", "Headers":
		if len(values) == 2 && strings.EqualFold(values[0], "User-Agent") {
			set, known = neutral.Within("agent", "^"+regexp.QuoteMeta(values[1])+"$"), true
		}
	case "HeaderRegexp", "HeadersRegexp":
		if len(values) == 2 && strings.EqualFold(values[0], "User-Agent") && neutral.Compiles(values[1]) {
			set, known = neutral.Within("agent", values[1]), true
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

// traefikFlags are the arguments that start Traefik in a compose file, without their hyphens.
func traefikFlags(d doc) (flags []*policy.Tree) {
	for _, name := range d.Get("services").Keys() {
		for _, arg := range d.List("services", name, "command") {
			for word := range strings.FieldsSeq(arg.Text) {
				flags = append(flags, &policy.Tree{Line: arg.Line, Text: strings.TrimLeft(word, "-")})
			}
		}
	}
	return flags
}

// hidesContainers reports whether containers are left alone that do not say traefik.enable.
func hidesContainers(d doc) (hides bool) {
	for _, flag := range traefikFlags(d) {
		hides = hides || hiding().MatchString(flag.Text)
	}
	providers := field(d.Tree, "providers")
	for _, name := range providers.Keys() {
		hides = hides || field(providers.Get(name), "exposedByDefault").Say() == "false"
	}
	return hides
}

var (
	hiding    = lazy.Regexp(`(?i)^providers\.\w+\.exposedbydefault=false$`)
	entryFlag = lazy.Regexp(`(?i)^entrypoints\.([^.]+)\.(address|http\.middlewares)=(.+)$`)
)

// entryPoints returns those of a static configuration, or of arguments.
func entryPoints(d doc) (all []entryPoint) {
	for _, flag := range traefikFlags(d) {
		m := entryFlag().FindStringSubmatch(flag.Text)
		if m == nil {
			continue
		}
		at := slices.IndexFunc(all, func(e entryPoint) bool { return strings.EqualFold(e.name, m[1]) })
		if at < 0 {
			at, all = len(all), append(all, entryPoint{name: m[1]})
		}
		if m[2] != "address" {
			all[at].place, all[at].middlewares = d.place(flag), texts([]*policy.Tree{{Text: m[3]}})
		}
	}
	entries := field(d.Tree, "entryPoints")
	for _, name := range entries.Keys() {
		m := field(entries.Get(name), "http", "middlewares")
		all = append(all, entryPoint{name, d.place(m), texts(m.List())})
	}
	return all
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

// exclusive returns the criteria that a source has, where it may have one.
func exclusive(source *policy.Tree) (by []string) {
	for _, key := range source.Keys() {
		without, named := map[string]string{"requestheadername": "", "requesthost": "false"}[plainKey(key)]
		if text := source.Say(key); plainKey(key) == "ipstrategy" || named && text != "" && text != without {
			by = append(by, key)
		}
	}
	return by
}

// limits adds the limits of a middleware at a router.
func (c *traefikConfig) limits(p *neutral.Policy, d doc, name string, r *traefikRouter) {
	average, burst := cmp.Or(field(d.Tree, "average").Say(), "0"), cmp.Or(field(d.Tree, "burst").Say(), "1")
	period := cmp.Or(field(d.Tree, "period").Say(), "1s")
	if n, err := strconv.Atoi(burst); err == nil && n < 1 {
		burst = "1"
	}
	if strings.Trim(period, "0") == "" || period == "0s" {
		period = "1s"
	}
	if redis := field(d.Tree, "redis"); redis != nil {
		c.Tell(d.place(redis), "buckets in Redis are judged as those in memory")
	} else if average != "0" {
		c.Tell("", "each Traefik counts for itself; here one counts all requests")
	}
	onlyKnown(c.Lose, d, d.Tree, "average burst period sourcecriterion redis")
	onlyKnown(c.Lose, d, field(d.Tree, "sourceCriterion"), "ipstrategy requestheadername requesthost")
	onlyKnown(c.Lose, d, field(d.Tree, "sourceCriterion", "ipStrategy"), "depth excludedips ipv6subnet")
	if average == "0" {
		c.Tell(d.place(nil), "middleware %s: without an average nothing is limited", name)
		return
	}
	if !strings.ContainsFunc(period, func(c rune) bool { return c > '9' }) {
		period += "s"
	}
	if _, err := limit.ParsePeriod(period); err != nil {
		c.Lose(d.place(nil), "%v", err)
		return
	}
	text := fmt.Sprintf("traefik:%s/%s,burst=%s", average, period, burst)
	told := fmt.Sprintf("%s middleware %s of router %s, refused with 429", d.place(nil), name, r.name)
	source := field(d.Tree, "sourceCriterion")
	if by := exclusive(source); len(by) > 1 { // such a middleware is not built, and its router answers 404
		c.Lose(d.place(source), "middleware %s: %s exclude each other, so Traefik does not build it, and nothing is limited", name,
			strings.Join(by, " and "))
		return
	}
	by := request.ByClient
	switch header := field(source, "requestHeaderName").Say(); {
	case header != "":
		key, err := request.ParseKey("header:" + header)
		if err != nil {
			c.Lose(d.place(source), "%v", err)
			return
		}
		lacks := r.set.And(neutral.Lacking(key.String())) // which count together
		p.Add(text, told, neutral.KeyCase{Set: r.set.Having(key.String()), By: key}, neutral.KeyCase{Set: lacks, By: request.BySite})
		return
	case field(source, "requestHost").Say() == "true":
		by = request.ByHost
	}
	strategy := field(source, "ipStrategy")
	if depth := field(strategy, "depth").Say(); depth != "" && depth != "0" || field(strategy, "excludedIPs") != nil {
		c.Tell(d.place(strategy), "clients are taken from X-Forwarded-For: --client-from x-forwarded-for, with --trusted-proxy")
		c.Lose(d.place(strategy), "requests whose X-Forwarded-For has no address left count in one bucket there; here each client has its own")
	}
	if bits := field(strategy, "ipv6Subnet").Say(); bits != "" && bits != "0" {
		c.Lose(d.place(strategy), "ipv6Subnet %s: IPv6 addresses count one by one here; --client addr,/%s counts by networks", bits, bits)
	}
	p.Add(text, told, neutral.KeyCase{Set: r.set, By: by})
}
