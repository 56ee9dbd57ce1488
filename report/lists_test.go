package report

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/replay"
	"shadow/report/reporttest"
)

// TestTop compares top with sorting everything.
func TestTop(t *testing.T) {
	type item struct{ key, serial int }
	compare := func(a, b item) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.serial, b.serial)) }
	testneeds.Rapid(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(t, "keys")
		n := rapid.IntRange(-1, 70).Draw(t, "n")
		var items []item
		for i, key := range keys {
			items = append(items, item{key, i})
		}
		got := Top(slices.Values(items), n, compare)
		slices.SortFunc(items, compare)
		if want := items[:max(0, min(n, len(items)))]; !slices.Equal(got, want) {
			t.Fatalf("top %d: %v, want %v", n, got, want)
		}
	})
}

// TestTopAllocates: the room for the best of a million is that for the best of a thousand.
func TestTopAllocates(t *testing.T) {
	best := func(of int) float64 {
		items := make([]ranked, of)
		for i := range items {
			items[i] = ranked{index: int32(i), refused: int64(i*7919) % 10007, requests: int64(i)}
		}
		compare := ranking("refused", func(i int32) string { return strconv.Itoa(int(i)) })
		return testing.AllocsPerRun(1, func() { Top(slices.Values(items), 10, compare) })
	}
	if few, many := best(1000), best(1_000_000); many > few {
		t.Errorf("%v allocations for a million, %v for a thousand", many, few)
	}
}

// TestNewAllocates: New does not allocate per client, only where clients tie for the last place.
func TestNewAllocates(t *testing.T) {
	made := func(clients int) float64 {
		res := reporttest.Nobody()
		res.Policies = make([]replay.PolicyTally, 3)
		res.Clients.Grow(clients)
		for id := range int32(clients) {
			res.Tables.Clients.ID(strconv.AppendInt(nil, int64(id), 10))
			res.Clients.At(id).ByClass[id%5] = int64(id % 100)
			for i := range res.Policies {
				reporttest.Hit(&res.Policies[i], id, int64(id%100), int64(id%7))
			}
		}
		res.Tables.Agents.ID(nil)
		return testing.AllocsPerRun(1, func() { New(res, Options{}) })
	}
	if few, many := made(2_000), made(200_000); many > few+200_000/20 {
		t.Errorf("%v allocations for 200,000 clients, %v for 2,000", many, few)
	}
}

func TestSorts(t *testing.T) {
	names := func(sort string) (names []string) {
		o := Options{Sort: sort, Top: 4}
		for _, c := range New(reporttest.Town(), o).Policies[1].TopClients {
			names = append(names, c.Client)
		}
		return names
	}
	for sort, want := range map[string][]string{
		"":         {"2001:db8:85a3:8d3:1319:8a2e:370:7348", "198.51.100.7", "198.51.100.8", `=HYPERLINK("http://evil.example")`},
		"refused":  {"2001:db8:85a3:8d3:1319:8a2e:370:7348", "198.51.100.7", "198.51.100.8", `=HYPERLINK("http://evil.example")`},
		"requests": {"2001:db8:85a3:8d3:1319:8a2e:370:7348", "198.51.100.7", "198.51.100.8", "192.0.2.10"},
		"client":   {"198.51.100.7", "198.51.100.8", "2001:db8:85a3:8d3:1319:8a2e:370:7348", `=HYPERLINK("http://evil.example")`},
	} {
		if got := names(sort); !slices.Equal(got, want) {
			t.Errorf("--sort %s: %q, want %q", sort, got, want)
		}
	}
}

func TestCompareNames(t *testing.T) {
	want := []string{"10.0.0.9", "10.0.0.10", "2001:db8::2", "2001:db8::10", "-", "10.0.0.0/24", "host.example"}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortFunc(got, compareNames)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
