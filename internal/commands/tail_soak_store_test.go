//go:build unix

package commands

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The database of a soak.

// An asker asks a database again and again. What it says must never become less.
type asker struct {
	*soak
	over, done chan struct{}
	end        func() // closes over, and waits
	answers    int
	busy       int // how often it waited for two seconds in vain: a million would-blocks take one on a machine that is idle
}

// asker begins to ask.
func (s *soak) asker() *asker {
	a := &asker{soak: s, over: make(chan struct{}), done: make(chan struct{})}
	a.end = sync.OnceFunc(func() {
		close(a.over)
		<-a.done
	})
	s.t.Cleanup(a.end) // also where the test has failed
	go a.run()
	return a
}

func (a *asker) run() {
	defer close(a.done)
	for before := int64(0); ; {
		select {
		case <-a.over:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if n, ok := a.stored(); ok {
			if n < before {
				a.t.Errorf("%d requests were stored, now %d", before, n)
			}
			before = n
			a.answers++
		}
	}
}

// stop ends it.
func (a *asker) stop() {
	a.end()
	if a.answers == 0 {
		a.t.Error("the database has never answered")
	}
}

// stored returns how many requests are in the database, if it is there and answers.
func (a *asker) stored() (n int64, ok bool) {
	s := a.soak
	if !existsFile(s.path("tailed")) {
		return 0, false
	}
	cmd := command(s.t, s.dir, "query", "SELECT coalesce(sum(requests), 0)::BIGINT AS n FROM runs", "--db", "tailed", "--output", "csv")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if bytes.Contains(said.Bytes(), []byte("holds it open")) {
		a.busy++
		return 0, false
	}
	if err != nil {
		s.t.Errorf("the database does not answer: %v: %s", err, said.Bytes())
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(string(out), "n\n")), 10, 64)
	return n, err == nil
}

// compareStored holds the database against that of the replay, and returns how many would-blocks it has. Around
// midnight the tail has two runs.
func (s *soak) compareStored() (events int64) {
	s.t.Helper()
	sameStored(s.t, s.dir, "tailed", "replayed")
	out := run(s.t, s.dir, "query", "SELECT sum(count)::BIGINT AS n FROM events", "--db", "tailed", "--output", "csv")
	events, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(string(out), "n\n")), 10, 64)
	must(s.t, err)
	return events
}

// sameStored holds the database of a tail against that of a replay.
func sameStored(t *testing.T, dir, tailed, replayed string) {
	t.Helper()
	for _, query := range storedQueries {
		want := run(t, dir, "query", query, "--db", replayed, "--output", "csv")
		got := run(t, dir, "query", query, "--db", tailed, "--output", "csv")
		if !bytes.Equal(got, want) || bytes.Count(want, []byte("\n")) < 2 {
			t.Errorf("%s:\n%.600s\nwant\n%.600s", query, got, want)
		}
	}
}

// storedQueries ask for all that a tail and a replay of the same log must have stored alike. Of the would-blocks, of
// which there may be tens of millions, they ask for a sum that is another one if any of them is.
var storedQueries = []string{
	"SELECT sum(lines), sum(bytes), sum(parsed), sum(unreadable), sum(requests), sum(late), min(first_at), max(last_at), min(resolution_us) FROM runs",
	"SELECT policy, counts_by, sum(requests), sum(refused), sum(bytes_saved), sum(degraded) FROM policy_totals GROUP BY ALL ORDER BY ALL",
	"SELECT policy, client, class, sum(refused), min(first_refused), max(last_refused) FROM client_totals GROUP BY ALL ORDER BY ALL",
	"SELECT policy, action, sum(requests), sum(refused) FROM action_totals GROUP BY ALL ORDER BY ALL",
	"SELECT name, class, sum(requests) FROM clients GROUP BY ALL ORDER BY ALL",
	"SELECT policy, sum(count), sum(count * (hash(policy, time, client, class, action, status)::HUGEINT)) AS all_of_them FROM would_blocks GROUP BY ALL ORDER BY ALL",
	"SELECT policy, limit_text, counts_by, matches, counts FROM policy_limits GROUP BY ALL ORDER BY ALL",
	"SELECT sum(lines), sum(parsed), sum(unreadable) FROM inputs",
	"SELECT count(*) FROM warnings WHERE text LIKE 'requests are missing%'",
}
