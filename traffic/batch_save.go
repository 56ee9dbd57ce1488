package traffic

import "shadow/limit"

// Rows of a batch are written to a checkpoint one by one.

// What a saved row may have, apart from what each has.
const (
	savedUser = 1 << iota
	savedPath
)

// SaveRow writes a row apart from its time.
func (b *Batch) SaveRow(i int, to *Encoder) {
	to.Client(b.Client[i])
	to.Agent(b.Agent[i])
	to.Action(b.Action[i])
	to.Uint(uint64(b.Status[i]))
	to.Int(b.Bytes[i])
	to.Uint(uint64(ValueAt(b.Source, i)))
	to.Uint(ValueAt(b.Marks, i))
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

// ValueAt is an element of a column that may be nil.
func ValueAt[T any](column []T, i int) (v T) {
	if column != nil {
		v = column[i]
	}
	return v
}

// unnamed is the name of a host or a path that was not logged.
var unnamed = []byte("-")

// RestoreRow appends a row that was saved, in these columns.
func (b *Batch) RestoreRow(at limit.Time, cols Columns, from *Decoder) {
	b.At = append(b.At, at)
	if b.Seq != nil {
		b.Seq = append(b.Seq, at)
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
	} else if cols.Host {
		host = from.tables.Hosts.ID(unnamed)
	}
	user, has := int32(NoUser), from.Uint()
	if has&savedUser != 0 {
		user = from.User()
	}
	var path int32
	if has&savedPath != 0 {
		path = from.Path()
	} else if cols.Path {
		path = from.tables.Paths.ID(unnamed)
	}
	if cols.User {
		b.User = append(b.User, user)
	}
	if cols.Path {
		b.Path = append(b.Path, path)
	}
	if cols.Source {
		b.Source = append(b.Source, source)
	}
	if cols.Marks {
		b.Marks = append(b.Marks, marks)
	}
	if cols.Host {
		b.Host = append(b.Host, host)
	}
}
