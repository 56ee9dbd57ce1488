package match

import "shadow/request"

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
