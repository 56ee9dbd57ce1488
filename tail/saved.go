package tail

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"shadow/parse"
)

// save is how far the log has been read. Of files without content, and of pipes, there is nothing to say.
func (l *log) save() parse.SavedLog {
	if l.saved != nil {
		return *l.saved
	}
	s := parse.SavedLog{Name: l.key, Series: l.series != nil, Known: l.known, Closed: l.closed}
	for _, g := range l.files {
		if f := g.saved(); f.HeadBytes > 0 {
			s.Files = append(s.Files, f)
		}
	}
	return s
}

// resume goes on where a checkpoint says, as soon as that can be read.
func (l *log) resume(s parse.SavedLog) {
	l.begun = true
	l.known, l.closed = s.Known, s.Closed
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
	s := l.saved
	l.saved = nil
	candidates := parse.RelativesOf(l.name)
	if l.series != nil {
		candidates = l.series.Relatives("")
	}
	if current, ok := parse.RelativeAt(l.name); ok {
		candidates = append(candidates, current)
	}
	for _, saved := range s.Files {
		r, ok := find(candidates, saved.Identity, s.Known)
		if !ok {
			r, ok = l.moved(saved.Identity)
		}
		if !ok {
			l.say("%s: a file that was being read is gone; what was written to it behind byte %d is lost, unless it comes back", l.name, saved.Offset)
			l.closed = keepInMind(l.closed, saved, keptClosed)
			continue
		}
		g, err := l.open(r, saved.Place)
		if err != nil {
			l.say("%s: %v", r.Path, err)
			continue
		}
		if f, ok := g.(*file); ok { // should it be truncated meanwhile
			f.id.Head, f.id.HeadBytes = saved.Head, saved.HeadBytes
			if f.look() == errCut { // before the next checkpoint, as it grows
				l.skipCut(f)
			}
		}
		l.files = append(l.files, g)
	}
	return nil
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
func find(candidates []parse.Relative, id parse.Identity, known []parse.Identity) (found parse.Relative, ok bool) {
	for i := range candidates {
		r := &candidates[i]
		if itself := id.SameInode(r.ID); r.Is(id) && (itself || !ok && !slices.ContainsFunc(known, r.WasItself)) {
			found, ok = *r, true
		}
	}
	return found, ok
}

// moved is a file that has another name in the same directory, which is not that of a rotated one.
func (l *log) moved(id parse.Identity) (r parse.Relative, ok bool) {
	dir := filepath.Dir(l.name)
	entries, _ := os.ReadDir(dir) // what cannot be read is not there
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		device, inode := parse.InodeOf(info)
		if !id.SameInode(parse.Identity{Device: device, Inode: inode}) {
			continue
		}
		if r, ok = parse.RelativeAt(filepath.Join(dir, e.Name())); ok && r.Is(id) {
			return r, true
		}
	}
	return r, false
}

// wholeLines is data up to its last line feed.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
