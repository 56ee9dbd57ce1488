package match

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
	"shadow/parse"
)

const (
	maxRules       = 10_000
	maxPathActions = 50_000 // actions named after paths; with the rules, ids fit into 16 bits
)

// Actions tells which action a request belongs to: the first rule that fits, else what the path says (see
// appendAction). Any number of matchers may use it at once.
//
// At most 50,000 actions take their names from paths, so that a scanner cannot make more; the requests of further ones
// are "(other)". Who comes first has a name: with several matchers at work that can differ from run to run.
type Actions struct {
	dict    *intern.Dict
	rules   []compiledRule
	methods bool     // whether any rule asks for the method
	asked   []string // segments of a path that is an action of its own, see Ask; nil: none is

	mu    sync.Mutex
	paths int          // actions that took their names from paths
	other atomic.Int32 // id of otherAction + 1; 0 as long as nothing went there
	noted *intern.Dict // see NotePaths; nil: none are wanted
}

// A compiledRule is a Rule ready to match.
type compiledRule struct {
	id      int32
	methods []string
	prefix  string
	glob    *Glob
	regexp  *regexp.Regexp
}

// NewActions compiles the rules. The names of actions go to dict, those of the rules at once and in their order.
func NewActions(rules []request.Rule, dict *intern.Dict) (*Actions, error) {
	if len(rules) > maxRules {
		return nil, fmt.Errorf("%d action rules: at most %d", len(rules), maxRules)
	}
	a := &Actions{dict: dict}
	for i, r := range rules {
		c, err := compile(r)
		if err != nil {
			return nil, fmt.Errorf("action rule %d (%q): %w", i+1, r.Name, err)
		}
		c.id = dict.ID([]byte(r.Name))
		a.rules = append(a.rules, c)
		a.methods = a.methods || len(r.Methods) > 0
	}
	return a, nil
}

func compile(r request.Rule) (c compiledRule, err error) {
	c = compiledRule{methods: r.Methods, prefix: r.Prefix}
	if r.Name == "" {
		return c, fmt.Errorf("it has no name")
	}
	if r.Glob != "" {
		g, err := NewGlob(r.Glob)
		if err != nil {
			return c, err
		}
		c.glob = &g
	}
	if r.Regexp != "" {
		c.regexp, err = regexp.Compile(r.Regexp)
	}
	return c, err
}

// fits reports whether a request belongs to the rule's action.
func (c *compiledRule) fits(method, path []byte) bool {
	return (len(c.methods) == 0 || slices.Contains(c.methods, string(method))) &&
		len(path) >= len(c.prefix) && string(path[:len(c.prefix)]) == c.prefix &&
		(c.glob == nil || c.glob.fits(path)) &&
		(c.regexp == nil || c.regexp.Match(path))
}

// Other returns the id of the action "(other)", which holds the requests whose paths came when 50,000 actions had
// been named after paths; false if there were none.
func (a *Actions) Other() (int32, bool) {
	id := a.other.Load() - 1
	return id, id >= 0
}

// Named returns the id of an action named after a path, which is founded if there is room for it.
func (a *Actions) Named(name []byte) int32 {
	if id, ok := a.dict.Find(name); ok {
		return id
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if id, ok := a.dict.Find(name); ok {
		return id
	}
	if a.paths == maxPathActions {
		a.other.Store(a.dict.ID([]byte(otherAction)) + 1)
		return a.other.Load() - 1
	}
	a.paths++
	return a.dict.ID(name)
}

// A Matcher finds the action of requests, for one goroutine. It remembers what it found, so that rules cost nothing
// on paths that come often: a table of fixed size in which a new path takes the place of an older one, of two that
// share a hash in part. Targets are looked up without their query; that is nearly always the path.
//
// A place holds 64 bits of hash and no path. The hash is keyed with a secret, so no client can write paths that share
// one, and by chance two of a billion do with a probability of one in forty.
type Matcher struct {
	actions *Actions
	notHTTP int32                   // id + 1; 0 until there is one
	places  [matcherPlaces][2]place // by hash, what came last first
	buf     []byte                  // room for a name
}

const matcherPlaces = 1 << 12 // 128 KiB

// pathSeed is the secret of the hashes of paths.
var pathSeed = maphash.MakeSeed()

// A place remembers the action of one method and path.
type place struct {
	hash uint64
	id   int32 // + 1; 0 is free
}

// NewMatcher returns a matcher for one goroutine.
func (a *Actions) NewMatcher() *Matcher {
	return &Matcher{actions: a, buf: make([]byte, 0, maxSegment+16)}
}

// IsHTTP reports whether a request is HTTP. One without a method is not, unless its target is a path: there are formats
// that log no method.
func IsHTTP(method, target []byte) bool {
	return len(method) > 0 || len(target) > 0 && target[0] == '/'
}

// ID returns the id of a request's action. It allocates only for an action that is new.
func (m *Matcher) ID(method, target []byte) int32 {
	if !IsHTTP(method, target) {
		if m.notHTTP == 0 {
			m.notHTTP = m.actions.dict.ID([]byte(NotHTTPAction)) + 1
		}
		return m.notHTTP - 1
	}
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	h := maphash.Bytes(pathSeed, target)
	if m.actions.methods {
		h = h*31 ^ maphash.Bytes(pathSeed, method)
	}
	p := &m.places[h%matcherPlaces]
	if p[0].hash != h || p[0].id == 0 {
		if p[0], p[1] = p[1], p[0]; p[0].hash != h || p[0].id == 0 {
			path := PathOf(target)
			p[0] = place{hash: h, id: m.find(method, path) + 1}
			m.actions.note(path, p[0].id-1)
		}
	}
	return p[0].id - 1
}

// Of returns the id of a record's action. The route that a server logged stands in the place of its path, unless a rule
// fits.
func (m *Matcher) Of(r *parse.Record) int32 {
	if r.Route == nil {
		return m.ID(r.Method, r.Path)
	}
	path := PathOf(r.Path)
	for i := range m.actions.rules {
		if rule := &m.actions.rules[i]; rule.fits(r.Method, path) {
			return rule.id
		}
	}
	id := m.actions.Named(r.Route[:min(len(r.Route), maxRoute)])
	m.actions.note(path, id)
	return id
}

// find asks the rules, then the path.
func (m *Matcher) find(method, path []byte) int32 {
	for i := range m.actions.rules {
		if r := &m.actions.rules[i]; r.fits(method, path) {
			return r.id
		}
	}
	m.buf = m.actions.appendAsked(m.buf[:0], path)
	if len(m.buf) == 0 {
		m.buf = appendAction(m.buf, path)
	}
	if m.buf[0] != '/' {
		return m.actions.dict.ID(m.buf) // static and the like, of which there are few
	}
	return m.actions.Named(m.buf)
}
