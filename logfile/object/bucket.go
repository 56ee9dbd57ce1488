package object

import (
	"context"
	"io"
	"time"
)

// An Info is what a store says of an object.
type Info struct {
	Name     string // the whole URL
	Size     int64  // bytes
	Modified time.Time
	Version  string // another one when the content is: an ETag, or a generation; "": the store does not say
}

// A bucket is what the client of a store does. It tries once: the Store repeats.
type bucket interface {
	// page returns some of the objects whose keys begin with prefix, in the order of these, and where to go on: nil if that
	// was all. With a delimiter what has it behind the prefix is left out.
	page(ctx context.Context, prefix, delimiter string, from []byte) (all []listed, next []byte, err error)

	// stat returns one object.
	stat(ctx context.Context, key string) (listed, error)

	// open reads n bytes of a version, and says which one it reads.
	open(ctx context.Context, key, version string, offset, n int64) (io.ReadCloser, listed, error)

	// create writes an object, which is there once the writer is closed, unless ctx was cancelled before that.
	create(ctx context.Context, key string) (io.WriteCloser, error)

	// explain says what is wrong, and what to do about it. again reports whether the same may go well at another time.
	explain(err error) (text error, again bool)
}

// listed is an object of a bucket.
type listed struct {
	key      string
	size     int64
	modified time.Time
	version  string
}
