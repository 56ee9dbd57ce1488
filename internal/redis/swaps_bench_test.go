//go:build !nostore

package redis

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// A shape is how requests are spread over keys.
type shape struct {
	name  string
	limit string
	batch int                           // requests at a time
	keys  func(r *rand.Rand) func() int // of the requests of a host
	pause time.Duration                 // between the beginnings of batches; 0: none
	warm  int                           // requests of a key before the measurement
	far   time.Duration                 // that a round trip takes besides
}

// BenchmarkSwaps has hosts judge the same requests by scripts and by swaps, in turns.
//
// A tail that is busy looks at its log every 20 ms, so at 50,000 requests a second it judges 1,000 at a time. With a pause
// hosts do that; without one each begins the next batch at once.
func BenchmarkSwaps(b *testing.B) {
	one := func(*rand.Rand) func() int { return func() int { return 0 } }
	skewed := func(r *rand.Rand) func() int {
		zipf := rand.NewZipf(r, 1.1, 8, 20_000)
		return func() int { return int(zipf.Uint64()) }
	}
	spread := func(r *rand.Rand) func() int { return func() int { return r.IntN(100_000) } }
	const pause, tokens, few = 20 * time.Millisecond, "token:50000/1s", "token:6/30s"
	shapes := []shape{
		{name: "one key", limit: tokens, batch: 1000, keys: one, pause: pause},
		{name: "skewed", limit: few, batch: 1000, keys: skewed, pause: pause},
		{name: "spread", limit: few, batch: 1000, keys: spread, pause: pause},
		{name: "one key, 1 ms away", limit: tokens, batch: 1000, keys: one, pause: pause, far: time.Millisecond},
		{name: "skewed, 1 ms away", limit: few, batch: 1000, keys: skewed, pause: pause, far: time.Millisecond},
		{name: "one key, no pause", limit: tokens, batch: 1000, keys: one},
		{name: "skewed, no pause", limit: few, batch: 1000, keys: skewed},
		{name: "spread, no pause", limit: few, batch: 1000, keys: spread},
		{name: "large window", limit: "window:5000/1h", batch: 1, keys: one, pause: pause, warm: 5000},
	}
	for _, sh := range shapes {
		for _, hosts := range []int{1, 2, 8, 32} {
			b.Run(fmt.Sprintf("%s/hosts=%d", strings.NewReplacer(",", "", " ", "-").Replace(sh.name), hosts), func(b *testing.B) {
				s := startServer(b)
				var scripts, swaps measured
				round := 0
				for b.Loop() {
					if round++; round%2 == 0 { // neither always comes first
						swaps.add(sh.run(b, s, hosts, round, true))
						scripts.add(sh.run(b, s, hosts, round, false))
					} else {
						scripts.add(sh.run(b, s, hosts, round, false))
						swaps.add(sh.run(b, s, hosts, round, true))
					}
				}
				b.ReportMetric(0, "ns/op")
				scripts.report(b, "scripts", hosts)
				swaps.report(b, "swaps", hosts)
				b.ReportMetric(swaps.rate()/scripts.rate(), "swaps/scripts")
				b.ReportMetric(swaps.latency()/scripts.latency(), "time-swaps/scripts")
				b.ReportMetric(100*float64(swaps.retries)/float64(swaps.tries), "%retries")
			})
		}
	}
}

// measured holds what became of some turns.
type measured struct {
	verdicts, batches, tries, retries, bytes int
	took, waited                             time.Duration // from beginning to end; for all batches
}

func (m *measured) add(o measured) {
	m.verdicts, m.batches, m.bytes = m.verdicts+o.verdicts, m.batches+o.batches, m.bytes+o.bytes
	m.tries, m.retries = m.tries+o.tries, m.retries+o.retries
	m.took, m.waited = m.took+o.took, m.waited+o.waited
}

func (m *measured) rate() float64    { return float64(m.verdicts) / m.took.Seconds() }
func (m *measured) latency() float64 { return m.waited.Seconds() * 1000 / float64(m.batches) }

func (m *measured) report(b *testing.B, name string, hosts int) {
	b.ReportMetric(m.rate()/float64(hosts), name+"-verdicts/s/host")
	b.ReportMetric(m.latency(), name+"-ms/batch")
	b.ReportMetric(float64(m.bytes)/float64(m.verdicts), name+"-B/verdict")
}

// run has hosts judge for half a second.
func (sh *shape) run(b *testing.B, s *server, hosts, round int, swaps bool) measured {
	b.Helper()
	part := parseLimit(b, sh.limit)
	l, err := NewLimit(fmt.Sprint(sh.name, round, swaps), part, openEnded)
	if err != nil {
		b.Fatal(err)
	}
	ctx, look := context.Background(), s.client()
	defer look.Close()
	distance := distant(sh.far / 2)
	judges := make([]func([]*Call) error, hosts)
	swappers := make([]*swapper, hosts)
	for h := range judges {
		if swaps {
			swappers[h] = newSwapper(b, s, h, part)
			swappers[h].redis.AddHook(distance)
			judges[h] = func(calls []*Call) error { return swappers[h].judge(ctx, calls) }
		} else {
			conn := s.open(fmt.Sprint("host", h))
			conn.client.AddHook(distance)
			judges[h] = func(calls []*Call) error { return conn.Judge(ctx, calls) }
		}
		if err := judges[h]([]*Call{{Limit: l, Key: fmt.Sprint("connect", h), At: []limit.Time{0}}}); err != nil {
			b.Fatal(err)
		}
	}
	start := limit.Time(time.Now().UnixMicro())
	if sh.warm > 0 {
		c := &Call{Limit: l, Key: "0", Since: limit.Never}
		for i := range sh.warm {
			c.At = append(c.At, start-limit.Time(sh.warm-i))
		}
		if err := judges[0]([]*Call{c}); err != nil {
			b.Fatal(err)
		}
	}
	before, begin := wired(b, look), time.Now()
	var m measured
	var mu sync.Mutex
	var all sync.WaitGroup
	for h, judge := range judges {
		all.Go(func() {
			r := testneeds.Rand(b, uint64(round), uint64(h))
			key, last, own := sh.keys(r), start, measured{}
			next := begin
			if sh.pause > 0 {
				next = begin.Add(time.Duration(r.Int64N(int64(sh.pause))))
			}
			for time.Since(begin) < 500*time.Millisecond {
				time.Sleep(time.Until(next))
				next = time.Now()
				calls := map[int]*Call{}
				last = max(last+1, limit.Time(next.UnixMicro()))
				for range sh.batch {
					k := key()
					if calls[k] == nil {
						calls[k] = &Call{Limit: l, Key: strconv.Itoa(k), Since: limit.Never}
					}
					calls[k].At = append(calls[k].At, last)
					last++
				}
				if err := judge(slices.Collect(maps.Values(calls))); err != nil {
					b.Error(err)
					return
				}
				own.waited += time.Since(next)
				next = next.Add(sh.pause)
				own.verdicts, own.batches = own.verdicts+sh.batch, own.batches+1
			}
			mu.Lock()
			defer mu.Unlock()
			m.add(own)
		})
	}
	all.Wait()
	m.took, m.bytes = time.Since(begin), wired(b, look)-before
	for _, s := range swappers {
		if s != nil {
			m.tries, m.retries = m.tries+s.tries, m.retries+s.retries
		}
	}
	return m
}

// A distant hook delays what is sent, and the answers, by that time.
type distant time.Duration

// DialHook implements redis.Hook.
func (distant) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (distant) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (d distant) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		time.Sleep(time.Duration(d))
		defer time.Sleep(time.Duration(d))
		return next(ctx, commands)
	}
}

// wired returns how many bytes a server has ever read and written.
func wired(b *testing.B, c *redis.Client) (n int) {
	b.Helper()
	info, err := c.Info(context.Background(), "stats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"total_net_input_bytes", "total_net_output_bytes"} {
		bytes, _ := strconv.Atoi(fieldsOf(info)[name])
		n += bytes
	}
	return n
}
