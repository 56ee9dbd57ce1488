package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag of a command with many is listed once, in one group, and every name in the groups is a flag.
func TestFlagsAreGrouped(t *testing.T) {
	known := map[string]bool{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		list := flagList(cmd, cmd.LocalFlags())
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
	for _, g := range flagGroups {
		for _, name := range g.flags {
			if !known[name] {
				t.Errorf("%s: no command has --%s", g.title, name)
			}
		}
	}
	for _, name := range firstFlags {
		if !known[name] {
			t.Errorf("no command has --%s", name)
		}
		if !slices.ContainsFunc(flagGroups, func(g struct {
			title string
			flags []string
		},
		) bool {
			return slices.Contains(g.flags, name)
		}) {
			t.Errorf("--%s is in no group", name)
		}
	}
}
