// Package tuitest runs programs on a real terminal, as a person at a keyboard sees them: a shell in tmux gets commands
// and keys, and what the terminal shows comes out.
package tuitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// patience is the longest that something may take to show.
const patience = 20 * time.Second

// A Terminal is a shell in a tmux of its own.
type Terminal struct {
	t      *testing.T
	socket string
}

// Open starts a shell in a terminal of a size, with additions to its environment: NAME=VALUE.
func Open(t *testing.T, width, height int, env ...string) *Terminal {
	t.Helper()
	testneeds.Program(t, "tmux")
	folder, err := os.MkdirTemp("", "tmux") // not t.TempDir: the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{t, filepath.Join(folder, "socket")}
	args := []string{"new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, e := range append([]string{"ENV=", "TZ=UTC"}, env...) {
		args = append(args, "-e", e)
	}
	term.tmux(append(args, "sh")...)
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() // it may have ended with its shell
		_ = os.RemoveAll(folder)
	})
	term.Wait(`[$#]`)
	return term
}

func (term *Terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket, "-f", "/dev/null", "-u"}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Type types a line and presses Enter.
func (term *Terminal) Type(line string) {
	term.t.Helper()
	term.Write(line)
	term.Press("Enter")
}

// Write types a text.
func (term *Terminal) Write(text string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", "--", text)
}

// Press presses keys, by the names that tmux has for them.
func (term *Terminal) Press(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys"}, keys...)...)
}

// Resize gives the terminal another size.
func (term *Terminal) Resize(width, height int) {
	term.t.Helper()
	term.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// Hangup takes the terminal away, as a connection that breaks does.
func (term *Terminal) Hangup() {
	term.t.Helper()
	term.tmux("kill-session")
}

// Screen returns what the terminal shows, as text.
func (term *Terminal) Screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p")
}

// Painted returns what the terminal shows, with the sequences that colour it.
func (term *Terminal) Painted() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p", "-e")
}

// State is the settings of the terminal, "" if they are as a shell leaves them.
func (term *Terminal) State() string {
	term.t.Helper()
	state := strings.TrimSpace(term.tmux("display-message", "-p", "alternate #{alternate_on} cursor #{cursor_flag} "+
		"keypad #{keypad_flag} #{keypad_cursor_flag} mouse #{mouse_any_flag} #{mouse_button_flag} insert #{insert_flag} wrap #{wrap_flag}"))
	if state == "alternate 0 cursor 1 keypad 0 0 mouse 0 0 insert 0 wrap 1" {
		return ""
	}
	return state
}

// Wait waits until the screen matches a pattern, and returns it.
func (term *Terminal) Wait(pattern string) string {
	term.t.Helper()
	wanted := regexp.MustCompile(pattern)
	screen := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if screen = term.Screen(); wanted.MatchString(screen) {
			return screen
		}
	}
	term.t.Fatalf("%s does not show; the screen is:\n%s", pattern, strings.TrimSpace(screen))
	return ""
}
