package job

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	samplelogs "shadow/sample-logs"
)

// ticks is the number of units of CPU time in a second, as Linux counts them in /proc.
const ticks = 100

// BenchmarkCost has the rows of docs/scale.md: what it takes to judge a log that lies in an S3 server on this machine, on
// one core and on two, with prism, and on Flink with two task managers. Logs are kept in SHADOW_BENCH_DIR, if that is set.
func BenchmarkCost(b *testing.B) {
	s := newS3(b)
	for _, millions := range []int64{1, 10, 50} {
		log := s.log(b, millions)
		for _, row := range []struct{ name, command string }{
			{"one core", "GOMAXPROCS=1 exec " + s.shadow + " replay --no-store --limit 6/30s " + log},
			{"two cores", "GOMAXPROCS=2 exec " + s.shadow + " replay --no-store --limit 6/30s " + log},
			{"prism", "exec " + s.beam + " --limit 6/30s --input " + log + " --output " + filepath.Join(b.TempDir(), "results")},
		} {
			b.Run(fmt.Sprintf("%s/%dM", row.name, millions), func(b *testing.B) {
				cmd := shell(row.command)
				if said, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%s: %v\n%s", row.command, err, said)
				}
				used := cmd.ProcessState
				cost(b, millions, used.UserTime()+used.SystemTime(), used.SysUsage().(*syscall.Rusage).Maxrss)
			})
		}
		b.Run(fmt.Sprintf("flink/%dM", millions), func(b *testing.B) { benchmarkFlink(b, millions, log) })
	}
}

// cost reports CPU time, and memory in KiB.
func cost(b *testing.B, millions int64, cpu time.Duration, memory int64) {
	b.ReportMetric(cpu.Seconds()/float64(millions), "CPU-s/million")
	b.ReportMetric(float64(memory)*1024/1e6, "MB")
}

func benchmarkFlink(b *testing.B, millions int64, log string) {
	c := newCluster(b)
	program := c.serve(b)
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
	cost(b, millions, c.cpu(b)-before, c.memory)
	b.ReportMetric(float64(c.shuffled(b))/1e6/float64(millions), "shuffled-MB/million")
}

// An s3 is an S3 server over a folder of this machine, a process of its own, and the programs that read from it.
type s3 struct{ dir, shadow, beam string }

// newS3 starts one, which ends with the benchmark.
func newS3(b *testing.B) *s3 {
	b.Helper()
	server, err := exec.LookPath("versitygw")
	if err != nil {
		b.Skip("needs an S3 server: go install github.com/versity/versitygw/cmd/versitygw@v1.0.14")
	}
	bin := b.TempDir()
	s := &s3{cmp.Or(os.Getenv("SHADOW_BENCH_DIR"), b.TempDir()), filepath.Join(bin, "shadow"), filepath.Join(bin, "shadow-beam")}
	check(b, os.MkdirAll(filepath.Join(s.dir, "logs"), 0o755))
	for program, build := range map[string]string{"../shadow": "../shadow ./cmd/shadow", "../shadow-beam": "-tags nostore"} {
		if said, err := shell(readme(b, build, program, filepath.Join(bin, filepath.Base(program)))).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, said)
		}
	}
	at := fmt.Sprint("127.0.0.1:", freePort(b))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://" + at, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
	} {
		b.Setenv(name, value)
	}
	cmd := exec.Command(server, "--quiet", "--port", at, "--access", "key", "--secret", "secret", "posix", "--nometa", s.dir)
	check(b, cmd.Start())
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	within(b, time.Minute, "the server is ready", func() bool {
		conn, err := net.Dial("tcp", at)
		return err == nil && conn.Close() == nil
	})
	return s
}

// log returns the name of a log of so many million lines, which it writes unless it is there.
func (s *s3) log(b *testing.B, millions int64) (name string) {
	b.Helper()
	key := fmt.Sprintf("logs/%dM.log", millions)
	path := filepath.Join(s.dir, key)
	if _, err := os.Stat(path); err != nil {
		f, err := os.Create(path)
		check(b, err)
		_, err = samplelogs.New(samplelogs.Config{Lines: millions * 1_000_000, Clients: 50_000, Seed: 1}).WriteTo(f)
		check(b, errors.Join(err, f.Close()))
	}
	return "s3://" + key
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
