package commands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/contrib"
	"shadow/internal/commands/help"
	"shadow/internal/commands/option"
	"shadow/internal/lazy"
	"shadow/internal/pipeline"
	"shadow/limit"
)

// tagged makes the commands that build tags add.
var tagged []func() *cobra.Command

// newRoot returns the command tree.
func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false // commands stand in the order in which people need them
	root := &cobra.Command{
		Use:   "shadow",
		Short: "What should our rate limit be, and who would it hit?",
		Long: `shadow replays nginx and Apache access logs, by their own time stamps, through rate limiters.
It blocks no client: it reports which clients and which actions each candidate limit would have
throttled, how many of them are browsers and how many are not, and keeps every would-block
event in a folder for your own questions.`,
		Example: `  shadow suggest access.log                           what should the limit be? names one, with its price
  shadow doctor access.log                            what is odd about this log, and which flags help
  shadow sweep access.log                             every limit at once: what each refuses, and which clients it hits
  shadow keys access.log                              what to count by: client, agent, network or user
  shadow replay access.log --limit 6/30s              token, leaky and window side by side
  shadow replay /var/log/nginx --limit 5..50:5/30s    a range of limits over all rotations
  zcat access.log.*.gz | shadow replay - --limit token:10/s,burst=20
  shadow explain 203.0.113.7 access.log --limit 6/30s what became of one client, and what it would have needed
  shadow calibrate access.log                         which limit did the server have? by what it refused
  shadow diff access.log --limit token:6/30s --limit token:6/30s,burst=20   who is released, who is newly hit
  shadow report --compare 7d                          a stored run again, and what has changed in a week
  shadow query "SELECT policy, client, refused FROM latest_client_totals ORDER BY refused DESC LIMIT 10"`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          showHelp,

		PersistentPreRunE: option.TakeDefaults,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(option.FlagError)
	root.SetHelpCommand(help.New(noCommand))
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newVersion(), newFailIf(), newSchema())
	for _, add := range tagged {
		root.AddCommand(add())
	}
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil { // a shell that is not known is an error
		completion.Args, completion.RunE = noCommand, showHelp
	}
	option.CompleteConfigured(root)
	help.GroupFlags(root, widthOf)
	return root
}

// newFailIf returns a page of help, which is written when it is asked for.
func newFailIf() *cobra.Command {
	cmd := &cobra.Command{Use: "fail-if", Short: "What --fail-if may ask: the names of conditions"}
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = help.FailIf()
		cmd.Root().HelpFunc()(cmd, args)
	})
	return cmd
}

// newSchema returns a page of help that editors read.
func newSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "The JSON schema of shadow.yaml, for editors",
		Annotations: map[string]string{help.Text: string(contrib.Schema)},
	}
}

// A group is commands that answer the same kind of question, as help shows them.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups returns all commands but those that are about the program itself.
func groups() []group {
	return []group{
		{"Answer from a log", []*cobra.Command{
			newSuggest(), newExplore(), newReplay(), newSweep(), newKeys(), newExplainClient(), newDiff(), newDoctor(),
		}},
		{"Live and nightly", []*cobra.Command{newTail(), newReport(), newQuery(), newMerge()}},
		{"Servers", []*cobra.Command{newImport(), newExport(), newMigrate(), newCalibrate(), newDrill()}},
		{"Reference", []*cobra.Command{newLimits(), newConfig()}},
	}
}

// moved says where commands of development versions are now, and those that people look for.
var moved = map[string]string{
	"init": "shadow config init", "calc": "now shadow limits calc", "check-config": "now shadow config check",
	"formats": "now shadow doctor formats",
	"parse":   "now shadow doctor parse", "runs": "now shadow report runs",
	"shard": "gone: logs too large for one machine are judged with Apache Beam; see docs/scale.md",
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// noCommand complains about a word that is no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near, names := "", []string{}
	for _, sub := range cmd.Commands() {
		if names = append(names, sub.Name()); near == "" && args[0] != "" && strings.HasPrefix(sub.Name(), args[0]) {
			near = sub.Name()
		}
	}
	if now := moved[args[0]]; now != "" && !cmd.HasParent() {
		return pipeline.Usage("shadow %s is %s", args[0], now)
	}
	hint := ""
	near = cmp.Or(near, limit.Nearest(args[0], names))
	_, statErr := os.Stat(args[0])
	_, noLimit := limit.ParseAll(args[0])
	switch {
	case near != "":
		hint = fmt.Sprintf(", did you mean %s?", near)
	case !cmd.HasParent() && statErr == nil:
		hint = fmt.Sprintf(": a command comes before the name of a log, as in shadow suggest %s", args[0])
	case cmd.Name() == "limits" && noLimit == nil:
		hint = fmt.Sprintf(", did you mean shadow limits explain %s?", args[0])
	case cmd.HasParent():
		hint = fmt.Sprintf(": want %s", strings.Join(names, ", "))
	}
	return pipeline.Usage("unknown command %q%s\nSee `%s --help`.", args[0], hint, cmd.CommandPath())
}

// onLogs has a command run on logs, and list its flags in the order in which they are added.
func onLogs(cmd *cobra.Command, caller *pipeline.Caller, run func(context.Context, []string) error) *pflag.FlagSet {
	cmd.Args = logArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		*caller = callerOf(cmd)
		return run(cmd.Context(), args)
	}
	cmd.Flags().SortFlags = false
	return cmd.Flags()
}

// someArgs asks for at least one argument, in words that name the command.
func someArgs(ask string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return pipeline.Usage(ask, cmd.CommandPath())
		}
		return nil
	}
}

var oneLog = someArgs("which log? Name files, directories, or - for standard input\nSee `%s --help`.")

// logArgs wants at least one log.
func logArgs(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return pipeline.Usage("the name of a log is empty: name files, directories, or - for standard input")
	}
	return cmp.Or(oneLog(cmd, args), noLog(cmd, args))
}

// limitOption is an option that stands behind a comma in limits.
var limitOption = lazy.Regexp(`^[a-z][a-z~-]*=[0-9a-z]+$|^debt$`)

// noLog complains about a part of a limit in the place of a log, unless a file has its name.
func noLog(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if _, err := os.Lstat(arg); err == nil || cmd.Flags().Lookup("limit") == nil {
			continue
		}
		if limitOption().MatchString(arg) {
			return cmp.Or(option.Verify(cmd, nil), pipeline.Usage("%q is no log: options of a limit follow after a comma, as in "+
				"--limit %s,%s", arg, exampleLimit(cmd), arg))
		}
		if _, err := limit.ParseAll(arg); err == nil {
			if name := exampleLimit(cmd); !strings.Contains(name, "/") { // --limit token 6/30s
				arg = name + ":" + arg
			}
			return cmp.Or(option.Verify(cmd, nil), pipeline.Usage("a limit stands where a log should: want --limit %s", arg))
		}
	}
	return nil
}

// exampleLimit returns the last limit that a command line has.
func exampleLimit(cmd *cobra.Command) string {
	if list, ok := cmd.Flags().Lookup("limit").Value.(pflag.SliceValue); ok && len(list.GetSlice()) > 0 {
		return list.GetSlice()[len(list.GetSlice())-1]
	}
	return "6/30s"
}

// noArgs wants nothing but flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if _, err := strconv.Atoi(args[0]); err == nil && cmd.Flags().Lookup("run") != nil {
		hint = fmt.Sprintf(" (did you mean --run %s?)", args[0])
	}
	return pipeline.Usage("%s takes no arguments, but here is %q%s\nSee `%s --help`.", cmd.Name(), args[0], hint, cmd.CommandPath())
}
