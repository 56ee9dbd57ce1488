package useragent

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
)

func TestAgentsThatAreAbsent(t *testing.T) {
	a := NewAgents()
	id := a.ID(nil)
	if a.Name(id) != "-" || a.Class(id) != request.Unknown {
		t.Errorf("no agent is %q, %s", a.Name(id), a.Class(id))
	}
	if a.ID([]byte{}) != id || a.ID([]byte("-")) != id || a.Len() != 1 {
		t.Error("there is more than one way to have no agent")
	}
	f := a.NewFinder()
	for _, removed := range []string{"REDACTED", "[redacted]", "***", "-"} {
		if f.ID(1, []byte(removed)) != uint16(id) {
			t.Errorf("%s is an agent", removed)
		}
	}
	if f.ID(1, []byte("Redacted/2.0")) == uint16(id) {
		t.Error("an agent is none")
	}
}

func TestAgentsAreBounded(t *testing.T) {
	a := NewAgents()
	known := a.ID([]byte("curl/8.5.0"))
	for i := range 70_000 {
		a.ID(fmt.Appendf(nil, "gibberish %d", i))
	}
	browser := a.ID([]byte("Mozilla/5.0 (X11; Linux x86_64; rv:151.0) Gecko/20100101 Firefox/151.0"))
	crawler := a.ID([]byte("Examplebot/2.0"))
	if got := a.Name(browser); got != "(further browser agents)" || a.Class(browser) != request.Browser {
		t.Errorf("a browser too many is %q, %s", got, a.Class(browser))
	}
	if got := a.Name(crawler); got != "(further crawler agents)" || a.Class(crawler) != request.Crawler {
		t.Errorf("a crawler too many is %q, %s", got, a.Class(crawler))
	}
	if a.ID([]byte("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36")) != browser {
		t.Error("two browsers too many have two ids")
	}
	if a.ID([]byte("curl/8.5.0")) != known || a.Class(known) != request.Tool {
		t.Error("an agent that was known is not found any more")
	}
	if want := namedAgents + 3; a.Len() != want {
		t.Errorf("%d agents, want %d", a.Len(), want)
	}
}

// A Finder finds what Agents finds, whichever clients share a place, and whatever others have taken in.
func TestFinder(t *testing.T) {
	a, rng := NewAgents(), testneeds.Rand(t, 1, 2)
	f, other := a.NewFinder(), a.NewFinder()
	for range 50_000 {
		agent := fmt.Appendf(nil, "Example/%d", rng.IntN(200))
		switch rng.IntN(10) {
		case 0:
			agent = nil
		case 1:
			agent = []byte{'-'}
		case 2: // longer than names are kept
			agent = append(bytes.Repeat([]byte("x"), 1000), agent...)
		}
		client := int32(rng.IntN(3) + lasts*rng.IntN(2))
		if rng.IntN(3) == 0 {
			other.ID(client, fmt.Appendf(nil, "Other/%d", rng.IntN(200)))
		}
		if got, want := int32(f.ID(client, agent)), a.ID(agent); got != want {
			t.Fatalf("%.30q of client %d is %d, want %d", agent, client, got, want)
		}
	}
}

func TestAgentsFromManyGoroutines(t *testing.T) {
	a := NewAgents()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 300 {
				i = (i + w*70) % 300
				id := a.ID(fmt.Appendf(nil, "Example %d", i))
				bot := a.ID(fmt.Appendf(nil, "Example%dbot/1.0", i))
				if a.Class(id) != request.Unknown || a.Class(bot) != request.Crawler {
					t.Errorf("%q is %s, %q is %s", a.Name(id), a.Class(id), a.Name(bot), a.Class(bot))
				}
			}
		})
	}
	wg.Wait()
	if a.Len() != 600 {
		t.Errorf("%d agents, want 600", a.Len())
	}
}

func TestAgentsDoNotAllocate(t *testing.T) {
	a := NewAgents()
	agent := []byte("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	if n := testing.AllocsPerRun(100, func() {
		a.Class(a.ID(agent))
		a.ID(nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
