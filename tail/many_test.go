//go:build unix

package tail

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"shadow/limit"
	"shadow/redis"
	"shadow/redis/redistest"

	"shadow/logfile/follow"
)

// Many tails that each follow a part of one log, and count together in a cluster of three masters. One of them fails over.

const (
	tails    = 32
	soonest  = 300 * time.Millisecond // longer than the lateness of these tails
	manyLate = 100 * limit.Millisecond
)

var manyLimits = []string{"token:3/10s", "leaky:2/5s", "window:4/20s"}

// A fleet is many tails, and the log that they share.
type fleet struct {
	t        *testing.T
	cluster  *redistest.Cluster
	each     [tails]*bench
	limiters [tails]*redis.SharedLimiter
	now      time.Time
	r        *rand.Rand
	zipf     *rand.Zipf
	whole    bytes.Buffer
}

func startFleet(t *testing.T, seed uint64, c *redistest.Cluster, name string, limits ...string) *fleet {
	f := &fleet{t: t, cluster: c, r: seeded(t, seed)}
	f.zipf = rand.NewZipf(f.r, 1.2, 20, 400)
	for i := range f.each {
		b := newBench(t, limits...)
		b.change = func(o *Options) {
			o.Read.Lateness, o.Save, o.From = manyLate, time.Hour, follow.FromStart
			joinAt(t, c.Address(), o, fmt.Sprint(name, i), 20*time.Second, nil, func(l *redis.SharedLimiter) {
				f.limiters[i] = l
			})
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
	c := redistest.StartCluster(t, 3)
	f := startFleet(t, 1, c, "host ", manyLimits...)
	const turns = 900
	for turn := range turns {
		switch turn {
		case turns / 3:
			c.TakeOver(c.Replica, "")
		case 2 * turns / 3:
			c.WaitReplicated(c.Replica, c.Masters[0])
			c.Replica.Kill()
			c.TakeOver(c.Masters[0], "FORCE")
		}
		f.turn(f.r.IntN(tails), 1+f.r.IntN(12))
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
