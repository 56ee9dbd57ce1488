package commands

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// For every flag of every command, the flag is suggested when its last letter but one is left out.
func TestUnknownFlagsSuggestTheNearest(t *testing.T) {
	var ask func(path []string, cmd *cobra.Command)
	ask = func(path []string, cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			ask(append(path[:len(path):len(path)], sub.Name()), sub)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			n := len(f.Name)
			if f.Hidden || n < 3 {
				return
			}
			word := f.Name[:n-2] + f.Name[n-1:]
			if cmd.Flags().Lookup(word) != nil {
				return
			}
			err := called(append(path, "--"+word))
			if err == nil || !strings.HasPrefix(err.Error(), "unknown flag: --"+word+" (did you mean --") || exitCode(t.Context(), err) != exitUsage {
				t.Errorf("%q --%s: %v", path, word, err)
			}
		})
	}
	ask(nil, newRoot())
	for text, args := range map[string][]string{
		"unknown flag: --limt (did you mean --limit?)\n":                      {"replay", "a.log", "--limt", "6/30s"},
		"unknown shorthand flag: 'd' in -db (did you mean --db?)\n":           {"report", "runs", "-db"},
		"unknown flag: --frobnicate\nSee":                                     {"replay", "--frobnicate"},
		"unknown flag: --since-yesterday\nSee `shadow tail --help`.":          {"tail", "a.log", "--since-yesterday"},
		"unknown flag: --until-now\nSee `shadow limits explain --help`.":      {"limits", "explain", "--until-now"},
		"unknown flag: --older-then (did you mean --older-than?)\nSee `shado": {"report", "runs", "delete", "--older-then", "1d"},
	} {
		if err := called(args); err == nil || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%q: %v, want %q", args, err, text)
		}
	}
}

// called runs a command line and returns its error.
func called(args []string) error {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(new(bytes.Buffer))
	root.SetErr(new(bytes.Buffer))
	return root.Execute()
}
