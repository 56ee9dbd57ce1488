package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
	"shadow/report/format"
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
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			return f.Run(cmd.Context(), args)
		},
	}
	cmd.AddCommand(newParse(), newFormats())
	flags := cmd.Flags()
	flags.SortFlags = false
	addOutput(cmd, &f.Output, "report", format.PageOutputs())
	addReading(cmd, &f.Reading)
	addConfig(cmd, &f.Source, "actions")
	addLogs(cmd, &f.Logs, "print nothing but the report and errors", "report on standard error what is chosen")
	return cmd
}
