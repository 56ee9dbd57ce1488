package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/commands/help"
	"shadow/internal/commands/option"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/initial"
	"shadow/internal/policy"
	"shadow/internal/suggest"
	"shadow/report/explain"
	"shadow/report/format"
	"shadow/report/table"
)

func newConfig() *cobra.Command {
	var output string
	cmd, f := newSettings()
	cmd.Use = "config"
	cmd.AddCommand(newInit(), newCheckConfig())
	cmd.Short = "Show the defaults in force and where they stand; `shadow help config` explains shadow.yaml"
	cmd.Long = `Config shows the values of flags that are not given, and where each comes from: a variable such as SHADOW_CLIENT_FROM,
shadow.yaml in the working directory or the file of --config, or the user's own file, which is
$XDG_CONFIG_HOME/shadow/shadow.yaml or ~/.config/shadow/shadow.yaml. The first that states one goes before the others, and
a flag that is given goes before all. SHADOW_DEFAULTS=off switches them off.

shadow help config prints an example of all that shadow.yaml may have.`
	cmd.Example = `  shadow config
  SHADOW_EXCLUDE=/health shadow config --config /etc/shadow/limits.yaml --output json
  shadow help config > shadow.yaml`
	cmd.Args = noArgs
	cmd.Annotations = map[string]string{help.Text: help.Config}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.Verify(); err != nil {
			return err
		}
		var rows table.Slice
		for _, name := range policy.DefaultNames {
			flag := cmd.Flags().Lookup(name)
			from := "built in"
			if place := flag.Annotations[option.DefaultNote]; len(place) > 0 {
				from = place[0]
			} else if flag.Changed {
				from = "flag"
			}
			values := option.ValuesOf(flag)
			if len(values) == 0 {
				values = []string{""}
			}
			rows = mapped.Add(rows, values, func(value string) []any { return []any{name, value, from} })
		}
		w := cmd.OutOrStdout()
		return table.WriteRows(w, format.ConfigSchema, output, widthOf(w), []string{"default", "value", "from"}, &rows)
	}
	addConfig(cmd, &f.Source, "defaults")
	addOutput(cmd, &output, "list", format.Outputs())
	return cmd
}

// newSettings returns a command that has the flags with defaults, and what they fill.
func newSettings() (*cobra.Command, *pipeline.Suggest) {
	all, cmd, f := new(cobra.Command), new(cobra.Command), new(pipeline.Suggest)
	addReading(all, &f.Reading)
	addStore(all, new(pipeline.Keeping))
	addGoals(all, f)
	cmd.Flags().SortFlags = false
	for _, name := range policy.DefaultNames {
		cmd.Flags().AddFlag(all.Flags().Lookup(name))
	}
	return cmd, f
}

// verifyDefaults says what is wrong with the defaults of a file.
func verifyDefaults(defaults []policy.Default) error {
	cmd, f := newSettings()
	cmd.RunE = func(*cobra.Command, []string) error { return f.Verify() }
	if err := option.SetDefaults(cmd, option.ChooseDefaults(cmd.Flags(), [][]policy.Default{defaults})); err != nil {
		return err
	}
	return cmd.RunE(cmd, nil)
}

func newCheckConfig() *cobra.Command {
	var file, output string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what a configuration means, or everything that is wrong with it",
		Long: `Check reads a configuration, shadow.yaml unless another file is named, and says in short what it
means: its defaults, actions, its tiers with their sizes, its policies with their limits. If anything is wrong with
it, it says what, and where, and ends with exit code 2. - reads standard input.`,
		Example: `  shadow config check
  shadow config check /etc/shadow/limits.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if file != "" {
				args = append(args, file)
			}
			if len(args) > 1 {
				return pipeline.Usage("want one file, not %d\nSee `%s --help`.", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := append(args, file)[0]
			return pipeline.CheckConfig(cmd.InOrStdin(), cmd.OutOrStdout(), output, name, verifyDefaults)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the `file`, as other commands name it")
	addOutput(cmd, &output, "meaning", explain.CalcFormats())
	return cmd
}

func newInit() *cobra.Command {
	f := new(initial.Init)
	cmd := &cobra.Command{
		Use:   "init LOG…",
		Short: "Write a commented shadow.yaml that fits a log, or a crontab for it",
		Long: `Init reads a log, and writes a shadow.yaml to begin with: how the log is read, the proxies before the site, which
clients are its own servers and monitors, and the limit that suggest names as a first policy. Comments say why, and what
else may mislead.

Flags that are given, and defaults in force, become defaults of the file. It goes to standard output, unless --file says where to.
--cron writes a crontab instead, which judges these logs each night by the policies of shadow.yaml.`,
		Example: `  shadow config init access.log
  shadow config init /var/log/nginx --file shadow.yaml
  shadow config init access.log --client-from x-forwarded-for --trusted-proxy private --for haproxy
  shadow config init /var/log/nginx/access.log --cron > shadow.cron`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			for _, name := range policy.DefaultNames {
				if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
					f.Given = append(f.Given, policy.Default{Name: name, Values: option.ValuesOf(flag)})
				}
			}
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Holdout, f.Scale, f.Recover, f.Band = pipeline.DefaultHoldout, pipeline.SameScale, suggest.DefaultRecover, true
	flags.StringVar(&f.File, "file", "", "write it to this `file`, which must not be there; with --cron, where it lies")
	flags.BoolVar(&f.Replace, "replace", false, "replace that file")
	flags.BoolVar(&f.Cron, "cron", false, "write a crontab that runs a night with it instead")
	option.Needs(cmd, []string{"file"}, "replace")
	addGoals(cmd, &f.Suggest)
	addReading(cmd, &f.Reading)
	flags.Lookup("cold").Hidden = true
	f.Wanted = true
	addLogs(cmd, &f.Logs, "print nothing but the file and errors", "report on standard error what is chosen")
	return cmd
}
