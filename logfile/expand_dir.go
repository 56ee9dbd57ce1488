package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// notALog matches what lies beside logs and is none, by name: our own database, what editors and
// archivers leave, what people write and programs read. It is a short list, because a file that is left out unseen is
// worse than one that is found to have no known format.
var notALog = regexp.MustCompile(`(?i)~$|^(README|LICENSE)` +
	`|\.(duckdb|wal|db|sqlite|journal|pid|lock|swp|bak|tmp|prof` +
	`|tar|tgz|zip|7z|asc|sig|md5|sha1|sha256` +
	`|md|html|css|js|go|py|sh|php|conf|toml|ya?ml|pdf|png|jpg|gif|svg)$` +
	`|\.tar\.[a-z0-9]+$`)

// errorLog matches the other log that servers write: error.log (nginx), error_log or site-error.log.2.gz (Apache).
var errorLog = regexp.MustCompile(`(?i)(^|[^a-z])errors?([^a-z]|$)`)

// IsLog tells by its name whether a file in a directory is worth reading.
func IsLog(base string) bool {
	if notALog.MatchString(base) {
		return false
	}
	return !errorLog.MatchString(base) || strings.Contains(strings.ToLower(base), "access")
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
		case err != nil || hidden(name):
			continue // perhaps a link that leads nowhere, or gone this instant
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
		last.Files = append(last.Files, strings.TrimPrefix(f.name, filepath.Clean(f.dir)+string(filepath.Separator)))
	}
}
