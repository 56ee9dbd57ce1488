package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// Open has the system show the page, and returns a function that removes what that took. The address is a secret, and
// all users see the words of a command: so the browser is shown a file of this user's, which leads there. Where no browser
// can be opened, people have the address.
func (s *Server) Open(ctx context.Context) (remove func()) {
	file, err := os.CreateTemp("", "shadow-*.html") // that only this user can read
	if err != nil {
		return func() {}
	}
	_, err = fmt.Fprintf(file, "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\"><a href=\"%[1]s\">shadow</a>\n", s.Address())
	if closed := file.Close(); err == nil && closed == nil {
		name := "xdg-open"
		if runtime.GOOS == "darwin" {
			name = "open"
		}
		cmd := exec.CommandContext(context.WithoutCancel(ctx), name, file.Name())
		apart(cmd)
		if cmd.Start() == nil {
			go func() { _ = cmd.Wait() }() // it says nothing that matters
		}
	}
	return func() { _ = os.Remove(file.Name()) } // the system cleans up where that fails
}
