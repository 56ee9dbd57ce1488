package main

import (
	"errors"

	"github.com/spf13/cobra"

	"shadow/report"
	"shadow/store"
)

func newQuery() *cobra.Command {
	var db, output string
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Ask the database of runs; it cannot be changed that way",
		Long: `Query asks the database that shadow replay fills, and prints the answer. The database is opened
read-only, and the question reaches no other file. "SHOW TABLES" lists tables and views.`,
		Example: `  shadow query "SELECT policy, refused, clients_hit FROM latest_policy_totals"
  shadow query "SELECT client, sum(count) FROM would_blocks GROUP BY client ORDER BY 2 DESC LIMIT 10" --output csv
  shadow query "DESCRIBE would_blocks"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("want one question in quotes, such as \"SHOW TABLES\", not %d arguments\nSee `%s --help`.", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := verifyOutput(output); err != nil {
				return err
			}
			rows, err := store.Query(cmd.Context(), db, args[0])
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			return errors.Join(report.WriteTable(w, output, widthOf(w), rows.Columns, rows), rows.Close())
		},
	}
	cmd.Flags().StringVar(&db, "db", defaultDB, "DuckDB `file` of the runs")
	addOutput(cmd, &output, "answer")
	return cmd
}
