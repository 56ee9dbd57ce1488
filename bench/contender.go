//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
	row
	args  []string
	input string // what it reads from standard input, if anything
	waste []string
	lines int64 // of the log that it reads
	laps  []lap
}

// A lap is one run of a contender.
type lap struct {
	wall   time.Duration
	cpu    time.Duration // user and system
	peak   int64         // resident memory at its highest, in bytes
	stdout int           // bytes
	stderr []byte
}

// patience is the longest time of a lap. A Go program that is stopped by SIGQUIT prints where its goroutines stand.
const patience = 5 * time.Minute

func (c *contender) run(ctx context.Context) error {
	for _, name := range c.waste {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = io.Writer(&stdout), &stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if c.cores > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", c.cores))
	}
	if c.input != "" {
		file, err := os.Open(c.input)
		if err != nil {
			return err
		}
		defer file.Close()
		cmd.Stdin = file
	}
	begin := time.Now()
	err := cmd.Run()
	l := lap{wall: time.Since(begin), stdout: stdout.Len(), stderr: stderr.Bytes()}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, l.stderr)
	}
	l.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		l.peak = peakBytes(usage)
	}
	c.laps = append(c.laps, l)
	return nil
}

// peakBytes evens out a difference: getrusage returns kilobytes, on macOS bytes.
func peakBytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss * 1024
}

// median returns the median over the rounds.
func (c *contender) median(measure func(lap) float64) float64 {
	values := make([]float64, len(c.laps))
	for i, l := range c.laps {
		values[i] = measure(l)
	}
	return medianOf(values)
}

// seconds returns the median time on the clock.
func (c *contender) seconds() float64 {
	return c.median(func(l lap) float64 { return l.wall.Seconds() })
}

// cpuPerLine returns the median CPU time of a line, in nanoseconds.
func (c *contender) cpuPerLine() float64 {
	return c.median(func(l lap) float64 { return float64(l.cpu) / float64(max(c.lines, 1)) })
}

// times returns how many times the time of base c takes: the median over the rounds of the ratio within the round.
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
