//go:build unix && !nostore

package redis

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"shadow/internal/redis/redistest"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// BenchmarkCluster has 32 hosts judge at the same time through a cluster of three masters. It reports what a verdict
// costs nodes and hosts, from which docs/scale.md computes what a million requests a second take.
//
// A tail judges four times a second, so at 1,000,000/32 requests a second it judges 7,812 at a time.
func BenchmarkCluster(b *testing.B) {
	const hosts, batch = 32, 1_000_000 / 32 / 4
	spread := func(r *rand.Rand) func() int { return func() int { return r.IntN(100_000) } }
	skewed := func(r *rand.Rand) func() int {
		zipf := rand.NewZipf(r, 1.1, 8, 100_000)
		return func() int { return int(zipf.Uint64()) }
	}
	for _, bench := range []struct {
		name, limit string
		keys        func(r *rand.Rand) func() int
	}{
		{"even", "token:6/30s", spread},
		{"skewed", "token:6/30s", skewed},
		{"even", "window:6/30s", spread},
		{"skewed", "window:6/30s", skewed},
	} {
		b.Run(bench.limit+"/"+bench.name, func(b *testing.B) {
			c := redistest.StartCluster(b, 3)
			address, err := ParseAddress(c.Address())
			if err != nil {
				b.Fatal(err)
			}
			l, err := NewLimit("p", parseLimit(b, bench.limit), openEnded)
			if err != nil {
				b.Fatal(err)
			}
			var conns [hosts]*Conn
			var keys [hosts]func() int
			var calls int
			var mu sync.Mutex
			now := limit.Time(time.Now().UnixMicro())
			all := func() { // each judges what came in a quarter of a second
				now += limit.Second / 4
				var wait sync.WaitGroup
				for h, conn := range conns {
					wait.Go(func() {
						byKey := map[int]*Call{}
						for i := range batch {
							k := keys[h]()
							if byKey[k] == nil {
								byKey[k] = &Call{Limit: l, Key: strconv.Itoa(k), Since: limit.Never}
							}
							byKey[k].At = append(byKey[k].At, now+limit.Time(i)*limit.Second/4/batch)
						}
						if err := conn.Judge(context.Background(), slices.Collect(maps.Values(byKey))); err != nil {
							b.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						calls += len(byKey)
					})
				}
				wait.Wait()
			}
			for h := range conns {
				conns[h] = Open(Options{Address: address, Host: fmt.Sprint("host", h), Timeout: time.Minute})
				defer conns[h].Close()
				keys[h] = bench.keys(testneeds.Rand(b, uint64(h), 1))
			}
			all()
			before, self, begin := spentBy(c), ownCPU(), time.Now()
			calls = 0
			for b.Loop() {
				all()
			}
			took := time.Since(begin)
			nodes, own := spentBy(c), ownCPU()-self
			verdicts := float64(b.N * hosts * batch)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(verdicts/took.Seconds(), "verdicts/s")
			b.ReportMetric(float64(calls)/verdicts, "calls/verdict")
			b.ReportMetric((nodes.cpu-before.cpu)*1e6/verdicts, "node-µs/verdict")
			b.ReportMetric(own.Seconds()*1e6/verdicts, "host-µs/verdict")
			b.ReportMetric((nodes.in-before.in)/verdicts, "B-in/verdict")
			b.ReportMetric((nodes.out-before.out)/verdicts, "B-out/verdict")
			b.ReportMetric((nodes.replica-before.replica)*3/verdicts, "B-replica/verdict") // of one of three masters
		})
	}
}

// spent holds what masters have used: seconds, and bytes read, written, and received by the replica of the first.
type spent struct{ cpu, in, out, replica float64 }

func spentBy(c *redistest.Cluster) (s spent) {
	number := func(of map[string]string, name string) float64 {
		n, _ := strconv.ParseFloat(of[name], 64)
		return n
	}
	for _, m := range c.Masters {
		cpu, net := m.Info("cpu"), m.Info("stats")
		s.cpu += number(cpu, "used_cpu_user") + number(cpu, "used_cpu_sys")
		s.in += number(net, "total_net_input_bytes")
		s.out += number(net, "total_net_output_bytes")
	}
	s.replica = number(c.Masters[0].Info("replication"), "master_repl_offset")
	return s
}

// ownCPU is the time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
