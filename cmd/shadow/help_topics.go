package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"shadow/report"
)

// Help on what is no command: shadow help config, shadow help fail-if.

//go:embed help_config.yaml
var configExample string

// newHelpConfig is the format of the configuration, as a configuration.
func newHelpConfig() *cobra.Command {
	return &cobra.Command{Use: "config", Short: "The format of shadow.yaml: actions, tiers, policies, evidence", Long: configExample}
}

// newHelpFailIf lists what conditions may name.
func newHelpFailIf() *cobra.Command {
	return &cobra.Command{Use: "fail-if", Short: "What --fail-if may ask: the names of conditions", Long: failIfHelp()}
}

const failIfIntro = `--fail-if CONDITION makes the exit code of shadow replay and shadow report 4 when the condition holds for
any policy. The report is printed, and the run is stored, all the same. It may be repeated.

  shadow replay access.log --limit 6/30s --fail-if 'browsers_hit_share > 0.001'
  shadow replay access.log --limit 6/30s --evidence --fail-if 'people_hit > 0'
  shadow replay access.log --limit 6/30s --fail-if 'requests == 0 or unreadable_share > 0.01'
  shadow report --fail-if 'refused_share > 2 * refused_share_before and refused > 1000'

A condition is an expression with and, or, not, ==, !=, <, <=, >, >=, +, -, *, /, startsWith, contains, matches and
brackets (https://expr-lang.org/docs/language-definition), over the names below. Shares are from 0 to 1, and 0 of nothing.
Classes are what agents claim: browsers_hit counts robots that call themselves browsers, people_hit does not.
`

var scopeTitles = []struct {
	scope report.Scope
	title string
}{
	{report.Always, "Of the policy and the logs"},
	{report.WithEvidence, "Of browsers, with --evidence only"},
	{report.WithHistory, "Of what has changed, in shadow report only"},
}

func failIfHelp() string {
	var b strings.Builder
	b.WriteString(failIfIntro)
	for _, s := range scopeTitles {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		for _, f := range report.Figures() {
			if f.Scope == s.scope {
				writeFigure(&b, &f)
			}
		}
	}
	return b.String()
}

// writeFigure writes names with their meaning: beside a short one, below several.
func writeFigure(b *strings.Builder, f *report.Figure) {
	names := strings.Join(f.Names, ", ")
	if len(names) > 24 {
		fmt.Fprintf(b, "  %s\n", names)
		names = ""
	}
	fmt.Fprintf(b, "  %-26s%s\n", names, f.Help)
}
