package limit

// A Spec is one limit as people write it: an algorithm with its numbers. Specs are comparable, and
// Parse(s.String()) == s.
type Spec struct {
	Algorithm string // "token", "leaky", "window" …
	Count     int64  // requests
	Period    Time   // per this long
	Options   string // the rest in canonical form, "burst=10,initial=3"; "" when there is none
}
