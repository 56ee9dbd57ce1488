package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A server's own program judges a minimal configuration that is made around the lines.

// ErrNoCheck says that a program that is to judge is not there.
var ErrNoCheck = errors.New("cannot be checked")

// Check asks the server's own program whether it takes what is written.
func (e *Export) Check(ctx context.Context) error {
	t := e.Target
	if t.around == nil {
		return fmt.Errorf("%s %w: no program that judges its configuration is known here", t.Title, ErrNoCheck)
	}
	dir, err := os.MkdirTemp("", "shadow-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	file := filepath.Join(dir, "checked"+t.Ending)
	if err := os.WriteFile(file, []byte(t.around(e, dir)), 0o600); err != nil {
		return err
	}
	words := strings.Split(strings.NewReplacer("DIR", dir, "FILE", file).Replace(t.judge), " ")
	program, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("%s %w: the program %s is not on PATH", t.Title, ErrNoCheck, words[0])
	}
	if out, err := exec.CommandContext(ctx, program, words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s refuses these lines: %w\n%s", t.Title, err, strings.TrimSpace(string(out)))
	}
	if e.where.Within != nil {
		if err := e.where.Within.Judge(e.Blocks); err != nil {
			return fmt.Errorf("%s would lose limits: %w", e.where.Within.file, err)
		}
	}
	return nil
}

// Judged says what Check has judged the lines in.
func (e *Export) Judged() string {
	if e.where.Within != nil {
		return "in " + e.where.Within.file
	}
	return "alone: " + e.Target.judgedBy + " judges them in your configuration"
}

// Whole is a minimal configuration around the lines, of a server that has one; else the lines.
func (e *Export) Whole(dir string) string {
	if e.Target.around == nil {
		return e.Text()
	}
	return e.Target.around(e, dir)
}

// aroundNginx is a configuration with the lines in its block http.
func aroundNginx(e *Export, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pid %s;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n", filepath.Join(dir, "pid"))
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&b, "%s_temp_path %s;\n", what, filepath.Join(dir, what))
	}
	for _, block := range e.Blocks {
		if block.Place != nginxHTTP {
			continue // a place of the configuration that the lines go into
		}
		b.WriteString(strings.Join(block.Lines, "\n") + "\n")
	}
	return b.String() + "server {\nlisten unix:" + filepath.Join(dir, "socket") + ";\n}\n}\n"
}

// aroundHAProxy is a configuration with the lines in its sections.
func aroundHAProxy(e *Export, dir string) string {
	place := func(word string) string {
		i := slices.IndexFunc(e.Blocks, func(b Block) bool { return strings.HasPrefix(b.Place, word) })
		if i < 0 {
			return ""
		}
		return strings.Join(e.Blocks[i].Lines, "\n") + "\n"
	}
	return `global
    nbthread 1
defaults
    mode http
    timeout client 10s
    timeout connect 10s
    timeout server 10s
frontend f
    bind unix@` + filepath.Join(dir, "socket") + "\n    option httplog\n" + place("in the frontend") +
		"    http-request return status 200\n" + place("behind all sections")
}
