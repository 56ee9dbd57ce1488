package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/limit"
)

// An Expansion holds what the arguments of a command line stand for.
type Expansion struct {
	Names   []string          // of the inputs
	Guessed map[string]string // of the Names that look like logs by their names alone: the directory of these
	Passed  []PassedOver      // what looked like no log
	Links   []Copy            // other names of files that are among the Names already
}

// PassedOver are the files in a directory and below it that are no access logs by their names.
type PassedOver struct {
	Dir   string   // as it was given
	Files []string // as seen from there
}

// Expand turns the arguments of a command line into the names of inputs, in their order:
//
//   - "-" and a file or a pipe stand for themselves, whatever they are called;
//   - a directory stands for the logs in it and below it, in the order of their names (see IsLog for what is left out);
//   - a pattern such as "logs/access.log*", when there is no file of that name, stands for what it matches. As in a
//     shell, "*" does not match a leading dot;
//   - the name of an object, a prefix that ends in "/", or a pattern of names (see object.Store.Expand).
//
// A file that several arguments name, by whatever path or link, comes once; its other names are Links. Expand fails when an argument stands for
// nothing, or for a file that may not be read: better before the replay than an hour into it.
func Expand(args []string) (Expansion, error) {
	e := expansion{seen: map[fileKey]string{}, linked: map[string]bool{}}
	e.Guessed = map[string]string{}
	for _, arg := range args {
		if err := e.add(arg); err != nil {
			return Expansion{}, err
		}
	}
	e.tellPassed()
	return e.Expansion, nil
}

// An expansion collects inputs.
type expansion struct {
	Expansion
	seen   map[fileKey]string // the name under which a file comes, by key
	linked map[string]bool    // names of Links, from the root on
	left   []leftOut
}

func (e *expansion) add(arg string) error {
	switch arg {
	case "":
		return errors.New("logfile: the name of an input is empty")
	case "-":
		e.once(fileKey{path: arg}, arg)
		return nil
	}
	if IsObject(arg) {
		return e.addObjects(arg)
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && isPattern(arg) {
		return e.addPattern(arg)
	}
	if err != nil {
		return explain(arg, err)
	}
	return e.addExisting(arg, info)
}

func (e *expansion) addExisting(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return e.addDirectory(name)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("logfile: %s: is a socket, not a log", name)
	case mode.IsRegular():
		return e.addFile(name, info)
	}
	e.once(keyOf(name, info), name) // a pipe or a device: to open it would wait for its writer
	return nil
}

// addFile takes in a regular file if it may be read.
func (e *expansion) addFile(name string, info fs.FileInfo) error {
	f, err := os.Open(name)
	if err != nil {
		return explain(name, err)
	}
	f.Close()
	e.once(keyOf(name, info), name)
	return nil
}

func (e *expansion) addPattern(pattern string) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return fmt.Errorf("logfile: %s: no file of that name, and not a pattern either: %w", pattern, err)
	}
	found := false
	for _, name := range names {
		if IsHidden(name) && !IsHidden(pattern) {
			continue
		}
		found = true
		if err := e.add(name); err != nil {
			return err
		}
	}
	if !found {
		return noMatch(pattern)
	}
	return nil
}

func (e *expansion) once(key fileKey, name string) {
	first, seen := e.seen[key]
	switch {
	case !seen:
		e.seen[key] = name
		e.Names = append(e.Names, name)
	case Absolute(first) != Absolute(name) && !e.linked[Absolute(name)]:
		e.linked[Absolute(name)] = true
		e.Links = append(e.Links, Copy{Name: name, Of: first, How: SameFile})
	}
}

func isPattern(arg string) bool { return strings.ContainsAny(arg, "*?[") }

// IsHidden reports whether a file is hidden, by its name.
func IsHidden(name string) bool {
	base := filepath.Base(name)
	return base != "." && base != ".." && base[0] == '.'
}

// notALog matches what lies beside logs, by name: our own database, what editors and
// archivers leave, what people write and programs read. It is a short list, because a file that is left out unseen is
// worse than one that is found to have no known format.
var notALog = lazy.Regexp(`(?i)~$|^(README|LICENSE)` +
	`|\.(duckdb|wal|db|sqlite|journal|pid|lock|swp|bak|tmp|prof` +
	`|tar|tgz|zip|7z|asc|sig|md5|sha1|sha256` +
	`|md|html|css|js|go|py|sh|php|conf|toml|ya?ml|pdf|png|jpg|gif|svg)$` +
	`|\.tar\.[a-z0-9]+$`)

// errorLog matches the other log that servers write: error.log (nginx), error_log or site-error.log.2.gz (Apache).
var errorLog = lazy.Regexp(`(?i)(^|[^a-z])errors?([^a-z]|$)`)

// IsLog tells by its name whether a file in a directory is worth reading.
func IsLog(base string) bool {
	if notALog().MatchString(base) {
		return false
	}
	return !errorLog().MatchString(base) || strings.Contains(strings.ToLower(base), "access")
}

// leftOut is a file in a directory that is no log by its name.
type leftOut struct {
	dir, name string
	key       fileKey
}

// addDirectory takes in the logs in a directory and below it. Links are followed to files, but not to directories,
// so that the walk ends.
func (e *expansion) addDirectory(dir string) error {
	before := len(e.left)
	found, err := e.walk(dir, dir)
	if err != nil || found {
		return err
	}
	switch left := e.left[before:]; len(left) {
	case 0:
		return fmt.Errorf("logfile: %s: no files in this directory, hidden ones aside", dir)
	case 1:
		return fmt.Errorf("logfile: %s: no logs in this directory, by their names; to read %s nevertheless, name it", dir, left[0].name)
	default:
		return fmt.Errorf("logfile: %s: no logs in this directory, by their names; to read one of its %d files nevertheless, name it (%s)",
			dir, len(left), left[0].name)
	}
}

// walk takes in the logs at one place in and below the directory dir, and reports whether there are any. Hidden files
// are no more looked at than by a shell's "*".
func (e *expansion) walk(dir, place string) (found bool, err error) {
	entries, err := os.ReadDir(place)
	if err != nil {
		return false, explain(place, err)
	}
	for _, entry := range entries {
		name := filepath.Join(place, entry.Name())
		info, err := os.Stat(name)
		switch {
		case err != nil || IsHidden(name):
			continue // perhaps a link that leads nowhere, or gone this instant
		case entry.IsDir() && isDatabase(name):
		case entry.IsDir():
			below, err := e.walk(dir, name)
			if err != nil {
				return false, err
			}
			found = found || below
		case !info.Mode().IsRegular():
		case IsLog(entry.Name()):
			found = true
			if err := e.addFile(name, info); err != nil {
				return false, err
			}
			e.Guessed[name] = dir
		default:
			e.left = append(e.left, leftOut{dir, name, keyOf(name, info)})
		}
	}
	return found, nil
}

// isDatabase reports whether a folder is one in which runs are stored, whatever it is called.
func isDatabase(folder string) bool {
	for _, part := range []string{"runs", "lock", "version"} {
		if _, err := os.Stat(filepath.Join(folder, part)); err != nil {
			return false
		}
	}
	return true
}

// tellPassed gathers what was left out and is no input by another argument, each file once.
func (e *expansion) tellPassed() {
	for _, f := range e.left {
		if _, seen := e.seen[f.key]; seen {
			continue
		}
		e.seen[f.key] = f.name
		if n := len(e.Passed); n == 0 || e.Passed[n-1].Dir != f.dir {
			e.Passed = append(e.Passed, PassedOver{Dir: f.dir})
		}
		last := &e.Passed[len(e.Passed)-1]
		last.Files = append(last.Files, below(f.dir, f.name))
	}
}

// Errors about files say what is wrong and what to do about it.

// explain turns the error that a file gave into one for people.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notThere(name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("logfile: %s: %w; run shadow as a user who may read it, or pipe the log in: sudo cat … | shadow replay -",
			name, fs.ErrPermission)
	}
	if path, is := errors.AsType[*fs.PathError](err); is {
		err = path.Err
	}
	return fmt.Errorf("logfile: %s: %w", name, err)
}

// notThere names the file that was meant, or the part of the path that is missing.
func notThere(name string) error {
	near, err := Near(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("logfile: %s: %w: there is no directory %s", name, fs.ErrNotExist, filepath.Dir(name))
	case near != "":
		return fmt.Errorf("logfile: %s: %w; did you mean %s?", name, fs.ErrNotExist, near)
	}
	return fmt.Errorf("logfile: %s: %w", name, fs.ErrNotExist)
}

// Near returns the file beside one that is not there whose name is closest to its, or "" when none is close. err is
// that of looking into the directory.
func Near(name string) (near string, err error) {
	entries, err := os.ReadDir(filepath.Dir(name))
	near = nearest(filepath.Base(name), entries)
	if near == "" || near == filepath.Base(name) { // a link that leads nowhere
		return "", err
	}
	return filepath.Join(filepath.Dir(name), near), err
}

// noMatch says why a pattern matches nothing.
func noMatch(pattern string) error {
	switch dir := filepath.Dir(pattern); {
	case strings.Contains(pattern, "**"):
		return fmt.Errorf(`logfile: %s: no file matches; "**" is no more than "*": name a directory to read all below it`, pattern)
	case isPattern(dir):
		return fmt.Errorf("logfile: %s: no file matches", pattern)
	default:
		entries, err := os.ReadDir(dir)
		if err != nil {
			return explain(dir, err)
		}
		return fmt.Errorf("logfile: %s: none of the %d names in %s matches", pattern, len(entries), dir)
	}
}

// nearest returns the entry whose name is closest to base, but for case, or "" when none is close.
func nearest(base string, entries []os.DirEntry) string {
	names := mapped.Of(entries, func(e os.DirEntry) string { return strings.ToLower(e.Name()) })
	if i := slices.Index(names, limit.Nearest(strings.ToLower(base), names)); i >= 0 {
		return entries[i].Name()
	}
	return ""
}
