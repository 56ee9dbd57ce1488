package findings

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
)

// Parts are Looks at the requests of a third of the clients each. What they find is what one Look at all of them finds,
// in all logs of the tests.
type parts []*Look

func newParts(o Options) parts { return parts{New(o), New(o), New(o)} }

func (p parts) take(b *traffic.Batch) {
	rows := make([][]int32, len(p))
	for row, client := range b.Client {
		rows[int(client)%len(p)] = append(rows[int(client)%len(p)], int32(row))
	}
	for i, some := range rows {
		part := new(traffic.Batch)
		part.Append(b, some)
		part.Warm = b.Warm
		p[i].Take(part)
	}
}

func (p parts) verify(t testing.TB, one *Look, found []Finding, s *ingest.Stats) {
	t.Helper()
	read := *one.Read
	read.Tables = traffic.NewTables()
	read.Tables.Parts = one.Read.Tables.Parts
	var err error
	if read.Actions, err = match.NewActions(nil, read.Tables.Actions); err != nil {
		t.Fatal(err)
	}
	o := one.Options
	o.Read = &read
	all := New(o)
	for _, part := range p {
		var text bytes.Buffer
		to := traffic.NewEncoder(one.Read.Tables, &text)
		part.Carry(traffic.Carrier{To: to})
		if err := to.Flush(); err != nil {
			t.Fatal(err)
		}
		from := traffic.NewDecoder(text.Bytes(), read.Tables, read.Actions.Named)
		all.Carry(traffic.Carrier{From: from})
		if from.End(); from.Err() != nil {
			t.Fatal(from.Err())
		}
	}
	together := all.Findings(s)
	if !slices.EqualFunc(together, found, func(x, y Finding) bool {
		x.Covers, y.Covers = nil, nil
		return fmt.Sprint(x) == fmt.Sprint(y) && x.Brief == y.Brief
	}) {
		t.Errorf("in parts %+v\nin one   %+v", together, found)
	}
	if all.Site() != one.Site() || all.Traffic() != one.Traffic() || all.Census().Tally() != one.Census().Tally() {
		t.Errorf("in parts %v %v %v\nin one   %v %v %v", all.Site(), all.Traffic(), all.Census().Tally(), one.Site(),
			one.Traffic(), one.Census().Tally())
	}
	for id := range int32(one.all.Len()) {
		other, known := read.Tables.Clients.Find(one.Read.Tables.Clients.Bytes(id))
		if one.all.At(id).requests() == 0 {
			continue
		}
		if !known || fmt.Sprint(all.is(other), all.census.Reasons(other)) != fmt.Sprint(one.is(id), one.census.Reasons(id)) {
			t.Fatalf("%s: in parts %v, %q, in one %v, %q", one.Read.Tables.Clients.Name(id), all.is(other),
				all.census.Reasons(other), one.is(id), one.census.Reasons(id))
		}
	}
}

// However a carried Look is damaged, reading it is an error or another Look, and never a panic.
func TestDamagedLook(t *testing.T) {
	w := newTown(t)
	w.readers(9, "192.0.2.%d")
	for i := range 40 {
		w.hit(float64(i), "198.51.100.66", "GET /.env", 200, "curl/8", fmt.Sprintf("8.8.%d.1, 192.0.2.1", i))
		w.hit(float64(i), "198.51.100.67", "POST /login", 429, "curl/8", "-")
	}
	l, _ := reading{format: mainFormat}.look(t, w.write(t))
	var text bytes.Buffer
	to := traffic.NewEncoder(l.Read.Tables, &text)
	l.Carry(traffic.Carrier{To: to})
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for range 2000 {
		data := bytes.Clone(text.Bytes())
		if i := w.IntN(len(data)); w.IntN(4) == 0 {
			data = data[:i]
		} else {
			data[i] ^= 1 << w.IntN(8)
		}
		read := *l.Read
		read.Tables = traffic.NewTables()
		o := l.Options
		o.Read = &read
		from := traffic.NewDecoder(data, read.Tables, read.Tables.Actions.ID)
		New(o).Carry(traffic.Carrier{From: from})
		if from.End(); from.Err() != nil {
			damaged++
		}
	}
	if damaged < 400 {
		t.Errorf("%d of 2000 are noticed", damaged)
	}
}
