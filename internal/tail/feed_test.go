package tail

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// live makes a bench whose tail is watched.
func live(t *testing.T, limits ...string) (*bench, *Feed) {
	b, l := newBench(t, limits...), new(Feed)
	b.change = func(o *Options) { o.Feed = l }
	return b, l
}

func TestSnapshot(t *testing.T) {
	b, l := live(t, "token:2/30s", "token:3/30s")
	b.append("access.log", "")
	b.start()
	defer b.stop()
	var text strings.Builder
	for i := range 9 {
		text.WriteString(line(1+i/6, b.now.Add(time.Duration(i)*time.Millisecond)))
	}
	b.append("access.log", text.String()+"rubbish\n")
	b.step(100 * time.Millisecond)
	b.step(10 * time.Second)
	g := l.Latest()
	if g.Lines != 10 || g.Unreadable != 1 || g.Requests != 9 || g.Waiting != 0 || g.Logs != 1 || g.LagBytes != 0 {
		t.Errorf("%+v", g)
	}
	if len(g.Policies) != 2 || g.Policies[0] != (Refused{Name: "token:2/30s", Refused: 5}) || g.Policies[1] != (Refused{Name: "token:3/30s", Refused: 3}) || g.Redis != nil {
		t.Errorf("%+v", g.Policies)
	}
	if len(g.Clients.Top) != 1 {
		t.Errorf("nobody has asked for more than one row, and here are %+v", g.Clients)
	}
	l.Ask(Query{Policy: 0, Rows: 10})
	b.step(time.Second)
	g = l.Latest()
	wantTop(t, g.Clients, 5, "192.0.2.1", 4, "192.0.2.2", 1)
	if c := g.Clients.Top[0]; c.Class != "tool" || c.Action != "/page1" || c.Last.After(g.At) {
		t.Errorf("%+v", c)
	}
	l.Ask(Query{Policy: 1, Rows: 10, Order: ByName})
	b.step(time.Second)
	wantTop(t, l.Latest().Clients, 3, "192.0.2.1", 3)
	wantTop(t, l.Latest().Actions, 3, "/page1", 3)
	b.step(Span)
	if g = l.Latest(); g.Clients.Top != nil || g.Clients.Total != 0 || g.Policies[1].Refused != 3 {
		t.Errorf("a span later: %+v", g)
	}
	l.Ask(Query{Policy: 7})
	b.step(time.Second) // there is none: no names
}

// wantTop wants names and their refusals, and how many refusals there are in all.
func wantTop(t *testing.T, l List, total int64, want ...any) {
	t.Helper()
	ok := l.Total == total && len(l.Top) == len(want)/2 && l.Lost == 0
	for i := range l.Top {
		ok = ok && l.Top[i].Name == want[2*i] && l.Top[i].Refused == int64(want[2*i+1].(int))
	}
	if !ok {
		t.Errorf("%+v, want %d: %v", l, total, want)
	}
}

// Names outlive the tables that they are from: after a compaction another client has the number of the first one.
func TestSnapshotSurvivesCompaction(t *testing.T) {
	b, l := live(t, "token:2/1s")
	b.append("access.log", "")
	b.start()
	defer b.stop()
	l.Ask(Query{Rows: 10})
	b.append("access.log", strings.Repeat(line(1, b.now), 6))
	b.step(100 * time.Millisecond)
	b.step(6500 * time.Millisecond)
	b.append("access.log", line(2, b.now)) // nothing has to be remembered of the first any more
	b.step(6500 * time.Millisecond)        // all of this within a step of the span
	check(t, b.tail.compact())
	if name := b.tail.tables.Clients.Name(0); name != "192.0.2.2" {
		t.Fatalf("%s is the first now", name)
	}
	b.append("access.log", strings.Repeat(line(2, b.now), 4))
	b.step(100 * time.Millisecond)
	b.step(6 * time.Second)
	wantTop(t, l.Latest().Clients, 6, "192.0.2.1", 4, "192.0.2.2", 2)
}

// Snapshots are asked for from another goroutine.
func TestSnapshotWhileTailing(t *testing.T) {
	b, l := live(t, "token:2/30s")
	b.append("access.log", "")
	b.start()
	defer b.stop()
	var watcher sync.WaitGroup
	end := make(chan struct{})
	watcher.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			l.Ask(Query{Order: Order(i % 3), Rows: 3})
			if g := l.Latest(); g != nil && len(g.Clients.Top) > 3 {
				t.Errorf("%d rows", len(g.Clients.Top))
			}
		}
	})
	for i := range 50 {
		b.append("access.log", line(i%7, b.now))
		b.step(300 * time.Millisecond)
	}
	close(end)
	watcher.Wait()
}
