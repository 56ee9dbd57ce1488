package suggest_test

import (
	"testing"

	"shadow/internal/suggest"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// A file is asked for; any other request of the fixture is a page.
const isFile = -1

// Page loads of 4, 3 and 1 requests: by nearest rank half take 3.
func TestLoads(t *testing.T) {
	at := []struct {
		client int
		second limit.Time
		kind   int // isFile, or the status of a page
	}{
		{1, 0, 200}, {1, 0, isFile}, {1, 1, isFile}, {1, 10, isFile}, // four: 10 s after the page is not too late
		{1, 11, isFile},            // belongs to none
		{1, 30, 301}, {1, 31, 200}, // a redirect: the same load
		{1, 40, 404}, {1, 60, 0}, // an error begins no load, and is the third of this one; the page at 60, whose status the log does not tell, is alone
		{2, 0, 200}, {2, 1, isFile}, // a tool's
	}
	tables := traffic.NewTables()
	var requests []sent
	for _, r := range at {
		agent := firefox
		if r.client == 2 {
			agent = curl
		}
		requests = append(requests, sent{r.second * limit.Second, r.client, agent})
	}
	b := new(traffic.Batch)
	for i, r := range requests {
		one := batch(tables, []sent{r})
		b.At, b.Client, b.Agent = append(b.At, one.At...), append(b.Client, one.Client...), append(b.Agent, one.Agent...)
		b.Action, b.Bytes = append(b.Action, 0), append(b.Bytes, 1)
		clue, status := traffic.Clue{Traits: traffic.Stepped | traffic.Asked}, uint16(at[i].kind)
		if at[i].kind == isFile {
			clue, status = traffic.Clue{Traits: traffic.FetchedAsset}, 200
		}
		b.Clues, b.Status = append(b.Clues, clue), append(b.Status, status)
	}
	labels := labelsOf(t, tables, b)
	want := suggest.Loads{Count: 3, P50: 3, P95: 4, P99: 4, Gap: 30 * limit.Second}
	for cut := range len(requests) { // into two batches
		c := suggest.LoadCounter{Tables: tables, Labels: labels, Who: 1 << who.Person}
		c.Take(rows(b, 0, cut))
		c.Take(rows(b, cut, b.Len()))
		if got := c.Result(); got != want {
			t.Errorf("cut at %d: %+v, want %+v", cut, got, want)
		}
	}
	c := suggest.LoadCounter{Tables: tables, Labels: labels, Who: 1 << who.Person, Action: "none"}
	if c.Take(b); c.Result().Count != 0 {
		t.Error("loads of an action that there is not")
	}
}

// Of ten requests in the seconds 0 0 0 1 1 4 4 4 9 9.
func TestCut(t *testing.T) {
	for share, want := range map[suggest.Percent]limit.Time{
		30_000_000: 9, // three at most: those of 9, and not those of 4
		50_000_000: 4,
		99_000_000: 1, // not all of them
		20_000_000: 9,
		19_000_000: -1,
		0:          -1,
	} {
		c := new(suggest.Clock)
		b := new(traffic.Batch)
		for _, s := range []limit.Time{0, 0, 0, 1, 1, 4, 4, 4, 9, 9} {
			b.At = append(b.At, (s-5)*limit.Second+3)
		}
		check(t, c.Observe(timesOf(b, 0, 4), nil))
		check(t, c.Observe(timesOf(b, 4, 10), nil))
		cut, ok := c.Cut(share)
		if ok != (want >= 0) || ok && cut != (want-5)*limit.Second {
			t.Errorf("%s: cut at %d, %v; want second %d", share, cut, ok, want)
		}
	}
	if _, ok := new(suggest.Clock).Cut(50_000_000); ok {
		t.Error("nothing was cut")
	}
}

// timesOf are times only.
func timesOf(b *traffic.Batch, i, j int) *traffic.Batch { return &traffic.Batch{At: b.At[i:j]} }
