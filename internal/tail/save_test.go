package tail

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
)

// Names of clients of which nothing is remembered are dropped, and verdicts stay what they are.
func TestMemoryIsBounded(t *testing.T) {
	b := newBench(t, "token:2/10s", "window:3/20s+token:1/1s")
	b.start()
	var text strings.Builder
	for i := range 30 {
		text.Reset()
		for n := range 20_000 {
			at := b.now.Add(time.Duration(n) * 50 * time.Microsecond)
			client := fmt.Sprintf("10.%d.%d.%d", i, n>>8, n&255)
			if n%10 == 0 {
				client = fmt.Sprintf("192.0.2.%d", n%100/10)
			}
			fmt.Fprintf(&text, "%s [%d.%03d] \"GET / HTTP/1.1\" 200 \"curl/8\"\n", client, at.Unix(), at.UnixMilli()%1000)
		}
		b.append("access.log", text.String())
		b.step(5 * time.Second)
	}
	if n := b.tail.tables.Clients.Len(); n > 300_000 {
		t.Errorf("%d clients are known of 540,000", n)
	}
	b.step(time.Second)
	b.step(10 * time.Second)
	b.stop()
	want, _ := b.replayed(b.whole.Bytes())
	if got := b.told(); got != want {
		t.Errorf("%d would-blocks, want %d; they differ first at\n%s", strings.Count(got, "\n"), strings.Count(want, "\n"), firstDifference(got, want))
	}
}

// With --max-keys the keys that were idle for longest are forgotten, and it is counted.
func TestMaxKeys(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.change = func(o *Options) { o.MaxKeys = 100 }
	b.start()
	for n := range 1000 {
		b.append("access.log", strings.Replace(line(1, b.now), "192.0.2.1", fmt.Sprintf("10.0.%d.%d", n>>8, n&255), 1))
		b.step(time.Second)
		if keys := b.tail.judge.Keys(); keys > 101 {
			t.Fatalf("%d keys", keys)
		}
	}
	b.append("access.log", strings.Replace(line(1, b.now), "192.0.2.1", "10.0.3.231", 1)) // 999: fresh in memory
	b.append("access.log", strings.Replace(line(1, b.now), "192.0.2.1", "10.0.0.1", 1))   // forgotten long ago
	b.step(time.Second)
	b.step(10 * time.Second)
	b.stop()
	got := b.tail.Tally()
	if got.Policies[0].Refused != 1 || got.Forgotten < 890 || got.Forgotten > 1001 {
		t.Errorf("%d refused, %d forgotten", got.Policies[0].Refused, got.Forgotten)
	}
}

// everyKey are all keys but the site, which has a single one.
var everyKey = []request.Key{
	request.ByClient, request.ByClientAction, request.ByAction, request.ByHost, request.ByClientAgent, request.ByClient24,
	request.ByClient64, request.ByUser, request.ByClientAgentAction, request.ByClient24Action, request.ByClient64Action, request.ByUserAction,
	request.ByClientPath,
}

// keyedBench is a bench with limits by every key.
func keyedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "token:2/5s", "window:3/20s")
	b.by = everyKey
	b.read = func(o *ingest.Options) {
		o.Format.Format = `$remote_addr [$msec] "$request" $status "$http_user_agent" $remote_user $host`
		o.Hosts, o.Users, o.Paths = true, true, true
	}
	return b
}

// keyed is a request of one of so many clients, users and hosts.
func keyed(r *rand.Rand, n int, at time.Time) string {
	who := [...]string{"192.0.2.%d", "2001:db8::%d", "10.1.%d.7"}[r.IntN(3)]
	user := [...]string{"-", fmt.Sprint("user", r.IntN(n))}[r.IntN(2)]
	return fmt.Sprintf(who+" [%d.%03d] \"GET /page%d/%d?%d HTTP/1.1\" 200 \"curl/%d\" %s host%d\n",
		r.IntN(min(n, 250)), at.Unix(), at.UnixMilli()%1000, r.IntN(3), r.IntN(4), r.IntN(9), r.IntN(3), user, r.IntN(n))
}

// Dropping names changes no verdict, whatever is counted by.
func TestNamesAreDropped(t *testing.T) {
	b, r := keyedBench(t), seeded(t, 3)
	b.start()
	b.tail.names.slack = -1 << 30 // after every batch
	for range 400 {
		for range r.IntN(8) {
			b.append("access.log", keyed(r, 1+r.IntN(12), b.now))
		}
		b.step(time.Duration(r.IntN(2000)) * time.Millisecond)
	}
	b.step(time.Second)
	b.step(10 * time.Second)
	b.stop()
	want, _ := b.replayed(b.whole.Bytes())
	if got := b.told(); got != want {
		t.Errorf("the tail tells otherwise than the replay, first at\n%s", firstDifference(got, want))
	}
}

// Whatever is new all the time, memory does not grow with it.
func TestEveryKindOfNameIsBounded(t *testing.T) {
	for what, line := range map[string]string{
		"client": "10.%[1]d.%[2]d.%[3]d [%[4]s] \"GET / HTTP/1.1\" 200 \"a\" - h\n",
		"host":   "192.0.2.1 [%[4]s] \"GET / HTTP/1.1\" 200 \"a\" - h%[1]d.%[2]d.%[3]d\n",
		"user":   "192.0.2.1 [%[4]s] \"GET / HTTP/1.1\" 200 \"a\" u%[1]d.%[2]d.%[3]d h\n",
		"path":   "192.0.2.1 [%[4]s] \"GET /x/%[1]d.%[2]d.%[3]d HTTP/1.1\" 200 \"a\" - h\n",
		"pair":   "10.0.0.%[3]d [%[4]s] \"GET /page%[2]d HTTP/1.1\" 200 \"a\" - h\n",
	} {
		t.Run(what, func(t *testing.T) {
			b := keyedBench(t)
			b.limits = []string{"token:1/2s"}
			b.start()
			b.tail.names.slack = 500
			most := 0
			for n := range 200 {
				text := ""
				for i := range 250 {
					id := n*250 + i
					text += fmt.Sprintf(line, id>>16, id>>8&255, id&255, fmt.Sprintf("%d.%03d", b.now.Unix(), b.now.UnixMilli()%1000))
				}
				b.append("access.log", text)
				b.step(time.Second)
				names := b.tail.tables
				most = max(most, names.Clients.Len()+names.Hosts.Len()+names.Users.Len()+names.Paths.Len()+b.tail.judge.Known())
			}
			// 250 a second wait for 5 seconds, are remembered for some more, and count by thirteen keys.
			if most > 80_000 {
				t.Errorf("up to %d names and keys were known", most)
			}
		})
	}
}

// With --max-keys no kind of key is remembered of more than so many.
func TestMaxKeysOfEveryKind(t *testing.T) {
	b, r := keyedBench(t), seeded(t, 5)
	b.limits = []string{"token:1/24h"}
	b.change = func(o *Options) { o.MaxKeys = 40 }
	b.start()
	for range 100 {
		for range 20 {
			b.append("access.log", keyed(r, 1000, b.now))
		}
		b.step(time.Second)
		if keys := b.tail.judge.Keys(); keys > 40*len(everyKey) {
			t.Fatalf("%d keys of %d kinds", keys, len(everyKey))
		}
	}
	if b.tail.tally.Forgotten == 0 {
		t.Error("none was forgotten")
	}
	b.stop()
}

// Writing checkpoints takes at most a twentieth of the time, by the clock that says when they are due: how busy the machine is on
// which a test runs decides nothing.
func TestSlowCheckpointsAreRare(t *testing.T) {
	const takes = 300 * time.Millisecond
	b := newBench(t, "token:3/10s")
	slow := time.Duration(0) // how far the clock goes on with each look at it
	b.change = func(o *Options) {
		o.Save = time.Second
		o.Now = func() time.Time {
			b.now = b.now.Add(slow)
			return b.now
		}
	}
	b.start()
	defer b.stop()
	save := func() time.Time {
		t.Helper()
		before := b.tail.saves.at
		for range 100 {
			if b.step(100 * time.Millisecond); b.tail.saves.at.After(before) {
				return b.tail.saves.at
			}
		}
		t.Fatal("no checkpoint is written")
		return before
	}
	first := save()
	if passed := save().Sub(first); passed != time.Second {
		t.Errorf("checkpoints that take no time are %v apart, want 1s", passed)
	}
	slow = takes / 2 // it is looked at twice after the beginning
	check(t, b.tail.save())
	if slow = 0; b.tail.saves.took != takes {
		t.Fatalf("a checkpoint takes %v, want %v", b.tail.saves.took, takes)
	}
	b.tail.saves.tried, b.tail.saves.at = b.now, b.now
	slowly := b.now
	if passed := save().Sub(slowly); passed != 20*takes {
		t.Errorf("the one behind it is written after %v, want %v", passed, 20*takes)
	}
}
