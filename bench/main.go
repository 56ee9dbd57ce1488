//go:build linux || darwin

package main

import (
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
)

// A group is one table; -only picks some.
type group struct {
	name string
	run  func(*bench) error
}

var groups = []group{
	{"replay", (*bench).replay},
	{"policies", (*bench).policies},
	{"sweep", (*bench).sweep},
	{"tail", (*bench).tail},
	{"store", (*bench).store},
	{"report", (*bench).report},
	{"gzip", (*bench).gzip},
	{"memory", (*bench).memory},
}

// A bench is what all groups need.
type bench struct {
	ctx    context.Context
	out    io.Writer
	dir    string // for logs and databases
	shadow string // the program under test
	lines  int64  // of the smaller log
	large  int64  // of the larger log
	rounds int
	missed int // targets
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
	flag.StringVar(&b.dir, "dir", defaultDir(), "where logs are kept between runs (SHADOW_BENCH_DIR)")
	flag.StringVar(&b.shadow, "shadow", "", "the program to measure; built from ./cmd/shadow if not given")
	flag.Int64Var(&b.lines, "lines", 1_000_000, "lines of the smaller log")
	flag.Int64Var(&b.large, "large", 10_000_000, "lines of the larger log; 0 to do without")
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

func (b *bench) measure(chosen []group) error {
	fmt.Fprintf(b.out, "%s, %s/%s, %d processors; median of %d rounds; logs in %s\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.rounds, b.dir)
	for _, g := range chosen {
		if err := g.run(b); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	fmt.Fprintf(b.out, "\n%d targets missed\n", b.missed)
	return nil
}

// prepare makes the directory and builds the program. Measuring a stale binary is worse than the second that a build takes.
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

func defaultDir() string {
	if dir := os.Getenv("SHADOW_BENCH_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "shadow-bench")
}

func groupNames() (names []string) {
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

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
