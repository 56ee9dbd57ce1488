package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// notALog matches what lies beside logs and is none, by name: hidden files, our own database, what editors and
// archivers leave, what people write and programs read. It is a short list, because a file that is left out unseen is
// worse than one that is found to have no known format.
var notALog = regexp.MustCompile(`(?i)^\.|~$|^(README|LICENSE)` +
	`|\.(duckdb|wal|db|sqlite|journal|pid|lock|swp|bak|tmp|prof` +
	`|tar|tgz|zip|7z|asc|sig|md5|sha1|sha256` +
	`|md|html|css|js|go|py|sh|php|conf|toml|ya?ml|pdf|png|jpg|gif|svg)$` +
	`|\.tar\.[a-z0-9]+$`)

// errorLog matches the other log that servers write: error.log (nginx), error_log or site-error.log.2.gz (Apache).
var errorLog = regexp.MustCompile(`(?i)(^|[^a-z])errors?([^a-z]|$)`)

// isLog tells by its name whether a file in a directory is worth reading.
func isLog(base string) bool {
	if notALog.MatchString(base) {
		return false
	}
	return !errorLog.MatchString(base) || strings.Contains(strings.ToLower(base), "access")
}

// addDirectory takes in the logs in a directory and below it. Links are followed to files, but not to directories,
// so that the walk ends.
func (e *expansion) addDirectory(dir string) error {
	before, left := len(e.seen), 0
	found, err := e.walk(dir, &left)
	if err != nil || found || len(e.seen) > before {
		return err
	}
	if left > 0 {
		return fmt.Errorf("parse: %s: no logs in this directory, by their names; to read one of its %d files nevertheless, name it", dir, left)
	}
	return fmt.Errorf("parse: %s: no files in this directory", dir)
}

// walk tells whether it found a log, and counts the files that it left out.
func (e *expansion) walk(dir string, left *int) (found bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, explain(dir, err)
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		info, err := os.Stat(name)
		switch {
		case err != nil:
			continue // a link that leads nowhere, or gone this instant
		case entry.IsDir():
			if !hidden(name) {
				below, err := e.walk(name, left)
				if err != nil {
					return false, err
				}
				found = found || below
			}
		case !info.Mode().IsRegular():
		case isLog(entry.Name()):
			found = true
			if err := e.addFile(name, info); err != nil {
				return false, err
			}
			e.guessed[name] = true
		default:
			*left++
		}
	}
	return found, nil
}
