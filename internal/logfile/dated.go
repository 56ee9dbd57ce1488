package logfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"shadow/internal/lazy"
)

// Some servers begin a file under a new name every so often, and none has the same name forever. So write rotatelogs,
// cronolog, Tomcat and Jetty:
//
//	access.20261121.log   access_log-2026-11-21   access_log.1795219200   localhost_access_log.2026-11-21.txt
//
// Files whose names differ in the date only are one log.

// A Series is a log whose files are called after the time at which they begin. Series are comparable.
type Series struct{ Dir, Before, Behind string } // of the date

// A Dated is a name with a date in it.
type Dated struct {
	Series
	When string    // the digits of the date, and of the time of day if there is one: they grow
	Day  time.Time // the beginning of that day in UTC, though it may be one elsewhere
}

var (
	// date is a day between what are no digits, perhaps with a time of day.
	date = lazy.Regexp(`^(|.*[^0-9])((20\d\d)[-._]?(0[1-9]|1[0-2])[-._]?(0[1-9]|[12]\d|3[01])(?:[-._T:]?(?:[01]\d|2[0-3])(?:[-._:]?[0-5]\d){0,2})?)([^0-9].*|)$`)

	notDigits = lazy.Regexp(`[^0-9]+`)

	// inSeconds matches what rotatelogs puts behind a name that has no place for a date: seconds.
	inSeconds = lazy.Regexp(`^(.*\.)([1-9]\d{9})$`)
)

// DatedOf finds the date in the name of a file; the last one, if there are several.
func DatedOf(path string) (d Dated, ok bool) {
	dir, base := filepath.Split(path)
	if m := date().FindStringSubmatch(base); m != nil {
		d = Dated{Series: Series{dir, m[1], m[6]}, When: notDigits().ReplaceAllString(m[2], "")}
		number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n } // the pattern lets digits through only
		d.Day = time.Date(number(3), time.Month(number(4)), number(5), 0, 0, 0, 0, time.UTC)
		return d, true
	}
	if m := inSeconds().FindStringSubmatch(base); m != nil {
		seconds, err := strconv.ParseInt(m[2], 10, 64)
		return Dated{Series{dir, m[1], ""}, m[2], time.Unix(seconds, 0).UTC()}, err == nil
	}
	return d, false
}

// Name returns the name of the log: its files' names with a star for the date.
func (s Series) Name() string { return s.Dir + s.Before + "*" + s.Behind }

// Has reports whether a file is one of the log's by its name, also when it is compressed.
func (s Series) Has(path string) bool {
	d, ok := DatedOf(Uncompressed(path))
	return ok && d.Series == s
}

// SeriesNamed returns the Series with a name.
func SeriesNamed(name string) Series {
	dir, base := filepath.Split(name)
	before, behind, _ := strings.Cut(base, "*")
	return Series{dir, before, behind}
}

// paths returns the names of the files of the log.
func (s Series) paths() (paths []string) {
	dir := filepath.Clean(s.Dir)
	entries, _ := os.ReadDir(dir) // what cannot be listed is not there
	for _, e := range entries {
		if s.Has(s.Dir + e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// WhenOf returns the digits of the date in the name of a file (see Dated), "" if there is none.
func WhenOf(path string) string {
	d, _ := DatedOf(Uncompressed(path))
	return d.When
}
