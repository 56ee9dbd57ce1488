package match

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/network"
	"shadow/parse"
)

// Scopes tell which of several scopes requests are in, all at once: bit i of a mark is set for scope i. Each condition has
// a table from what a request shows to the bits of the scopes that this fits, those that do not ask among them; the bits
// of all conditions, joined by and, are the mark.
//
//	action login ──▶ 1 1 0 1
//	status 401   ──▶ 0 1 1 1
//	                 0 1 0 1
//
// Scopes are immutable; any number of goroutines may use them.
type Scopes struct {
	all      uint64 // one bit for each scope
	actions  nameBits
	methods  nameBits
	paths    patternBits
	prefixes patternBits
	regexps  patternBits
	hosts    patternBits
	ports    nameBits
	agents   patternBits
	values   valueBits
	classes  [request.ClassCount]uint64
	statuses [maxStatus + 1]uint64
	networks networkBits
	tiers    []uint64 // by tier; nil when they are not asked for

	busy []loadScope

	byClass, byStatus bool
	nginxPaths        bool
	portAt            int // in Record.Extra
	upstreamAt        int // likewise, of what stands for a host that is not logged; −1: no scope asks
	membership        *Tiers
	groups            []request.Group
	stated            uint64 // the scopes that are more than a part of groups
	extra             []string
}

// NewScopes compiles the scopes. tiers, which may be nil, are those that they name. extra is what is asked of the parser
// already; owners, which may be nil, tells whose networks are.
func NewScopes(scopes []request.Conditions, tiers *Tiers, extra []string, owners *network.Database) (*Scopes, error) {
	stated := uint64(1)<<len(scopes) - 1
	scopes, groups := request.Flatten(scopes)
	if len(scopes) > request.MaxScopes {
		return nil, fmt.Errorf("%d different scopes: at most %d", len(scopes), request.MaxScopes)
	}
	s := &Scopes{all: 1<<len(scopes) - 1, membership: tiers, groups: groups, stated: stated}
	s.actions = newNameBits(scopes, func(c *request.Conditions) []string { return c.Actions })
	s.methods = newNameBits(scopes, func(c *request.Conditions) []string { return c.Methods })
	prefixes := func(c *request.Conditions) []string { return c.Prefixes }
	s.prefixes, _ = newPatternBits(scopes, prefixes, func(text string) (func([]byte) bool, error) {
		return func(path []byte) bool { return len(path) >= len(text) && string(path[:len(text)]) == text }, nil
	})
	var errs [12]error
	s.paths, errs[0] = newPatternBits(scopes, func(c *request.Conditions) []string { return c.Paths }, newPath)
	s.regexps, errs[1] = newPatternBits(scopes, func(c *request.Conditions) []string { return c.Regexps }, newRegexp)
	s.hosts, errs[2] = newPatternBits(scopes, func(c *request.Conditions) []string { return c.Hosts }, newHost)
	errs[3] = s.addClasses(scopes)
	errs[4] = s.addStatuses(scopes)
	s.networks, errs[5] = newNetworkBits(scopes, owners)
	s.agents, errs[6] = newPatternBits(scopes, func(c *request.Conditions) []string { return c.Agents }, newRegexp)
	s.values, s.extra, errs[7] = newValueBits(scopes, extra)
	errs[8] = s.addPorts(scopes)
	errs[9] = s.addUpstreams(scopes)
	errs[10] = s.addBusy(scopes)
	errs[11] = plainBusy(scopes, groups)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return s, s.addTiers(scopes)
}

// addPorts fills the table of ports, where requests without one have the empty name.
func (s *Scopes) addPorts(scopes []request.Conditions) error {
	s.ports = newNameBits(scopes, func(c *request.Conditions) []string { return c.Ports })
	if !s.ports.asked() {
		return nil
	}
	if bits, ok := s.ports.bits[request.NoPort]; ok {
		s.ports.bits[""] = bits
	}
	s.portAt, s.extra = placeOf(parse.ServerPort, slices.Clip(s.extra))
	return tooMany(s.extra)
}

// addUpstreams asks for the upstream, where a value for hosts is one.
func (s *Scopes) addUpstreams(scopes []request.Conditions) error {
	s.upstreamAt = -1
	if slices.ContainsFunc(scopes, func(c request.Conditions) bool { return slices.ContainsFunc(c.Hosts, request.IsUpstream) }) {
		s.upstreamAt, s.extra = placeOf("proxy_upstream_name", slices.Clip(s.extra))
	}
	return tooMany(s.extra)
}

func newPath(text string) (func([]byte) bool, error) {
	g, err := NewGlob(text)
	return g.fits, err
}

func newRegexp(text string) (func([]byte) bool, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return re.Match, nil
}

// newHost returns a pattern for the whole of a host's name. Without wildcards, newTextGlob would take a part of it.
func newHost(text string) (func([]byte) bool, error) {
	g, err := newTextGlob(text)
	if !strings.ContainsAny(text, "*?") {
		g.pattern = intern.LowerASCII(nil, []byte(text))
	}
	return g.fits, err
}

// addClasses fills the table of classes.
func (s *Scopes) addClasses(scopes []request.Conditions) error {
	classes := newNameBits(scopes, func(c *request.Conditions) []string { return c.Classes })
	s.byClass = classes.asked()
	for c := range request.ClassCount {
		s.classes[c] = classes.of([]byte(c.String()))
	}
	for name := range classes.bits {
		if !slices.Contains(request.Classes(), name) {
			return fmt.Errorf("class %q: want one of %s", name, strings.Join(request.Classes(), ", "))
		}
	}
	return nil
}

// lastStatus is the highest that HTTP has (RFC 9110, 15). Logs may hold others, which --exclude can name.
const lastStatus = 599

// addStatuses fills the table of statuses.
func (s *Scopes) addStatuses(scopes []request.Conditions) error {
	texts := newNameBits(scopes, func(c *request.Conditions) []string { return c.Statuses })
	s.byStatus = texts.asked()
	for i := range s.statuses {
		s.statuses[i] = texts.rest
	}
	for text, bits := range texts.bits {
		first, n, err := parseStatus(text)
		if err == nil && first > lastStatus {
			err = fmt.Errorf("%q is no status of HTTP; want one from 100 to %d", text, lastStatus)
		}
		if err != nil {
			return err
		}
		for i := range n {
			s.statuses[first+i] |= bits
		}
	}
	return nil
}

// addTiers fills the table of tiers. Exempt clients are in no scope.
func (s *Scopes) addTiers(scopes []request.Conditions) error {
	tiers := newNameBits(scopes, func(c *request.Conditions) []string { return c.Tiers })
	for name := range tiers.bits {
		if name != request.DefaultTier && !s.membership.has(name) {
			return fmt.Errorf("tier %q: there is none", name)
		}
	}
	if s.membership == nil || !tiers.asked() && !slices.ContainsFunc(s.membership.tiers, func(t request.Tier) bool { return t.Exempt }) {
		return nil
	}
	for _, t := range s.membership.tiers {
		bits := tiers.of([]byte(t.Name))
		if t.Exempt {
			bits = 0
		}
		s.tiers = append(s.tiers, bits)
	}
	s.tiers = append(s.tiers, tiers.of([]byte(request.DefaultTier)))
	return nil
}

// byPath reports whether any scope asks for the path.
func (s *Scopes) byPath() bool { return s.paths.asked() || s.prefixes.asked() || s.regexps.asked() }

// TakeNginxPaths has conditions see paths as NginxURI makes them. It must be called before there is a Marker. A nil Scopes
// asks for nothing.
func (s *Scopes) TakeNginxPaths() {
	if s != nil {
		s.nginxPaths = true
	}
}

// Extra returns the names that must stand at the beginning of parse.Options.Extra.
func (s *Scopes) Extra() []string { return s.extra }

// Absent returns the values that scopes ask for, or for the lack of. A nil Scopes asks for nothing.
func (s *Scopes) Absent() *Values {
	if s == nil {
		return nil
	}
	return s.values.values
}

// ByHost reports whether any scope asks for the host. A nil Scopes asks for nothing.
func (s *Scopes) ByHost() bool { return s != nil && s.hosts.asked() }

// Lacks returns warnings about what scopes go by and a format does not have.
func (s *Scopes) Lacks(f *parse.Format) (texts []string) {
	if s == nil {
		return nil
	}
	for _, c := range []struct {
		asked bool
		field parse.Field
		name  string
	}{
		{s.methods.asked(), parse.FieldMethod, "the method"},
		{s.byPath(), parse.FieldPath, "the path"},
		{s.ByHost() && (s.upstreamAt < 0 || !f.HasExtra(s.upstreamAt)), parse.FieldHost, "the host"},
		{s.byClass || s.agents.asked(), parse.FieldAgent, "the user agent"},
		{s.byStatus, parse.FieldStatus, "the status"},
		{s.networks.asked, parse.FieldClient, "the address"},
	} {
		if c.asked && !f.Has(c.field) {
			texts = append(texts, c.name+" is not logged: no request fits the conditions of policies on it")
		}
	}
	if s.ports.asked() && !f.HasExtra(s.portAt) {
		texts = append(texts, "the port is not logged: conditions of policies on it fit no request, those with none all")
	}
	if s.values.user != 0 && !f.Has(parse.FieldUser) {
		texts = append(texts, "the user is not logged: every request is one without it")
	}
	if s.tiers != nil {
		texts = append(texts, s.membership.lacks(f)...)
	}
	return texts
}

// Unseen returns warnings about what tiers go by and no request of an input had: seen are the fields of those that
// were.
func (s *Scopes) Unseen(f *parse.Format, seen uint64) []string {
	if s == nil || s.tiers == nil {
		return nil
	}
	return s.membership.unseen(f, seen)
}

// nameBits is one condition of all scopes, on something that has a name: for each name that a scope asks for, the bits of
// the scopes that it fits.
type nameBits struct {
	bits map[string]uint64 // the scopes that do not ask among them
	rest uint64            // of any other name: the scopes that do not ask
}

// newNameBits makes the table of a condition, whose values each scope tells.
func newNameBits(scopes []request.Conditions, values func(*request.Conditions) []string) nameBits {
	t := nameBits{bits: map[string]uint64{}}
	for i := range scopes {
		if len(values(&scopes[i])) == 0 {
			t.rest |= 1 << i
		}
		for _, name := range values(&scopes[i]) {
			t.bits[name] |= 1 << i
		}
	}
	for name := range t.bits {
		t.bits[name] |= t.rest
	}
	return t
}

// asked reports whether any scope has the condition.
func (t *nameBits) asked() bool { return len(t.bits) > 0 }

func (t *nameBits) of(name []byte) uint64 {
	if bits, ok := t.bits[string(name)]; ok {
		return bits
	}
	return t.rest
}

// patternBits is one condition of all scopes, on a text that patterns fit.
type patternBits struct {
	fits []scopePattern
	rest uint64 // the scopes that do not ask
}

type scopePattern struct {
	bit  uint64 // of the scope
	fits func(text []byte) bool
}

// newPatternBits compiles the patterns of a condition, whose texts each scope tells.
func newPatternBits(scopes []request.Conditions, texts func(*request.Conditions) []string, compile func(string) (func([]byte) bool, error)) (patternBits, error) {
	var t patternBits
	for i := range scopes {
		if len(texts(&scopes[i])) == 0 {
			t.rest |= 1 << i
		}
		for _, text := range texts(&scopes[i]) {
			fits, err := compile(text)
			if err != nil {
				return t, err
			}
			t.fits = append(t.fits, scopePattern{1 << i, fits})
		}
	}
	return t, nil
}

// asked reports whether any scope has the condition.
func (t *patternBits) asked() bool { return len(t.fits) > 0 }

func (t *patternBits) of(text []byte) uint64 {
	bits := t.rest
	for i := range t.fits {
		if p := &t.fits[i]; bits&p.bit == 0 && p.fits(text) {
			bits |= p.bit
		}
	}
	return bits
}
