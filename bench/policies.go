//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// What policies of several limits cost beside the same limits each for itself, on one core: joined in one policy, each for
// clients of some classes, and a client's limit inside the site's, which takes the slower path.

const policiesFile = `policies:
  - name: combined
    limits: [token:6/30s, window:60/1h]
  - name: classes
    limits:
      - {limit: token:6/30s, match: {class: [browser, unknown]}}
      - {limit: window:60/1h, match: {class: [crawler, tool, monitor]}}
  - name: nested
    limits: [token:6/30s, {limit: token:100/1s, by: site}]
`

func (b *bench) policies() error {
	log, err := b.log(b.lines, 50_000)
	if err != nil {
		return err
	}
	config := filepath.Join(b.dir, "policies.yaml")
	if err := os.WriteFile(config, []byte(policiesFile), 0o644); err != nil {
		return err
	}
	replay := func(name string, flags ...string) *contender {
		args := []string{b.shadow, "replay", log, "--quiet", "--no-store", "--config", config}
		return &contender{name: name, args: append(args, flags...), cores: 1}
	}
	one := replay("one limit", "--policy", "none", "--limit", "token:6/30s")
	alone := replay("two limits, each alone", "--policy", "none", "--limit", "token:6/30s", "--limit", "window:60/1h")
	combined := replay("combined", "--policy", "combined")
	classes := replay("by class", "--policy", "classes")
	nested := replay("client inside site", "--policy", "nested")
	if err := race(b.ctx, b.rounds, one, alone, combined, classes, nested); err != nil {
		return err
	}
	size := logSize{b.lines, size(log)}
	t := newTable(b.out, fmt.Sprintf("policies: %d lines, 1 core", size.lines), "\ttime s\tlines/s\tMB/s\tCPU ns/line\t× each alone\ttarget\t")
	t.speed(one, alone, size, "")
	t.speed(alone, alone, size, "")
	t.speed(combined, alone, size, b.atMost("× each alone: ", combined.times(alone), 1.2))
	t.speed(classes, alone, size, b.atMost("× each alone: ", classes.times(alone), 1.2))
	more := nested.cpuPer(size.lines) - one.cpuPer(size.lines)
	t.speed(nested, alone, size, b.atLeast("M requests/s beyond one limit: ", 1e3/max(more, 1e-3), 5))
	return t.Flush()
}

// cpuPer is the median CPU time a line, in nanoseconds.
func (c *contender) cpuPer(lines int64) float64 {
	return c.median(func(l lap) float64 { return float64(l.cpu) / float64(lines) })
}
