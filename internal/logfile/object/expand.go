package object

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// Expand calls each for every object that a name stands for, in the order of the keys:
//
//   - a name that ends in "/", or in the bucket, stands for all objects whose keys begin with it; what is hidden, by a
//     leading dot of any part behind the name, is left out;
//   - a pattern stands for what it matches, unless an object has that very name;
//   - any other name stands for itself.
//
// It fails when a name stands for nothing. The store is asked page by page, and nothing is kept of what is not called for.
func (s *Store) Expand(ctx context.Context, name string, each func(Info) error) error {
	n := Parse(name)
	if n.Bucket == "" {
		return fmt.Errorf("%s: names no bucket", name)
	}
	if !n.IsPattern() && !n.IsPrefix() {
		info, err := s.Stat(ctx, name)
		if err != nil {
			return s.missing(ctx, n, err)
		}
		return each(info)
	}
	if _, err := path.Match(n.Key, ""); err != nil {
		return fmt.Errorf("%s: is no pattern: %w", name, err)
	}
	x := expansion{store: s, name: n}
	if err := x.list(ctx, each); err != nil {
		return err
	}
	if !x.found {
		return x.nothing()
	}
	return nil
}

// An expansion goes through a listing.
type expansion struct {
	store  *Store
	name   Name
	seen   int  // objects listed
	hidden int  // of these
	found  bool // whether any is meant
}

// list asks for all pages.
func (x *expansion) list(ctx context.Context, each func(Info) error) error {
	b, err := x.store.bucketOf(ctx, x.name)
	if err != nil {
		return err
	}
	if x.name.IsPattern() { // which may be the name of an object: then it is no pattern
		if found, err := x.exact(ctx, b, each); found || err != nil {
			return err
		}
	}
	delimiter := ""
	if x.name.isFlat() {
		delimiter = "/"
	}
	var from []byte
	for first := true; first || from != nil; first = false {
		var page []Listed
		err := x.store.try(ctx, b, func(ctx context.Context) (err error) {
			page, from, err = b.Page(ctx, x.name.prefix(), delimiter, from)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		for _, l := range page {
			x.seen++
			if !x.wants(l.Key) {
				continue
			}
			x.found = true
			if err := each(x.store.learn(x.name, l)); err != nil {
				return err
			}
		}
	}
	return nil
}

// exact looks for an object that has the pattern as its name.
func (x *expansion) exact(ctx context.Context, b Bucket, each func(Info) error) (found bool, err error) {
	var page []Listed
	err = x.store.try(ctx, b, func(ctx context.Context) (err error) {
		page, _, err = b.Page(ctx, x.name.Key, "", nil)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("%s: %w", x.name, err)
	}
	for _, l := range page {
		if l.Key == x.name.Key {
			x.found = true
			return true, each(x.store.learn(x.name, l))
		}
	}
	return false, nil
}

// wants reports whether an object that was listed is meant.
func (x *expansion) wants(key string) bool {
	if strings.HasSuffix(key, "/") { // a folder, as some tools make them
		return false
	}
	if x.name.IsPattern() {
		return x.name.matches(key)
	}
	for part := range strings.SplitSeq(key[len(x.name.prefix()):], "/") {
		if strings.HasPrefix(part, ".") {
			x.hidden++
			return false
		}
	}
	return true
}

// nothing says why a name stands for nothing.
func (x *expansion) nothing() error {
	switch {
	case strings.Contains(x.name.Key, "**"):
		return fmt.Errorf(`%s: no object matches; "**" is no more than "*": end the name in "/" to read all below it`, x.name)
	case x.name.IsPattern():
		return fmt.Errorf("%s: none of the %d objects whose names begin with %s matches",
			x.name, x.seen, x.name.WithKey(x.name.prefix()))
	case x.hidden > 0:
		return fmt.Errorf("%s: no objects there but %d hidden ones", x.name, x.hidden)
	}
	return fmt.Errorf("%s: no object has a name that begins so", x.name)
}

// missing says more of a name for which there is no object: whether it is a folder.
func (s *Store) missing(ctx context.Context, n Name, err error) error {
	below := n.WithKey(n.Key + "/")
	if b, none := s.bucketOf(ctx, n); none == nil && isMissing(err) {
		if page, _, none := b.Page(ctx, below.Key, "/", nil); none == nil && len(page) > 0 {
			return fmt.Errorf("%s: there is no such object; %s names all below it", n, below)
		}
	}
	return fmt.Errorf("%s: %w", n, err)
}
