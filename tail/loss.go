package tail

import "fmt"

// What is lost is told when it is known, counted, and told once more at the end, by an error.

// A LossError reports that a tail has come to its end without having read all that was to be read.
type LossError struct{ Files int }

func (e *LossError) Error() string {
	if e.Files == 1 {
		return "the rest of a file that was being read was never found: requests are missing"
	}
	return fmt.Sprintf("the rest of %d files that were being read was never found: requests are missing", e.Files)
}

// lossError is the error to end with, nil if nothing was lost.
func (t *Tail) lossError() error {
	if t.losses == 0 {
		return nil
	}
	return &LossError{t.losses}
}
