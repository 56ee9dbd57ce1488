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

// What a pattern or a directory matches is, by the first that holds:
//
//	hidden, compressed, written by us, read already           none
//	called like no log, in a directory                        none, and it is told
//	a rotation: what it would be left of is followed, or      none, and it is told: it is found when that log is rotated
//	    lies beside it and was written no earlier
//	dated                                                     one log with all whose names differ in the date only
//	anything else                                             a log of its own
//
// What was found to be none stays so, as long as it is the same file.

// A matched is a file that a pattern matches.
type matched struct {
	path string
	info fs.FileInfo
}

// A joining is one look at what a pattern matches.
type joining struct {
	*Set
	name   *name
	from   From
	some   bool                         // whether it stands for some log
	begun  []*Log                       // logs that are new
	dated  map[logfile.Series][]matched // what may be a log by its date
	passed map[string]fs.FileInfo       // what is not a log

	left, of      []string // the names of what is left of logs, and of those
	unlike, ahead []string // the names of what is called like no log, and after a day to come
}

// join takes in what a name stands for and is not followed yet.
func (s *Set) join(n *name, from From) {
	if l := s.logNamed(n.text); l != nil && isDir(n.text) {
		l.over = true // it was not there, and it is no log
	}
	paths, err := n.matches()
	j := &joining{Set: s, name: n, from: from, passed: map[string]fs.FileInfo{}, dated: map[logfile.Series][]matched{}}
	for _, path := range paths {
		if l := s.logNamed(path); l != nil {
			j.some = j.some || !l.over
		} else if info, err := os.Stat(path); err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0) {
			j.take(matched{path, info})
		}
	}
	for series, files := range j.dated {
		j.takeDated(series, files)
	}
	for _, l := range j.begun {
		s.look(l)
	}
	if len(j.begun) > 0 {
		s.demote()
	}
	n.passed = j.passed
	j.tell(err)
}

// take finds out what a file is.
func (j *joining) take(m matched) {
	was, known := j.name.passed[m.path]
	d, isDated := logfile.DatedOf(m.path)
	switch {
	case known && os.SameFile(was, m.info), !(isDated && j.logOf(d.Series) != nil) && j.isNone(m):
		j.passed[m.path] = m.info
	case isDated && d.Day.After(j.Now().Add(24*time.Hour)): // it would stay the latest for long
		j.ahead = append(j.ahead, filepath.Base(m.path))
	case isDated:
		j.dated[d.Series] = append(j.dated[d.Series], m)
	case !j.isLeft(m, m):
		l, _ := j.follow(m.path, j.from)
		j.begun, j.some = append(j.begun, l), true
	}
}

// isNone reports whether a file is no log of those that the name is meant for.
func (j *joining) isNone(m matched) bool {
	if logfile.IsCompressed(m.path) || j.Own(m.path) {
		return true
	}
	if base := filepath.Base(m.path); isDir(j.name.text) && !logfile.IsLog(base) {
		j.unlike = append(j.unlike, base)
		return true
	}
	return slices.ContainsFunc(j.logs, func(l *Log) bool { return (l.series == nil || l.over) && (l.has(m.info) || l.hasRead(m)) })
}

// isLeft reports whether a file is left of a log, as one of the same kind is that was written last.
func (j *joining) isLeft(m, last matched) bool {
	dir := filepath.Dir(m.path)
	for _, current := range logfile.CurrentsOf(filepath.Base(m.path)) {
		if !j.isCurrent(filepath.Join(dir, current), last.info) {
			continue
		}
		j.passed[m.path] = m.info
		j.left = append(j.left, filepath.Base(m.path))
		if !slices.Contains(j.of, current) {
			j.of = append(j.of, current)
		}
		return true
	}
	return false
}

// isCurrent reports whether there is a log of a name, of which a file may be left.
func (j *joining) isCurrent(path string, left fs.FileInfo) bool {
	if l := j.logNamed(path); l != nil {
		return !l.over
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return j.wants(path) || !info.ModTime().Before(left.ModTime())
}

// takeDated takes in the files whose names differ in the date only: the latest is read, and followed by those that come.
func (j *joining) takeDated(s logfile.Series, files []matched) {
	latest := slices.MaxFunc(files, func(x, y matched) int {
		return strings.Compare(logfile.WhenOf(x.path), logfile.WhenOf(y.path))
	})
	l := j.logOf(s)
	switch {
	case l == nil && j.isLeft(latest, latest):
		for _, m := range files {
			if m != latest {
				j.isLeft(m, latest)
			}
		}
		return
	case l == nil:
		l = j.newLog(s.Name(), j.from)
		l.series, l.path = &s, latest.path
		l.know()
		l.begun = j.running
		j.add(l)
		j.begun = append(j.begun, l)
	case l.over:
		for _, m := range files {
			j.passed[m.path] = m.info
		}
		return
	case logfile.WhenOf(latest.path) > logfile.WhenOf(l.path):
		l.path = latest.path
	}
	j.some = true
}

// tell tells what has changed: that there is nothing to follow, or that there is, and what was passed over.
func (j *joining) tell(err error) {
	n := j.name
	n.met = n.met || j.some || slices.ContainsFunc(j.logs, func(l *Log) bool { return n.wants(l.Name) }) // which may be gone for now
	if !n.told {
		j.tellPassed(j.left, "as what is left of "+strings.Join(j.of, ", ")+" when that is rotated")
		j.tellPassed(j.unlike, "as called like no access log")
		j.tellPassed(j.ahead, "as called after a day to come")
		n.told = len(j.left)+len(j.unlike)+len(j.ahead) > 0
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		j.tellError(&n.lack, n.text, err)
	case n.met:
		j.tellError(&n.lack, n.text, nil)
	default:
		j.tellLack(&n.lack, n.text, "nothing", func() string { return nothing(n.text, err) })
	}
}

// tellPassed tells of files that the name stands for by its text only.
func (j *joining) tellPassed(names []string, why string) {
	const most = 3
	files, few := fmt.Sprintf("%d files are", len(names)), strings.Join(names[:min(len(names), most)], ", ")
	switch {
	case len(names) == 0:
		return
	case len(names) == 1:
		files = "1 file is"
	case len(names) > most:
		few += " …"
	}
	j.Say("%s: %s passed over, %s (%s); name one to follow it nevertheless", j.name.text, files, why, few)
}

// nothing says that a pattern or a directory stands for no log.
func nothing(name string, err error) string {
	const waits = "; those that come are followed"
	if dir := filepath.Dir(name); err != nil {
		return fmt.Sprintf("no log matches, as there is no directory %s yet%s", dir, waits)
	}
	if isDir(name) {
		return "no log is in this directory yet" + waits
	}
	if strings.Contains(name, "**") {
		return "no log matches yet" + waits + `; "**" is no more than "*"`
	}
	return "no log matches yet" + waits
}
