package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/calc"
	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
	"shadow/report/explain"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

func newLimits() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "List the algorithms and known names of limits; explain a limit",
		Long: `Limits lists what a limit may name before its colon: [ALGORITHM:]COUNT/PERIOD[,OPTION…]. A limit without
algorithm and options stands for those marked as side by side. shadow limits explain says what a limit means.

Behind the algorithms come the names of libraries and servers, such as express-rate-limit:100/15m, each with the limit
that its example is read as.

The option cooldown goes with every algorithm: with cooldown=30s a client that is refused stays out for 30 s, with
cooldown=30s/extend until it has sent nothing for 30 s. So does clock, for limiters that read whole seconds (clock=1s)
or milliseconds, and what says that several hosts count: replicas=3, with a cache, or drift and store.`,
		Example: `  shadow limits
  shadow limits explain token:6/30s,burst=10`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			algorithms, err := listedLimits()
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if width := widthOf(w); output == "table" && 0 < width && width < algorithmTable {
				return listAlgorithms(w, algorithms)
			}
			var rows table.Slice
			for _, a := range algorithms {
				bare := ""
				if a.Bare {
					bare = "yes"
				}
				rows = append(rows, []any{a.Name, a.Options, a.Summary, a.Example, bare})
			}
			columns := []string{"algorithm", "options", "meaning", "example", "side by side"}
			return table.WriteRows(w, format.LimitsSchema, output, widthOf(w), columns, &rows)
		},
	}
	cmd.SuggestionsMinimumDistance = 2 // letters
	addOutput(cmd, &output, "list", explain.CalcFormats())
	cmd.AddCommand(newExplain(), newCalc())
	return cmd
}

// anyAlgorithm has rows for the options that go with every algorithm, in the order of limit.Common.
var anyAlgorithm = func() (rows []policy.Algorithm) {
	options := strings.Split(limit.Common, ", ")
	for i, of := range []struct{ summary, example string }{
		{"keeps out for a while who was refused", "token:6/30s,cooldown=5m"},
		{"reads a clock of whole milliseconds, or seconds", "fixed:6/30s,clock=1ms"},
		{"is counted on several hosts", "token:6/30s,replicas=3"},
		{"these judge by copies of one count", "token:6/30s,cache=100ms,replicas=3"},
		{"hosts have clocks that differ", "token:6/30s,drift=50ms"},
		{"the store of its count is away", "token:6/30s,store=down:fixed"},
	} {
		rows = append(rows, policy.Algorithm{Name: "(any)", Options: options[i], Summary: of.summary, Example: of.example})
	}
	return rows
}()

// listedLimits returns the algorithms, the options that go with all of them, and the names of libraries and servers,
// each as one that says what its example means.
func listedLimits() ([]policy.Algorithm, error) {
	all := append(slices.Clone(policy.Algorithms), anyAlgorithm...)
	for _, p := range policy.Presets {
		policies, err := policy.ParseLimits([]string{p.Example}, request.ByClient)
		if err != nil {
			return nil, err
		}
		means := policies[0].Text()
		if p.System != p.Name {
			means = p.System + ": " + means
		}
		all = append(all, policy.Algorithm{Name: p.Name, Options: p.Options, Summary: means, Example: p.Example})
	}
	return all, nil
}

// algorithmTable is the number of columns that the table of algorithms takes.
const algorithmTable = 150

// listAlgorithms writes the algorithms for terminals that have no room for the table.
func listAlgorithms(w io.Writer, algorithms []policy.Algorithm) error {
	var b strings.Builder
	for _, a := range algorithms {
		side := ""
		if a.Bare {
			side = " (side by side)"
		}
		if len(a.Name) > 12 {
			fmt.Fprintf(&b, "%s\n%13s%s\n%13se.g. %s\n", a.Name, "", a.Summary, "", a.Example)
		} else {
			fmt.Fprintf(&b, "%-13s%s%s\n%13se.g. %s\n", a.Name, a.Summary, side, "", a.Example)
		}
		if a.Options != "" {
			fmt.Fprintf(&b, "%13s%s\n", "", a.Options)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newExplain() *cobra.Command {
	var output string
	var noPlot bool
	cmd := &cobra.Command{
		Use:   "explain LIMIT…",
		Short: "Say what a limit admits, try it out, and say what to set on each server",
		Long: `Explain says in plain words what a limit admits, sends three made-up clients to it (a steady one, one that comes
in bursts, one that comes at random moments), and says which setting of each server comes closest, and how far off
that is. The plots show how many requests count against the client.`,
		Example: `  shadow limits explain token:6/30s,burst=10
  shadow limits explain 6/30s --no-plot              token, leaky and window one after the other
  shadow limits explain window:100/1h --output json`,
		ValidArgsFunction: option.CompleteLimits,
		Args:              someArgs("which limit? Say, for instance, %s token:6/30s,burst=10"),
		RunE: func(cmd *cobra.Command, args []string) error {
			policies, err := policy.ParseLimits(args, request.ByClient)
			if err != nil {
				return pipeline.Usage("%w", err)
			}
			w := cmd.OutOrStdout()
			view := explain.View{Width: widthOf(w), Color: hasColor(w), Plots: !noPlot}
			explained := make([][]calc.Explanation, len(policies))
			for i, p := range policies {
				explained[i] = calc.Explain(p.Parts, plot.Moments(view.Width))
				for j := range explained[i] {
					if len(p.Parts) > 1 {
						explained[i][j].Combine = p.Combine.String()
					}
				}
			}
			return explain.Write(w, output, explained, view)
		},
	}
	addOutput(cmd, &output, "explanation", explain.CalcFormats())
	cmd.Flags().BoolVar(&noPlot, "no-plot", false, "draw no plots of the level over time")
	return cmd
}
