package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/parse/detect"
	"shadow/report/explain"
	"shadow/report/format"
	"shadow/report/table"
)

func newDoctor() *cobra.Command {
	f := new(pipeline.Doctor)
	cmd := &cobra.Command{
		Use:   "doctor LOG…",
		Short: "Say what is odd about a log before a limit is judged on it, and which flags help",
		Long: `Doctor reads a log and lists what would mislead: copies of a file, clients that stand for many people, a server that
refuses already, a clock that steps back. For each it says what it found, what that does to an answer, and which
flags to add. Every other command finds the same, and shows the gravest.`,
		Example: `  shadow doctor access.log
  shadow doctor /var/log/nginx
  shadow doctor access.log --output html > log.html
  shadow doctor access.log --output json | jq '.findings[] | select(.severity == "stop")'`,
	}
	cmd.AddCommand(newParse(), newFormats())
	onLogs(cmd, &f.Caller, f.Run)
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addReading(cmd, &f.Reading)
	addConfig(cmd, &f.Source, "actions")
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "report on standard error what is chosen")
	return cmd
}

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
			known = mapped.Add(known, detect.Catalogue(), func(k detect.Known) []any {
				return []any{k.Name, k.Summary, k.Text}
			})
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
