package logfile

import (
	"path/filepath"
	"regexp"
	"strings"
)

// behindName is what rotation puts behind a name: a number behind a point, a date behind anything.
var behindName = regexp.MustCompile(`(\.\d[-._0-9T:Z+]*|[-_]\d{4}-?\d\d-?\d\d[-._0-9T:Z+]*|[-._](old|bak))$`)

// datedName is the name of a rotated file that has its date between stem and ending.
var datedName = regexp.MustCompile(`^(.+)[-._](\d{4}-?\d\d-?\d\d[-._0-9T:Z+]*)(\.[A-Za-z]+)$`)

// nameOf is the name of the log that a file is, or was before it was rotated, by its own name: with its place in the file
// system, without what rotation and compression have put behind it. A number between stem and ending tells hosts apart as
// often as rotations, and only a date is taken for one.
func nameOf(path string) string {
	dir, base := filepath.Split(Absolute(path))
	for _, ending := range compressedEndings {
		base = strings.TrimSuffix(base, ending)
	}
	if m := datedName.FindStringSubmatch(base); m != nil {
		return filepath.Join(dir, m[1]+m[3])
	}
	if end := behindName.FindStringIndex(base); end != nil && end[0] > 0 {
		base = base[:end[0]]
	}
	return filepath.Join(dir, base)
}

// Absolute returns a name from the root on.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
