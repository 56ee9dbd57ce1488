package match

import "hash/maphash"

// A Matcher finds the action of requests, for one goroutine. It remembers what it found, so that rules cost nothing
// on paths that come often: a table of fixed size in which a new path takes the place of an old one.
//
// A place holds 64 bits of hash and no path. The hash is keyed with a secret, so nobody can write paths that share
// one, and by chance two of a billion do with a probability of one in forty.
type Matcher struct {
	actions *Actions
	notHTTP int32 // id + 1; 0 until there is one
	places  [matcherPlaces]place
	buf     []byte // room for a name
}

const matcherPlaces = 1 << 13 // 128 KiB

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
		return m.idOfNotHTTP()
	}
	path := PathOf(target)
	h := maphash.Bytes(pathSeed, path)
	if m.actions.methods {
		h = h*31 ^ maphash.Bytes(pathSeed, method)
	}
	p := &m.places[h%matcherPlaces]
	if p.hash != h || p.id == 0 {
		id := m.find(method, path)
		m.actions.note(path, id)
		*p = place{hash: h, id: id + 1}
	}
	return p.id - 1
}

// find asks the rules, then the path.
func (m *Matcher) find(method, path []byte) int32 {
	for i := range m.actions.rules {
		if r := &m.actions.rules[i]; r.fits(method, path) {
			return r.id
		}
	}
	m.buf = appendAction(m.buf[:0], path)
	if m.buf[0] != '/' {
		return m.actions.dict.ID(m.buf) // static and the like, of which there are few
	}
	return m.actions.Named(m.buf)
}

func (m *Matcher) idOfNotHTTP() int32 {
	if m.notHTTP == 0 {
		m.notHTTP = m.actions.dict.ID([]byte(NotHTTPAction)) + 1
	}
	return m.notHTTP - 1
}
