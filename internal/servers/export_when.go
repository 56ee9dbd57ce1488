package servers

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/request"
)

// Which requests a limit is for, as every server can be told it: clauses of which one must fit, each made of tests that
// must all fit.

// A test asks whether a request shows one of some values, or none of them.
type test struct {
	kind   string // as in request.Conditions.Each: path (the whole of it), prefix, regexp, host, method, agent, …
	values []string
	not    bool
}

type clause []test

func alone(t test) clause { return clause{t} }

// tried returns what f makes of each value, unless it has an error.
func tried[T, U any](values []T, f func(T) (U, error)) (all []U, err error) {
	for _, v := range values {
		one, err := f(v)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// said are clauses in the words of a server, each with its tests joined.
func said(when []clause, of func(test) (string, error), and string) ([]string, error) {
	return tried(when, func(c clause) (string, error) {
		tests, err := tried(c, of)
		return strings.Join(tests, and), err
	})
}

// plainValues are conditions whose values servers take without quotes.
var plainValues = map[string]func() *regexp.Regexp{
	"method": lazy.Regexp(`^[A-Za-z0-9_-]+$`), "host": lazy.Regexp(`^[A-Za-z0-9._*?:\[\]-]+$`), "asn": lazy.Regexp(`^(?i:as)?[0-9]+$`),
}

// mostClauses is the most clauses that there may be.
const mostClauses = 64

var errClauses = errors.New("its conditions are too many to be written one by one")

// clausesOf takes conditions apart; nil: all requests.
func clausesOf(c request.Conditions) ([]clause, error) {
	all, err := fitting(c, false)
	if err != nil {
		return nil, err
	}
	if all = simplified(all); len(all) == 0 {
		return nil, errors.New("no request can fit its conditions")
	}
	if len(all[0]) == 0 {
		return nil, nil
	}
	return all, nil
}

// simplified are clauses without tests that say nothing, and without clauses that another one has within it.
func simplified(all []clause) (few []clause) {
	var plain []clause
	for _, c := range all {
		if c, ok := c.plain(); ok {
			plain = append(plain, c)
		}
	}
	slices.SortStableFunc(plain, func(a, b clause) int { return len(a) - len(b) })
	for _, c := range plain {
		if !slices.ContainsFunc(few, func(wider clause) bool {
			return !slices.ContainsFunc(wider, func(t test) bool { return !c.has(t) })
		}) {
			few = append(few, c)
		}
	}
	return few
}

// segment takes apart two clauses that differ in a path alone: /a in one, what begins with /a/ in the other.
func segment(when []clause) (common clause, path string, ok bool) {
	if len(when) != 2 {
		return nil, "", false
	}
	for i, c := range when {
		at := slices.IndexFunc(c, func(t test) bool { return t.kind == "prefix" && !t.not && len(t.values) == 1 })
		if at < 0 || len(c) != len(when[1-i]) {
			continue
		}
		path, below := strings.CutSuffix(c[at].values[0], "/")
		common = slices.Delete(slices.Clone(c), at, at+1)
		whole := append(slices.Clip(common), test{kind: "path", values: []string{path}})
		if below && !slices.ContainsFunc(whole, func(t test) bool { return !when[1-i].has(t) }) {
			return common, path, true
		}
	}
	return nil, "", false
}

// one are clauses as one, where an expression for paths says what two of them do.
func one(when []clause) []clause {
	if common, path, ok := segment(when); ok {
		return []clause{append(slices.Clip(common), test{kind: "regexp", values: []string{"^" + regexp.QuoteMeta(path) + "(/.*)?$"}})}
	}
	return when
}

// disjoint reports whether no request fits two sets of clauses, as their hosts differ.
func disjoint(a, b []clause) bool {
	hosts := func(c clause) (all []string) {
		for _, t := range c {
			if t.kind == "host" && !t.not && !slices.ContainsFunc(t.values, isMask) {
				all = t.values
			}
		}
		return all
	}
	for _, x := range a {
		for _, y := range b {
			mine, theirs := hosts(x), hosts(y)
			if mine == nil || theirs == nil || slices.ContainsFunc(mine, func(h string) bool { return slices.Contains(theirs, h) }) {
				return false
			}
		}
	}
	return len(a) > 0 && len(b) > 0
}

// allDisjoint reports whether each two of some settings are for other hosts.
func allDisjoint(all []setting) bool {
	for i, s := range all {
		if slices.ContainsFunc(all[:i], func(before setting) bool { return !disjoint(s.when, before.when) }) {
			return false
		}
	}
	return true
}

func (t test) opposite() test {
	t.not = !t.not
	return t
}

func (c clause) has(t test) bool {
	return slices.ContainsFunc(c, func(u test) bool { return u.kind == t.kind && u.not == t.not && slices.Equal(u.values, t.values) })
}

// plain is a clause in which methods, whole paths and hosts stand once; false if no request can fit it.
func (c clause) plain() (short clause, ok bool) {
	for _, t := range c {
		if !short.has(t) {
			short = append(short, t)
		}
	}
	for _, kind := range []string{"method", "path", "host"} {
		of := func(t test) bool { return t.kind == kind && !slices.ContainsFunc(t.values, isMask) }
		i := slices.IndexFunc(short, func(t test) bool { return of(t) && !t.not })
		if i < 0 {
			continue
		}
		values := slices.Clone(short[i].values)
		for _, t := range short {
			if of(t) {
				values = slices.DeleteFunc(values, func(v string) bool { return slices.Contains(t.values, v) == t.not })
			}
		}
		if len(values) == 0 {
			return nil, false
		}
		first := short[i]
		first.values = values
		short = append(slices.DeleteFunc(short, of), first)
	}
	return short, !slices.ContainsFunc(short, func(t test) bool { return short.has(t.opposite()) })
}

// fitting are the clauses of conditions, or of what does not fit them.
func fitting(c request.Conditions, not bool) (all []clause, err error) {
	var factors [][]clause // of each, one clause must fit
	c.Each(func(key string, values *[]string) {
		if len(*values) == 0 || err != nil {
			return
		}
		var tests []test
		tests, err = testsOf(key, *values)
		if key == "without" { // all must be lacking
			factors = append(factors, mapped.Of(tests, func(t test) []clause { return []clause{{t}} })...)
			return
		}
		factors = append(factors, mapped.Of(tests, alone))
	})
	var anyOf []clause
	for _, inner := range c.Any {
		more, bad := fitting(inner, false)
		anyOf, err = append(anyOf, more...), errors.Join(err, bad)
	}
	if len(c.Any) > 0 {
		factors = append(factors, anyOf)
	}
	for _, inner := range c.Not {
		more, bad := fitting(inner, true)
		factors, err = append(factors, more), errors.Join(err, bad)
	}
	if err != nil {
		return nil, err
	}
	if not {
		return opposite(factors)
	}
	return product(factors)
}

// product are the clauses that fit when one of each factor does.
func product(factors [][]clause) ([]clause, error) {
	all := []clause{{}}
	for _, factor := range factors {
		var longer []clause
		for _, a := range all {
			longer = mapped.Add(longer, factor, func(b clause) clause { return slices.Concat(a, b) })
		}
		if all = longer; len(all) > mostClauses {
			return nil, errClauses
		}
	}
	return all, nil
}

// opposite are the clauses that fit when no clause of some factor does.
func opposite(factors [][]clause) (all []clause, err error) {
	for _, factor := range factors {
		var negated [][]clause
		for _, c := range factor {
			negated = append(negated, mapped.Of(c, func(t test) clause { return clause{t.opposite()} }))
		}
		more, bad := product(negated)
		all, err = append(all, more...), errors.Join(err, bad)
	}
	if len(all) > mostClauses {
		return nil, errClauses
	}
	return all, err
}

// unexported says of conditions why no server has them.
var unexported = map[string]string{
	"class": "the class of an agent", "status": "the status of the answer before there is one",
	"with": "what a field, header or cookie is",
}

// testsOf are the tests of a condition, of which one must fit.
func testsOf(key string, values []string) ([]test, error) {
	if at := slices.IndexFunc(values, hasControl); at >= 0 {
		return nil, fmt.Errorf("%s %q has a control character", key, values[at])
	}
	if plain := plainValues[key]; plain != nil {
		if at := slices.IndexFunc(values, func(v string) bool { return !plain().MatchString(v) }); at >= 0 {
			return nil, fmt.Errorf("%s %q is none that servers know", key, values[at])
		}
	}
	switch key {
	case "path":
		return globTests(values), nil
	case "host":
		if named := slices.DeleteFunc(slices.Clone(values), request.IsUpstream); len(named) > 0 {
			values = named // a server knows the host
		}
		return []test{{kind: key, values: mapped.Of(values, strings.ToLower)}}, nil
	case "network":
		if at := slices.IndexFunc(values, isOwner); at >= 0 {
			return nil, fmt.Errorf("it has no condition on who runs a network (%s)", values[at])
		}
		return []test{{kind: key, values: values}}, nil
	case "without":
		return mapped.Of(values, func(v string) test { return test{kind: key, values: []string{v}} }), nil
	case "prefix", "regexp", "method", "agent", "asn", "country":
		return []test{{kind: key, values: values}}, nil
	case "port":
		return nil, errors.New("conditions on ports are not exported")
	}
	return nil, fmt.Errorf("no server has a condition on %s", cmp.Or(unexported[key], key))
}

func hasControl(v string) bool {
	return strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// isOwner reports whether a condition on networks names who runs one, and not its addresses.
func isOwner(v string) bool {
	_, notPrefix := netip.ParsePrefix(v)
	_, notAddress := netip.ParseAddr(v)
	return notPrefix != nil && notAddress != nil
}

// globTests are the tests of paths, some of which may be globs.
func globTests(values []string) (tests []test) {
	whole := slices.DeleteFunc(slices.Clone(values), isMask)
	if len(whole) > 0 {
		tests = append(tests, test{kind: "path", values: whole})
	}
	if len(whole) < len(values) {
		globs := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !isMask(v) })
		tests = append(tests, test{kind: "regexp", values: mapped.Of(globs, pathPattern)})
	}
	return tests
}

// pathPattern is a glob for paths as a regular expression.
func pathPattern(glob string) string {
	var b strings.Builder
	b.WriteByte('^')
	for rest := glob; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "/**/"): // any number of segments, or none
			b.WriteString("/(.*/)?")
			rest = rest[4:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		default:
			n := strings.IndexAny(rest[1:]+"*", "*?/") + 1
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			rest = rest[n:]
		}
	}
	return b.String() + "$"
}

// hostPattern is a mask of hosts as a regular expression.
func hostPattern(mask string) string {
	return "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(mask)) + "$"
}

// isMask reports whether a host is more than a name, or a path is a glob.
func isMask(host string) bool { return strings.ContainsAny(host, "*?") }

// isOddMask reports whether a host is a mask other than *.NAME.
func isOddMask(host string) bool { return isMask(strings.TrimPrefix(host, "*.")) }

// names is the error of hosts that are masks, of a server that has conditions on names.
func (t test) names() error {
	if at := slices.IndexFunc(t.values, isMask); t.kind == "host" && at >= 0 {
		return fmt.Errorf("it has no condition on masks of hosts, but on names: %s", t.values[at])
	}
	return nil
}

// lacking is the header that a test wants to be absent, or with not to be there; false if it is no such test.
func (t test) lacking() (header string, ok bool) {
	if t.kind != "without" {
		return "", false
	}
	p, err := request.ParsePart(t.values[0])
	return headerText(p.Name), err == nil && p.Kind == request.PartHeader
}

// cannot is the error of a condition that a server does not have.
func (t test) cannot() error {
	what := map[string]string{
		"network": "networks", "asn": "autonomous systems", "country": "countries", "agent": "user agents", "host": "hosts",
		"method": "methods", "path": "paths", "prefix": "paths", "regexp": "expressions for paths",
	}[t.kind]
	if t.kind == "without" {
		what = "the absence of " + t.values[0]
	}
	if t.not {
		return fmt.Errorf("it has no condition on requests without: %s %s", t.kind, strings.Join(t.values, ", "))
	}
	return fmt.Errorf("it has no condition on %s", what)
}
