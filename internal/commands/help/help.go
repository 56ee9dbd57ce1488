// Package help prints help: on commands, on what is no command, and lists of flags by what they are about.
package help

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
	"shadow/report"
)

// New stands in for cobra's own help command, to which an unknown command is no error; unknown says what to complain about.
func New(unknown func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return pipeline.Usage("%w", err)
			}
			if len(rest) > 0 {
				return unknown(about, rest)
			}
			if text := about.Annotations[Text]; text != "" {
				_, err := io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			about.InitDefaultHelpFlag() // so that it is listed
			about.InitDefaultVersionFlag()
			return about.Help()
		},
		ValidArgsFunction: completeCommand,
	}
}

// Text is the note at a command with what `shadow help` prints of it, in place of its own help.
const Text = "help"

// completeCommand completes the name of a command below those that are typed already.
func completeCommand(cmd *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 {
		for _, sub := range about.Commands() {
			if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), typed) {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// Watch returns what went wrong when help was written, of which cobra takes no notice.
func Watch(root *cobra.Command) (failed func() error) {
	var watched watchedWriter
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		watched.Writer = out
		cmd.SetOut(&watched)
		help(cmd, args)
		cmd.SetOut(out)
	})
	return func() error { return watched.err }
}

// A watchedWriter remembers the first error.
type watchedWriter struct {
	io.Writer
	err error
}

func (w *watchedWriter) Write(text []byte) (int, error) {
	n, err := w.Writer.Write(text)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Help on what is no command: shadow help config, shadow help fail-if.

// Config is an example of all that shadow.yaml may have.
//
//go:embed config.yaml
var Config string

const failIfIntro = `--fail-if CONDITION makes the exit code of shadow replay and shadow report 4 when the condition holds for
any policy, that of shadow diff and migrate when it holds for B, and that of suggest for an answer. The report is
printed, and the run is stored, all the same. It may be repeated.

  shadow replay access.log --limit 6/30s --fail-if 'browsers_hit_share > 0.001'
  shadow replay access.log --limit 6/30s --fail-if 'people_hit + offices_hit > 0'
  shadow suggest access.log --fail-if 'verdict != "deploy"'
  shadow replay access.log --limit 6/30s --fail-if 'requests == 0 or unreadable_share > 0.01'
  shadow report --fail-if 'refused_share > 2 * refused_share_before and refused > 1000'

A condition is an expression with and, or, not, ==, !=, <, <=, >, >=, +, -, *, /, startsWith, contains, matches and
brackets (https://expr-lang.org/docs/language-definition), over the names below. Shares are from 0 to 1, and 0 of nothing.
Classes are what agents claim: browsers_hit counts robots that call themselves browsers. Identities are what clients are
by what they do (docs/evidence.md): people_hit, attackers_hit. Offices are several people each, and none of people_hit.
`

var scopeTitles = []struct {
	scope report.Scope
	title string
}{
	{report.Always, "Of the policy and the logs"},
	{report.WithIdentities, "Of who the clients are, in logs and in stored runs of replays"},
	{report.WithHistory, "Of what has changed: in shadow report since other runs, in diff and migrate from A to B"},
	{report.WithRuns, "Of what has changed since other runs, in shadow report only"},
	{report.WithVerdict, "Of the answer, in shadow suggest only"},
}

// FailIf explains --fail-if.
func FailIf() string {
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
		for _, line := range wrapped(f.Names) {
			fmt.Fprintf(b, "  %s\n", line)
		}
		names = ""
	}
	fmt.Fprintf(b, "  %-26s%s\n", names, f.Help)
}

// wrapped returns names with commas, in lines of at most 110 bytes.
func wrapped(names []string) (lines []string) {
	line := ""
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		switch {
		case line == "":
			line = name
		case len(line)+1+len(name) > 110:
			lines, line = append(lines, line), name
		default:
			line += " " + name
		}
	}
	return append(lines, line)
}
