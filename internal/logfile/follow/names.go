package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"shadow/internal/logfile"
)

// What is named is followed, be it there or not. What is not there, or may not be read, is told once, and again when that has
// changed: a name that is mistyped must not look like a site without visitors.

// A name is one of those that a Set was given.
type name struct {
	text   string
	key    string                 // the same from the root on
	met    bool                   // whether it has stood for some log
	lack   string                 // why it stands for none, as it was told
	passed map[string]fs.FileInfo // what it matches and is not followed, by path
	told   bool                   // whether that was told
}

// Several reports whether names may stand for more than one log.
func Several(names []string) bool { return len(names) > 1 || isGlob(names[0]) || isDir(names[0]) }

// isGlob reports whether a name is a pattern, unless it is that of a file.
func isGlob(name string) bool {
	_, err := os.Stat(name)
	return err != nil && strings.ContainsAny(name, "*?[")
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// matches returns the files that a pattern or a directory stands for, hidden ones only if that is said. err is why the
// directory cannot be looked into.
func (n *name) matches() (paths []string, err error) {
	dir, pattern := n.text, ""
	if isGlob(n.text) {
		dir, pattern = filepath.Split(n.text)
		paths, _ = filepath.Glob(n.text) // a bad pattern was refused at the beginning
	}
	if len(paths) == 0 && !strings.ContainsAny(dir, "*?[") {
		var entries []fs.DirEntry
		entries, err = os.ReadDir(filepath.Clean(dir))
		for _, e := range entries {
			if pattern == "" {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	if logfile.IsHidden(pattern) {
		return paths, err
	}
	return slices.DeleteFunc(paths, logfile.IsHidden), err
}

// wants reports whether a file is one that some pattern or directory stands for.
func (s *Set) wants(path string) bool {
	return slices.ContainsFunc(s.named, func(n *name) bool { return n.wants(path) })
}

// wants reports whether a file is one that a pattern or a directory stands for.
func (n *name) wants(path string) bool {
	if isDir(n.text) {
		return filepath.Dir(keyOf(path)) == n.key
	}
	if filepath.IsAbs(n.text) {
		path = keyOf(path)
	} else {
		path = fromHere(path)
	}
	matches, err := filepath.Match(filepath.Clean(n.text), path)
	return err == nil && matches
}

// expandEvery is the time between two looks at patterns for files that are new.
const expandEvery = time.Second

// Expand takes in the logs that names stand for and that are not followed yet. What comes later is read from its start.
func (s *Set) Expand() {
	now := s.Now()
	if !s.expanded.IsZero() && now.Sub(s.expanded) < expandEvery {
		return
	}
	from := s.From
	if s.running {
		from = FromStart
	}
	s.expanded = now
	s.giveUp(now)
	defer func() { s.running = true }()
	var patterns []*name
	for _, n := range s.named {
		if isDir(n.text) || s.logNamed(n.text) == nil && isGlob(n.text) {
			patterns = append(patterns, n)
		} else if logfile.IsCompressed(n.text) { // patterns that the shell has expanded match such files
			if !n.told {
				s.Say("%s: is compressed, so that nothing is added to it; shadow replay reads it", n.text)
				n.told = true
			}
		} else if l, isNew := s.follow(n.text, from); isNew {
			s.look(l)
		} else if _, err := os.Stat(n.text); l.over && err == nil { // a directory had its name
			l.over, l.lack, n.lack = false, n.lack, ""
		}
	}
	for _, n := range patterns { // behind, since what they match may be left of logs that are named
		s.join(n, from)
	}
	if !s.running && from == FromStart {
		s.skipCopies()
	}
}

// look looks whether another file has a log's name, and tells what has changed about what is wrong with it.
func (s *Set) look(l *Log) {
	err := l.look()
	if errors.Is(err, fs.ErrNotExist) {
		s.tellLack(&l.lack, l.Name, "is not there yet", func() string { return notThere(l.Name) })
	} else {
		s.tellError(&l.lack, l.Name, err)
	}
}

// tellError tells why something named cannot be read, nil if it can.
func (s *Set) tellError(was *string, name string, err error) {
	if err == nil {
		s.tellLack(was, name, "", nil)
		return
	}
	s.tellLack(was, name, cause(err).Error(), func() string {
		if errors.Is(err, fs.ErrPermission) {
			return "permission denied; it is followed as soon as shadow may read it"
		}
		return cause(err).Error() + "; it is tried again"
	})
}

// tellLack tells what is wrong with something named unless it was told, and when it is mended.
func (s *Set) tellLack(was *string, name, is string, text func() string) {
	switch {
	case *was == is:
	case is == "":
		s.Say("%s: is followed now", name)
	default:
		s.Say("%s: %s", name, text())
	}
	*was = is
}

// notThere says what is missing, and what may have been meant.
func notThere(name string) string {
	const waits = "; it is followed as soon as it is there"
	if to, err := os.Readlink(name); err == nil {
		return fmt.Sprintf("leads to %s, which is not there yet%s", to, waits)
	}
	switch near, err := logfile.Near(name); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("is not there yet, nor is its directory %s%s", filepath.Dir(name), waits)
	case err != nil:
		return fmt.Sprintf("is not there yet (directory %s: %v)%s", filepath.Dir(name), cause(err), waits)
	case near != "":
		return fmt.Sprintf("is not there yet, did you mean %s? Else%s", near, strings.TrimPrefix(waits, ";"))
	}
	return "is not there yet" + waits
}

// cause returns an error without the path and what was done with it.
func cause(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	return err
}

// keyOf returns a name from the root on.
func keyOf(name string) string {
	if name == "-" {
		return name
	}
	return logfile.Absolute(name)
}

// fromHere returns a name from the working directory on.
func fromHere(name string) string {
	if path, err := filepath.Rel(logfile.Absolute("."), keyOf(name)); err == nil {
		return path
	}
	return name
}
