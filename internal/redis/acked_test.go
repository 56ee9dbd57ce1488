//go:build !nostore

package redis

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// What this host remembers goes to Redis where that has missed something, in rounds that are soon answered, and once.

// A forgetful is a host that can be made to decide alone, and looks at what that costs Redis later.
type forgetful struct {
	*host
	redis   *Conn
	alone   bool
	flushes int // after which it is alone, in the batch at hand; 0: never
	trips   []RoundTrip
	all     []sent
}

func newForgetful(t *testing.T, text string) *forgetful {
	t.Helper()
	f := &forgetful{redis: startServer(t).open("h")}
	f.host = newHost(t, f.redis, limits(t, request.ByClient, text), func(o *SharedLimiterOptions) {
		o.Behind = f.behind
		o.Watch = func(trip RoundTrip) { f.trips = append(f.trips, trip) }
	})
	return f
}

func (f *forgetful) behind() bool {
	if f.flushes > 0 {
		f.flushes--
		return f.flushes == 0
	}
	return f.alone
}

// send has each of some clients send requests, a millisecond apart, in one batch, and returns how many bytes that was to Redis.
func (f *forgetful) send(clients, each int, after limit.Time) int {
	f.t.Helper()
	at := 1_700_000_000 * limit.Second
	if n := len(f.all); n > 0 {
		at = f.all[n-1].at
	}
	at += after
	var batch []int
	for range each {
		for c := range clients {
			at += limit.Millisecond
			batch = append(batch, len(f.all))
			f.all = append(f.all, sent{at: at, place: at, client: c})
		}
	}
	before := f.received()
	f.judge(f.all, batch)
	return f.received() - before
}

// received returns how many bytes the server has ever received.
func (f *forgetful) received() int {
	f.t.Helper()
	info, err := f.redis.client.Info(context.Background(), "stats").Result()
	if err != nil {
		f.t.Fatal(err)
	}
	n, err := strconv.Atoi(fieldsOf(info)["total_net_input_bytes"])
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// counted returns how many requests of a client are in its window.
func (f *forgetful) counted(text string, client int) int {
	f.t.Helper()
	key := fmt.Sprintf("shadow:{%s/%s/client/10.0.0.%d}", text, text, client)
	kept, err := f.redis.client.HMGet(context.Background(), key, "level", "extra").Result()
	if err != nil {
		f.t.Fatal(err)
	}
	level, _ := strconv.Atoi(fmt.Sprint(kept[0]))
	extra, _ := strconv.Atoi(fmt.Sprint(kept[1]))
	return level - extra
}

// record returns how many bytes Redis keeps of the answers to this host for the first client.
func (f *forgetful) record(text string) int64 {
	f.t.Helper()
	key := fmt.Sprintf("shadow:{%s/%s/client/10.0.0.0}", text, text)
	n, err := f.redis.client.Do(context.Background(), "HSTRLEN", key, "@h").Int64()
	if err != nil || n == 0 {
		f.t.Fatalf("%d bytes: %v", n, err)
	}
	return n
}

// However much is remembered, Redis is not kept busy for longer than a batch may take.
func TestMuchToRemember(t *testing.T) {
	const text, clients, each = "window:10000/24h", 60, 3000
	f := newForgetful(t, text)
	f.alone = true
	f.send(clients, each, 0)
	f.alone = false
	for range 3 {
		before := len(f.trips)
		f.send(clients, 1, 0)
		if n := len(f.trips) - before; n > 1+mostInBatch/each/2 {
			t.Errorf("a batch waited for %d round trips", n)
		}
	}
	var longest time.Duration
	for _, trip := range f.trips {
		if longest = max(longest, trip.Took); trip.Err != nil {
			t.Error(trip.Err)
		}
	}
	if len(f.trips) < clients*each/mostAtOnce {
		t.Errorf("%d times remembered came in %d round trips", clients*each, len(f.trips))
	}
	for client := range clients {
		if n := f.counted(text, client); n != each+3 {
			t.Fatalf("Redis has counted %d requests of client %d, want %d", n, client, each+3)
		}
	}
	t.Logf("%d round trips, of which the longest took %v", len(f.trips), longest.Round(time.Millisecond))
}

// Who was answered has not to tell all again because others were not.
func TestRemembersOnce(t *testing.T) {
	const text, clients, each = "window:10000/24h", 60, 500
	f := newForgetful(t, text)
	f.alone = true
	f.send(clients, each, 0)
	f.alone, f.flushes = false, 4 // that is asked once before the batch, and before each round
	first := f.send(clients, 1, 0)
	if len(f.trips) != 2 {
		t.Fatalf("%d round trips, want 2", len(f.trips))
	}
	second, third := f.send(clients, 1, 0), f.send(clients, 1, 0)
	if all := clients * each; first < all || second < all || second > first || third > all*2/3 {
		t.Errorf("sent %d bytes at first, then the rest in %d, and then %d", first, second, third)
	}
	for client := range clients {
		if n := f.counted(text, client); n != each+3 {
			t.Fatalf("Redis has counted %d requests of client %d, want %d", n, client, each+3)
		}
	}
}

// A single key may remember more than should go to Redis at once: it then goes on from what it has.
func TestTooMuchToRemember(t *testing.T) {
	const text = "window:100000/24h"
	f := newForgetful(t, text)
	f.send(1, 1, 0)
	f.alone = true
	f.send(1, 2*mostOfOne, 0)
	f.alone = false
	if sent := f.send(1, 1, 0); sent > mostOfOne {
		t.Errorf("sent %d bytes", sent)
	}
	if n := f.counted(text, 0); n != 2 {
		t.Errorf("Redis has counted %d requests, want 2", n)
	}
}

// Other tables are no reason to tell Redis what it knows, and none to keep from it what it does not.
func TestFollowsOtherTables(t *testing.T) {
	const text, clients, each = "window:1000/30s", 20, 900
	f := newForgetful(t, text)
	f.send(clients, each, 0)
	f.send(clients, 1, 30*limit.Second)
	f.send(clients, each, 0)
	f.limiter.Follow(f.tables)
	if sent := f.send(clients, 1, 0); sent > clients*each {
		t.Errorf("though Redis has missed nothing, %d bytes were sent", sent)
	}
	f.alone = true
	f.send(clients, 50, 0)
	f.alone = false
	f.limiter.Follow(f.tables)
	f.send(clients, 1, 0)
	if n := f.counted(text, 3); n != each+1+1+50+1 {
		t.Errorf("Redis has counted %d requests, want %d", n, each+1+1+50+1)
	}
}

// What an Engine remembers from before it had a Redis comes along, also to other tables.
func TestRemembersFromBefore(t *testing.T) {
	const text = "window:10/24h"
	alone := newHost(t, nil, limits(t, request.ByClient, text))
	f := newForgetful(t, text)
	for i := range 10 {
		at := 1_700_000_000*limit.Second + limit.Time(i)
		f.all = append(f.all, sent{at: at, place: at, client: 1})
	}
	alone.judge(f.all, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	var body bytes.Buffer
	to := traffic.NewEncoder(alone.tables, &body)
	alone.engine.Save(to)
	actions, err := match.NewActions(nil, f.tables.Actions)
	if err == nil {
		err = to.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	f.engine.Restore(traffic.NewDecoder(body.Bytes(), f.tables, actions.Named))
	f.send(1, 1, 0) // another client
	f.limiter.Follow(f.tables)
	f.send(2, 1, 0)
	if n := f.counted(text, 1); n != 10 || len(f.refused) != 1 {
		t.Errorf("Redis has counted %d requests and refused %d, want 10 and 1", n, len(f.refused))
	}
}

// A host that never saves where it is never asks again: of a key only its latest answers are kept, however long.
func TestAnswersAreNotKeptForNobody(t *testing.T) {
	f := newForgetful(t, "token:500/1s,burst=1") // refuses every other request
	record := func() int64 {
		f.send(1, 1000, 0)
		return f.record("token:500/1s,burst=1")
	}
	want := record()
	f.limiter.numbers.judged = mostKept
	for range 5 {
		if n := record(); n > want+want/4 {
			t.Errorf("the record has %d bytes, and had %d", n, want)
		}
	}
}

// Of a client that is refused all the time little has to be kept, though the host may ask for all of it again.
func TestAnswersInRuns(t *testing.T) {
	const text = "token:6/30s"
	f := newForgetful(t, text)
	f.limiter.Kept()
	for range 5 {
		f.send(1, 1000, 0)
	}
	if n := f.record(text); n > 200 {
		t.Errorf("the record has %d bytes", n)
	}
}
