package traffic

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
)

// Every column of a Batch is in the list, and has a value of its own in filled.
func TestColumnsAreListed(t *testing.T) {
	var b Batch
	listed := map[any]bool{&b.Seq: true}
	for _, c := range b.columns() {
		listed[c.pointer()] = true
	}
	for i := range b.Values {
		if !listed[&b.Values[i]] {
			t.Errorf("the column %d of values is not in the list", i)
		}
	}
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() == reflect.Slice && !listed[v.Field(i).Addr().Interface()] {
			t.Errorf("the column %s is not in the list", f.Name)
		}
	}
}

var allColumns = Columns{Source: true, Host: true, User: true, Path: true, Upstream: true, Marks: true, Clues: true, Origins: true, Lines: true, Values: 2}

// filled has n rows, whose names are in the tables.
func filled(t *Tables, n int) *Batch {
	b := NewBatch(n, allColumns)
	for i := range n {
		name := func(kind string) []byte { return fmt.Appendf(nil, "%s %d", kind, i*7%5) }
		b.At = append(b.At, limit.Time(i*i%11)-5)
		b.Client, b.Agent = append(b.Client, t.Clients.ID(name("client"))), append(b.Agent, uint16(t.Agents.ID(name("agent"))))
		b.Action, b.Status = append(b.Action, uint16(t.Actions.ID(name("action")))), append(b.Status, uint16(200+i))
		b.Bytes, b.Source = append(b.Bytes, int64(1)<<(7*i%60)), append(b.Source, uint32(i%3))
		b.Host, b.User = append(b.Host, t.Hosts.ID(name("host"))), append(b.User, NoUser)
		b.Path, b.Upstream = append(b.Path, t.Paths.ID(name("path"))), append(b.Upstream, int64(i))
		b.Marks, b.Clues = append(b.Marks, 1<<(63-i%2)), append(b.Clues, Clue{Trait(i), uint16(i * 5000), uint16(i * 9000)})
		b.Origin, b.Leftmost = append(b.Origin, uint32(i)<<29), append(b.Leftmost, uint32(i)<<23)
		b.Line = append(b.Line, int64(i)<<33)
		b.Values[0], b.Values[1] = append(b.Values[0], t.Values.ID(name("value"))), append(b.Values[1], NoValue)
		if i%3 > 0 {
			b.Values[1][i] = t.Values.ID(name("other"))
			b.User[i] = t.Users.ID(name("user"))
		}
	}
	b.NeedSeq()
	b.Seq[n-1] += limit.Second
	return b
}

// Rows come back from a checkpoint in all columns that the run has. What was not kept is what a log without it has.
func TestRowsAreRestored(t *testing.T) {
	tables := NewTables()
	tables.Parts = []request.Part{{Kind: request.PartSegment, N: 2}, {Kind: request.PartField, Name: "ja4"}}
	for what, c := range map[string]struct{ saved, wanted Columns }{
		"all":              {allColumns, allColumns},
		"fewer than saved": {allColumns, Columns{User: true}},
		"more than saved":  {Columns{}, allColumns},
	} {
		t.Run(what, func(t *testing.T) {
			b := filled(tables, 9)
			for _, column := range b.columns() {
				if column.wanted != nil && !column.wanted(c.saved) {
					column.fit(0, false)
				}
			}
			var body bytes.Buffer
			to := NewEncoder(tables, &body)
			b.Save(to)
			if err := to.Flush(); err != nil {
				t.Fatal(err)
			}
			again := NewBatch(0, c.wanted)
			from := NewDecoder(body.Bytes(), tables, tables.Actions.ID)
			again.Restore(from)
			if err := from.Err(); err != nil || len(from.rest) > 0 {
				t.Fatalf("error %v, %d bytes left", err, len(from.rest))
			}
			want := *b
			for _, column := range want.columns() {
				switch wanted := column.wanted == nil || column.wanted(c.wanted); {
				case !wanted:
					column.fit(0, false)
				case !column.has():
					column.fill(9, from.absent(column.kind))
				}
			}
			if want.User != nil && c.saved.User == false && want.User[0] != NoUser {
				t.Error("a user is made up")
			}
			want.seqRoom, again.seqRoom = nil, nil
			if !reflect.DeepEqual(again, &want) {
				t.Errorf("%+v\nis restored as\n%+v", want, again)
			}
			for cut := range body.Len() { // a checkpoint that ends too early is an error
				short := NewDecoder(body.Bytes()[:cut], tables, tables.Actions.ID)
				if NewBatch(0, c.wanted).Restore(short); short.Err() == nil {
					t.Errorf("the first %d bytes of %d are enough", cut, body.Len())
				}
				forged := bytes.Clone(body.Bytes())
				forged[cut] += 127
				NewBatch(0, c.wanted).Restore(NewDecoder(forged, tables, tables.Actions.ID)) // may be anything, but must not panic
			}
		})
	}
}

// Values come back into the column of their part, whatever place that has by then; others are dropped.
func TestValuesFindTheirPart(t *testing.T) {
	segment, field := request.Part{Kind: request.PartSegment, N: 2}, request.Part{Kind: request.PartField, Name: "ja4"}
	tables := NewTables()
	tables.Parts = []request.Part{segment, field}
	b := filled(tables, 9)
	var body bytes.Buffer
	to := NewEncoder(tables, &body)
	b.Save(to)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	tables.Parts = []request.Part{field, {Kind: request.PartCookie, Name: "sid"}}
	again := NewBatch(0, allColumns)
	from := NewDecoder(body.Bytes(), tables, tables.Actions.ID)
	again.Restore(from)
	if from.End(); from.Err() != nil {
		t.Fatal(from.Err())
	}
	if none := slices.Repeat([]int32{NoValue}, 9); !slices.Equal(again.Values[0], b.Values[1]) || !slices.Equal(again.Values[1], none) {
		t.Errorf("%v and %v are restored as %v and %v", b.Values[0], b.Values[1], again.Values[0], again.Values[1])
	}
}

// Rows and ids in several pieces come back; their names are written once.
func TestPiecesAreRestored(t *testing.T) {
	was, is := NewTables(), NewTables()
	b := filled(was, 2*pieceRows+5)
	ids := make([]int32, pieceRows+1)
	for i := range ids {
		ids[i] = was.Clients.ID(fmt.Appendf(nil, "%d", i%(pieceRows+1)))
	}
	var body bytes.Buffer
	to := NewEncoder(was, &body)
	b.Save(to)
	to.saveIDs(ClientName, ids)
	to.saveIDs(ClientName, ids[5:])
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(body.Bytes(), []byte("client 1")); n != 1 {
		t.Errorf("a name is written %d times", n)
	}
	again, from := NewBatch(0, allColumns), NewDecoder(body.Bytes(), is, is.Actions.ID)
	again.Restore(from)
	whole, part := from.restoreIDs(ClientName, len(ids)), from.restoreIDs(ClientName, len(ids)-5)
	if from.End(); from.Err() != nil {
		t.Fatal(from.Err())
	}
	if !slices.Equal(again.At, b.At) || !slices.Equal(again.Line, b.Line) || !slices.Equal(whole[5:], part) {
		t.Error("rows or ids are others")
	}
	for i, id := range ids {
		if is.Clients.Name(whole[i]) != was.Clients.Name(id) {
			t.Fatalf("client %d is %q, want %q", i, is.Clients.Name(whole[i]), was.Clients.Name(id))
		}
	}
	for i, id := range b.Path {
		if is.Paths.Name(again.Path[i]) != was.Paths.Name(id) {
			t.Fatalf("path %d is %q, want %q", i, is.Paths.Name(again.Path[i]), was.Paths.Name(id))
		}
	}
}

// Every row has a client, an agent and an action; a checkpoint of rows without them is forged, and so is one that goes on.
func TestForgedRows(t *testing.T) {
	tables := NewTables()
	from := NewDecoder(append([]byte{0, 1}, make([]byte, 64)...), tables, tables.Actions.ID)
	if NewBatch(0, Columns{}).Restore(from); from.Err() == nil {
		t.Error("a row without a client")
	}
	from = NewDecoder(make([]byte, 64), tables, tables.Actions.ID)
	NewBatch(0, Columns{}).Restore(from)
	if from.End(); from.Err() == nil {
		t.Error("what stands behind the end goes unnoticed")
	}
}
