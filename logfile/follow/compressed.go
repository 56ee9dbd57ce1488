package follow

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"shadow/logfile"
)

// A compressed file is one that log rotation has compressed before it was read to its end. It does not grow.
type compressed struct {
	*logfile.Input
	set   *Set
	first []byte
	id    logfile.Identity
	at    logfile.Place
	over  bool
	read  time.Time
}

func openCompressed(r logfile.Sibling, at logfile.Place, s *Set) (*compressed, error) {
	input, err := logfile.OpenInput(r.Path, nil)
	if err == nil && !input.Is(r.Info) {
		err = errMoved
	}
	if err == nil {
		err = input.Follow(at, true)
	}
	if err != nil {
		return nil, err
	}
	return &compressed{Input: input, set: s, first: r.Head, id: r.ID, at: at, read: s.Now()}, nil
}

func (c *compressed) next(b *logfile.Block) (bool, error) {
	if c.over {
		return false, nil
	}
	if c.Next(b) != nil {
		c.over = true
		if problem := c.Problem(); problem != "" {
			c.set.Say("%s: %s; it was read up to byte %d", c.Name(), problem, c.at.Offset)
		}
		return false, nil
	}
	c.at, c.read = b.End(), c.set.Now()
	return true, nil
}

// rest is nothing: next has handed over the last line whether it had a line feed or not.
func (c *compressed) rest(*logfile.Block) bool { return false }
func (c *compressed) head() []byte             { return wholeLines(c.first) }
func (c *compressed) is(fs.FileInfo) bool      { return false }
func (c *compressed) saved() logfile.SavedFile { return logfile.SavedFile{Identity: c.id, Place: c.at} }
func (c *compressed) since() time.Time         { return c.read }
func (c *compressed) measure()                 {}
func (c *compressed) close()                   { _ = c.Close() }

// unread is 1 until the end has been seen: how much lies ahead is not known.
func (c *compressed) unread() int64 {
	if c.over {
		return 0
	}
	return 1
}

// errMoved says that another file has the name of one by now.
var errMoved = errors.New("has another name by now")

// hasMoved reports whether an error means that a file has another name by now, or none.
func hasMoved(err error) bool { return errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist) }

// open opens a sibling as a file of the log. One that was empty and has been filled since is looked at again.
func (l *Log) open(r logfile.Sibling, at logfile.Place) (File, error) {
	if r.Compressed {
		return openCompressed(r, at, l.set)
	}
	f, err := openPlain(r.Path, at, l.set.Now)
	if err == nil && !(os.SameFile(f.info, r.Info) && (f.id.HeadBytes == 0) == (r.ID.HeadBytes == 0) && f.id.HeadBytes >= r.ID.HeadBytes &&
		(r.ID.HeadBytes == 0 || f.begins(r.ID))) {
		f.close()
		return nil, errMoved
	}
	if err != nil {
		return nil, err // and no file that is nil
	}
	return f, nil
}
