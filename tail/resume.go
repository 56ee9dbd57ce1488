package tail

import (
	"path/filepath"
	"strings"

	"shadow/logfile"
)

// The logs of a checkpoint are those that were followed when it was written. They are known again by their names from the root on,
// and keep their numbers, which requests that wait are known by. What nobody names any more is not followed any more, and that
// is told; where reading of it stopped is kept in mind.

// saveLogs is how far logs have been read, by their numbers.
func (t *Tail) saveLogs() []logfile.SavedLog {
	saved := make([]logfile.SavedLog, t.sources)
	for _, l := range t.logs {
		saved[l.source] = l.save()
	}
	return saved
}

// resume goes on with the logs of a checkpoint.
func (t *Tail) resume(logs []logfile.SavedLog) {
	t.running = true
	t.sources = len(logs)
	t.stream.Sources(t.sources)
	for i, s := range logs {
		if s.Name == "" { // a number that was free
			continue
		}
		if name := t.called(s); name != "" {
			t.resumeOne(i, name, s)
			continue
		}
		l := t.newLog(s.Name, FromStart)
		l.over, l.gone = true, true
		for _, f := range append(s.Closed, s.Files...) {
			l.closed = keepInMind(l.closed, f, keptClosed)
		}
		t.addAs(l, i)
		if told := len(s.Files) == 0 && len(s.Closed) > 0; !told {
			t.say("%s: is followed no longer, as it is not named any more", l.name)
		}
	}
	t.demote()
}

// resumeOne goes on with one log.
func (t *Tail) resumeOne(source int, name string, s logfile.SavedLog) {
	l := t.newLog(name, FromStart)
	l.path = name
	if s.Series {
		series := logfile.SeriesNamed(name)
		l.series, l.path = &series, ""
	}
	t.addAs(l, source)
	if name == "-" {
		l.openStdin(t.options.Stdin)
	} else {
		l.resume(s)
	}
}

// called is what a log of a checkpoint is called by whoever names it, "" if nobody does.
func (t *Tail) called(s logfile.SavedLog) string {
	key := absolute(s.Name)
	for _, n := range t.named {
		if n.key == key {
			return n.text
		}
	}
	for _, n := range t.named {
		switch {
		case s.Name == "-" || !n.wants(key) && !(s.Series && n.mayStandFor(logfile.SeriesNamed(key))):
		case filepath.IsAbs(n.text):
			return key
		default:
			return fromHere(key)
		}
	}
	return ""
}

// mayStandFor reports whether a pattern or a directory may stand for files of a series.
func (n *name) mayStandFor(s logfile.Series) bool {
	dir := filepath.Clean(s.Dir)
	if isDir(n.text) {
		return dir == n.key
	}
	in, pattern := filepath.Split(n.key)
	if matches, err := filepath.Match(filepath.Clean(in), dir); err != nil || !matches {
		return false
	}
	const meta = `*?[\`
	before, behind := strings.IndexAny(pattern, meta), strings.LastIndexAny(pattern, meta+"]")+1
	return before >= 0 && alike(strings.HasPrefix, pattern[:before], s.Before) && alike(strings.HasSuffix, pattern[behind:], s.Behind)
}

// alike reports whether one of two texts has the other.
func alike(has func(text, part string) bool, x, y string) bool { return has(x, y) || has(y, x) }

// absolute is a name from the root on.
func absolute(name string) string {
	if name == "-" {
		return name
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// fromHere is a name from the working directory on.
func fromHere(name string) string {
	if path, err := filepath.Rel(absolute("."), absolute(name)); err == nil {
		return path
	}
	return name
}
