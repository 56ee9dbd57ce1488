package job

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ticks is the number of units of CPU time in a second, as Linux counts them in /proc.
const ticks = 100

// BenchmarkFlink measures what a cluster of two task managers takes: the CPU of all its parts, workers too, the memory of
// all at the highest, and the bytes that go from one part of the job to another.
func BenchmarkFlink(b *testing.B) {
	for _, millions := range []int64{1, 10} {
		b.Run(fmt.Sprintf("%d million lines", millions), func(b *testing.B) {
			c := newCluster(b)
			program := c.serve(b)
			log := newLog(b, millions*1_000_000)
			within(b, 2*time.Minute, "the cluster is ready", c.ready)
			before := c.cpu(b)
			b.ResetTimer()
			results := filepath.Join(b.TempDir(), "results")
			judge := readme(b, "--runner flink", "/usr/local/bin/shadow-beam", program, "localhost:8099", c.jobs,
				"/mnt/logs", log, "/mnt/results", results)
			judging := c.start(b, "judge", shell(judge))
			for ended := false; !ended; {
				select {
				case <-judging.ended:
					ended = true
				case <-time.After(100 * time.Millisecond):
					c.measure(b)
				}
			}
			if judging.err != nil {
				b.Fatalf("%s: %v", judge, judging.err)
			}
			b.StopTimer()
			per := float64(millions)
			b.ReportMetric((c.cpu(b)-before).Seconds()/per, "CPU-s/million")
			b.ReportMetric(float64(c.memory)/1000, "MB")
			b.ReportMetric(float64(c.shuffled(b))/1e6/per, "shuffled-MB/million")
		})
	}
}

// parts calls do with the folder in /proc of each process of the cluster.
func (c *cluster) parts(t testing.TB, do func(folder string, stat []string)) {
	t.Helper()
	groups := map[string]bool{}
	for _, p := range c.started {
		groups[strconv.Itoa(p.number)] = true
	}
	names, err := filepath.Glob("/proc/[0-9]*")
	check(t, err)
	for _, name := range names {
		text, _ := os.ReadFile(filepath.Join(name, "stat")) // the process may be gone
		_, rest, _ := strings.Cut(string(text), ") ")
		if stat := strings.Fields(rest); len(stat) > 14 && groups[stat[2]] {
			do(name, stat)
		}
	}
}

// cpu returns the CPU time of all that runs, and of their children that have ended.
func (c *cluster) cpu(t testing.TB) (sum time.Duration) {
	c.parts(t, func(_ string, stat []string) {
		for _, text := range stat[11:15] {
			n, err := strconv.ParseInt(text, 10, 64)
			check(t, err)
			sum += time.Duration(n) * time.Second / ticks
		}
	})
	for _, p := range c.started {
		select {
		case <-p.ended:
			sum += p.cpu
		default:
		}
	}
	return sum
}

// measure notes the memory of all parts together, in kB, if it is the highest so far.
func (c *cluster) measure(t testing.TB) {
	sum := int64(0)
	c.parts(t, func(folder string, _ []string) {
		text, _ := os.ReadFile(filepath.Join(folder, "status"))
		if _, rest, found := strings.Cut(string(text), "VmRSS:"); found {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			check(t, err)
			sum += n
		}
	})
	c.memory = max(c.memory, sum)
}

// shuffled returns the bytes that the parts of the last job sent each other.
func (c *cluster) shuffled(t testing.TB) (sum int64) {
	var found struct {
		Vertices []struct {
			Metrics struct {
				Written int64 `json:"write-bytes"`
			}
		}
	}
	check(t, c.ask("/jobs/"+c.lastJob(t), &found))
	for _, v := range found.Vertices {
		sum += v.Metrics.Written
	}
	return sum
}
