package tail

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/logfile"
)

// keptLines is for how long after a file was read a shorter copy of it may turn up: it was made before, and the file is truncated
// soon after.
const keptLines = 10 * time.Second

// save is how far the log has been read. Of files without content, and of pipes, there is nothing to say.
func (l *log) save() logfile.SavedLog {
	if l.saved != nil {
		return *l.saved
	}
	s := logfile.SavedLog{
		Name: l.key, Series: l.series != nil, Known: l.known, Closed: l.closed, Files: slices.Clone(l.missing),
		Formers: l.formers, Empty: l.empty,
	}
	for i, g := range l.files {
		f := g.saved()
		f.Spent = g.unread() == 0 && (i < len(l.files)-1 || l.lost)
		if l.now().Sub(g.since()) >= keptLines {
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

// resume goes on where a checkpoint says, as soon as that can be read.
func (l *log) resume(s logfile.SavedLog) {
	l.begun = true
	l.known, l.closed, l.formers, l.empty = s.Known, s.Closed, s.Formers, s.Empty
	l.saved = &s
	_ = l.recover() // else it is tried again, and told, when the log is looked at
}

// recover opens what a checkpoint tells of, unless it has. Files are found again by what they are, whatever they are called
// meanwhile. What has come since, look finds.
func (l *log) recover() error {
	if l.saved == nil {
		return nil
	}
	if err := l.readable(); err != nil {
		return err
	}
	l.missing, l.sought, l.saved = l.saved.Files, l.now(), nil
	l.search()
	l.pending = true // what has come since lies beside what has been found
	return nil
}

// While rotation is at work a file may not be found, so it is looked for as long as the tail runs. That is told when it takes
// longer than a rotation does, and at the end.
const (
	missedAfter = 2 * time.Second // it is told
	rarelyAfter = time.Minute     // it is looked for every rarely from then on
	rarely      = 10 * time.Second
)

// seek goes on looking for files of the checkpoint.
func (l *log) seek() {
	if len(l.missing) == 0 {
		return
	}
	passed := l.now().Sub(l.sought)
	if passed < rarelyAfter || l.now().Sub(l.looked) >= rarely {
		l.search()
	}
	switch {
	case len(l.missing) == 0 && l.missed:
		l.say("%s: the rest of what was being read has been found", l.name)
		l.missed = false
	case len(l.missing) == 0:
	case passed >= 60*l.linger:
		l.miss()
	case passed >= missedAfter && !l.missed:
		l.missed = true
		for _, f := range l.missing {
			if f.Spent {
				continue
			}
			l.say("%s: a file that was being read is gone; what was written to it behind byte %d is missing, unless it comes back", l.name, f.Offset)
		}
	}
}

// miss gives up what has not been found. Should it come back, it is gone on with.
func (l *log) miss() {
	for _, f := range l.missing {
		l.closed = keepInMind(l.closed, f, keptClosed)
		if !f.Spent {
			l.say("%s: a file that was being read was not found again; what was written to it behind byte %d is lost, unless it comes back",
				l.name, f.Offset)
			l.tail.lose()
		}
	}
	l.missing, l.missed = nil, false
}

// search opens those that are missing, as far as they are there.
func (l *log) search() {
	l.looked = l.now()
	var candidates []logfile.Sibling
	if l.series != nil {
		candidates, _ = l.beside.OfSeries(*l.series, "")
	} else {
		candidates, _ = l.beside.WithCurrent(l.name)
	}
	var found []generation
	l.missing = slices.DeleteFunc(l.missing, func(saved logfile.SavedFile) bool {
		r, ok := find(candidates, saved.Identity, l.known)
		if !ok {
			r, ok = l.moved(saved.Identity)
		}
		if !ok {
			r, ok = shorterCopy(candidates, saved, l.known)
		}
		if !ok {
			return false
		}
		copied := l.isCopied(&r, saved)
		if copied && isRead(&r, saved) {
			l.note(r.ID)
			l.tellTruncated()
			return true
		}
		g, err := l.open(r, saved.Place)
		if err != nil {
			if !hasMoved(err) {
				l.cannotRead(err)
			}
			return false
		}
		if copied {
			l.tellTruncated()
		}
		found = append(found, g)
		if f, ok := g.(*file); ok {
			f.stirred, f.doubted = l.stirred, f.id.HeadBytes < logfile.HeadBlock
			if f.begins(saved.Identity) { // should it be truncated meanwhile
				f.id.Head, f.id.HeadBytes, f.lines = saved.Head, saved.HeadBytes, saved.Lines
			}
			if f.look() == errCut { // before the next checkpoint, as it grows
				l.skipCut(f)
			}
		}
		return true
	})
	l.insert(found...)
}

// continues reports whether a relative goes on where reading of a file stopped: it begins as that does, or it is a copy that was made
// before so much was in the file.
func continues(r *logfile.Sibling, was logfile.SavedFile) bool {
	return was.HeadBytes > 0 && (r.Is(was.Identity) || isShorter(r, was))
}

// isShorter reports whether a relative holds nothing but the first lines of a file, of which more is known.
func isShorter(r *logfile.Sibling, was logfile.SavedFile) bool {
	return len(r.Head) < was.HeadBytes && was.HasLines(r.Head)
}

// isCopied reports whether a relative is a copy of a file that was truncated since: that has the name still.
func (l *log) isCopied(r *logfile.Sibling, was logfile.SavedFile) bool {
	info, err := os.Stat(l.path)
	if err != nil || was.SameInode(r.ID) {
		return false
	}
	device, inode := logfile.InodeOf(info)
	return was.SameInode(logfile.Identity{Device: device, Inode: inode})
}

// isRead reports whether nothing is in a copy that was not read.
func isRead(r *logfile.Sibling, was logfile.SavedFile) bool {
	if r.Compressed {
		return len(r.Head) < logfile.HeadBlock && int64(len(r.Head)) <= was.Offset
	}
	return r.Info.Size() <= was.Offset
}

// shorterCopy is the candidate that is a copy of a file, made before so much was in it as is known.
func shorterCopy(candidates []logfile.Sibling, was logfile.SavedFile, known []logfile.Identity) (found logfile.Sibling, ok bool) {
	i := slices.IndexFunc(candidates, func(r logfile.Sibling) bool {
		return !r.Beside && !was.SameInode(r.ID) && isShorter(&r, was) && !slices.ContainsFunc(known, r.WasItself)
	})
	if i < 0 {
		return found, false
	}
	return candidates[i], true
}

// claim takes a file that was missing. It returns where reading of that stopped.
func (l *log) claim(is func(logfile.SavedFile) bool) (logfile.Place, bool) {
	i := slices.IndexFunc(l.missing, is)
	if i < 0 {
		return logfile.Place{}, false
	}
	at := l.missing[i].Place
	l.missing = slices.Delete(l.missing, i, i+1)
	return at, true
}

// readable is the error of a log that is there and may not be read: what has been read of it could not be told.
func (l *log) readable() error {
	path := l.name
	if l.series != nil {
		path = filepath.Clean(l.series.Dir)
	}
	f, _, err := openAtOnce(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_ = f.Close()
	}
	return err
}

// find is the candidate that is a file: the one with its inode and content, or else one with its content that was not known
// beside it.
func find(candidates []logfile.Sibling, id logfile.Identity, known []logfile.Identity) (found logfile.Sibling, ok bool) {
	for i := range candidates {
		r := &candidates[i]
		if itself := id.SameInode(r.ID); !r.Beside && r.Is(id) && (itself || !ok && !isKnown(r, id, known)) {
			found, ok = *r, true
		}
	}
	return found, ok
}

// isKnown reports whether a candidate was known beside a file that begins as it does. Where only a line or two tell, so does the
// content, should it have been compressed since.
func isKnown(r *logfile.Sibling, id logfile.Identity, known []logfile.Identity) bool {
	return slices.ContainsFunc(known, func(k logfile.Identity) bool {
		return r.WasItself(k) || id.HeadBytes < logfile.HeadBlock && r.Was(k)
	})
}

// moved is a file that has another name in the same directory, which is not that of a rotated one.
func (l *log) moved(id logfile.Identity) (r logfile.Sibling, ok bool) {
	dir := filepath.Dir(l.name)
	entries, _ := os.ReadDir(dir) // what cannot be read is not there
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		device, inode := logfile.InodeOf(info)
		if !id.SameInode(logfile.Identity{Device: device, Inode: inode}) {
			continue
		}
		if r, ok = logfile.SiblingAt(filepath.Join(dir, e.Name())); ok && r.Is(id) {
			return r, true
		}
	}
	return r, false
}

// wholeLines is data up to its last line feed.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
