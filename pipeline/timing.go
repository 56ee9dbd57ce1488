package pipeline

import (
	"fmt"
	"io"
	"syscall"
	"text/tabwriter"
	"time"

	"shadow/replay"
	"shadow/traffic/ingest"
)

// writeTiming says how long a replay took, and what share of the work each stage had. The stages run at the same time,
// so together they can take longer than the clock on the wall.
func writeTiming(w io.Writer, s *ingest.Stats, read ingest.StageTimes, judge replay.StageTimes, wall time.Duration) {
	stages := []struct {
		name string
		took time.Duration
	}{
		{"read", read.Read},
		{"parse", read.Parse},
		{"clients", read.Clients},
		{"agents", read.Agents},
		{"actions", read.Actions},
		{"order", read.Order},
		{"count", judge.Count},
		{"group", judge.Group},
		{"judge", judge.Judge},
	}
	var sum time.Duration
	for _, stage := range stages {
		sum += stage.took
	}
	lines := float64(max(s.Lines, 1))
	seconds := wall.Seconds()
	fmt.Fprintf(w, "timing: %d lines, %d bytes in %.3f s: %.0f lines/s, %.0f MB/s, %.1f ns wall and %.1f ns CPU a line\n",
		s.Lines, s.Bytes, seconds, lines/seconds, float64(s.Bytes)/seconds/1e6,
		float64(wall)/lines, float64(cpuTime())/lines)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, stage := range stages {
		fmt.Fprintf(table, "%s\t%.1f ns/line\t%.1f %%\t\n",
			stage.name, float64(stage.took)/lines, 100*float64(stage.took)/float64(max(sum, 1)))
	}
	table.Flush()
}

// cpuTime is how long this process has kept processors busy.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
