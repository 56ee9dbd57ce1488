package explore

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/pipeline"
)

// A growing is a log that is followed.
type growing struct {
	*Following
	t    *testing.T
	name string
	text []byte // all lines that it may get
}

// follow opens the first half of a log, and follows it until the test ends.
func follow(t *testing.T) *growing {
	t.Helper()
	text := must(os.ReadFile(shop))
	g := &growing{t: t, name: filepath.Join(t.TempDir(), "access.log"), text: text}
	g.write(len(text) / 2)
	s, err := Open(t.Context(), question(io.Discard), []string{g.name})
	if err != nil {
		t.Fatal(err)
	}
	g.Following = Follow(s, func() *pipeline.Suggest { return question(io.Discard) }, []string{g.name})
	ctx, stop := context.WithCancel(t.Context())
	var runs sync.WaitGroup
	runs.Go(func() { g.Run(ctx, 10*time.Millisecond) })
	t.Cleanup(func() {
		stop()
		runs.Wait()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// write makes the log that many bytes long, up to the next end of a line, at once.
func (g *growing) write(n int) {
	g.t.Helper()
	n += bytes.IndexByte(append(g.text[n:len(g.text):len(g.text)], '\n'), '\n') + 1
	if err := os.WriteFile(g.name+".new", g.text[:min(n, len(g.text))], 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Rename(g.name+".new", g.name); err != nil {
		g.t.Fatal(err)
	}
}

// until waits for a state.
func (g *growing) until(what string, is func(s *State) bool) (s State) {
	g.t.Helper()
	for range 1000 {
		if s = answer[State](g.t, g.Following, Request{Ask: "state"}); is(&s) {
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	g.t.Fatalf("never %s: %+v", what, s)
	return s
}

// Once a log has grown, the answer is that of the command on all of it, and moves are of all of it.
func TestFollowingSaysWhatSuggestSays(t *testing.T) {
	g := follow(t)
	before := g.until("open", func(s *State) bool { return s.Version == 1 })
	q := Request{Ask: "move", Limit: "window:6/30s", Rows: 1}
	old := answer[Move](t, g.Following, q)
	var asks sync.WaitGroup
	for range 4 { // questions go on being answered, each by one session
		asks.Go(func() {
			for range 20 {
				if m := answer[Move](t, g.Following, q); sumUp(m.Groups) != sumUp(old.Groups) && m.Version == 1 {
					t.Errorf("session 1 says %+v, and before %+v", sumUp(m.Groups), sumUp(old.Groups))
				}
			}
		})
	}
	g.write(len(g.text))
	after := g.until("grown", func(s *State) bool { return s.Version > 1 && s.Requests > before.Requests })
	asks.Wait()
	var want bytes.Buffer
	if err := question(&want).Run(t.Context(), []string{g.name}); err != nil {
		t.Fatal(err)
	}
	got, err := g.Answer(t.Context(), Request{Ask: "suggest"})
	if err != nil || string(got) != want.String() {
		t.Errorf("of the grown log it says (%v)\n%s\nand the command\n%s", err, got, want.String())
	}
	all := answer[Move](t, g.Following, q)
	if sumUp(all.Groups).Requests != after.Requests || all.Version != after.Version || after.Last <= before.Last {
		t.Errorf("%+v of %+v, before %+v", sumUp(all.Groups), after, before)
	}
	q.Ask, q.Client, q.Version = "client", old.Hit[0].ID, old.Version
	if _, err := g.Answer(t.Context(), q); err == nil || !strings.Contains(err.Error(), "press the client again") {
		t.Errorf("a client of the older log: %v", err)
	}
	q.Client, q.Version = all.Hit[0].ID, all.Version
	if c := answer[Client](t, g.Following, q); int64(len(c.Requests)) != all.Hit[0].Requests {
		t.Errorf("%d requests of %+v", len(c.Requests), all.Hit[0])
	}
}

// A log that becomes shorter, or is gone, changes nothing but what is said of it, until it is as long again.
func TestFollowingKeepsWhatWasRotated(t *testing.T) {
	g := follow(t)
	before := g.until("open", func(s *State) bool { return s.Version == 1 })
	shorter := func(s *State) bool { return strings.Contains(s.Problem, "gone or shorter") }
	for _, lose := range []func(){
		func() { g.write(1000) },
		func() { must(0, os.Remove(g.name)) },
	} {
		lose()
		if s := g.until("shorter", shorter); s.Requests != before.Requests || s.Version != before.Version {
			t.Errorf("it has %+v, before %+v", s, before)
		}
		g.write(len(g.text) / 2)
		g.until("as before", func(s *State) bool { return s.Problem == "" && s.Version == 1 })
	}
	g.write(len(g.text))
	g.until("grown", func(s *State) bool { return s.Version > 1 && s.Requests > before.Requests && s.Problem == "" })
}

// What can be read only once, or lies elsewhere, is not followed.
func TestFollowedOnce(t *testing.T) {
	for name, want := range map[string]string{"-": "standard input can be read only once", "s3://logs/access.log": "s3://logs/access.log is none"} {
		if err := VerifyFollowed([]string{shop, name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	if err := VerifyFollowed([]string{shop}); err != nil {
		t.Error(err)
	}
}
