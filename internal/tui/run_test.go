package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"shadow/internal/tail"
	"shadow/internal/tui/tuitest"
)

// The tests run this program again, on a real terminal: what it is to do there stands in its environment.
func TestMain(m *testing.M) {
	if end := os.Getenv("SCREEN_TEST_END"); end != "" {
		actOnTerminal(end)
		return
	}
	os.Exit(m.Run())
}

// actOnTerminal shows a screen until what it watches ends in some way.
func actOnTerminal(end string) {
	feed, notes := new(tail.Feed), NewNotes(os.Stderr, true)
	o := Options{Title: "access.log", Feed: feed, Notes: notes, Out: os.Stdout}
	if end == "screen panics" {
		o.Feed = nil
	}
	err := Run(context.Background(), o, func(ctx context.Context) error {
		fmt.Fprintln(notes, "shadow: said while the screen shows")
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		switch end {
		case "error":
			return errors.New("the log is gone")
		case "panic":
			panic("out of cheese")
		}
		return nil
	})
	fmt.Println("ended with", err)
}

// However it ends, the terminal is as it was before, and what was said stands on it.
func TestTerminalIsRestored(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for end, want := range map[string]string{
		"done":          `ended with <nil>`,
		"error":         `ended with the log is gone`,
		"panic":         `out of cheese(.|\n)*actOnTerminal(.|\n)*code 2`,
		"screen panics": `ended with the screen: .*nil pointer(.|\n)*tui\.\(\*model\)\.Update`,
	} {
		t.Run(end, func(t *testing.T) {
			term := tuitest.Open(t, 150, 100, "SCREEN_TEST_END="+end)
			term.Type("echo before; stty -g > /tmp/$$; " + program + "; echo code $?; stty -g | cmp - /tmp/$$ && echo same; rm /tmp/$$")
			screen := term.Wait(`(?m)^same$`)
			matched := term.Wait(want)
			if !strings.Contains(screen, "\nbefore\n") || !strings.Contains(matched, "shadow: said while the screen shows") || strings.Contains(screen, "q quit") {
				t.Errorf("the screen is\n%s", matched)
			}
			if state := term.State(); state != "" {
				t.Errorf("the terminal is left as %s", state)
			}
		})
	}
}

// A picture that cannot be drawn ends the screen.
func TestPictureThatPanics(t *testing.T) {
	m := newModel(Options{Feed: new(tail.Feed), Notes: NewNotes(os.Stderr, true)})
	m.frame = *shop()
	m.frame.History = nil
	if v := m.View(); v.Content != "" || m.failed == nil || !strings.Contains(m.failed.Error(), "(*Frame).Text") {
		t.Fatalf("%q, %v", v.Content, m.failed)
	}
	if _, cmd := m.Update(tick(noon)); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("it goes on")
	}
	if v := m.View(); v.Content != "" {
		t.Errorf("drawn after all: %q", v.Content)
	}
}
