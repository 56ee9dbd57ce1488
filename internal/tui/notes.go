package tui

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Notes stand between the tail and standard error. The screen shows the latest line that the tail writes. If standard
// error is a terminal, too, lines would spoil the picture. So they are held meanwhile, and written once the screen
// has gone.

// Notes are an io.Writer that any number of goroutines may use.
type Notes struct {
	to     io.Writer
	spoils bool // what is written there spoils the picture

	mu      sync.Mutex
	holding bool
	held    [][]byte // lines
	dropped int
	latest  string
}

// mostHeld is the most lines that are held; then the oldest are dropped.
const mostHeld = 1000

// prefix begins a line that is not part of a summary.
var prefix = []byte("shadow: ")

// NewNotes makes notes that write to w; spoils says that a screen must not show meanwhile.
func NewNotes(w io.Writer, spoils bool) *Notes { return &Notes{to: w, spoils: spoils} }

// Write takes whole lines.
func (n *Notes) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range bytes.Lines(text) {
		if note, ours := bytes.CutPrefix(line, prefix); ours {
			n.latest = string(bytes.TrimSpace(note))
		}
		if n.holding {
			if len(n.held) == mostHeld {
				n.held = slices.Delete(n.held, 0, 1)
				n.dropped++
			}
			n.held = append(n.held, bytes.Clone(line))
		}
	}
	if n.holding {
		return len(text), nil
	}
	return n.to.Write(text)
}

// last returns what was said last.
func (n *Notes) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latest
}

// pause holds what is said from now on, if it must not be written.
func (n *Notes) pause() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holding = n.spoils
}

// release writes what was held, and holds no more.
func (n *Notes) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holding = false
	if n.dropped > 0 {
		fmt.Fprintf(n.to, "shadow: %d earlier lines are left out here\n", n.dropped)
	}
	for _, line := range n.held {
		_, _ = n.to.Write(line) // there is no place to report it
	}
	n.held, n.dropped = nil, 0
}
