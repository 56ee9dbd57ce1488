package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"shadow/internal/pipeline/cputime"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
	"shadow/report/format"
)

// A Memory is how much memory a command may take, the database aside. What it takes grows with the clients in the logs,
// and how many there are is known only when they have been read. So while a command runs it is looked at how many have
// come so far, and what those take at least:
//
//	clients so far × bytes of a client that comes once   more than there may be: stop before it is taken
//	what is in use                                       likewise: clients that come again take more
type Memory struct {
	Most    int64 // bytes; 0: as much as there is
	Machine int64 // bytes that the machine has left, of which people are told; 0: not known

	each    int64 // bytes that a client takes that comes once
	clients atomic.Pointer[traffic.Tables]
}

// A MemoryError says that a command would take more memory than it may.
type MemoryError struct{ Needs, Most, Clients int64 }

func (e *MemoryError) Error() string {
	most := flagvalue.FormatSize(e.Most)
	if e.Clients == 0 {
		return soFar(0, e.Needs) + ", and --max-memory is " + most + ": raise it"
	}
	return soFar(e.Clients, e.Needs) + ", and --max-memory is " + most + ": fewer limits, periods, rates, kinds " +
		"or keys take less, and so do networks as clients (--client addr/24,/64)"
}

// soFar says what was in use when so many clients had come.
func soFar(clients, needs int64) string {
	if clients == 0 {
		return format.Size(needs) + " of memory are in use before the first client comes"
	}
	return fmt.Sprintf("%s so far, which take %s of memory or more", format.Count(clients, "client"), format.Size(needs))
}

// memoryPause is between two looks at what is in use.
const memoryPause = 20 * time.Millisecond

// Within runs a command, and ends it with a MemoryError when it takes too much. Before that garbage is collected more
// often.
func (m *Memory) Within(ctx context.Context, warn func(string), run func(context.Context) error) error {
	if m.Most > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(m.Most - m.Most/16))
	}
	watched, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.watch(watched, stop, warn)
	}()
	err := run(watched)
	stop(nil)
	<-ended
	if short, is := errors.AsType[*MemoryError](context.Cause(watched)); is && err != nil {
		return short
	}
	return err
}

// watch looks at what is in use until ctx ends. It warns once.
func (m *Memory) watch(ctx context.Context, stop context.CancelCauseFunc, warn func(string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(memoryPause):
		}
		tables := m.clients.Load()
		if tables == nil {
			continue
		}
		clients := int64(tables.Clients.Len())
		needs := max(clients*m.each, inUse())
		switch {
		case m.Most > 0 && needs > m.Most:
			stop(&MemoryError{Needs: needs, Most: m.Most, Clients: clients})
			return
		case m.Most == 0 && m.Machine > 0 && needs > m.Machine:
			warn(fmt.Sprintf("%s, and this machine has %s left; --max-memory stops in time", soFar(clients, needs),
				format.Size(m.Machine)))
			return
		}
	}
}

// What a client takes that comes once, measured: in bytes.
const (
	replayClient      = 150
	replayClientLimit = 32 // for each limit
	sweepClient       = 250
	keysClient        = 600
	suggestClient     = 400
)

// expect says how many bytes a client takes that comes once.
func (m *Memory) expect(each int64) {
	if m != nil {
		m.each = each
	}
}

// follow says where the clients of the logs are. Unless it is known what one takes, so many limits are replayed.
func (m *Memory) follow(t *traffic.Tables, limits int) {
	if m == nil {
		return
	}
	if m.each == 0 {
		m.each = replayClient + replayClientLimit*int64(limits)
	}
	m.clients.Store(t)
}

// inUse returns how many bytes the program has taken from the system and not given back.
func inUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// MemoryLeft returns how many bytes this machine, or the control group that the program runs in, has left; 0 if that is
// not known.
func MemoryLeft() int64 {
	left := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if of, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
				left = min(left, number(strings.TrimSuffix(strings.TrimSpace(of), "kB"))<<10)
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		left = min(left, number(string(text)))
	}
	if left >= math.MaxInt64>>10 {
		return 0
	}
	return left
}

// number reads a number; what is none, such as max, is beyond all bounds.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n > math.MaxInt64>>10 {
		return math.MaxInt64 >> 10
	}
	return n
}

// writeTiming says how long a replay took, and how much CPU time each stage took. The stages run at the same time, so
// together they can take longer than the clock on the wall. The others are the start, the opening of files,
// decompression, collecting garbage, and the database.
func writeTiming(w io.Writer, s *ingest.Stats, read ingest.StageTimes, judge replay.StageTimes, wall time.Duration) {
	type stage struct {
		name string
		took time.Duration
	}
	stages := []stage{
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
	used := cputime.Process()
	other := max(0, used-sum)
	if cputime.ThreadIsExact {
		stages = append(stages, stage{"other", other})
		sum += other
	}
	lines := float64(max(s.Lines, 1))
	seconds := wall.Seconds()
	fmt.Fprintf(w, "timing: %d lines, %d bytes in %.3f s: %.0f lines/s, %.0f MB/s, %.1f ns wall and %.1f ns CPU a line\n",
		s.Lines, s.Bytes, seconds, lines/seconds, float64(s.Bytes)/seconds/1e6,
		float64(wall)/lines, float64(used)/lines)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, stage := range stages {
		fmt.Fprintf(table, "%s\t%.1f ns/line\t%.1f %%\t\n",
			stage.name, float64(stage.took)/lines, 100*float64(stage.took)/float64(max(sum, 1)))
	}
	table.Flush()
	fmt.Fprintf(w, "memory in use: %s\n", format.Size(inUse()))
	if !cputime.ThreadIsExact {
		fmt.Fprintln(w, "the times of the stages are those of the clock on the wall, waiting included")
	}
}
