//go:build unix && !nostore

package tail

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/redis"
	"shadow/internal/redis/redistest"
	"shadow/limit"

	"shadow/internal/logfile/follow"
)

// Many tails that each follow a part of one log, and count together in a cluster of three masters. One of them fails over.

const (
	tails    = 32
	soonest  = 300 * time.Millisecond // longer than the lateness of these tails
	manyLate = 20 * limit.Millisecond
)

var manyLimits = []string{"token:3/10s", "leaky:2/5s", "window:4/20s"}

// A fleet is many tails, and the log that they share.
type fleet struct {
	t     *testing.T
	each  [tails]*bench
	now   time.Time
	r     *rand.Rand
	zipf  *rand.Zipf
	whole bytes.Buffer
}

func startFleet(t *testing.T, seed uint64, redisAt, name string, limits ...string) *fleet {
	f := &fleet{t: t, r: seeded(t, seed)}
	f.zipf = rand.NewZipf(f.r, 1.2, 20, 400)
	for i := range f.each {
		b := newBench(t, limits...)
		b.change = func(o *Options) {
			o.Read.Lateness, o.Save, o.From = manyLate, time.Hour, follow.FromStart
			joinAt(t, redisAt, o, fmt.Sprint(name, i), 20*time.Second, nil, func(*redis.SharedLimiter) {})
		}
		b.start()
		f.each[i], f.now = b, b.now
	}
	return f
}

// entry is a request of one of few clients that come often, or of many that do not.
func (f *fleet) entry(at time.Time) string {
	client := f.zipf.Uint64()
	return fmt.Sprintf("10.0.%d.%d [%d.%03d] \"GET /page%d HTTP/1.1\" 200 \"curl/8\"\n",
		client/250, 1+client%250, at.Unix(), at.UnixMilli()%1000, client%3)
}

// turn has one tail judge some requests, and no other at the same time.
func (f *fleet) turn(tail, requests int) {
	var text strings.Builder
	for range requests {
		f.now = f.now.Add(time.Duration(f.r.IntN(40)) * time.Millisecond)
		text.WriteString(f.entry(f.now))
	}
	f.whole.WriteString(text.String())
	f.feed(tail, text.String(), f.now)
	f.now = f.now.Add(soonest)
}

// feed has a tail read what was written until now, and judge it.
func (f *fleet) feed(tail int, text string, now time.Time) {
	b := f.each[tail]
	b.now = now
	b.append("access.log", text)
	b.step(0)
	b.step(soonest)
}

// stop ends all, and returns what they tell, what one replay of all tells, and how many of them were marked.
func (f *fleet) stop() (got, want []string, marked int) {
	var told strings.Builder
	for _, b := range f.each {
		b.stop()
		told.WriteString(b.told())
	}
	replayed, _ := f.each[0].replayed(f.whole.Bytes())
	return wouldBlocks(told.String()), wouldBlocks(replayed), strings.Count(told.String(), mark)
}

// In lock step they refuse together what one replay of all refuses, request by request, while a replica takes the place of
// its master, and while that is killed and its own replica takes over, having all that the master has answered.
func TestManyTailsInLockStep(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	f := startFleet(t, 1, c.Address(), "host ", manyLimits...)
	const turns = 600
	var order []int
	for turn := range turns {
		switch turn {
		case turns / 3:
			c.TakeOver(c.Replica, "")
		case 2 * turns / 3:
			c.WaitReplicated(c.Replica, c.Masters[0])
			c.Replica.Kill()
			c.TakeOver(c.Masters[0], "FORCE")
		}
		if turn%tails == 0 {
			order = f.r.Perm(tails) // who has not met a master does not know its replica, and marks
		}
		f.turn(order[turn%tails], 1+f.r.IntN(12))
	}
	got, want, marked := f.stop()
	if d := differences(got, want); len(d) > 0 {
		t.Errorf("%d tails differ from the replay in %d would-blocks, first in\n%s", tails, len(d), strings.Join(d, "\n"))
	}
	if marked > 0 {
		t.Errorf("%d are marked", marked)
	}
	alone := 0
	for _, b := range f.each {
		text, _ := b.replayed(b.whole.Bytes())
		alone += strings.Count(text, "\n")
	}
	t.Logf("%d requests, %d would-blocks; without Redis there would be %d", bytes.Count(f.whole.Bytes(), []byte("\n")), len(want), alone)
	if alone > len(want)/2 {
		t.Error("that proves little")
	}
}

// A replica that takes over without the last of what its master answered is told by every tail that was answered it, with a
// mark until a horizon later.
func TestManyTailsTellWhatIsLost(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	f := startFleet(t, 2, c.Address(), "host ", manyLimits...)
	turns := func(n int) {
		for range n {
			f.turn(f.r.IntN(tails), 1+f.r.IntN(12))
		}
	}
	turns(150)
	c.WaitReplicated(c.Masters[0], c.Replica)
	c.CutOff(c.Masters[0], c.Replica)
	cut := f.now
	turns(80)
	c.Masters[0].Kill()
	c.Rejoin(c.Replica)
	c.TakeOver(c.Replica, "FORCE")
	back := f.now
	turns(200)

	got, want, marked := f.stop()
	differ := differences(withoutRetry(got), withoutRetry(want))
	horizon := limit.Time(0)
	for _, p := range f.each[0].policies() {
		horizon = max(horizon, p.Horizon())
	}
	// A tail may have its next turn a while after.
	end := back.Add(time.Duration(horizon)*time.Microsecond + time.Minute)
	for _, text := range differ {
		if at := parseEvent(t, text).Time; at.Before(cut) || at.After(end) {
			t.Errorf("differs outside %v to %v: %s", cut, end, text)
		}
	}
	told := 0
	for _, b := range f.each {
		for text := range strings.Lines(b.told()) {
			if e := parseEvent(t, text); e.Degraded && (e.Time.Before(back) || e.Time.After(end)) {
				t.Errorf("marked outside %v to %v: %s", back, end, text)
			}
		}
		for _, p := range b.tail.Tally().Policies {
			if p.Degraded > 0 {
				told++
				break
			}
		}
	}
	t.Logf("%d would-blocks, %d by one replay; %d requests differ; %d of %d tails tell of it, with %d marks",
		len(got), len(want), len(differ), told, tails, marked)
	if len(differ) == 0 || marked == 0 || told < tails*3/4 {
		t.Error("that proves little")
	}
}

// Fed freely, each tail judges what has come to its log in a turn, all at the same time. The longer the turn, the more the
// order of judging differs from that of the merged log.
func TestManyTailsFedFreely(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3)
	var want []string
	t.Log("| turn | would-blocks | by one replay | only the tails refuse | only the replay refuses | other requests |")
	for _, turn := range []struct {
		length time.Duration // of the log; 0: a line of each tail
		most   float64       // how many of the would-blocks may be of other requests
	}{{0, .1}, {10 * time.Millisecond, .02}, {100 * time.Millisecond, .05}, {time.Second, .2}, {10 * time.Second, .5}} {
		for _, s := range c.Masters {
			s.Do("FLUSHALL")
		}
		name := turn.length.String()
		if turn.length == 0 {
			name = "1 line"
		}
		f := startFleet(t, 3, c.Address(), fmt.Sprint(turn.length, " host "), manyLimits...)
		want = f.feedFreely(turn.length, turn.most, name, want)
	}
}

// A network takes nothing but time: verdicts differ from those of one replay by as much as without it.
func TestManyTailsFarAway(t *testing.T) {
	t.Parallel()
	var want []string
	for _, there := range []time.Duration{0, time.Millisecond / 2, 5 * time.Millisecond / 2, 10 * time.Millisecond} {
		s := redistest.StartTCP(t)
		f := startFleet(t, 3, "redis://"+farAway(t, s.HostPort(), there), "host ", manyLimits...)
		begin := time.Now()
		want = f.feedFreely(100*time.Millisecond, .05, fmt.Sprint(2*there, " away"), want)
		t.Logf("in %.1f s", time.Since(begin).Seconds())
	}
}

// farAway returns an address at which a server answers as late as if each way to it took so long.
func farAway(t *testing.T, server string, way time.Duration) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	forward := func(to, from net.Conn) {
		defer to.Close()
		type chunk struct {
			due  time.Time
			data []byte
		}
		under := make(chan chunk, 1<<12)
		go func() {
			defer close(under)
			for {
				data := make([]byte, 16<<10)
				n, err := from.Read(data)
				if err != nil {
					return
				}
				under <- chunk{time.Now().Add(way), data[:n]}
			}
		}()
		for c := range under {
			time.Sleep(time.Until(c.due))
			if _, err := to.Write(c.data); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go forward(there, client)
			go forward(client, there)
		}
	}()
	return listener.Addr().String()
}

// feedFreely feeds all tails in turns of such a length of the log, and holds them against one replay; most is how many of the
// would-blocks may be of other requests. It returns what the replay refuses, which must be what is wanted if that is known.
func (f *fleet) feedFreely(turn time.Duration, most float64, name string, want []string) []string {
	const lines, gap = 4032, 10 * time.Millisecond
	t := f.t
	var texts [tails]string
	begin, fed := f.now, f.now
	var order []int
	for n := range lines {
		if n%tails == 0 {
			order = f.r.Perm(tails) // as a load balancer spreads them
		}
		f.now = begin.Add(time.Duration(n)*gap + time.Duration(f.r.Int64N(int64(gap))))
		text := f.entry(f.now)
		f.whole.WriteString(text)
		if turn > 0 && f.now.Sub(fed) >= turn {
			fed = fed.Add(f.now.Sub(fed).Truncate(turn))
			f.feedAll(&texts, fed)
		}
		texts[order[n%tails]] += text
		if turn == 0 && n%tails == tails-1 {
			f.feedAll(&texts, f.now)
		}
	}
	for range 3 {
		f.now = f.now.Add(10 * time.Second)
		f.feedAll(&texts, f.now)
	}
	got, replayed, marked := f.stop()
	if want == nil {
		want = replayed
	}
	if strings.Join(want, "\n") != strings.Join(replayed, "\n") || marked > 0 {
		t.Fatalf("not the same log, or %d are marked", marked)
	}
	differ := differences(withoutRetry(got), withoutRetry(want))
	all := float64(len(want))
	surplus := (len(differ) + len(got) - len(want)) / 2
	t.Logf("| %s | %d (%+.1f %%) | %d | %d | %d | %.1f %% |", name, len(got), 100*(float64(len(got))-all)/all, len(want),
		surplus, len(differ)-surplus, 100*float64(len(differ))/2/all)
	if float64(len(differ))/2 > most*all {
		t.Error("that is too much")
	}
	return want
}

// feedAll has all tails read what was written until now, and judge it, at the same time.
func (f *fleet) feedAll(texts *[tails]string, now time.Time) {
	var all sync.WaitGroup
	for i, b := range f.each {
		if texts[i] == "" && b.tail.stream.Waiting() == 0 {
			continue
		}
		all.Go(func() {
			b.now = now
			b.append("access.log", texts[i])
			b.tail.progress.released = time.Time{} // judge at once
			b.step(0)
		})
	}
	all.Wait()
	clear(texts[:])
}
