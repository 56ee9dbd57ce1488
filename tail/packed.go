package tail

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"

	"shadow/logfile"
)

// A packed file is a generation that log rotation has compressed before it was read to its end. It does not grow.
type packed struct {
	input *logfile.Input
	say   func(format string, args ...any)
	block logfile.Block
	first []byte
	id    logfile.Identity
	at    logfile.Place
	over  bool
	read  time.Time
	now   func() time.Time
}

func openPacked(r logfile.Sibling, at logfile.Place, l *log) (*packed, error) {
	input, err := logfile.OpenInput(r.Path, nil)
	if err != nil {
		return nil, err
	}
	if !input.Is(r.Info) {
		return nil, errMoved
	}
	return &packed{input: input, say: l.say, first: r.Head, id: r.ID, at: at, read: l.now(), now: l.now}, nil
}

func (p *packed) next(b *logfile.Block) (bool, error) {
	for !p.over {
		if p.input.Next(&p.block) != nil {
			p.over = true
			if problem := p.input.Problem(); problem != "" {
				p.say("%s: %s; it was read up to byte %d", p.input.Name(), problem, p.at.Offset)
			}
			break
		}
		if b.Data = append(b.Data[:0], p.ahead()...); len(b.Data) > 0 {
			p.read = p.now()
			return true, nil
		}
	}
	return false, nil
}

// ahead is what the block has behind the place, which goes to its end.
func (p *packed) ahead() []byte {
	data := p.block.Data
	begin, end := p.block.Offset, p.block.Offset+int64(len(data))
	if end <= p.at.Offset {
		return nil
	}
	if begin < p.at.Offset {
		data = data[p.at.Offset-begin:]
		if p.at.Skipping {
			_, data, _ = bytes.Cut(data, []byte("\n"))
		}
	}
	p.at = logfile.Place{Offset: end}
	return data
}

// rest is nothing: next has handed over the last line whether it had a line feed or not.
func (p *packed) rest(*logfile.Block) bool { return false }
func (p *packed) head() []byte             { return wholeLines(p.first) }
func (p *packed) saved() logfile.SavedFile { return logfile.SavedFile{Identity: p.id, Place: p.at} }
func (p *packed) since() time.Time         { return p.read }
func (p *packed) close()                   { _ = p.input.Close() }

// unread is 1 until the end has been seen: how much lies ahead is not known.
func (p *packed) unread() int64 {
	if p.over {
		return 0
	}
	return 1
}

// errMoved says that another file has the name of one by now.
var errMoved = errors.New("has another name by now")

// hasMoved reports whether an error means that a file has another name by now, or none.
func hasMoved(err error) bool { return errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist) }

// open opens a relative as a generation of a log. One that was empty and has been filled since is looked at again.
func (l *log) open(r logfile.Sibling, at logfile.Place) (generation, error) {
	if r.Compressed {
		return openPacked(r, at, l)
	}
	f, err := openFile(r.Path, at, l.now)
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
