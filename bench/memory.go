//go:build linux || darwin

package main

import (
	"encoding/json"
	"fmt"
)

// Memory: flat in the number of lines, and within a budget that grows with what has to be remembered.

// The budget, in bytes.
const (
	fixedBudget  = 300e6
	perClient    = 150 // a distinct client
	perState     = 32  // a key and policy
	perHit       = 48  // a client that a policy refuses
	manyClients  = 5_000_000
	linesForMany = 6_000_000 // each of them comes at least once
)

func (b *bench) memory() error {
	small, err := b.peak(b.lines, 50_000)
	if err != nil {
		return err
	}
	peaks := []peak{small}
	if b.large > 0 {
		large, err := b.peak(b.large, 50_000)
		if err != nil {
			return err
		}
		many, err := b.peak(linesForMany, manyClients)
		if err != nil {
			return err
		}
		peaks = append(peaks, large, many)
	}
	t := newTable(b.out, "memory: three policies, 2 cores, at its highest", "lines\tclients\tclients hit\tMB\tbudget MB\tof budget\ttarget\t")
	for _, p := range peaks {
		budget := p.budget()
		fmt.Fprintf(t, "%d\t%d\t%d\t%.0f\t%.0f\t%.2f\t%s\t\n", p.lines, p.clients, p.hits, p.bytes/1e6, budget/1e6, p.bytes/budget,
			b.atMost("of budget: ", p.bytes/budget, 1))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if b.large > 0 {
		fmt.Fprintf(b.out, "%d lines take %.2f times the memory of %d lines\n", b.large, peaks[1].bytes/peaks[0].bytes, b.lines)
		more := float64(peaks[2].clients - peaks[1].clients)
		fmt.Fprintf(b.out, "%.0f bytes for each further client, everything included\n", (peaks[2].bytes-peaks[1].bytes)/more)
	}
	return nil
}

// A peak is the memory that one replay took.
type peak struct {
	lines, clients int64
	policies, hits int64
	bytes          float64
}

// budget leaves out the requests that a rolling window remembers, which makes it a little tighter than the target.
func (p peak) budget() float64 {
	return fixedBudget + float64(p.clients*perClient+p.clients*p.policies*perState+p.hits*perHit)
}

func (b *bench) peak(lines, clients int64) (peak, error) {
	log, err := b.log(lines, clients)
	if err != nil {
		return peak{}, err
	}
	c := &contender{args: []string{b.shadow, "replay", log, "--quiet", "--no-store", "--limit", "6/30s", "--output", "json"}, cores: 2}
	if err := race(b.ctx, 1, c); err != nil {
		return peak{}, err
	}
	var report struct {
		Input    struct{ Clients int64 }
		Policies []struct {
			Hit int64 `json:"clients_hit"`
		}
	}
	if err := json.Unmarshal(c.laps[0].stdout, &report); err != nil {
		return peak{}, fmt.Errorf("shadow replay --output json: %w", err)
	}
	p := peak{lines: lines, clients: report.Input.Clients, policies: int64(len(report.Policies)), bytes: float64(c.laps[0].peak)}
	for _, policy := range report.Policies {
		p.hits += policy.Hit
	}
	return p, nil
}
