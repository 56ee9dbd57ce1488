package commands

import (
	"slices"
	"strings"
	"testing"

	"shadow/internal/commands/help"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag of a command with many is listed once, in one group, and every name in the groups is a flag.
func TestFlagsAreGrouped(t *testing.T) {
	known := map[string]bool{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		list := help.FlagList(cmd.LocalFlags(), 0, true)
		if short := help.FlagList(cmd.LocalFlags(), 0, false); strings.Count(short, "\n") > 12 {
			t.Errorf("%s: the short help has more than 12 flags:\n%s", cmd.CommandPath(), short)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			known[f.Name] = true
			if f.Hidden {
				return
			}
			n := 0
			for line := range strings.SplitSeq(list, "\n") {
				if line = strings.TrimLeft(line, " "); strings.HasPrefix(line, "--"+f.Name+" ") || strings.Contains(line[:min(8, len(line))], ", --") && strings.HasPrefix(line[4:], "--"+f.Name+" ") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: --%s is listed %d times in\n%s", cmd.CommandPath(), f.Name, n, list)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	for _, g := range help.Groups {
		for _, name := range g.Flags {
			if !known[name] {
				t.Errorf("%s: no command has --%s", g.Title, name)
			}
		}
	}
	for _, name := range help.First {
		if !known[name] {
			t.Errorf("no command has --%s", name)
		}
		if !slices.ContainsFunc(help.Groups, func(g help.Group) bool { return slices.Contains(g.Flags, name) }) {
			t.Errorf("--%s is in no group", name)
		}
	}
}
