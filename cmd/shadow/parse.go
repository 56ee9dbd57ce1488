package main

import (
	"github.com/spf13/cobra"

	"shadow/pipeline"
	"shadow/report/explain"
)

func newParse() *cobra.Command {
	f := new(pipeline.Preview)
	cmd := &cobra.Command{
		Use:   "parse LOG…",
		Short: "Show how the first lines of a log are read, field by field",
		Long: `Parse shows the format that was chosen and the first lines of each log, field by field. Of a line that
cannot be read it shows what it lacks, and where.`,
		Example: `  shadow parse access.log
  shadow parse access.log --lines 20 --format '$remote_addr [$time_local] "$request" $status'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			return f.Run(cmd.Context(), args)
		},
	}
	addFormat(cmd, &f.LineFormat)
	cmd.Flags().UintVarP(&f.Lines, "lines", "n", 5, "how `many` lines to show of each log")
	cmd.Flags().StringSliceVar(&f.Show, "show", nil, "further `fields` to show, by their names in the format")
	addOutput(cmd, &f.Output, "lines", explain.CalcFormats())
	return cmd
}
