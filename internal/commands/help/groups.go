package help

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Of a command with many flags --help lists those that people need first; --help-all has the others as well, by what they
// are about. A flag that stands in no group fails a test.

// mostFlags bounds the flags that --help lists.
const mostFlags = 12

// AllFlag is the name of the flag that lists all others.
const AllFlag = "help-all"

// First names what people need first. As many as there is room for are shown, with help and help-all.
var First = []string{
	"to", "from", "limit", "by", "policy", "for", "details", "target", "protect", "run", "compare", "client-from", "trusted-proxy",
	"exclude", "since", "format", "output", "db", "listen", "config", "would-blocks", "top", "client", "action",
	"per", "kind", "fail-if", "no-open",
}

// A Group are the flags of a list that are about the same.
type Group struct {
	Title string
	Flags []string
}

// Groups are the others, in the order in which they are listed.
var Groups = []Group{
	{"Input", []string{
		"format", "nginx-conf", "log-name", "field", "parser", "timezone", "from", "exclude", "exclude-status", "not-http",
		"lateness", "since", "until", "day", "max-bad",
	}},
	{"Who is a client", []string{
		"client", "client-from", "trusted-proxy", "network-db", "crawler-ranges", "evidence", "evidence-path", "robots",
	}},
	{"Limits", []string{
		"to", "limit", "by", "policy", "config", "limits-from", "check", "verdict", "refused-status", "for", "target", "protect", "action", "each-action", "per", "kind",
		"rate", "bursts", "exact", "refuse", "scale", "recover", "holdout", "band", "cold", "harm", "harm-action", "retries", "redis",
		"redis-password-file", "redis-timeout", "max-lag", "clock",
	}},
	{"Sending", []string{"client-header", "client-source", "minutes", "methods", "max-rate", "yes-it-is-mine"}},
	{"Output", []string{
		"output", "file", "replace", "cron", "tables", "details", "top", "sort", "lines", "no-plot", "verdicts", "trace", "would-blocks", "every", "listen", "page",
		"ui", "compare", "fail-if",
		"notify-command", "no-open", "follow", "port", "anonymize", "anonymize-key", "quiet", "verbose", "help",
	}},
	{"Storage", []string{
		"db", "no-store", "events", "run", "resume", "resume-as", "sweep", "retain", "state", "save-every",
		"flush", "spool-max",
	}},
	{"Performance", []string{"max-memory", "max-keys", "timing", "cpuprofile", "memprofile"}},
}

// GroupFlags makes help list the flags of all commands by First and Groups, and wraps it at the width of the terminal, 0
// if there is none.
func GroupFlags(root *cobra.Command, width func(io.Writer) int) {
	columns := 0 // of the help that is written; its second part goes through a buffer
	all := new(bool)
	offerAll(root, all)
	cobra.AddTemplateFunc("prose", func(cmd *cobra.Command, text string) string {
		columns = wrapAt(cmd.OutOrStdout(), width)
		return Prose(text, columns)
	})
	cobra.AddTemplateFunc("described", func(cmd *cobra.Command) string {
		name := fmt.Sprintf("  %-*s ", cmd.NamePadding(), cmd.Name())
		return strings.Join(hanging(name, cmd.Short, columns), "\n")
	})
	cobra.AddTemplateFunc("flagList", func(flags *pflag.FlagSet) string { return FlagList(flags, columns, *all) })
	template := strings.ReplaceAll(root.UsageTemplate(), "  {{rpad .Name .NamePadding }} {{.Short}}", "{{described .}}")
	for _, flags := range []string{".LocalFlags", ".InheritedFlags"} {
		template = strings.ReplaceAll(template, "{{"+flags+".FlagUsages |", "{{flagList "+flags+" |")
	}
	root.SetUsageTemplate(template)
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(), "{{. | trim", "{{prose $ . | trim", 1))
}

// offerAll gives a command, and those below it, the flag --help-all, hidden where --help lists all. The flag asks for help,
// and sets all.
func offerAll(cmd *cobra.Command, all *bool) {
	for _, sub := range cmd.Commands() {
		offerAll(sub, all)
	}
	n := visible(cmd.Flags()) + visible(cmd.PersistentFlags())
	cmd.InitDefaultHelpFlag()
	cmd.Flags().BoolFunc(AllFlag, fmt.Sprintf("help with all %d flags", n), func(string) error {
		*all = true
		return cmd.Flags().Set("help", "true")
	})
	cmd.Flags().Lookup(AllFlag).Hidden = n < mostFlags // --help is one more
}

// visible counts the flags that help shows.
func visible(flags *pflag.FlagSet) (n int) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			n++
		}
	})
	return n
}

// FlagList lists the flags of a command, wrapped at a width if it is above 0: at most mostFlags of them, or all.
func FlagList(flags *pflag.FlagSet, width int, all bool) string {
	if visible(flags) <= mostFlags {
		return flags.FlagUsagesWrapped(width)
	}
	first := subset(flags, First, mostFlags-2, nil)
	for _, name := range []string{"help", AllFlag} {
		first.AddFlag(flags.Lookup(name))
	}
	text := first.FlagUsagesWrapped(width)
	if !all {
		return text
	}
	for _, g := range Groups {
		if rest := subset(flags, g.Flags, len(g.Flags), first); rest.HasAvailableFlags() {
			text += "\n" + g.Title + ":\n" + rest.FlagUsagesWrapped(width)
		}
	}
	return text
}

// subset returns the first n of the named flags that are there and visible, without those of another set.
func subset(flags *pflag.FlagSet, names []string, n int, without *pflag.FlagSet) *pflag.FlagSet {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	for _, name := range names {
		f := flags.Lookup(name)
		if f == nil || f.Hidden || n == 0 || without != nil && without.Lookup(name) != nil {
			continue
		}
		some.AddFlag(f)
		n--
	}
	return some
}

// leastWidth is the width below which wrapping leaves a word on each line.
const leastWidth = 60

// wrapAt returns the columns at which to wrap; 0: not at all.
func wrapAt(w io.Writer, width func(io.Writer) int) int {
	if watched, ok := w.(*watchedWriter); ok {
		w = watched.Writer
	}
	if n := width(w); n >= leastWidth {
		return n
	}
	return 0
}
