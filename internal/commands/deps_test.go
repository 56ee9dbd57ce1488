package commands

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
)

// No command takes an empty text for a flag, and what a flag needs is a flag of the same command.
func TestGivenFlags(t *testing.T) {
	tried := 0
	for _, cmd := range allCommands(newRoot()) {
		if !cmd.Runnable() || strings.HasPrefix(cmd.Name(), "__") {
			continue
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, list := f.Value.(pflag.SliceValue); f.Value.Type() == "string" || list && f.Value.Type() != "int64Slice" {
				refusesEmpty(t, cmd, f.Name)
				tried++
			}
			if others := f.Annotations[option.NeedsNote]; len(others) > 0 && !slices.ContainsFunc(others, func(other string) bool {
				name, _, _ := strings.Cut(other, "=")
				return cmd.Flags().Lookup(name) != nil
			}) {
				t.Errorf("%s --%s needs one of %q, and has none", cmd.CommandPath(), f.Name, others)
			}
		})
	}
	if tried < 100 {
		t.Errorf("only %d flags were tried", tried)
	}
}

func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, allCommands(sub)...)
	}
	return all
}

// refusesEmpty calls a command with an empty flag, and as many arguments as it takes.
func refusesEmpty(t *testing.T, cmd *cobra.Command, flag string) {
	t.Helper()
	var err error
	for n := range 3 {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		words := append(strings.Fields(cmd.CommandPath())[1:], slices.Repeat([]string{"none"}, n)...)
		root.SetArgs(append(words, "--"+flag+"="))
		if err = root.Execute(); err != nil && strings.Contains(err.Error(), "--"+flag+" is empty") {
			break
		}
	}
	if !errors.As(err, new(*pipeline.UsageError)) || !strings.Contains(err.Error(), "--"+flag+" is empty") {
		t.Errorf("%s --%s= ended with %v", cmd.CommandPath(), flag, err)
	}
}
