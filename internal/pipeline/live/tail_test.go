package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"shadow/internal/pipeline"
)

const line = `192.0.2.7 - - [19/Nov/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Firefox"` + "\n"

// A tail of standard input writes would-blocks, and ends with it.
func TestTail(t *testing.T) {
	var out, errs bytes.Buffer
	f := &Tail{
		Caller: pipeline.Caller{In: strings.NewReader(strings.Repeat(line, 8)), Out: &out, Err: &errs},
		Choice: pipeline.Choice{Limits: []string{"token:6/30s"}}, Quiet: true, IsTerminal: func(any) bool { return false },
	}
	if err := f.Run(t.Context(), []string{"-"}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"client":"192.0.2.7"`); n != 2 {
		t.Errorf("%d would-blocks: %s and %s", n, out.String(), errs.String())
	}
}

// What cannot be followed is said before anything is read.
func TestErrorsOfTail(t *testing.T) {
	for text, c := range map[string]struct {
		set func(*Tail)
		log string
	}{
		"is compressed":           {func(*Tail) {}, "access.log.gz"},
		"not a pattern either":    {func(*Tail) {}, "a["},
		"--from checkpoint needs": {func(f *Tail) { f.From = "checkpoint" }, "-"},
		"--db needs --state":      {func(f *Tail) { f.DB = "runs.duckdb" }, "-"},
		"which limit?":            {func(f *Tail) { f.Limits = nil }, "-"},
		"--ui needs a terminal":   {func(f *Tail) { f.UI = true }, "-"},
	} {
		t.Run(text, func(t *testing.T) {
			var out bytes.Buffer
			f := &Tail{
				Caller: pipeline.Caller{In: strings.NewReader(line), Out: &out, Err: &out}, Choice: pipeline.Choice{Limits: []string{"token:6/30s"}},
				IsTerminal: func(any) bool { return false },
			}
			c.set(f)
			if err := f.Run(t.Context(), []string{c.log}); !errors.As(err, new(*pipeline.UsageError)) || !strings.Contains(err.Error(), text) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A page that was left before its turn is not made.
func TestPageThatWasLeft(t *testing.T) {
	asked, leave := context.WithCancel(t.Context())
	leave()
	p := &page{ctx: t.Context(), tail: new(Tail)}
	if err := p.WritePage(asked, io.Discard); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
