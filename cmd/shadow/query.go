package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"shadow/pipeline"
	"shadow/pipeline/stored"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/store"
)

// minQueryMemory is with what DuckDB can work.
const minQueryMemory = 64 << 20

func newQuery() *cobra.Command {
	var output string
	var from stored.Database
	memory := int64(store.DefaultQueryMemory)
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Ask the database of runs; it cannot be changed that way",
		Long: `Query asks the database that shadow replay fills, and prints the answer. It takes a single
statement that only reads: SELECT, WITH, FROM, VALUES, PIVOT, DESCRIBE, SUMMARIZE, SHOW, and EXPLAIN of
these. The database is opened read-only, and the question reaches no other file.
"SHOW TABLES" lists tables and views.`,
		Example: `  shadow query "SELECT policy, refused, clients_hit FROM latest_policy_totals"
  shadow query "SELECT client, sum(count) FROM would_blocks GROUP BY client ORDER BY 2 DESC LIMIT 10" --output csv
  shadow query "DESCRIBE would_blocks"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return pipeline.Usage("want one question in quotes, such as \"SHOW TABLES\", not %d arguments\nSee "+
					"`%s --help`.", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := store.Query(cmd.Context(), from.Path, args[0],
				store.QueryOptions{Memory: memory, Wait: from.Waiting(cmd.ErrOrStderr())})
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			return errors.Join(table.WriteRows(w, output, widthOf(w), rows.Columns, rows), rows.Close())
		},
	}
	addDatabase(cmd.Flags(), &from)
	domain[int64]{what: aSize.what, text: aSize.text, parse: func(text string) (int64, error) {
		n, err := aSize.parse(text)
		if err == nil && n < minQueryMemory {
			err = fmt.Errorf("want at least %s", aSize.text(minQueryMemory))
		}
		return n, err
	}}.add(cmd, &memory, "memory", "end a question that takes more memory than this")
	addOutput(cmd, &output, "answer", format.Outputs())
	return cmd
}
