package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
	"shadow/parse/detect"
	"shadow/report/explain"
	"shadow/report/format"
	"shadow/report/table"
)

func newFormats() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "formats",
		Short: "List the log formats that are known by name",
		Long: `Formats lists what --format takes by name, and what --format auto tells apart. Any other format can
be given as the server's configuration writes it, or be found in that configuration:

  --format '$remote_addr [$time_local] "$request" $status'     an nginx log_format
  --format '%h %l %u %t "%r" %>s %b %D'                        an Apache LogFormat
  --nginx-conf /etc/nginx/nginx.conf --log-name main           the log_format called main
  --field time=ts,client=remote_addr                           JSON with names of its own`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var known table.Slice
			for _, k := range detect.Catalogue() {
				known = append(known, []any{k.Name, k.Summary, k.Text})
			}
			w := cmd.OutOrStdout()
			return table.WriteRows(w, format.FormatsSchema, output, widthOf(w), []string{"format", "what", "as the server writes it"}, &known)
		},
	}
	addOutput(cmd, &output, "list", format.Outputs())
	return cmd
}

func newParse() *cobra.Command {
	f := new(pipeline.Preview)
	cmd := &cobra.Command{
		Use:   "parse LOG…",
		Short: "Show how the first lines of a log are read, field by field",
		Long: `Parse shows the format that was chosen and the first lines of each log, field by field. Of a line that
cannot be read it shows what it lacks, and where.`,
		Example: `  shadow doctor parse access.log
  shadow doctor parse access.log --lines 20 --format '$remote_addr [$time_local] "$request" $status'`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			return f.Run(cmd.Context(), args)
		},
	}
	addFormat(cmd, &f.LineFormat)
	cmd.Flags().UintVarP(&f.Lines, "lines", "n", 5, "how `many` lines to show of each log")
	cmd.Flags().StringSliceVar(&f.Show, "show", nil, "further `fields` to show, by their names in the format")
	addAnonymity(cmd, &f.Anonymity)
	addOutput(cmd, &f.Output, "lines", explain.CalcFormats())
	return cmd
}
