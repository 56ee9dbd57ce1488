//go:build linux || darwin

package main

import "fmt"

// Every limit at once beside three limits: windows of eight lengths and buckets of twenty rates, of all kinds and of the
// rolling window only; and on a log of one client, for which the time per request must be no other.

func (b *bench) sweep() error {
	for _, lines := range b.sizes() {
		if err := b.sweepLog(lines); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) sweepLog(lines int64) error {
	log, err := b.log(lines, 50_000)
	if err != nil {
		return err
	}
	one, err := b.log(min(lines, oneClientADay), 1)
	if err != nil {
		return err
	}
	three := &contender{name: "replay, 3 limits", args: []string{b.shadow, "replay", log, "--quiet", "--no-store", "--limit", "6/30s"}}
	all := b.sweeper("sweep, all kinds", log)
	rolling := b.sweeper("sweep, window and token", log, "--kind", "window", "--kind", "token")
	alone := b.sweeper("sweep, one client", one)
	if err := race(b.ctx, b.rounds, three, all, rolling, alone); err != nil {
		return err
	}
	size, small := logSize{lines, size(log)}, logSize{min(lines, oneClientADay), size(one)}
	t := newTable(b.out, fmt.Sprintf("sweep: %d lines, %d MB", size.lines, size.bytes/1e6),
		"\ttime s\tlines/s\tMB/s\tCPU ns/line\t× replay\ttarget\t")
	t.speed(three, three, size, "")
	t.speed(all, three, size, b.atMost("× replay: ", all.times(three), 4))
	t.speed(rolling, three, size, b.atMost("× replay: ", rolling.times(three), 4))
	t.speed(alone, three, small, b.atMost("× CPU a line: ", alone.cpuPer(small.lines)/all.cpuPer(size.lines), 3))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s: %.0f MB at its highest\n", three.name, three.median(peakOf)/1e6)
	b.sweepPeak(all, sweepBudget(50_000, min(lines, linesADay), 3*sweptWindows+sweptRates))
	b.sweepPeak(rolling, sweepBudget(50_000, min(lines, linesADay), sweptWindows+sweptRates))
	return nil
}

func (b *bench) sweepPeak(c *contender, budget float64) {
	bytes := c.median(peakOf)
	fmt.Fprintf(b.out, "%s: %.0f MB at its highest; %s\n", c.name, bytes/1e6, b.atMost("of budget: ", bytes/budget, 1))
}

func peakOf(l lap) float64 { return float64(l.peak) }

const (
	sweptWindows = 8 // of three kinds: window, fixed, window,charge=all
	sweptRates   = 20
	perInside    = 16        // bytes for a request inside the longest window, which is a day
	linesADay    = 1_000_000 // of a generated log
)

// sweepBudget is what as many policies as there are curves may take in a replay, hits left out, and the longest window.
func sweepBudget(clients, inside, curves int64) float64 {
	return peak{clients: clients, policies: curves}.budget() + float64(inside*perInside)
}

// oneClientADay is how many requests a single client sends in a day.
const oneClientADay = 300_000

func (b *bench) sweeper(name, log string, flags ...string) *contender {
	return &contender{name: name, args: append([]string{b.shadow, "sweep", log, "--quiet", "--no-store"}, flags...)}
}
