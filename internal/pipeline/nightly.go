package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/report"
	"shadow/report/html"
)

// Nightly says what a report does that runs unattended: it keeps quiet when there is nothing to say, fails on a
// condition, and runs a command that tells people.
type Nightly struct {
	FailIf []string // conditions
	Notify string   // a command that gets the report

	Conditions []*report.Condition // after Verify
	Always     bool                // whether the report is printed even if quiet has nothing to say: a program reads it
}

// Verify looks up everything that the flags name. Conditions may ask for figures of some scopes, beside those that are
// always known.
func (n *Nightly) Verify(scopes ...report.Scope) error {
	for _, text := range n.FailIf {
		c, err := report.ParseCondition(text, scopes...)
		if err != nil {
			return Usage("--fail-if %w", err)
		}
		n.Conditions = append(n.Conditions, c)
	}
	return nil
}

// Finish prints the report unless it is to be quiet about it, has the command of Notify tell of it, and returns what
// went wrong. pressing is an error that is worth saying by itself, or nil.
func (n *Nightly) Finish(
	ctx context.Context, c *Caller, quiet bool, m *report.Model, pressing error, write func() error,
) error {
	held := n.Held(m)
	if held != nil && !errors.As(held, new(HeldError)) {
		return errors.Join(pressing, held)
	}
	failed := errors.Join(pressing, held)
	worth := failed != nil || len(n.Conditions) == 0 && m.WorthSaying()
	if quiet && !worth {
		if n.Always {
			return write()
		}
		return nil
	}
	if err := write(); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, n.tell(ctx, c, m))
}

// Held returns a HeldError that says which conditions hold, another error if one cannot be decided, or nil.
func (n *Nightly) Held(m *report.Model) error {
	return held(n.Conditions, func(c *report.Condition) (of []string, err error) {
		policies, err := c.Holds(m)
		if len(policies) > 0 {
			of = append(of, escape.Visible(strings.Join(policies, "; ")))
		}
		return of, err
	})
}

// held returns a HeldError that says of what conditions hold, another error if one cannot be decided, or nil.
func held(conditions []*report.Condition, holds func(*report.Condition) (of []string, err error)) error {
	var texts []string
	for _, c := range conditions {
		all, err := holds(c)
		if err != nil {
			return fmt.Errorf("--fail-if %w", err)
		}
		texts = mapped.Add(texts, all, func(of string) string { return fmt.Sprintf("--fail-if %s holds for %s", c, of) })
	}
	if texts == nil {
		return nil
	}
	return HeldError{texts}
}

// tell runs the command that wants to know. What it prints goes where complaints go.
func (n *Nightly) tell(ctx context.Context, c *Caller, m *report.Model) error {
	if n.Notify == "" {
		return nil
	}
	var text bytes.Buffer
	if err := m.Write(&text, "json"); err != nil {
		return err
	}
	shell := exec.CommandContext(ctx, "sh", "-c", n.Notify)
	if runtime.GOOS == "windows" {
		shell = exec.CommandContext(ctx, "cmd", "/C", n.Notify)
	}
	shell.Stdin, shell.Stdout, shell.Stderr = &text, c.Err, c.Err
	if err := shell.Run(); err != nil {
		return fmt.Errorf("--notify-command %s: %w", n.Notify, err)
	}
	return nil
}

// A Look says how a report is written.
type Look struct {
	Output  string // the format
	Top     int    // rows per list
	PageTop int    // of a page, where they can be searched; 0: more than elsewhere
	Sort    string // one of report.Sorts; "": the first
}

// Rows returns how many rows a list has.
func (f *Look) Rows() int {
	if f.Output == "html" {
		return cmp.Or(f.PageTop, html.MostRows)
	}
	return f.Top
}
