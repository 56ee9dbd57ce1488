package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/internal/traffic"
)

// strangers is a log without an end, in which each request is of another client.
type strangers struct {
	sent int
	line string
}

func (s *strangers) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if s.line == "" {
			at := time.Unix(1_700_000_000+int64(s.sent)/1000, 0).UTC().Format("02/Jan/2006:15:04:05 -0700")
			s.line = fmt.Sprintf("%d.%d.%d.%d - - [%s] \"GET / HTTP/1.1\" 200 1 \"-\" \"curl/8\"\n",
				1+s.sent>>24, s.sent>>16&255, s.sent>>8&255, s.sent&255, at)
			s.sent++
		}
		copied := copy(p[n:], s.line)
		n, s.line = n+copied, s.line[copied:]
	}
	return n, nil
}

// Each command that keeps something of clients stops when they are too many.
func TestMaxMemory(t *testing.T) {
	type command interface {
		Run(ctx context.Context, logs []string) error
	}
	for name, ask := range map[string]func(Logs) command{
		"sweep":   func(l Logs) command { return &Sweep{Logs: l, Keeping: Keeping{NoStore: true}} },
		"keys":    func(l Logs) command { return &Keys{Logs: l} },
		"suggest": func(l Logs) command { return &Suggest{Logs: l} },
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			l := Logs{Caller: called(&out, &errs), Memory: &Memory{Most: 32 << 20}}
			l.In = new(strangers)
			err := l.Memory.Within(t.Context(), func(text string) { t.Error(text) }, func(ctx context.Context) error { return ask(l).Run(ctx, []string{"-"}) })
			var short *MemoryError
			if !errors.As(err, &short) || short.Needs <= 32<<20 || !strings.Contains(err.Error(), "--max-memory is 32MiB") {
				t.Errorf("ends with %v", err)
			}
		})
	}
}

// What is in use before the first client comes is not due to clients.
func TestMemoryBeforeTheFirstClient(t *testing.T) {
	const want = "41.9 MB of memory are in use before the first client comes, and --max-memory is 32MiB: raise it"
	if err := (&MemoryError{Needs: 40 << 20, Most: 32 << 20}); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// Without --max-memory people are told, and a command goes on.
func TestMemoryOfTheMachine(t *testing.T) {
	told, m := make(chan string, 1), &Memory{Machine: 1}
	m.follow(traffic.NewTables(), 3)
	err := m.Within(t.Context(), func(text string) { told <- text }, func(ctx context.Context) error {
		if text := <-told; !strings.Contains(text, "this machine has 1 B left") {
			t.Errorf("told %q", text)
		}
		return ctx.Err()
	})
	if err != nil || MemoryLeft() < 0 {
		t.Errorf("ends with %v; %d bytes left", err, MemoryLeft())
	}
}
