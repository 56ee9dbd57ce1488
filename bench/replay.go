//go:build linux || darwin

package main

import "fmt"

// The main job beside wc -l, which does nothing but find the line feeds.

// sixteen is a list of limits that come to 16 policies: five bare ones are three each.
var sixteen = []string{"--limit", "6,10,20,40,60/30s", "--limit", "token:100/m"}

func (b *bench) replay() error {
	for _, lines := range b.sizes() {
		if err := b.replayLog(lines); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) replayLog(lines int64) error {
	log, err := b.log(lines, 50_000)
	if err != nil {
		return err
	}
	three := []string{b.shadow, "replay", log, "--quiet", "--no-store", "--limit", "6/30s"}
	wc := &contender{name: "wc -l", args: []string{"wc", "-l", log}}
	two := &contender{name: "3 policies, 2 cores", args: three, cores: 2}
	one := &contender{name: "3 policies, 1 core", args: three, cores: 1}
	many := &contender{name: "16 policies, 2 cores", args: append([]string{b.shadow, "replay", log, "--quiet", "--no-store"}, sixteen...), cores: 2}
	if err := race(b.ctx, b.rounds, wc, two, one, many); err != nil {
		return err
	}
	size := logSize{lines, size(log)}
	t := newTable(b.out, fmt.Sprintf("replay: %d lines, %d MB", size.lines, size.bytes/1e6),
		"\ttime s\tlines/s\tMB/s\tCPU ns/line\t× wc -l\ttarget\t")
	t.speed(wc, wc, size, "")
	t.speed(two, wc, size, b.atMost("× wc -l: ", two.times(wc), 6))
	t.speed(one, wc, size, b.atMost("× wc -l: ", one.times(wc), 11))
	t.speed(many, wc, size, b.atMost("× 3 policies: ", many.times(two), 2))
	if err := t.Flush(); err != nil {
		return err
	}
	return b.stages(three)
}

// stages prints the share of each stage, as the program itself tells it.
func (b *bench) stages(args []string) error {
	for _, cores := range []int{2, 1} {
		c := &contender{args: append(args, "--timing"), cores: cores}
		if err := race(b.ctx, 1, c); err != nil {
			return err
		}
		fmt.Fprintf(b.out, "\nstages with GOMAXPROCS=%d\n%s", cores, c.laps[0].stderr)
	}
	return nil
}
