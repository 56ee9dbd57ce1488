// Package tui shows on a terminal what a tail does: snapshots of its numbers and keys that are pressed come in, and a
// picture goes out a few times a second. The tail goes on at its own pace whatever becomes of the screen.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"shadow/internal/tail"
)

// The tail works in a goroutine of its own. Whichever of the two ends first, the screen goes before anything else
// happens. So the terminal is restored before the last lines are written, while the tail ends, and when it panics.

// Options say what to show, and where.
type Options struct {
	Title string
	Feed  *tail.Feed
	Notes *Notes // what the tail says
	Out   io.Writer
	Color bool
}

// Run shows a screen while work goes on, and returns what work does. It ends work when the user presses q.
func Run(ctx context.Context, o Options, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Notes.pause()
	m := newModel(o)
	program := tea.NewProgram(m, tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithFPS(fps))
	done := make(chan struct{})
	var worked error
	panicked := "" // with its stack
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
		}()
		worked = work(ctx)
	}()
	go func() {
		select {
		case <-ctx.Done():
		case <-done:
		}
		program.Quit()
	}()
	_, err := program.Run()
	failed := errors.Join(err, m.failed)
	o.Notes.release()
	cancel()
	<-done
	switch {
	case panicked != "":
		panic(panicked)
	case worked != nil || failed == nil:
		return worked
	}
	return fmt.Errorf("the screen: %w", failed)
}

// The model answers the terminal library: what a message changes, and what the picture is. A panic in it must not end
// the tail at once: it ends the screen as the key q does, and becomes an error.

// How often the screen takes a snapshot, and how often at most it draws: keys are answered at once.
const (
	snapshotEvery = 250 * time.Millisecond
	fps           = 20
)

// A model implements tea.Model.
type model struct {
	frame    Frame
	feed     *tail.Feed
	notes    *Notes
	clusters bool // how the terminal counts columns
	failed   error
}

func newModel(o Options) *model {
	return &model{frame: Frame{Title: o.Title, History: new(History), Color: o.Color}, feed: o.Feed, notes: o.Notes}
}

// tick says that it is time for a snapshot.
type tick time.Time

// Init implements tea.Model: it waits for the next tick.
func (m *model) Init() tea.Cmd {
	return tea.Tick(snapshotEvery, func(now time.Time) tea.Msg { return tick(now) })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if m.rescue(recover()); m.failed != nil {
			next, cmd = m, tea.Quit
		}
	}()
	f := &m.frame
	switch msg := msg.(type) {
	case tick:
		f.Note = m.notes.last()
		g := m.feed.Latest()
		if f.Paused && (g == nil || f.Snapshot.Asked == f.query() || g.Asked != f.query()) {
			return m, m.Init() // what comes meanwhile goes into one column
		}
		f.Now = time.Time(msg)
		if g != nil && g != f.Snapshot {
			f.Snapshot = g
			f.History.Take(g)
		}
		return m, m.Init()
	case tea.WindowSizeMsg:
		f.Width, f.Height = msg.Width, msg.Height
		m.ask()
	case tea.ModeReportMsg:
		m.clusters = m.clusters || msg.Mode.Mode() == ansi.ModeUnicodeCore.Mode() && (msg.Value.IsSet() || msg.Value == ansi.ModeReset)
	case tea.KeyPressMsg:
		defer m.ask()
		return m, f.press(msg.String(), msg.Text)
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() (v tea.View) {
	v = tea.View{AltScreen: true, DisableBracketedPasteMode: true}
	if m.failed == nil {
		defer func() { m.rescue(recover()) }()
		v.Content = cells(m.frame.Text(), m.clusters)
	}
	return v
}

// rescue makes an error of what was recovered.
func (m *model) rescue(panicked any) {
	if panicked != nil {
		m.failed = fmt.Errorf("%v\n\n%s", panicked, debug.Stack())
	}
}

// ask asks the tail for the names that have room.
func (m *model) ask() { m.feed.Ask(m.frame.query()) }

// query returns what the picture needs to know.
func (f *Frame) query() tail.Query {
	return tail.Query{Policy: f.Policy, Order: f.Order, Rows: max(1, f.Height), Filter: f.Filter, Client: f.Client}
}
