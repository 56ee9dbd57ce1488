package commands

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/stored"
	"shadow/internal/store"
	"shadow/report/format"
	"shadow/report/table"
)

// minQueryMemory is with what DuckDB can work.
const minQueryMemory = 64 << 20

func newQuery() *cobra.Command {
	var output string
	var tables bool
	var from stored.Database
	memory := int64(store.DefaultQueryMemory)
	cmd := &cobra.Command{
		Use:   "query SQL|-",
		Short: "Ask the database of runs; it cannot be changed that way",
		Long: `Query asks the database that shadow replay fills, and prints the answer. It takes a single
statement that only reads: SELECT, WITH, FROM, VALUES, PIVOT, DESCRIBE, SUMMARIZE, SHOW, and EXPLAIN of
these. The database is opened read-only, and the question reaches no other file.
--tables lists the tables and views with their columns, and what they mean.`,
		Example: `  shadow query "SELECT policy, refused, clients_hit FROM latest_policy_totals"
  shadow query "SELECT client, sum(count) FROM would_blocks GROUP BY client ORDER BY 2 DESC LIMIT 10" --output csv
  shadow query --tables
  shadow query - --output csv < worst-clients.sql
  shadow query "FROM client_totals" --output parquet > clients.parquet`,
		Args: func(cmd *cobra.Command, args []string) error {
			if tables && len(args) > 0 {
				return pipeline.Usage("--tables asks a question of its own: leave out %q", args[0])
			}
			if !tables && len(args) != 1 {
				return pipeline.Usage("want one question in quotes, such as \"SHOW TABLES\", not %d arguments\nSee "+
					"`%s --help`.", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			question := store.TablesQuestion
			switch {
			case output == parquet && isTerminal(cmd.OutOrStdout()):
				return pipeline.Usage("a terminal shows no Parquet: write it to a file, with > answer.parquet")
			case !tables:
				var err error
				if question, err = questionOf(args[0], cmd.InOrStdin()); err != nil {
					return err
				}
			}
			w, options := cmd.OutOrStdout(), store.QueryOptions{Memory: memory}
			if output == parquet {
				return store.QueryParquet(cmd.Context(), w, from.Path, question, options)
			}
			rows, err := store.Query(cmd.Context(), from.Path, question, options)
			if err != nil {
				return err
			}
			var answer table.Rows = rows
			if tables {
				answer = store.Explained{Rows: rows}
			}
			return errors.Join(table.WriteRows(w, format.QuerySchema, output, widthOf(w), rows.Columns, answer), rows.Close())
		},
	}
	cmd.Flags().BoolVar(&tables, "tables", false, "list tables, views and their columns")
	addDatabase(cmd.Flags(), &from)
	cmd.ValidArgsFunction = option.CompleteTables(&from)
	option.Domain[int64]{What: option.Size.What, Text: option.Size.Text, Parse: func(text string) (int64, error) {
		n, err := option.Size.Parse(text)
		if err == nil && n < minQueryMemory {
			err = fmt.Errorf("want at least %s", option.Size.Text(minQueryMemory))
		}
		return n, err
	}}.Add(cmd, &memory, "memory", "end a question that takes more memory than this")
	addOutput(cmd, &output, "answer", append(format.Outputs(), parquet))
	return cmd
}

// parquet is an output of bytes that no terminal shows.
const parquet = "parquet"

// longestQuestion is the most bytes that a question from standard input may have.
const longestQuestion = 1 << 20

// questionOf returns the question that an argument is, or that standard input has.
func questionOf(arg string, stdin io.Reader) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	text, err := io.ReadAll(io.LimitReader(stdin, longestQuestion+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("standard input: %w", err)
	case len(text) > longestQuestion:
		return "", pipeline.Usage("the question on standard input is longer than 1 MiB")
	}
	return string(text), nil
}
