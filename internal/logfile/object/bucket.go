package object

import (
	"context"
	"io"
	"time"
)

// An Info holds what a store says of an object.
type Info struct {
	Name     string // the whole URL
	Size     int64  // bytes
	Modified time.Time
	Version  string // another one when the content is: an ETag, or a generation; "": the store does not say
}

// A Bucket does what the client of a store does. It tries once: the Store repeats.
type Bucket interface {
	// Page returns some of the objects whose keys begin with prefix, in the order of these, and where to go on: nil if that
	// was all. With a delimiter what has it behind the prefix is left out.
	Page(ctx context.Context, prefix, delimiter string, from []byte) (all []Listed, next []byte, err error)

	// Stat returns one object.
	Stat(ctx context.Context, key string) (Listed, error)

	// Open reads n bytes of a version, and says which one it reads.
	Open(ctx context.Context, key, version string, offset, n int64) (io.ReadCloser, Listed, error)

	// Explain says what is wrong, and what to do about it. again reports whether the same may go well at another time.
	// What is not there is ErrMissing, what is not the version that was asked for ErrChanged.
	Explain(err error) (text error, again bool)
}

// Listed is an object of a Bucket.
type Listed struct {
	Key      string
	Size     int64
	Modified time.Time
	Version  string
}
