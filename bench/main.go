//go:build linux || darwin

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"shadow/internal/mapped"
)

// A bench is what all groups need.
type bench struct {
	ctx    context.Context
	out    io.Writer
	dir    string   // for logs and databases
	shadow string   // the program under test
	lines  [2]int64 // of the log of each size; 0 does without
	rounds int
	missed int // targets
	failed int // of these, those of gates
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	b := &bench{ctx: ctx, out: os.Stdout}
	dir := cmp.Or(os.Getenv("SHADOW_BENCH_DIR"), filepath.Join(os.TempDir(), "shadow-bench"))
	flag.StringVar(&b.dir, "dir", dir, "where logs are kept between runs (SHADOW_BENCH_DIR)")
	flag.StringVar(&b.shadow, "shadow", "", "the program to measure; built from ./cmd/shadow if not given")
	flag.Int64Var(&b.lines[smaller], "lines", 1_000_000, "lines of the smaller log")
	flag.Int64Var(&b.lines[larger], "large", 10_000_000, "lines of the larger log; 0 to do without")
	flag.IntVar(&b.rounds, "rounds", 5, "how often each contender runs")
	only := flag.String("only", "", "some of "+strings.Join(groupNames(), ",")+"; all if empty")
	decompress := flag.String("decompress", "", "only read this gzip `file` with the library that shadow uses")
	flag.Parse()
	if *decompress != "" {
		return gunzip(*decompress)
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if err := b.prepare(); err != nil {
		return err
	}
	return b.measure(chosen)
}

// prepare makes the directory and builds the program: a stale binary must not be measured.
func (b *bench) prepare() error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if b.shadow != "" {
		return nil
	}
	b.shadow = filepath.Join(b.dir, "shadow")
	build := exec.CommandContext(b.ctx, "go", "build", "-o", b.shadow, "./cmd/shadow")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/shadow (is this the project's directory?): %w\n%s", err, out)
	}
	return nil
}

func (b *bench) measure(chosen []group) error {
	fmt.Fprintf(b.out, "%s, %s/%s, %d processors; median of %d rounds; logs in %s\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.rounds, b.dir)
	for _, g := range chosen {
		for _, s := range g.on {
			if b.lines[s] == 0 {
				continue
			}
			before := b.missed
			if err := b.table(g, b.lines[s]); err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
			if g.gate {
				b.failed += b.missed - before
			}
		}
	}
	fmt.Fprintf(b.out, "\n%d targets missed\n", b.missed)
	if b.failed > 0 {
		return fmt.Errorf("%d gates missed", b.failed)
	}
	return nil
}

// table runs a group on a log of so many lines and prints what it measured.
func (b *bench) table(g group, lines int64) error {
	defer b.clean()
	for _, command := range g.setup {
		c, err := b.contender(row{command: command}, lines)
		if err != nil {
			return err
		}
		if err := c.run(b.ctx); err != nil {
			return err
		}
	}
	contenders, byName := make([]*contender, len(g.rows)), map[string]*contender{}
	for i, r := range g.rows {
		c, err := b.contender(r, lines)
		if err != nil {
			return err
		}
		contenders[i], byName[r.name] = c, c
	}
	for range b.rounds {
		for _, c := range contenders {
			if err := c.run(b.ctx); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(b.out, "\n%s, %d lines: %s\n", g.name, lines, g.title)
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\ttime s\tM lines/s\tCPU ns/line\tCPU ms\tMB\t× %s\toutput kB\t\n", g.rows[0].name)
	for _, c := range contenders {
		fmt.Fprintf(w, "%s\t%.3f\t%.2f\t%.1f\t%.1f\t%.0f\t%.2f\t%d\t\n", c.name, c.seconds(), float64(c.lines)/c.seconds()/1e6,
			c.cpuPerLine(), c.median(cpuMillis), c.median(megabytesOf), c.times(contenders[0]), c.laps[0].stdout/1000)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range contenders {
		for _, t := range c.targets {
			fmt.Fprintf(b.out, "%s: %s\n", c.name, b.judge(t, c, byName))
		}
		if c.shown {
			fmt.Fprintf(b.out, "%s", c.laps[len(c.laps)-1].stderr)
		}
	}
	return nil
}

func groupNames() []string { return mapped.Of(groups, func(g group) string { return g.name }) }

func choose(only string) ([]group, error) {
	if only == "" {
		return groups, nil
	}
	var chosen []group
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(groupNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("-only %s: known are %s", name, strings.Join(groupNames(), ", "))
		}
		chosen = append(chosen, groups[i])
	}
	return chosen, nil
}
