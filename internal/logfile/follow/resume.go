package follow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"shadow/internal/logfile"
)

// The logs of a checkpoint are those that were followed when it was written. They are known again by their names from
// the root on, and keep their numbers. A log that is not named any more is not followed any more, and that is told;
// where reading of it stopped is kept in mind.

// keptLines is for how long after a file was read a shorter copy of it may turn up: it was made before, and the file is truncated
// soon after.
const keptLines = 10 * time.Second

// Save returns how far logs have been read, by their numbers, and files of logs that were given up and may come back.
func (s *Set) Save() (logs []logfile.SavedLog, left []logfile.SavedFile) {
	logs = make([]logfile.SavedLog, s.sources)
	for _, l := range s.logs {
		logs[l.Number] = l.save()
	}
	return logs, s.left
}

// save returns how far the log has been read. Of files without content, and of pipes, there is nothing to say.
func (l *Log) save() logfile.SavedLog {
	if l.saved != nil {
		return *l.saved
	}
	s := logfile.SavedLog{
		Name: l.key, Series: l.series != nil, Known: l.known, Closed: l.closed, Files: slices.Clone(l.missing),
		Formers: l.formers, Empty: l.empty,
	}
	for i, g := range l.files {
		if isLeft(g) {
			continue
		}
		f := g.saved()
		f.Spent = g.unread() == 0 && (i < len(l.files)-1 || l.lost)
		if l.set.Now().Sub(g.since()) >= keptLines {
			f.Lines = nil
		}
		if f.HeadBytes > 0 {
			s.Files = append(s.Files, f)
		} else if f.Inode != 0 && i == len(l.files)-1 && !l.lost {
			s.Empty = &f.Identity
		}
	}
	return s
}

// Resume continues with the logs of a checkpoint.
func (s *Set) Resume(logs []logfile.SavedLog, left []logfile.SavedFile) {
	s.running, s.sources, s.left = true, len(logs), left
	for i, saved := range logs {
		if saved.Name == "" { // a number that was free
			continue
		}
		if name := s.called(saved); name != "" {
			s.resumeOne(i, name, saved)
			continue
		}
		l := s.newLog(saved.Name, FromStart)
		l.over, l.gone = true, true
		for _, f := range append(saved.Closed, saved.Files...) {
			l.closed = keepInMind(l.closed, f, keptClosed)
		}
		s.addAs(l, i)
		if told := len(saved.Files) == 0 && len(saved.Closed) > 0; !told {
			s.Say("%s: is followed no longer, as it is not named any more", l.Name)
		}
	}
	s.demote()
}

// resumeOne continues with one log where a checkpoint says, as soon as that can be read.
func (s *Set) resumeOne(number int, name string, saved logfile.SavedLog) {
	l := s.newLog(name, FromStart)
	l.path = name
	if saved.Series {
		series := logfile.SeriesNamed(name)
		l.series, l.path = &series, ""
	}
	s.addAs(l, number)
	if name == "-" {
		l.openStdin()
		return
	}
	l.begun = true
	l.known, l.closed, l.formers, l.empty = saved.Known, saved.Closed, saved.Formers, saved.Empty
	l.saved = &saved
	_ = l.recover() // else it is tried again, and told, when the log is looked at
}

// called returns the name that the user gives to a log of a checkpoint, "" if it is not named.
func (s *Set) called(saved logfile.SavedLog) string {
	key := keyOf(saved.Name)
	for _, n := range s.named {
		if n.key == key {
			return n.text
		}
	}
	for _, n := range s.named {
		switch {
		case saved.Name == "-" || !n.wants(key) && !(saved.Series && n.mayStandFor(logfile.SeriesNamed(key))):
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
	alike := func(has func(text, part string) bool, x, y string) bool { return has(x, y) || has(y, x) }
	return before >= 0 && alike(strings.HasPrefix, pattern[:before], s.Before) && alike(strings.HasSuffix, pattern[behind:], s.Behind)
}

// recover opens what a checkpoint tells of, unless it has. Files are found again by what they are, whatever they are called
// meanwhile. What has come since, look finds.
func (l *Log) recover() error {
	if l.saved == nil {
		return nil
	}
	path := l.Name
	if l.series != nil {
		path = filepath.Clean(l.series.Dir)
	}
	// Of a log that is there and may not be read it could not be told what has been read.
	if f, _, err := openAtOnce(path); err == nil {
		_ = f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.missing, l.sought, l.saved = l.saved.Files, l.set.Now(), nil
	l.search()
	l.pending = true // what has come since lies beside what has been found
	return nil
}

// While rotation is at work a file may not be found, so it is looked for as long as the log is followed. That is told when it
// takes longer than a rotation does, and at the end.
const (
	missedAfter = 2 * time.Second // it is told
	rarelyAfter = time.Minute     // it is looked for every rarely from then on
	rarely      = 10 * time.Second
)

// seek goes on looking for files of the checkpoint.
func (l *Log) seek() {
	if len(l.missing) == 0 {
		return
	}
	passed := l.set.Now().Sub(l.sought)
	if passed < rarelyAfter || l.set.Now().Sub(l.looked) >= rarely {
		l.search()
	}
	switch {
	case len(l.missing) == 0 && l.missed:
		l.set.Say("%s: the rest of what was being read has been found", l.Name)
		l.missed = false
	case len(l.missing) == 0:
	case passed >= 60*l.set.Linger:
		l.giveUpMissing()
	case passed >= missedAfter && !l.missed:
		l.missed = true
		for _, f := range l.missing {
			if !f.Spent {
				l.set.Say("%s: a file that was being read is gone; what was written to it behind byte %d is missing, unless it comes back", l.Name, f.Offset)
			}
		}
	}
}

// giveUpMissing gives up what has not been found. Should it come back, it is gone on with.
func (l *Log) giveUpMissing() {
	for _, f := range l.missing {
		l.closed = keepInMind(l.closed, f, keptClosed)
		if !f.Spent {
			l.set.Say("%s: a file that was being read was not found again; what was written to it behind byte %d is lost, unless it comes back",
				l.Name, f.Offset)
			l.set.Lost()
		}
	}
	l.missing, l.missed = nil, false
}

// search opens those that are missing, as far as they are there. One that gets another name before it is opened is looked for at
// once, so that those behind it are not read before.
func (l *Log) search() {
	l.looked = l.set.Now()
	candidates := l.candidates()
	var found []File
	l.missing = slices.DeleteFunc(l.missing, func(saved logfile.SavedFile) bool {
		g, done, err := l.reopen(saved, candidates)
		for look := 1; logfile.HasMoved(err) && look < mostLooks; look++ {
			candidates = l.candidates()
			g, done, err = l.reopen(saved, candidates)
		}
		if err != nil && !logfile.HasMoved(err) {
			l.cannotRead(err)
		}
		if g != nil {
			l.set.Turned()
			found = append(found, g)
		}
		return done
	})
	l.insert(found...)
}

// candidates returns the files that a missing one may be.
func (l *Log) candidates() (all []logfile.Sibling) {
	if l.series != nil {
		all, _ = l.beside.OfSeries(*l.series, "")
	} else {
		all, _ = l.beside.WithCurrent(l.Name)
	}
	return all
}

// reopen opens a file that is missing, and reports whether that is done. g is nil if it was read.
func (l *Log) reopen(saved logfile.SavedFile, candidates []logfile.Sibling) (g File, done bool, err error) {
	r, ok := logfile.Find(candidates, saved.Identity, l.known)
	if !ok {
		r, ok = l.moved(saved.Identity)
	}
	if !ok { // a copy that was made before so much was in the file as is known
		i := slices.IndexFunc(candidates, func(r logfile.Sibling) bool {
			return !r.Beside && !saved.SameInode(r.ID.Node) && isShorter(&r, saved) && !slices.ContainsFunc(l.known, r.WasItself)
		})
		if i < 0 {
			return nil, false, nil
		}
		r = candidates[i]
	}
	copied := l.isCopied(&r, saved)
	if copied && isRead(&r, saved) {
		l.note(r.ID)
		l.tellTruncated()
		return nil, true, nil
	}
	if g, err = l.open(r, saved.Place); err != nil {
		return nil, false, err
	}
	if copied {
		l.tellTruncated()
	}
	if f, ok := g.(*plain); ok {
		f.stirred, f.doubted = l.stirred, f.HeadBytes < logfile.HeadBlock
		if f.begins(saved.Identity) { // should it be truncated meanwhile
			f.Head, f.HeadBytes, f.Lines = saved.Head, saved.HeadBytes, saved.Lines
		}
		if f.look() == errCut { // before the next checkpoint, as it grows
			l.skipCut(f)
		}
	}
	return g, true, nil
}

// continues reports whether a sibling goes on where reading of a file stopped: it begins as that does, or it is a copy that was made
// before so much was in the file.
func continues(r *logfile.Sibling, was logfile.SavedFile) bool {
	return was.HeadBytes > 0 && (r.Is(was.Identity) || isShorter(r, was))
}

// isShorter reports whether a sibling holds nothing but the first lines of a file, of which more is known.
func isShorter(r *logfile.Sibling, was logfile.SavedFile) bool {
	return len(r.Head) < was.HeadBytes && was.HasLines(r.Head)
}

// isCopied reports whether a sibling is a copy of a file that was truncated since: that has the name still, and is no file that
// was made later and got its inode.
func (l *Log) isCopied(r *logfile.Sibling, was logfile.SavedFile) bool {
	info, err := os.Stat(l.path)
	if err != nil || was.SameInode(r.ID.Node) || !was.SameInode(logfile.NodeOf(info)) {
		return false
	}
	if was.Born == 0 {
		return true
	}
	f, _, err := openAtOnce(l.path)
	if err != nil {
		return true // its birth is not known
	}
	defer f.Close()
	born := logfile.Born(f)
	return born == 0 || born == was.Born
}

// isRead reports whether nothing is in a copy that was not read.
func isRead(r *logfile.Sibling, was logfile.SavedFile) bool {
	if r.Compressed {
		return len(r.Head) < logfile.HeadBlock && int64(len(r.Head)) <= was.Offset
	}
	return r.Info.Size() <= was.Offset
}

// moved returns a file that has another name in the same directory, which is not that of a rotated one.
func (l *Log) moved(id logfile.Identity) (r logfile.Sibling, ok bool) {
	dir := filepath.Dir(l.Name)
	entries, _ := os.ReadDir(dir) // what cannot be read is not there
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !id.SameInode(logfile.NodeOf(info)) {
			continue
		}
		if r, ok = logfile.SiblingAt(filepath.Join(dir, e.Name())); ok && r.Is(id) {
			return r, true
		}
	}
	return r, false
}
