package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/servers/imports"
)

func newImport() *cobra.Command {
	f := new(pipeline.Import)
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Write the limits of a server's own configuration as a shadow.yaml",
		Long: `Import reads configurations of servers, and writes a shadow.yaml with the limits that they have: each with the file
and line where it stands, its key, and the requests that it concerns. - reads standard input.

What is not understood, or judged in another way than the server does, is said on standard error and in comments, with file
and line; the exit code is then 3. --limits-from of replay, diff, explain and tail judges by a configuration without that
detour.`,
		Example: `  shadow import /etc/nginx/nginx.conf > shadow.yaml
  shadow replay access.log --limits-from /etc/nginx/nginx.conf
  shadow diff access.log --limits-from /etc/nginx/nginx.conf --policy nginx --limit token:10/s,burst=20`,
		Args: someArgs("which configuration? Name its file, or - for standard input\nSee `%s --help`."),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller = callerOf(cmd)
			return f.Run(args)
		},
	}
	option.OneOf(imports.Formats()...).Add(cmd, &f.From, "from", "what the files are, where that does not show (`format`): "+
		strings.Join(imports.Formats(), ", "))
	addOutput(cmd, &f.Output, "limits", []string{"yaml", "json"})
	return cmd
}

// addLimitsFrom adds the flag that takes policies from servers.
func addLimitsFrom(cmd *cobra.Command, f *pipeline.Source) {
	cmd.Flags().StringArrayVar(&f.LimitsFrom, "limits-from", nil, "judge by the limits of this configuration of a server "+
		"rather than by the policies of shadow.yaml (`file`, repeatable); see shadow import")
}
