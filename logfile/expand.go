package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An Expansion is what the arguments of a command line stand for.
type Expansion struct {
	Names   []string          // of the inputs
	Guessed map[string]string // of the Names that nobody gave, which look like logs by their names alone: the directory that was given
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
//     shell, "*" does not match a leading dot.
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
		if hidden(name) && !hidden(pattern) {
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

func hidden(name string) bool {
	base := filepath.Base(name)
	return base != "." && base != ".." && base[0] == '.'
}
