package logfile

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Siblings looks for the files that belong to a log while log rotation may be renaming and compressing them:
//
//	who has the name → which files lie beside it → what begins each of them with → which files lie beside it
//	                   └──────────────────── the same ones: the look is settled ───────────────────────┘
//
// A look that is not settled is repeated a few times. What a file begins with is remembered as long as its inode, size and
// time stay the same, so another look reads only what is new. The zero value is ready.
type Siblings struct{ seen map[version]Sibling }

// A version identifies a file until it is written to.
type version struct {
	fileKey
	size, modified int64
}

// A fileKey tells files apart, whatever their names.
type fileKey struct {
	Node
	path string // where there are no inodes
}

// How often a look is repeated, and how long it waits before.
const (
	looks        = 20
	betweenLooks = time.Millisecond
)

// Of returns the files that may belong to a log, oldest first, and reports whether the look is settled. The file that has
// the name is not among them.
func (s *Siblings) Of(name string) (all []Sibling, settled bool) {
	all, _, settled = s.settle(name, func() []string { return pathsBeside(name) })
	sortByAge(all)
	return all, settled
}

// OfSeries returns the files of a series but for the current one, oldest first, and reports whether the look is settled.
func (s *Siblings) OfSeries(of Series, current string) (all []Sibling, settled bool) {
	all, _, settled = s.settle(current, of.paths)
	slices.SortStableFunc(all, func(x, y Sibling) int { return strings.Compare(WhenOf(x.Path), WhenOf(y.Path)) })
	return all, settled
}

// WithCurrent returns what Of does, and behind it the file that has the name, if there is one.
func (s *Siblings) WithCurrent(name string) (all []Sibling, settled bool) {
	all, current, settled := s.settle(name, func() []string { return pathsBeside(name) })
	if sortByAge(all); current != nil {
		all = append(all, *current)
	}
	return all, settled
}

// Forget frees what is remembered.
func (s *Siblings) Forget() { s.seen = nil }

// settle looks until it is settled, or was tried for long.
func (s *Siblings) settle(name string, list func() []string) (all []Sibling, current *Sibling, settled bool) {
	for try := range looks {
		if try > 0 {
			time.Sleep(betweenLooks)
		}
		l := lookout{of: s, seen: map[version]Sibling{}, files: map[fileKey]bool{}, whole: true}
		l.take(name, true) // before the others: what is renamed in between is found under one name or the other
		paths := list()
		for _, path := range paths {
			l.take(path, false)
		}
		s.seen = l.seen
		for i := range l.all {
			r := &l.all[i]
			r.Beside = r.Compressed && IsCompressed(r.Path) && slices.Contains(paths, strings.TrimSuffix(r.Path, filepath.Ext(r.Path)))
		}
		all, current = l.all, l.current
		if l.whole && l.isStill(list()) {
			return all, current, true
		}
	}
	return all, current, false
}

// A lookout is one look at the files beside a log.
type lookout struct {
	of      *Siblings
	named   fs.FileInfo // of the file that has the name; nil: there is none
	current *Sibling    // the same, if it can be read
	all     []Sibling
	seen    map[version]Sibling
	files   map[fileKey]bool // those beside the log
	whole   bool             // each file could be looked into under its name
}

// take looks into a file.
func (l *lookout) take(path string, isCurrent bool) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !isCurrent {
		_, err := os.Lstat(path)
		l.whole = l.whole && err == nil // a link to nothing
	}
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if isCurrent {
		l.named = info
	} else if l.files[keyOf(path, info)] = true; l.named != nil && os.SameFile(l.named, info) {
		return
	}
	v := version{keyOf(path, info), info.Size(), info.ModTime().UnixNano()}
	r, ok := l.of.seen[v] // what begins the file is remembered
	if ok {
		r.Path, r.Info = path, info
	} else {
		r, ok = newSibling(path, info)
	}
	if ok {
		l.seen[v] = r
	}
	switch {
	case !ok:
		now, err := os.Stat(path)
		l.whole = l.whole && err == nil && os.SameFile(now, info) // else it cannot be read
	case isCurrent:
		l.current = &r
	case IsCompressed(path) && !r.Compressed: // it is empty: compression has just begun
	case !slices.ContainsFunc(l.all, r.Same):
		l.all = append(l.all, r)
	}
}

// isStill reports whether the same files lie beside the log.
func (l *lookout) isStill(paths []string) bool {
	now := map[fileKey]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Lstat(path); err != nil {
				return false
			}
		}
		if err == nil && info.Mode().IsRegular() {
			now[keyOf(path, info)] = true
		}
	}
	return maps.Equal(now, l.files)
}

// keyOf returns the same key for all names of a file.
func keyOf(path string, info fs.FileInfo) fileKey {
	if n := NodeOf(info); n != (Node{}) {
		return fileKey{Node: n}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return fileKey{path: Absolute(path)}
}
