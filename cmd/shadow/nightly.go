package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/escape"
	"shadow/report"
)

// What a report does when nobody looks on: it keeps quiet when there is nothing to say, fails on a condition, tells somebody,
// and names no client.

// nightlyFlags are the options that shadow replay and shadow report have for that.
type nightlyFlags struct {
	failIf    []string
	notify    string
	anonymize string
	keyFile   string
}

func (f *nightlyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.failIf, "fail-if", nil, "exit code 4 if this `condition` holds for any policy, such as 'browsers_hit_share > 0.001'; may be repeated; shadow help fail-if lists the names")
	flags.StringVar(&f.notify, "notify-command", "", "shell `command` that gets the report as JSON on its standard input")
	flags.StringVar(&f.anonymize, "anonymize", "", "show clients under other names: `how` is "+strings.Join(report.Anonymizations(), " or "))
	flags.StringVar(&f.keyFile, "anonymize-key", "", "`file` with the key of hashes (default $SHADOW_ANONYMIZE_KEY, or a new key for each report)")
	needs(cmd, []string{"anonymize"}, "anonymize-key")
	completeWords(cmd, "anonymize", report.Anonymizations()...)
}

// A nightly is what the flags mean.
type nightly struct {
	conditions []*report.Condition
	anonymizer *report.Anonymizer // nil: clients have their own names
	notify     string
	quiet      bool
	always     bool // whether the report is printed even so: a program reads it
}

// verify looks up everything that the flags name. Conditions may ask for figures of some scopes, beside those that are always known.
func (f *nightlyFlags) verify(quiet bool, scopes ...report.Scope) (*nightly, error) {
	n := &nightly{notify: f.notify, quiet: quiet}
	for _, text := range f.failIf {
		c, err := report.ParseCondition(text, scopes...)
		if err != nil {
			return nil, usage("--fail-if %w", err)
		}
		n.conditions = append(n.conditions, c)
	}
	if f.anonymize == "" {
		return n, nil
	}
	if !slices.Contains(report.Anonymizations(), f.anonymize) {
		return nil, usage("--anonymize %q: want %s", f.anonymize, strings.Join(report.Anonymizations(), " or "))
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	n.anonymizer, err = report.NewAnonymizer(f.anonymize, key)
	return n, err
}

// key is that of the file, of the environment, or one that nobody knows.
func (f *nightlyFlags) key() ([]byte, error) {
	if f.keyFile != "" {
		key, err := os.ReadFile(f.keyFile)
		if err != nil {
			return nil, usage("--anonymize-key: %w", err)
		}
		if key = bytes.TrimSpace(key); len(key) < 16 {
			return nil, usage("--anonymize-key %s: the key has %d bytes, which can be guessed: want at least 16", f.keyFile, len(key))
		}
		return key, nil
	}
	if key := os.Getenv("SHADOW_ANONYMIZE_KEY"); key != "" {
		return []byte(key), nil
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return key, nil
}

// errHeld says that a --fail-if condition held.
type errHeld struct{ texts []string }

func (e errHeld) Error() string { return strings.Join(e.texts, "\n") }

// finish prints the report unless it is to be quiet about it, tells whoever wants to know, and returns what went wrong.
// pressing is an error that is worth saying by itself, or nil.
func (n *nightly) finish(cmd *cobra.Command, m *report.Model, write func() error, pressing error) error {
	held, err := n.held(m)
	if err != nil {
		return errors.Join(pressing, err)
	}
	failed := errors.Join(pressing, held)
	worth := failed != nil || len(n.conditions) == 0 && m.WorthSaying()
	if n.quiet && !worth {
		if n.always {
			return write()
		}
		return nil
	}
	if err := write(); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, n.tell(cmd, m))
}

// held is an error that says which conditions hold, or nil.
func (n *nightly) held(m *report.Model) (held, err error) {
	var texts []string
	for _, c := range n.conditions {
		policies, err := c.Holds(m)
		if err != nil {
			return nil, fmt.Errorf("--fail-if %w", err)
		}
		if len(policies) > 0 {
			texts = append(texts, fmt.Sprintf("--fail-if %s holds for %s", c, escape.Visible(strings.Join(policies, "; "))))
		}
	}
	if texts == nil {
		return nil, nil
	}
	return errHeld{texts}, nil
}

// tell runs the command that wants to know. What it prints goes where complaints go.
func (n *nightly) tell(cmd *cobra.Command, m *report.Model) error {
	if n.notify == "" {
		return nil
	}
	var text bytes.Buffer
	if err := m.Write(&text, "json"); err != nil {
		return err
	}
	c := shell(cmd.Context(), n.notify)
	c.Stdin, c.Stdout, c.Stderr = &text, cmd.ErrOrStderr(), cmd.ErrOrStderr()
	if err := c.Run(); err != nil {
		return fmt.Errorf("--notify-command %s: %w", n.notify, err)
	}
	return nil
}

// shell is a command line for the shell of the system.
func shell(ctx context.Context, line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/C", line)
	}
	return exec.CommandContext(ctx, "sh", "-c", line)
}
