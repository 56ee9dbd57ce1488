package screen

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"shadow/tail"
)

// The model is what the terminal library asks: what a message changes, and what the picture is.

// How often the screen takes a glance, and how often at most it draws: keys are answered at once.
const (
	glanceEvery = 250 * time.Millisecond
	fps         = 20
)

// A model implements tea.Model.
type model struct {
	frame Frame
	live  *tail.Live
	notes *Notes
}

func newModel(o Options) *model {
	return &model{frame: Frame{Title: o.Title, History: new(History), Color: o.Color}, live: o.Live, notes: o.Notes}
}

// tick says that it is time for a glance.
type tick time.Time

func nextTick() tea.Cmd {
	return tea.Tick(glanceEvery, func(now time.Time) tea.Msg { return tick(now) })
}

func (m *model) Init() tea.Cmd { return nextTick() }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		m.look(time.Time(msg))
		return m, nextTick()
	case tea.WindowSizeMsg:
		m.frame.Width, m.frame.Height = msg.Width, msg.Height
		m.ask()
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() tea.View {
	return tea.View{Content: m.frame.Text(), AltScreen: true, DisableBracketedPasteMode: true}
}

// look takes the latest glance.
func (m *model) look(now time.Time) {
	f := &m.frame
	f.Now, f.Note = now, m.notes.last()
	if g := m.live.Latest(); g != nil && g != f.Glance {
		f.Glance = g
		f.History.Take(g)
	}
}

// press does what a key does.
func (m *model) press(key string) tea.Cmd {
	cmd := m.frame.press(key)
	m.ask()
	return cmd
}

// ask asks the tail for the names that have room.
func (m *model) ask() {
	m.live.Ask(tail.Question{Policy: m.frame.Policy, Order: m.frame.Order, Rows: max(1, m.frame.Height)})
}
