//go:build !nostore

package store

import (
	"context"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"shadow/replay"
	"shadow/testneeds"
)

func init() { tasks["append"] = appendUnderLimit }

// fullBatches are batches of some size, always the same.
func fullBatches(t testing.TB, g *grown) (batches []*replay.Addition) {
	rng := testneeds.Rand(t, 1, 9)
	for n := range uint64(12) {
		a := madeBatch(rng, n+1, 2, g)
		for i := range 3000 { // names that do not compress well, so that the file grows
			a.Clients = append(a.Clients, replay.ClientPart{Name: fmt.Sprintf("%x%x", rng.Uint64(), rng.Uint64())})
			a.Clients[len(a.Clients)-1].ByClass[i%5]++
			g.client(a.Clients[len(a.Clients)-1].Name).add(a.Clients[len(a.Clients)-1], a.Agents[0].Name)
		}
		a.Requests, a.Lines = a.Requests+3000, a.Lines+3000
		g.requests, g.lines = g.requests+3000, g.lines+3000
		batches = append(batches, a)
	}
	return batches
}

// appendUnderLimit stores batch after batch while no file may grow beyond so many kB.
func appendUnderLimit(path, kB string) error {
	var limit uint64
	if _, err := fmt.Sscan(kB, &limit); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // so that a write beyond the limit is an error, as on a full disk
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit << 10, Max: limit << 10}); err != nil {
		return err
	}
	for i, a := range fullBatches(nil, newGrown(2)) {
		s, err := Open(path, Options{})
		if err == nil {
			_, err = s.Append(context.Background(), info, []*replay.Addition{a})
		}
		if err != nil {
			fmt.Println("stored", i)
			return nil //nolint:nilerr // which is what is to be seen
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	fmt.Println("stored 12")
	return nil
}

// Where the disk becomes full among the batches, those before are there and the others are not; when there is room again the
// rest follows, and all is as if nothing had happened.
func TestAppendOnFullDisk(t *testing.T) {
	want := newGrown(2)
	batches := fullBatches(t, want)
	some := false
	for kB := 600; kB <= 3900; kB += 1650 {
		path := dbPath(t)
		p := startChild(t, "append", path, fmt.Sprint(kB))
		said := p.line(t)
		p.Wait()
		var stored int
		if _, err := fmt.Sscanf(strings.TrimSpace(said), "stored %d", &stored); err != nil {
			t.Fatalf("%d kB: %s", kB, said)
		}
		some = some || stored > 0 && stored < len(batches)
		if known := appendTo(t, path, batches...); known < stored || known > stored+1 {
			t.Errorf("%d kB: %d batches were known, %d had been stored", kB, known, stored)
		}
		want.check(t, path, 1)
		t.Logf("%d kB are enough for %d batches", kB, stored)
	}
	if !some {
		t.Error("the sizes tried prove nothing")
	}
}
