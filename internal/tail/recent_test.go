package tail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/traffic/intern"
)

// A diary is the slow twin of recent: it keeps every refusal.
type diary struct {
	names []string
	steps []int64
}

// within counts the refusals of each name in the span that ends with a step.
func (d *diary) within(step int64) map[string]int64 {
	counts := map[string]int64{}
	for i, name := range d.names {
		if d.steps[i] > step-steps {
			counts[name]++
		}
	}
	return counts
}

// numbered are names by their numbers.
func numbered(n int) *intern.Dict {
	dict := intern.NewDict()
	for i := range n {
		dict.ID(fmt.Appendf(nil, "client %03d", i))
	}
	return dict
}

// With room enough the counts are exact; without, a count and what is missing of it enclose the truth, and a name that
// is not listed had no more than was lost.
func TestRecentAgreesWithDiary(t *testing.T) {
	dict := numbered(80)
	lossy := 0
	for seed := range uint64(60) {
		random := seeded(t, seed)
		room := 4 + random.IntN(60)
		names := 2 + random.IntN(80)
		r, d := newRecent(room), &diary{}
		for step := int64(0); step < 100; step += int64(random.IntN(4) * random.IntN(12)) {
			r.advance(step)
			for range random.IntN(40) {
				id := int32(min(random.IntN(names), random.IntN(names)))
				r.add(id, dict.Name, lastRefusal{})
				d.names, d.steps = append(d.names, dict.Name(id)), append(d.steps, step)
			}
			list := r.list(&Query{Rows: names}, time.Time{}, dict.Name)
			if list.Lost > 0 {
				lossy++
			}
			compareRecent(t, &list, d.within(step), names <= room)
		}
	}
	if lossy < 100 {
		t.Errorf("only %d lists had losses", lossy)
	}
}

func compareRecent(t *testing.T, list *List, want map[string]int64, exact bool) {
	t.Helper()
	total := int64(0)
	for _, n := range want {
		total += n
	}
	if list.Total != total {
		t.Fatalf("%d refusals, want %d", list.Total, total)
	}
	for _, r := range list.Top {
		if n := want[r.Name]; r.Refused > n || r.Refused+r.Missing < n || exact && r.Refused != n {
			t.Fatalf("%s has %d, of which %d are counted and up to %d missing", r.Name, n, r.Refused, r.Missing)
		}
		delete(want, r.Name)
	}
	for name, n := range want {
		if n > list.Lost {
			t.Fatalf("%s has %d and is not listed, though no more than %d were lost", name, n, list.Lost)
		}
	}
}

// The first names are those of sorting all of them, in each order.
func TestRecentOrders(t *testing.T) {
	dict := numbered(400)
	random := seeded(t, 1)
	r := newRecent(1000)
	for i := range 3000 {
		r.add(int32(random.IntN(400)), dict.Name, lastRefusal{at: time.Duration(i/7) * time.Second})
	}
	for _, order := range []Order{ByRefused, ByLatest} {
		var all []ranked
		for name, c := range r.counters {
			all = append(all, ranked{name, c})
		}
		slices.SortFunc(all, order.compare)
		for _, rows := range []int{1, 2, 7, 200, 399, 5000} {
			got := r.list(&Query{Order: order, Rows: rows}, time.Time{}, dict.Name).Top
			for i := range min(rows, len(all)) {
				if got[i].Name != all[i].name {
					t.Fatalf("order %d, row %d of %d: %s, want %s", order, i, rows, got[i].Name, all[i].name)
				}
			}
		}
	}
	most, byName := r.list(&Query{Rows: 5}, time.Time{}, dict.Name).Top, r.list(&Query{Order: ByName, Rows: 5}, time.Time{}, dict.Name).Top
	slices.SortFunc(most, func(x, y Recent) int { return strings.Compare(x.Name, y.Name) })
	if !slices.Equal(most, byName) {
		t.Errorf("by name: %v, want %v", byName, most)
	}
}

// However many names come, there are never more counters than there is room for.
func TestRecentIsBounded(t *testing.T) {
	r, dict := newRecent(100), numbered(10_000)
	for i := range int32(10_000) {
		r.add(i, dict.Name, lastRefusal{})
		r.add(7, dict.Name, lastRefusal{})
		if len(r.counters) > 100 {
			t.Fatalf("%d counters", len(r.counters))
		}
	}
	if c := r.counters[dict.Name(7)]; c == nil || c.sum != 10_001 {
		t.Errorf("who comes most is not known: %v", c)
	}
	if r.advance(steps); r.missing(r.step) != 0 || len(r.counters) != 0 {
		t.Errorf("a span later %d are lost, and %d names known", r.missing(r.step), len(r.counters))
	}
}
