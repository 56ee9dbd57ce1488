//go:build unix

// Command mutate makes small random changes to the program, one at a time, and reports whether the tests notice.
//
//	go run ./scripts/mutate -n 200 -seed 1 ./limit ./bucket ./leaky ./window ./conn ./replay ./sweep ./traffic ./store ./tail
//
// A mutant is one change: a comparison, an operator or a constant that is off by one, a condition that is turned round,
// a statement that is left out. The tests of its package run first, then those of the packages that import it, the
// smallest first; a mutant is killed when one of them fails. A mutant that survives is either a test that is missing or
// a change without a meaning, such as another size of a buffer: a person decides. The files of the project are not
// touched: the compiler reads the changed one from elsewhere (go help build, -overlay).
//
// It prints a line per mutant, with the test that killed it, and the survivors at the end. The seed gives every mutant
// its place in the draw by what its line says, so the same seed draws the same mutants, and a change of the sources
// moves only the mutants of the changed lines. The same draw can therefore be tried in pieces, with -only FOLDER;
// -at FILE:LINE:COLUMN tries the mutants of one place again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.n, "n", 200, "mutants to draw")
	flag.Uint64Var(&o.seed, "seed", 1, "which ones")
	flag.StringVar(&o.only, "only", "", "try only those of the draw that are in this `folder`")
	flag.StringVar(&o.at, "at", "", "try every mutant at `FILE:LINE:COLUMN` or FILE:LINE instead")
	flag.BoolVar(&o.list, "list", false, "print the mutants, try none")
	flag.DurationVar(&o.timeout, "timeout", 2*time.Minute, "tests that take the processor for longer have noticed")
	flag.DurationVar(&o.bound, "bound", 10*time.Minute, "start no further tests of a mutant after this time")
	flag.BoolVar(&o.short, "short", false, "run the tests with -short")
	flag.BoolVar(&o.own, "own", false, "run the tests of the mutant's package alone")
	flag.Parse()
	if err := run(flag.Args(), o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type options struct {
	n              int
	seed           uint64
	only, at       string
	list           bool
	short, own     bool
	timeout, bound time.Duration
}

func run(patterns []string, o options) error {
	packages, err := load(patterns)
	if err != nil {
		return err
	}
	var mutants []mutant
	for i := range packages {
		found, err := packages[i].mutants()
		if err != nil {
			return err
		}
		mutants = append(mutants, found...)
		if o.own {
			packages[i].importers = nil
		}
	}
	fmt.Printf("%d mutants in %d packages\n", len(mutants), len(packages))
	if o.at != "" {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !strings.HasPrefix(m.place()+":", o.at+":") })
	} else {
		mutants = draw(mutants, o.seed)[:min(o.n, len(mutants))]
	}
	if o.only != "" {
		folder := path.Clean(o.only) + "/"
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !strings.HasPrefix(m.place(), folder) })
	}
	if o.list {
		for _, m := range mutants {
			fmt.Println(m)
		}
		return nil
	}
	return tryAll(mutants, o)
}

func tryAll(mutants []mutant, o options) error {
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what stays is in the folder for temporary files
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tester := tester{folder: work, timeout: o.timeout, bound: o.bound, short: o.short}
	var survivors []mutant
	counts := map[outcome]int{}
	sound := map[*pkg]bool{}
	leftOut := 0
	for i, m := range mutants {
		if _, known := sound[m.pkg]; !known { // tests that fail or take too long anyway kill every mutant
			if sound[m.pkg], err = tester.check(ctx, m.pkg); err != nil {
				return err
			}
		}
		if !sound[m.pkg] {
			leftOut++
			continue
		}
		begin := time.Now()
		outcome, by, err := tester.try(ctx, m)
		if err != nil {
			return err
		}
		counts[outcome]++
		if outcome == survived {
			survivors = append(survivors, m)
		}
		fmt.Printf("%4d  %-8s %5.0f s  %s  %s\n", i+1, outcome, time.Since(begin).Seconds(), m, by)
	}
	// What does not compile is a mistake that people cannot make, so it does not count.
	tried := len(mutants) - leftOut - counts[invalid]
	if leftOut > 0 {
		fmt.Printf("\n%d mutants are left out: the tests of their packages are too slow\n", leftOut)
	}
	if tried == 0 {
		return nil
	}
	noticed := tried - len(survivors)
	fmt.Printf("\n%d of %d killed (%.1f %%), %d of them by a timeout; %d do not compile\n",
		noticed, tried, 100*float64(noticed)/float64(tried), counts[slow], counts[invalid])
	for _, m := range survivors {
		fmt.Println("survived", m)
	}
	return nil
}
