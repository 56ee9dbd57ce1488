package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/escape"
	"shadow/replay"
	"shadow/report"
	"shadow/report/client"
	"shadow/report/plot"
	"shadow/traffic/ingest"
)

// explainFlags are the options of `shadow explain` as they are given.
type explainFlags struct {
	replayFlags
	lines  bool
	noPlot bool
}

// jsonMoments is how many moments JSON tells levels at: each hundredth of the client's time.
const jsonMoments = 101

func newExplainClient() *cobra.Command {
	f := &explainFlags{replayFlags: replayFlags{maxBad: 5, noStore: true}}
	cmd := &cobra.Command{
		Use:   "explain CLIENT LOG… [--limit LIMIT…]",
		Short: "Tell what one client did, which of its requests a limit refuses, and what it would have needed",
		Long: `Explain replays access logs, as replay does, and tells of one client: what it sent and when, how full each
limit was meanwhile, which of its requests were refused, how long each of them would have had to wait,
and what the limit would have had to be.

CLIENT is a client as replay reports it: an address, or whatever --client says. With --client addr/24 an
address stands for its prefix.

"needs burst=19" at a refusal: 19 is the smallest burst with which the limit refuses none of the client's
requests up to and including this one, all else left as it is. For limits without a burst it is the
smallest count. Of several limits each needs its own. A limit that other clients share (--by site, host,
action) judges by what they do, too; it is not told what that one would have needed.`,
		Example: `  shadow explain 203.0.113.201 access.log --limit token:6/30s
  shadow explain 203.0.113.201 access.log --limit token:6/30s --lines --top 5
  shadow explain alice access.log --client user --limit 10/s+window:1000/1h --output json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("which client? Name one as replay reports it, such as 203.0.113.7, and then the logs\nSee `%s --help`.", cmd.CommandPath())
			}
			if _, err := os.Stat(args[0]); len(args) == 1 && err == nil {
				return usage("which client? %s is a log: name a client as replay reports it before it, as in %s 203.0.113.7 %[1]s", args[0], cmd.CommandPath())
			}
			return logArgs(cmd, args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1:]) },
	}
	f.add(cmd)
	return cmd
}

func (f *explainFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.policyFlags.add(cmd)
	addCalcOutput(cmd, &f.output, "account")
	flags.IntVar(&f.top, "top", client.DefaultRefusals, "`refusals` that are listed of each policy")
	flags.BoolVar(&f.lines, "lines", false, "show the log lines of the refusals listed, which are read again from the logs")
	flags.BoolVar(&f.noPlot, "no-plot", false, "draw no plots")
	f.readingFlags.add(cmd)
	f.evidenceFlags.add(cmd)
	f.wanted = true // of one client it is worth its time
	flags.Lookup("evidence").DefValue = "true"
	f.addJudging(cmd)
}

func (f *explainFlags) run(cmd *cobra.Command, client string, logs []string) error {
	if err := verifyCalcOutput(f.output); err != nil {
		return err
	}
	f.sort = report.Sorts()[0]
	r := &replayRun{replayFlags: &f.replayFlags, inputs: inputs{cmd: cmd}, started: time.Now()}
	if err := r.prepare(logs); err != nil {
		return err
	}
	if f.lines {
		if once := ingest.Once(r.found.Names); once != "" {
			return usage("--lines reads the logs twice, and %s can be read only once: name files", onceName(once))
		}
	}
	return f.explain(cmd.Context(), r, r.reading.Clients.Named(client))
}

func onceName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// clientName is who is meant. Reports make hostile names harmless and shorten long ones; such a name can be pasted, too.
func clientName(client string) replay.ClientName {
	const whole = 512 // bytes of the longest name that is kept as it is
	name := replay.ClientName{Name: client}
	if address, err := netip.ParseAddr(client); err == nil && address.Is6() {
		name.Like = func(other string) bool { // there are many ways to write it
			same, err := netip.ParseAddr(other)
			return err == nil && same == address
		}
	}
	if strings.Contains(client, `\`) || len(client) > whole {
		name.Like = func(other string) bool { return escape.Visible(other) == client }
	}
	return name
}

// explain gathers what the client did, and tells of it.
func (f *explainFlags) explain(ctx context.Context, r *replayRun, named string) error {
	gathering := replay.NewClientLog(r.reading.Tables, clientName(named), len(r.policies))
	r.observers = append(r.observers, gathering)
	result, err := r.judge(ctx, nil)
	if err != nil {
		return err
	}
	if _, _, known := gathering.Client(); !known {
		return unknownClient(named, result.Tables.Clients)
	}
	g := client.Gathered{
		ClientLog: gathering, Policies: r.policies, Lateness: r.reading.Lateness, Moments: jsonMoments,
	}
	width := widthOf(r.cmd.OutOrStdout())
	if f.output != "json" {
		g.Moments = plot.Moments(width)
	}
	if f.lines {
		if g.Lines, err = f.find(ctx, r, gathering, result.Stats.Inputs); err != nil {
			return err
		}
	}
	account := client.New(result, g, report.Options{
		Top: f.top, Width: width, Color: r.color(r.cmd.OutOrStdout()),
		Version: versionText(), Command: strings.Join(os.Args, " "), Timezone: r.timezone, Warnings: r.warnings(&result.Stats),
		Evidence: r.judging,
	})
	if err := account.Write(r.cmd.OutOrStdout(), f.output, !f.noPlot); err != nil {
		return err
	}
	return tooManyUnreadable(&result.Stats, r.maxBad)
}

// find reads the logs again for the lines of the refusals that are listed.
func (f *explainFlags) find(ctx context.Context, r *replayRun, g *replay.ClientLog, inputs []ingest.InputStats) (map[int32]client.LogLine, error) {
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].Name
	}
	places := ingest.NewPlaces(&g.Batch, g.Listed(f.top))
	lines := map[int32]client.LogLine{}
	id, _, _ := g.Client()
	err := ingest.Lines(ctx, names, r.reading, id, func(l ingest.Line) bool {
		if row, wanted := places.Next(l); wanted {
			lines[row] = client.LogLine{File: names[l.Input], Line: l.Number, Text: string(l.Text)}
		}
		return places.Missing() > 0
	})
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case err != nil:
		return nil, err
	case places.Missing() > 0:
		return nil, fmt.Errorf("--lines: %d of the lines were not found again: the logs have changed since they were read", places.Missing())
	}
	return lines, nil
}
