package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"shadow/tail"
)

// The model answers the terminal library: what a message changes, and what the picture is. A panic in it must not end
// the tail at once: it ends the screen as the key q does, and becomes an error.

// How often the screen takes a snapshot, and how often at most it draws: keys are answered at once.
const (
	snapshotEvery = 250 * time.Millisecond
	fps           = 20
)

// A model implements tea.Model.
type model struct {
	frame  Frame
	feed   *tail.Feed
	notes  *Notes
	failed error
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
		f.Now, f.Note = time.Time(msg), m.notes.last()
		if g := m.feed.Latest(); g != nil && g != f.Snapshot {
			f.Snapshot = g
			f.History.Take(g)
		}
		return m, m.Init()
	case tea.WindowSizeMsg:
		f.Width, f.Height = msg.Width, msg.Height
		m.ask()
	case tea.KeyPressMsg:
		defer m.ask()
		return m, f.press(msg.String())
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() (v tea.View) {
	v = tea.View{AltScreen: true, DisableBracketedPasteMode: true}
	if m.failed == nil {
		defer func() { m.rescue(recover()) }()
		v.Content = m.frame.Text()
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
func (m *model) ask() {
	m.feed.Ask(tail.Query{Policy: m.frame.Policy, Order: m.frame.Order, Rows: max(1, m.frame.Height)})
}
