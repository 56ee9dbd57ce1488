//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// How fast a tail reads when it has fallen behind: the generator's log through a pipe, judged by one limit that refuses a
// tenth, each would-block written, with checkpoints and numbers for Prometheus. It runs on one core, beside wc -l.

// tailedLines is what a tail has to keep up with on one core, in million lines a second.
const tailedLines = 0.5

func (b *bench) tail() error {
	for _, lines := range b.sizes() {
		if err := b.tailLog(lines); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) tailLog(lines int64) error {
	log, err := b.log(lines, 50_000)
	if err != nil {
		return err
	}
	wc := &contender{name: "wc -l", args: []string{"wc", "-l", log}}
	bare := b.tailer("tail, 1 core", log)
	full := b.tailer("tail, checkpoints and metrics, 1 core", log,
		"--state", filepath.Join(b.dir, "tail.state"), "--from", "start", "--listen", "127.0.0.1:0")
	if err := race(b.ctx, b.rounds, wc, bare, full); err != nil {
		return err
	}
	size := logSize{lines, size(log)}
	t := newTable(b.out, fmt.Sprintf("tail: %d lines, %d MB, token:6/30s", size.lines, size.bytes/1e6),
		"\ttime s\tlines/s\tMB/s\tCPU ns/line\t× wc -l\ttarget\t")
	t.speed(wc, wc, size, "")
	for _, c := range []*contender{bare, full} {
		t.speed(c, wc, size, b.atLeast("million lines/s: ", float64(lines)/c.seconds()/1e6, tailedLines))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s: %.0f MB at its highest\n", full.name, full.median(peakOf)/1e6)
	return nil
}

// tailer follows what the log has to say, and ends with it.
func (b *bench) tailer(name, log string, flags ...string) *contender {
	blocks := filepath.Join(b.dir, "would-blocks.json")
	args := append([]string{
		"sh", "-c", `log=$1; shift; exec "$@" < "$log"`, "sh", log,
		b.shadow, "tail", "-", "--quiet", "--limit", "token:6/30s", "--would-blocks", blocks,
	}, flags...)
	return &contender{name: name, args: args, cores: 1, after: func(*lap) error { return os.Remove(blocks) }}
}
