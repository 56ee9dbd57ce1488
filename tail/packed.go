package tail

import (
	"io"
	"time"

	"shadow/parse"
)

// A packed file is a generation that log rotation has compressed before it was read to its end. It does not grow.
type packed struct {
	input *parse.Input
	block parse.Block
	first []byte
	id    parse.Identity
	at    parse.Place
	over  bool
	read  time.Time
	now   func() time.Time
}

func openPacked(r parse.Relative, at parse.Place, now func() time.Time) (*packed, error) {
	input, err := parse.OpenInput(r.Path, nil)
	if err != nil {
		return nil, err
	}
	return &packed{input: input, first: r.Head, id: r.ID, at: at, read: now(), now: now}, nil
}

func (p *packed) next(b *parse.Block) (bool, error) {
	for !p.over {
		if err := p.input.Next(&p.block); err != nil {
			p.over = true
			if err == io.EOF {
				err = nil
			}
			return false, err
		}
		end := p.block.Offset + int64(len(p.block.Data))
		if end <= p.at.Offset {
			continue
		}
		b.Data = append(b.Data[:0], p.block.Data[max(0, p.at.Offset-p.block.Offset):]...)
		p.at.Offset, p.read = end, p.now()
		return true, nil
	}
	return false, nil
}

// rest is nothing: next has handed over the last line whether it had a line feed or not.
func (p *packed) rest(*parse.Block) bool { return false }
func (p *packed) head() []byte           { return wholeLines(p.first) }
func (p *packed) saved() parse.SavedFile { return parse.SavedFile{Identity: p.id, Place: p.at} }
func (p *packed) since() time.Time       { return p.read }
func (p *packed) close()                 { _ = p.input.Close() }

// unread is 1 until the end has been seen: how much lies ahead is not known.
func (p *packed) unread() int64 {
	if p.over {
		return 0
	}
	return 1
}

// open opens a relative as a generation of a log.
func (l *log) open(r parse.Relative, at parse.Place) (generation, error) {
	if r.Packed {
		return openPacked(r, at, l.now)
	}
	return openFile(r.Path, at, l.now)
}
