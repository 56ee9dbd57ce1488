package findings

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
)

// Parts are Looks at the requests of a third of the clients each. What they find is what one Look at all of them finds,
// in all logs of the tests, but for bursts of refusals, as Carry says.
type parts []*Look

func newParts(o Options) parts { return parts{New(o), New(o), New(o)} }

func (p parts) take(b *traffic.Batch) {
	rows := make([][]int32, len(p))
	for row, client := range b.Client {
		third := crc32.ChecksumIEEE(p[0].Read.Tables.Clients.Bytes(client)) % uint32(len(p))
		rows[third] = append(rows[third], int32(row))
	}
	for i, some := range rows {
		part := new(traffic.Batch)
		part.Append(b, some)
		part.Warm = b.Warm
		p[i].Take(part)
	}
}

// carried returns what some Looks have found together, in other tables.
func carried(looks ...*Look) (*Look, error) {
	o := looks[0].Options
	read := *o.Read
	read.Tables = traffic.NewTables()
	read.Tables.Parts = o.Read.Tables.Parts
	to := New(o)
	to.Read = &read
	to.who.Tables = read.Tables
	for _, l := range looks {
		text, err := written(l)
		if err != nil {
			return nil, err
		}
		from := traffic.NewDecoder(text, read.Tables, read.Tables.Actions.ID)
		to.Carry(traffic.Carrier{From: from})
		if from.End(); from.Err() != nil {
			return nil, from.Err()
		}
	}
	return to, nil
}

func written(l *Look) ([]byte, error) {
	var text bytes.Buffer
	to := traffic.NewEncoder(l.Read.Tables, &text)
	l.Carry(traffic.Carrier{To: to})
	err := to.Flush()
	return text.Bytes(), err
}

func equal(x, y []Finding) bool {
	bursts := func(f Finding) bool { return f.Code == "enforced" && strings.Contains(f.Evidence, "behind its peak") }
	if slices.ContainsFunc(x, bursts) != slices.ContainsFunc(y, bursts) {
		enforced := func(f Finding) bool { return f.Code == "enforced" }
		x, y = slices.DeleteFunc(slices.Clone(x), enforced), slices.DeleteFunc(slices.Clone(y), enforced)
	}
	return slices.EqualFunc(x, y, func(x, y Finding) bool {
		x.Covers, y.Covers = nil, nil
		return fmt.Sprint(x) == fmt.Sprint(y) && x.Brief == y.Brief
	})
}

func (p parts) verify(t testing.TB, one *Look, found []Finding, s *ingest.Stats) {
	t.Helper()
	all, err := carried(p...)
	if err != nil {
		t.Fatal(err)
	}
	together := all.Findings(s)
	if !equal(together, found) {
		t.Errorf("in parts %+v\nin one   %+v", together, found)
	}
	if all.Site() != one.Site() || all.Traffic() != one.Traffic() || all.Census().Tally() != one.Census().Tally() {
		t.Errorf("in parts %v %v %v\nin one   %v %v %v", all.Site(), all.Traffic(), all.Census().Tally(), one.Site(),
			one.Traffic(), one.Census().Tally())
	}
	for id := range int32(one.all.Len()) {
		other, known := all.Read.Tables.Clients.Find(one.Read.Tables.Clients.Bytes(id))
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
	text, err := written(l)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for range 2000 {
		data := bytes.Clone(text)
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
