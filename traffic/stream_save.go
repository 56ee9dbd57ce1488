package traffic

import (
	"errors"

	"shadow/limit"
)

// What a Stream remembers: how far each source has come in time, the floor, and the requests that wait.

var errTooManySources = errors.New("checkpoint: more sources than there are")

// Save writes it.
func (s *Stream) Save(to *Encoder) { savePending(to, s.sources, &s.pending) }

// savePending writes what waits, of sources that have come so far.
func savePending(to *Encoder, sources []*watermark, p *pending) {
	to.Uint(uint64(len(sources)))
	for _, w := range sources {
		to.Int(int64(w.mark))
		to.Int(int64(w.last))
	}
	to.Int(int64(p.floor))
	b := &p.Batch
	to.Uint(uint64(b.Len()))
	places := b.Places()
	var last limit.Time
	for i, at := range b.At {
		to.Int(int64(at - last))
		to.Uint(uint64(places[i] - at)) // nobody is placed before its time
		last = at
		b.save(i, to)
	}
}

// What a saved row may have, apart from what each has.
const (
	savedUser = 1 << iota
	savedPath
)

// save writes a row apart from its time.
func (b *Batch) save(i int, to *Encoder) {
	to.Client(b.Client[i])
	to.Agent(b.Agent[i])
	to.Action(b.Action[i])
	to.Uint(uint64(b.Status[i]))
	to.Int(b.Bytes[i])
	to.Uint(uint64(valueAt(b.Source, i)))
	to.Uint(valueAt(b.Marks, i))
	if b.Host == nil {
		to.Uint(0)
	} else {
		to.Uint(1)
		to.Host(b.Host[i])
	}
	var has uint64
	if b.User != nil && b.User[i] != NoUser {
		has |= savedUser
	}
	if b.Path != nil {
		has |= savedPath
	}
	to.Uint(has)
	if has&savedUser != 0 {
		to.User(b.User[i])
	}
	if has&savedPath != 0 {
		to.Path(b.Path[i])
	}
}

// valueAt is an element of a column that may be nil.
func valueAt[T any](column []T, i int) (v T) {
	if column != nil {
		v = column[i]
	}
	return v
}

// Restore reads what Save has written, into a Stream that nothing has come to. It must have as many sources as were saved.
func (s *Stream) Restore(from *Decoder) {
	restorePending(from, s.sources, &s.pending, s.columns)
}

// restorePending reads what savePending has written, into what is empty and has these columns.
func restorePending(from *Decoder, sources []*watermark, p *pending, cols columns) {
	n := from.Count()
	if n > len(sources) {
		from.Fail(errTooManySources)
		return
	}
	for _, w := range sources[:n] {
		w.mark, w.last = within64(from.Int()), within64(from.Int())
	}
	p.floor = within64(from.Int())
	var last limit.Time
	for i := range from.Count() {
		at := within64(int64(last) + from.Int())
		place := within64(int64(at) + int64(from.Uint()))
		last = at
		p.restoreRow(at, cols, from)
		if place != at {
			p.setOrder(i, place)
		}
	}
}

// within64 keeps a moment where arithmetic with it cannot overflow, whatever a damaged checkpoint says.
func within64(t int64) limit.Time { return max(dawn, min(limit.Time(t), dusk)) }

func (b *Batch) restoreRow(at limit.Time, cols columns, from *Decoder) {
	b.At = append(b.At, at)
	if b.Order != nil {
		b.Order = append(b.Order, at)
	}
	b.Client = append(b.Client, from.Client())
	b.Agent = append(b.Agent, from.Agent())
	b.Action = append(b.Action, from.Action())
	b.Status = append(b.Status, uint16(from.Uint()))
	b.Bytes = append(b.Bytes, from.Int())
	source, marks := uint32(from.Uint()), from.Uint()
	var host int32
	if from.Uint() == 1 {
		host = from.Host()
	} else if cols.host {
		host = from.tables.Hosts.ID(dash(nil))
	}
	user, has := int32(NoUser), from.Uint()
	if has&savedUser != 0 {
		user = from.User()
	}
	var path int32
	if has&savedPath != 0 {
		path = from.Path()
	} else if cols.path {
		path = from.tables.Paths.ID(dash(nil))
	}
	if cols.user {
		b.User = append(b.User, user)
	}
	if cols.path {
		b.Path = append(b.Path, path)
	}
	if cols.source {
		b.Source = append(b.Source, source)
	}
	if cols.marks {
		b.Marks = append(b.Marks, marks)
	}
	if cols.host {
		b.Host = append(b.Host, host)
	}
}

// Anew returns a Stream as this one was at its beginning, with as many sources, for other tables, whose Actions must be the
// same.
func (s *Stream) Anew(t *Tables) *Stream {
	o := s.options
	o.Tables = t
	moved := &Stream{options: o, columns: s.columns}
	moved.begin()
	moved.Sources(len(s.sources))
	return moved
}
