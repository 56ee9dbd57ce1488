package tail

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"shadow/logfile"
)

// A tail must not read what it writes, since would-blocks would make would-blocks, nor write into a log, of which the
// end of an earlier run would be cut off. So its own files are told from logs, and from each other.

// ownFiles are those that this tail writes.
func (o *Options) ownFiles() (names []string) {
	if o.State != "" {
		names = append(names, o.State, o.State+".new", o.State+".lock")
	}
	if o.Events != "" {
		names = append(names, o.Events)
		if regular(o.Events) {
			names = append(names, o.Events+".lock")
		}
	}
	return append(names, o.Own...)
}

// Verify finds names that are used for two things.
func (o *Options) Verify() error {
	own := o.ownFiles()
	for i, name := range own {
		if j := slices.IndexFunc(own[:i], func(other string) bool { return sameFile(other, name) }); j >= 0 {
			return fmt.Errorf("%s: the tail would write this file for two purposes: give each another name", name)
		}
	}
	for _, log := range o.Names {
		if isOwn(own, log) {
			return fmt.Errorf("%s: the tail would write into the log that it follows: give what it writes another name", log)
		}
	}
	return nil
}

// isOwn reports whether a file is one of them.
func isOwn(own []string, name string) bool {
	return slices.ContainsFunc(own, func(other string) bool { return sameFile(other, name) })
}

// wasOwn reports whether a file is one of them, or what log rotation has left of one.
func wasOwn(own []string, name string) bool {
	return isOwn(own, name) || slices.ContainsFunc(own, func(other string) bool {
		return filepath.Dir(other) == filepath.Dir(name) && logfile.IsRotated(filepath.Base(other), filepath.Base(name))
	})
}

// sameFile reports whether two names are of one file, which need not be there yet.
func sameFile(x, y string) bool {
	if one, err := os.Stat(x); err == nil {
		if other, err := os.Stat(y); err == nil && os.SameFile(one, other) {
			return one.Mode().IsRegular()
		}
	}
	one, err := filepath.Abs(x)
	if err != nil {
		return x == y
	}
	other, err := filepath.Abs(y)
	return err == nil && one == other && regular(x)
}

// regular reports whether a name is, or may become, that of an ordinary file: /dev/null takes anything.
func regular(name string) bool {
	info, err := os.Stat(name)
	return err != nil || info.Mode().IsRegular()
}
