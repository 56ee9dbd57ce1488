package limit

// A limit whose state lies where several hosts reach it is judged there, by a script that does what the limiter does.
// The limiter stays the truth: it hands the script the numbers that it counts with itself.

// A Sharer is a Limiter that a script can stand in for.
type Sharer interface {
	Limiter

	// Sharing returns how, or why it cannot be done.
	Sharing() (Sharing, error)
}

// Sharing holds what a script needs to know of a limit.
type Sharing struct {
	Script  string  // which one
	Numbers []int64 // in the order that the script states
	Step    Time    // the script wants times relative to a multiple of this; 0: to any moment
	Unit    Time    // of State.At; 0: a microsecond
	Level   bool    // whether State.Level is a time
	Most    uint64  // no sum or product of the script's exceeds this, nor falls below its negative

	Cooldown Time // how long a key is kept out after a refusal; 0: not at all
	Extend   bool // whether requests in that time extend it
}

// Bit returns a choice as scripts take it: 1 for true.
func Bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
