package tail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"shadow/logfile"
)

// What is named is followed, be it there or not. What is not there, or may not be read, is told once, and again when that has
// changed: a name that is mistyped must not look like a site without visitors.

// A name is one of those that a tail was given.
type name struct {
	text   string
	key    string                 // the same from the root on
	met    bool                   // whether it has stood for some log
	lack   string                 // why it stands for none, as it was told
	passed map[string]fs.FileInfo // what it matches and is not followed, by path
	told   bool                   // whether that was told
}

// several reports whether names may stand for more than one log.
func several(names []string) bool { return len(names) > 1 || isGlob(names[0]) || isDir(names[0]) }

// isGlob reports whether a name is a pattern, unless it is that of a file.
func isGlob(name string) bool {
	_, err := os.Stat(name)
	return err != nil && strings.ContainsAny(name, "*?[")
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isHidden(path string) bool {
	base := filepath.Base(path)
	return base != "." && strings.HasPrefix(base, ".")
}

// matches are the files that a pattern or a directory stands for, hidden ones only if that is said. err is why the directory
// cannot be looked into.
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
	if isHidden(pattern) {
		return paths, err
	}
	return slices.DeleteFunc(paths, isHidden), err
}

// wants reports whether a file is one that some pattern or directory stands for.
func (t *Tail) wants(path string) bool {
	return slices.ContainsFunc(t.named, func(n *name) bool { return n.wants(path) })
}

// wants reports whether a file is one that a pattern or a directory stands for.
func (n *name) wants(path string) bool {
	if isDir(n.text) {
		return filepath.Dir(absolute(path)) == n.key
	}
	if filepath.IsAbs(n.text) {
		path = absolute(path)
	} else {
		path = fromHere(path)
	}
	matches, err := filepath.Match(filepath.Clean(n.text), path)
	return err == nil && matches
}

// expandEvery is how often patterns are looked at for files that are new.
const expandEvery = time.Second

// expand takes in the logs that names stand for and that are not followed yet. What comes later is read from its start.
func (t *Tail) expand() {
	now := t.options.Now()
	if !t.expanded.IsZero() && now.Sub(t.expanded) < expandEvery {
		return
	}
	from := t.options.From
	if t.running {
		from = FromStart
	}
	t.expanded = now
	t.giveUp(now)
	defer func() { t.running = true }()
	var patterns []*name
	for _, n := range t.named {
		if isDir(n.text) || t.logNamed(n.text) == nil && isGlob(n.text) {
			patterns = append(patterns, n)
		} else if logfile.IsCompressed(n.text) {
			t.sayPacked(n)
		} else if l, isNew := t.follow(n.text, from); isNew {
			t.look(l)
		}
	}
	for _, n := range patterns { // behind, since what they match may be left of logs that are named
		t.join(n, from)
	}
	if !t.running && from == FromStart {
		t.skipCopies()
	}
}

// sayPacked says of a name that it is none to follow: patterns that the shell has expanded match such files.
func (t *Tail) sayPacked(n *name) {
	if !n.told {
		t.say("%s: is compressed, so that nothing is added to it; shadow replay reads it", n.text)
		n.told = true
	}
}

// look looks whether another file has a log's name, and tells what has changed about what is wrong with it.
func (t *Tail) look(l *log) {
	err := l.look()
	if errors.Is(err, fs.ErrNotExist) {
		t.tellLack(&l.lack, l.name, "is not there yet", func() string { return notThere(l.name) })
	} else if err != nil {
		t.tellLack(&l.lack, l.name, cause(err).Error(), func() string { return refused(err) })
	} else {
		t.tellLack(&l.lack, l.name, "", nil)
	}
}

// tellLack tells what is wrong with something named unless it was told, and when it is mended.
func (t *Tail) tellLack(was *string, name, is string, text func() string) {
	if *was == is {
		return
	}
	if is == "" {
		t.say("%s: is followed now", name)
	} else {
		t.say("%s: %s", name, text())
	}
	*was = is
}

// followed is how many logs may still grow.
func (t *Tail) followed() (count int) {
	for _, l := range t.logs {
		if !l.over {
			count++
		}
	}
	return count
}

// absent is how many names stand for nothing that can be read.
func (t *Tail) absent() (count int) {
	for _, l := range t.logs {
		if l.lack != "" && !l.over {
			count++
		}
	}
	for _, n := range t.named {
		if n.lack != "" {
			count++
		}
	}
	return count
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

// refused says that a file is there and cannot be read.
func refused(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied; it is followed as soon as shadow may read it"
	}
	return cause(err).Error() + "; it is tried again"
}

// cause is an error without the path and what was done with it.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
