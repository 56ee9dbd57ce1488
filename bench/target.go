//go:build linux || darwin

package main

import (
	"fmt"
	"time"
)

// A target is a bound of a figure.
type target struct {
	what  string
	of    func(c *contender, table map[string]*contender) float64
	bound float64
	least bool // the figure has to be at least the bound, not at most
}

// judge compares, and counts what is missed: "× wc -l: 1.23, at most 2: met".
func (b *bench) judge(t target, c *contender, table map[string]*contender) string {
	got := t.of(c, table)
	side, missed := "at most", got > t.bound
	if t.least {
		side, missed = "at least", got < t.bound
	}
	verdict := "met"
	if missed {
		verdict = "MISSED"
		b.missed++
	}
	return fmt.Sprintf("%s: %.2f, %s %g: %s", t.what, got, side, t.bound, verdict)
}

// times bounds the ratio of times on the clock.
func times(base string, most float64) target {
	return target{what: "× " + base, bound: most, of: func(c *contender, table map[string]*contender) float64 {
		return c.times(table[base])
	}}
}

// cpuTimes bounds the ratio of CPU times a line, of commands on different logs.
func cpuTimes(base string, most float64) target {
	return target{what: "× CPU a line of " + base, bound: most, of: func(c *contender, table map[string]*contender) float64 {
		return c.cpuPerLine() / table[base].cpuPerLine()
	}}
}

// cpuRatio bounds the ratio of CPU times, of commands on one log.
func cpuRatio(base string, most float64) target {
	return target{what: "× CPU of " + base, bound: most, of: func(c *contender, table map[string]*contender) float64 {
		return c.median(cpuMillis) / table[base].median(cpuMillis)
	}}
}

// nsBeyond bounds the nanoseconds of CPU that a line takes more than with base.
func nsBeyond(base string, most float64) target {
	return target{what: "CPU ns a line beyond " + base, bound: most, of: func(c *contender, table map[string]*contender) float64 {
		return c.cpuPerLine() - table[base].cpuPerLine()
	}}
}

// millisPerFile bounds the milliseconds of CPU that each of many files takes beyond base, one file of the same lines.
func millisPerFile(base string, most float64) target {
	return target{what: "CPU ms a file", bound: most, of: func(c *contender, table map[string]*contender) float64 {
		return (c.median(cpuMillis) - table[base].median(cpuMillis)) / manyFiles
	}}
}

func alone(what string, bound float64, of func(c *contender) float64) target {
	return target{what: what, bound: bound, of: func(c *contender, _ map[string]*contender) float64 { return of(c) }}
}

func nsPerLine(most float64) target { return alone("CPU ns a line", most, (*contender).cpuPerLine) }
func seconds(most float64) target   { return alone("seconds", most, (*contender).seconds) }

func millis(most float64) target {
	return alone("CPU ms", most, func(c *contender) float64 { return c.median(cpuMillis) })
}

func megabytes(most float64) target {
	return alone("MB", most, func(c *contender) float64 { return c.median(megabytesOf) })
}

func millionLines(least float64) target {
	t := alone("million lines/s", least, func(c *contender) float64 { return float64(c.lines) / c.seconds() / 1e6 })
	t.least = true
	return t
}

func cpuMillis(l lap) float64   { return float64(l.cpu) / float64(time.Millisecond) }
func megabytesOf(l lap) float64 { return float64(l.peak) / 1e6 }

// budget returns the memory of a replay of three limits, in MB: 300, 150 bytes a client, and 32 for each state.
func budget(clients int64) float64 { return 300 + float64(clients*(150+3*32))/1e6 }
