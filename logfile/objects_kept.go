package logfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"shadow/logfile/object"
)

// Objects that are no logs: what this program keeps in a store.

// An Object is one that is no log: it may be read at any place, and is the version that was found.
type Object struct{ info object.Info }

// Name is that of the object.
func (o Object) Name() string { return o.info.Name }

// Below is what the key has behind that of a prefix.
func (o Object) Below(prefix string) string {
	return strings.TrimPrefix(object.Path(o.info.Name), object.Path(prefix))
}

// Size is how many bytes it has.
func (o Object) Size() int64 { return o.info.Size }

// ReadAt asks for a range.
func (o Object) ReadAt(p []byte, at int64) (int, error) { return objects.ReadAt(o.info, p, at) }

// errEnough ends a listing.
var errEnough = errors.New("enough")

// EachObject calls each for the objects below a prefix, in the order of their keys, until that returns false.
func EachObject(prefix string, each func(Object) (more bool)) error {
	err := objects.Expand(context.Background(), prefix, func(info object.Info) error {
		if !each(Object{info}) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// ObjectWriter returns what makes objects of files, by what stands behind a prefix in their names. Each of them is there
// whole or not at all.
func ObjectWriter(ctx context.Context, prefix string) (put func(below string, content io.ReaderAt, size int64) error, err error) {
	n := object.Parse(prefix)
	switch {
	case n.Bucket == "":
		return nil, fmt.Errorf("%s: names no bucket", prefix)
	case n.IsPattern():
		return nil, fmt.Errorf("%s: is a pattern; want a place", prefix)
	case n.Key != "" && !strings.HasSuffix(n.Key, "/"):
		n.Key += "/"
	}
	return func(below string, content io.ReaderAt, size int64) error {
		return objects.Put(ctx, n.WithKey(n.Key+below), content, size)
	}, objects.Reach(ctx, n)
}

// ObjectPath is the name of an object without its options.
func ObjectPath(name string) string { return object.Path(name) }

// ObjectFolder is the name of the objects below a name, with its options behind that.
func ObjectFolder(name string) string {
	n := object.Parse(name)
	if n.Key != "" && !strings.HasSuffix(n.Key, "/") {
		n.Key += "/"
	}
	return n.String()
}
