package main

import (
	"github.com/spf13/cobra"

	"shadow/pipeline"
)

func newCheckConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "check-config [FILE]",
		Short: "Say what a configuration means, or everything that is wrong with it",
		Long: `Check-config reads a configuration, shadow.yaml unless another file is named, and says in short what it
means: its actions, its tiers with their sizes, its policies with their limits. If anything is wrong with
it, it says what, and where, and ends with exit code 2. - reads standard input.`,
		Example: `  shadow check-config
  shadow check-config /etc/shadow/limits.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return pipeline.Usage("want one file, not %d\nSee `%s --help`.", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return pipeline.CheckConfig(cmd.InOrStdin(), cmd.OutOrStdout(), append(args, "")[0])
		},
	}
}
