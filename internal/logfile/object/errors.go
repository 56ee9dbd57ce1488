package object

import (
	"errors"
	"fmt"
)

// An Error says why an object could not be read to its end.
type Error struct {
	Name   string
	Offset int64 // the byte at which reading ended
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("cannot be read on from byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var (
	// ErrChanged says that an object is another one than was found.
	ErrChanged = errors.New("the object was replaced or deleted after shadow had found it; " +
		"run again when no program writes to it")

	// ErrMissing says that there is no object of a name.
	ErrMissing = errors.New("there is no such object")
)

func isMissing(err error) bool { return errors.Is(err, ErrMissing) }
