package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/report"
	"shadow/store"
)

func newQuery() *cobra.Command {
	var db, output string
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Ask the database of runs; it cannot be changed that way",
		Example: `  shadow query "SELECT policy, refused, clients_hit FROM latest_policy_totals"
  shadow query "SELECT client, sum(count) FROM would_blocks GROUP BY client ORDER BY 2 DESC LIMIT 10" --output csv
  shadow query "DESCRIBE would_blocks"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(report.Formats(), output) {
				return usage("--output %s: want one of %s", output, strings.Join(report.Formats(), ", "))
			}
			rows, err := store.Query(cmd.Context(), db, args[0])
			if err != nil {
				return err
			}
			return errors.Join(report.WriteTable(cmd.OutOrStdout(), output, rows.Columns, rows), rows.Close())
		},
	}
	cmd.Flags().StringVar(&db, "db", "shadow.duckdb", "DuckDB `file` of the runs")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "`format` of the answer: "+strings.Join(report.Formats(), ", "))
	completeWords(cmd, "output", report.Formats()...)
	return cmd
}
