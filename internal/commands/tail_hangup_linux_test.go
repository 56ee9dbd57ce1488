package commands

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A screen whose terminal goes away ends, with the tail and its checkpoint, also where no other process is in the
// session.
func TestLiveScreenWithoutItsTerminal(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), nil, 0o600))
	term := openTerminal(t, 100)
	cmd := command(t, dir, "tail", "access.log", "--limit", "6/30s", "--ui", "--state", "state")
	cmd.Env = append(cmd.Env, "TERM=xterm", "CI=")
	cmd.Stdin, cmd.Stdout = term.inside, term.inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	time.Sleep(time.Second) // until it shows something
	term.inside.Close()
	must(t, syscall.Close(int(term.keyboard.Fd()))) // even while it is being read
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is no matter
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		cmd.Process.Kill()
		t.Fatal("it runs on without its terminal")
	}
}
