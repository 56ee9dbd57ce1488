//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A contender is a command that runs once a round.
type contender struct {
	name  string
	args  []string
	cores int              // GOMAXPROCS; 0 leaves it alone
	after func(*lap) error // what to look at after each run, if anything
	clean func() error     // what to do before each run, if anything
	laps  []lap
}

// A lap is one run of a contender.
type lap struct {
	wall   time.Duration
	cpu    time.Duration // user and system
	peak   int64         // resident memory at its highest, in bytes
	rows   int64         // event rows stored, where somebody counts them
	stdout []byte
	stderr []byte
}

// race runs the contenders in turns.
func race(ctx context.Context, rounds int, contenders ...*contender) error {
	for range rounds {
		for _, c := range contenders {
			if err := c.run(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *contender) run(ctx context.Context) error {
	if c.clean != nil {
		if err := c.clean(); err != nil {
			return err
		}
	}
	l, err := c.lap(ctx)
	if err != nil {
		return err
	}
	if c.after != nil {
		if err := c.after(&l); err != nil {
			return err
		}
	}
	c.laps = append(c.laps, l)
	return nil
}

// patience is how long a lap may take. One that hangs is asked where, which a Go program answers with its goroutines.
const patience = 5 * time.Minute

func (c *contender) lap(ctx context.Context) (lap, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if c.cores > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", c.cores))
	}
	begin := time.Now()
	err := cmd.Run()
	l := lap{wall: time.Since(begin), stdout: stdout.Bytes(), stderr: stderr.Bytes()}
	if err != nil {
		return l, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, l.stderr)
	}
	l.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		l.peak = peakBytes(usage)
	}
	return l, nil
}

// peakBytes undoes a difference: getrusage tells kilobytes, on macOS bytes.
func peakBytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss * 1024
}

// median of what is measured over the rounds.
func (c *contender) median(measure func(lap) float64) float64 {
	values := make([]float64, len(c.laps))
	for i, l := range c.laps {
		values[i] = measure(l)
	}
	return medianOf(values)
}

// seconds is the median time on the clock.
func (c *contender) seconds() float64 {
	return c.median(func(l lap) float64 { return l.wall.Seconds() })
}

// times is how much longer c takes than base: the median over the rounds of the ratio within the round.
func (c *contender) times(base *contender) float64 {
	ratios := make([]float64, len(c.laps))
	for i := range c.laps {
		ratios[i] = c.laps[i].wall.Seconds() / base.laps[i].wall.Seconds()
	}
	return medianOf(ratios)
}

func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
