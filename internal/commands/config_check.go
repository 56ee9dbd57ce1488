package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
	"shadow/report/explain"
)

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
