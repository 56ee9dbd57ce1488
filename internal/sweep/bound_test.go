package sweep

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// A boundTrial is a small log, and a question about it.
type boundTrial struct {
	options BoundOptions
	batches []*traffic.Batch
}

// drawTrial draws a log of some clients: groups 0 and 1 are protected, 2 is the target, 3 is neither.
// Where it is odd, requests come late, and some only warm limits.
func drawTrial(rng *rand.Rand, clients, requests int, odd bool) *boundTrial {
	tables := traffic.NewTables()
	tables.Agents.ID([]byte("curl/8"))
	for _, action := range []string{"/", "/login"} {
		tables.Actions.ID([]byte(action))
	}
	groups := make([]uint8, clients)
	for i := range groups {
		groups[i] = uint8(rng.IntN(4))
		tables.Clients.ID(fmt.Appendf(nil, "192.0.%d.%d", i/2, i))
	}
	may := [2]int64{rng.Int64N(3) / 2 * 2, rng.Int64N(2)}
	o := BoundOptions{
		Tables: tables, Lateness: ingest.DefaultLateness, Target: 1 << 2,
		Group: func(client int32) uint8 { return groups[client] },
		Goals: []BoundGoal{
			{Who: 1 << 0, MayHit: func(n int64) int64 { return min(n, may[0]) }},
			{Who: 1<<0 | 1<<1, MayHit: func(n int64) int64 { return may[1] }},
		}[:1+rng.IntN(2)],
	}
	if rng.IntN(4) == 0 {
		o.Target = 1<<2 | 1<<0
	}
	if odd {
		o.Lateness = []limit.Time{0, limit.Millisecond, limit.Second, limit.Minute}[rng.IntN(4)]
	}
	trial := &boundTrial{options: o}
	unit := []limit.Time{1, limit.Millisecond, limit.Second, limit.Second}[rng.IntN(4)]
	pauses := []limit.Time{0, 0, 1, 1, 2, 5, 30, 200}[:2+rng.IntN(7)]
	now := limit.Time(rng.IntN(100)) * limit.Second
	for left := requests; left > 0; {
		b := &traffic.Batch{Warm: odd && left == requests && rng.IntN(2) == 0}
		for range 1 + rng.IntN(left) {
			now += pauses[rng.IntN(len(pauses))] * unit
			at := now
			switch {
			case odd && rng.IntN(8) == 0:
				at -= limit.Time(rng.IntN(300)) * unit
			case rng.IntN(30) == 0: // the clock is set back, by more than the lateness as well
				at -= []limit.Time{1, 1, 100, 100_000}[rng.IntN(4)] * unit
			}
			if odd {
				b.Seq = append(b.Seq, now)
			}
			client := int32(float64(clients) * rng.Float64() * rng.Float64())
			b.At, b.Client = append(b.At, at), append(b.Client, client)
			b.Agent, b.Action = append(b.Agent, 0), append(b.Action, uint16(rng.IntN(2)))
			b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
			left--
		}
		trial.batches = append(trial.batches, b)
	}
	if rng.IntN(4) == 0 {
		trial.options.Action = "/login"
		for _, b := range trial.batches {
			for _, action := range b.Action {
				b.Marks = append(b.Marks, uint64(action))
			}
		}
	}
	return trial
}

// String is the log.
func (l *boundTrial) String() string {
	var out strings.Builder
	for _, b := range l.batches {
		fmt.Fprintf(&out, "batch, warm: %v, sequence %v\n", b.Warm, b.Seq)
		for row, client := range b.Client {
			group := l.options.Group(client)
			fmt.Fprintf(&out, "%d  client %d of group %d  action %d\n", b.At[row], client, group, b.Action[row])
		}
	}
	return out.String()
}

// bound returns the bound to be tested.
func (l *boundTrial) bound(exact, remember int64) *BoundResult {
	d := NewBound(l.options)
	d.exact, d.remember = exact, remember
	for more := true; more; more = d.Next() {
		for _, b := range l.batches {
			d.Take(b)
		}
	}
	return d.Result()
}

// clients returns how many clients of some groups there are.
func (l *boundTrial) clients(who uint16) int64 {
	found := map[int32]bool{}
	for _, b := range l.batches {
		for row, client := range b.Client {
			if who>>l.options.Group(client)&1 == 1 && !b.Warm && (b.Marks == nil || b.Marks[row] == 1) {
				found[client] = true
			}
		}
	}
	return int64(len(found))
}

// keeps reports whether the promise is kept where a client is hit if hit says so.
func (l *boundTrial) keeps(hit func(client int32) bool) bool {
	for _, goal := range l.options.Goals {
		n := int64(0)
		for client := range int32(l.options.Tables.Clients.Len()) {
			if goal.Who>>l.options.Group(client)&1 == 1 && hit(client) {
				n++
			}
		}
		if n > goal.MayHit(l.clients(goal.Who)) {
			return false
		}
	}
	return true
}

// replayed has limits judge the log.
func (l *boundTrial) replayed(t *testing.T, texts []string, by request.Key, observer replay.Observer) []replay.PolicyTally {
	policies, err := policy.ParseLimits(texts, by)
	if err != nil {
		t.Fatal(err)
	}
	for i := range policies {
		for j := range policies[i].Parts {
			if l.options.Action != "" {
				policies[i].Parts[j].Match, policies[i].Parts[j].Count = 1, 1
			}
		}
	}
	e := replay.New(replay.Options{
		Tables: l.options.Tables, Policies: policies, Lateness: l.options.Lateness, Observer: observer, Bare: true,
	})
	for _, b := range l.batches {
		if err := e.Judge(b); err != nil {
			t.Fatal(err)
		}
	}
	return e.Result(ingest.Stats{}).Policies
}

// A refusedRows notes, by policy, which requests of the target are refused, by their place in the log.
type refusedRows struct {
	trial *boundTrial
	begin int
	rows  [][]int
}

func (r *refusedRows) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	r.rows = append(r.rows, make([][]int, len(verdicts)-len(r.rows))...)
	for i := range verdicts {
		for _, row := range verdicts[i].Refused {
			if r.trial.options.Target>>r.trial.options.Group(b.Client[row])&1 == 1 && !b.Warm {
				r.rows[i] = append(r.rows[i], r.begin+int(row))
			}
		}
	}
	r.begin += b.Len()
	return nil
}

// On tiny logs, all windows that keep the promise reach the bound, each request by one of them; no bucket refuses
// another request. Where no client may be hit, the windows together reach it.
func TestBoundIsReached(t *testing.T) {
	rng := testneeds.Rand(t, 16, 3)
	const most = 14
	together := 0
	for range 250 {
		trial := drawTrial(rng, 1+rng.IntN(6), 1+rng.IntN(most), false)
		first, last := limit.Never, -limit.Never
		for _, b := range trial.batches {
			first, last = min(first, slices.Min(b.At)), max(last, slices.Max(b.At))
		}
		lengths := []limit.Time{last - first + 1}
		for _, b := range trial.batches {
			for _, at := range b.At { // a rolling window of another length holds as many as one of these
				for _, c := range trial.batches {
					for _, then := range c.At {
						lengths = append(lengths, max(1, at-then+1))
					}
				}
			}
		}
		slices.Sort(lengths)
		var windows, buckets []string
		for _, length := range slices.Compact(lengths) {
			for n := 1; n <= most; n++ {
				windows = append(windows, fmt.Sprintf("window:%d/%s,charge=all", n, limit.FormatPeriod(length)))
			}
			for range 10 {
				count, burst := 1+rng.IntN(9), 1+rng.IntN(9)
				buckets = append(buckets, fmt.Sprintf("token:%d/%s,burst=%d", count, limit.FormatPeriod(length), burst))
			}
		}
		reached, clients, got := map[int]bool{}, map[int32]bool{}, trial.bound(exactUpTo, 1+rng.Int64N(20))
		note := func(texts []string) (keep []string) {
			seen := &refusedRows{trial: trial}
			for i, found := range trial.replayed(t, texts, request.ByClient, seen) {
				if !trial.keeps(func(client int32) bool { _, hit := found.Hits.Find(client); return hit }) {
					continue
				}
				keep = append(keep, texts[i])
				for _, row := range seen.rows[i] {
					reached[row] = true
				}
				for hit := range found.Hits.All() {
					if trial.options.Target>>trial.options.Group(hit.Client)&1 == 1 {
						clients[hit.Client] = true
					}
				}
			}
			return keep
		}
		windows = note(windows)
		want := Reach{int64(len(reached)), int64(len(clients))}
		if got.Most != want || got.Tried != want {
			t.Fatalf("windows reach %+v; the bound is %+v, %+v\n%s", want, got.Most, got.Tried, trial)
		}
		if note(buckets); int64(len(reached)) != want.Requests {
			t.Fatalf("buckets reach %d, windows %d", len(reached), want.Requests)
		}
		if trial.keeps(func(int32) bool { return true }) || len(windows) == 0 || len(windows) > 64 {
			continue
		}
		all := trial.replayed(t, []string{"each:" + strings.Join(windows, "+")}, request.ByClient, nil)[0]
		if trial.keeps(func(client int32) bool { _, hit := all.Hits.Find(client); return hit }) {
			together++
			n := int64(0)
			for hit := range all.Hits.All() {
				if trial.options.Target>>trial.options.Group(hit.Client)&1 == 1 {
					n += hit.Refused
				}
			}
			if n != want.Requests {
				t.Fatalf("together the windows refuse %d of %d", n, want.Requests)
			}
		}
	}
	t.Logf("%d times all windows kept the promise together", together)
}

// Limits may have forgotten a key where a request comes late, and what they refused of warm requests is no harm. Client 0
// is protected, client 1 is the target.
func TestBoundOfOddRequests(t *testing.T) {
	row := func(b *traffic.Batch, client int32, at, seq limit.Time) {
		b.At, b.Seq, b.Client = append(b.At, at*limit.Second), append(b.Seq, seq*limit.Second), append(b.Client, client)
		b.Agent, b.Action = append(b.Agent, 0), append(b.Action, 0)
		b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
	}
	late, warm, cold := new(traffic.Batch), &traffic.Batch{Warm: true}, new(traffic.Batch)
	row(late, 0, 0, 0)
	row(late, 1, 80, 80)
	row(late, 1, 86, 86)
	row(late, 0, 5, 100)
	row(warm, 0, 0, 0)
	row(warm, 0, 5, 5)
	row(cold, 0, 10, 10)
	row(cold, 1, 80, 80)
	row(cold, 1, 86, 86)
	for name, batches := range map[string][]*traffic.Batch{"late": {late}, "warm": {warm, cold}} {
		trial := drawTrial(testneeds.Rand(t, 16, 5), 2, 1, false)
		trial.batches, trial.options.Action, trial.options.Lateness = batches, "", 0
		trial.options.Target = 1 << 2
		trial.options.Goals = []BoundGoal{{Who: 1, MayHit: func(int64) int64 { return 0 }}}
		trial.options.Group = func(client int32) uint8 { return uint8(2 * client) }
		found := trial.replayed(t, []string{"window:1/10s"}, request.ByClient, nil)[0]
		if _, hit := found.Hits.Find(0); hit || found.Refused != 1 {
			t.Errorf("%s: window:1/10s refuses %d; the protected client: %v", name, found.Refused, hit)
		}
		if r := trial.bound(exactUpTo, mostRemembered); r.Most.Requests != 1 {
			t.Errorf("%s: the bound is %d requests, and one limit refuses 1", name, r.Most.Requests)
		}
	}
}

// drawLimits draws windows, buckets, or several of these, that admit about what limits must admit.
func drawLimits(rng *rand.Rand, r *BoundResult) string {
	var parts []string
	for range 1 + rng.IntN(3) {
		length := limit.Time(1 + rng.Int64N(int64([]limit.Time{100, limit.Second, limit.Minute, limit.Hour}[rng.IntN(4)])))
		if n := len(r.Steps); n > 0 && rng.IntN(3) > 0 {
			length = 1 + min(limit.Hour, r.Steps[rng.IntN(n)].Within)
		}
		if rng.IntN(2) == 0 {
			length += limit.Second - 1 - (length-1)%limit.Second
		}
		n := r.Allowed(length)
		switch rng.IntN(4) {
		case 0:
			parts = append(parts, fmt.Sprintf("window:%d/%s", max(1, n+rng.Int64N(3)-1), limit.FormatPeriod(length)))
		case 1:
			n += rng.Int64N(3) - 1
			parts = append(parts, fmt.Sprintf("window:%d/%s,charge=all", max(1, n), limit.FormatPeriod(length)))
		default:
			burst := 1 + rng.Int64N(n+1)
			count := max(1, n-burst+rng.Int64N(3))
			bucket := fmt.Sprintf("token:%d/%s,burst=%d", count, limit.FormatPeriod(length), burst)
			parts = append(parts, bucket+[]string{"", ",debt"}[rng.IntN(2)])
		}
	}
	return strings.Join(parts, "+")
}

// boundKeys are some that belong to a client each, most of all clients themselves, and some that are shared.
var boundKeys = []request.Key{
	request.ByClient, request.ByClient, request.ByClient, request.ByClient,
	request.ByClientAction, request.ByClient24, request.BySite, request.ByClientAgentAction, request.ByClient24Action,
}

// Whatever windows, buckets, and combinations of them keep the promise, none targets more than the bound.
func TestBoundIsNeverBeaten(t *testing.T) {
	rng := testneeds.Rand(t, 16, 4)
	const logs, sets = 1000, 100
	kept, equal, gaps := 0, 0, 0
	for range logs {
		trial := drawTrial(rng, 1+rng.IntN(10), 1+rng.IntN(80), rng.IntN(4) == 0)
		trial.options.By = boundKeys[rng.IntN(len(boundKeys))]
		r := trial.bound([]int64{4, 8, exactUpTo}[rng.IntN(3)], 1+rng.Int64N(300))
		if r.Tried != r.Most {
			gaps++
		}
		var texts []string
		for range sets {
			texts = append(texts, drawLimits(rng, r))
		}
		policies := trial.replayed(t, texts, trial.options.By, nil)
		for i := range policies {
			var reach Reach
			for hit := range policies[i].Hits.All() {
				if trial.options.Target>>trial.options.Group(hit.Client)&1 == 1 {
					reach.Clients++
					reach.Requests += hit.Refused
				}
			}
			if !trial.keeps(func(client int32) bool { _, hit := policies[i].Hits.Find(client); return hit }) {
				continue
			}
			if kept++; reach == r.Most && reach.Requests > 0 {
				equal++
			}
			if reach.Requests > r.Most.Requests || reach.Clients > r.Most.Clients || reach.Requests > r.Of.Requests {
				t.Fatalf("%s by %s, lateness %d, action %q targets %+v of %+v; the bound is %+v\n%s",
					policies[i].Policy.Name, trial.options.By, trial.options.Lateness, trial.options.Action, reach, r.Of, r.Most, trial)
			}
		}
	}
	t.Logf("of %d sets, %d keep the promise, %d reach the bound; %d logs have gaps", logs*sets, kept, equal, gaps)
	if kept < logs*sets/5 || equal < kept/20 || gaps < logs/50 {
		t.Error("the test shows little")
	}
}

// Bounds for several keys are those of each of them, also where it is known before how much each client sent.
func TestBoundsOfKeys(t *testing.T) {
	rng := testneeds.Rand(t, 16, 3)
	for range 300 {
		trial := drawTrial(rng, 1+rng.IntN(12), 1+rng.IntN(150), rng.IntN(2) == 0)
		together, known := NewBounds(trial.options, boundKeys), NewBounds(trial.options, boundKeys)
		sent := map[int32]int64{}
		for i, more := 0, true; more; i++ {
			for _, b := range trial.batches {
				together.Take(b)
				if i > 0 {
					known.Take(b)
					continue
				}
				for row, client := range b.Client {
					if !b.Warm && (b.Marks == nil || b.Marks[row] == 1) {
						sent[client]++
					}
				}
			}
			if i == 0 {
				known.Sent(trial.options.Tables.Clients.Len(), func(client int32) int64 { return sent[client] })
			}
			if more = together.Next(); known.Next() != more {
				t.Fatalf("pass %d is the last one of some", i)
			}
		}
		for i, by := range boundKeys {
			trial.options.By = by
			want := trial.bound(exactUpTo, 1+rng.Int64N(100))
			for _, all := range []*Bounds{together, known} {
				if got := all.Results()[i]; !reflect.DeepEqual(got, want) {
					t.Fatalf("by %s: %+v, alone %+v\n%s", by, got, want, trial)
				}
			}
		}
	}
}

// What keys put together alike is looked at once, in as many passes as it takes, and bounds are those of each key.
func TestBoundsInCommon(t *testing.T) {
	rng := testneeds.Rand(t, 17, 2)
	keys := []request.Key{
		request.ByUser, request.ByClient24, request.ByClientAgent, request.ByUserAction, request.ByClient24Action, request.BySite,
		request.ByClientAgentAction, request.ByClient, request.ByClientAction,
	}
	shared, others := 0, 0
	for range 300 {
		trial := drawTrial(rng, 1+rng.IntN(12), 1+rng.IntN(150), rng.IntN(2) == 0)
		tables := trial.options.Tables
		tables.Agents.ID([]byte("wget/1"))
		trial.batches = slices.DeleteFunc(trial.batches, func(b *traffic.Batch) bool { return b.Warm }) // these never count here
		for _, b := range trial.batches {
			for row, client := range b.Client {
				b.Agent[row] = uint16(rng.IntN(1 + int(client)%3/2))
				b.User = append(b.User, tables.Users.ID(fmt.Append(nil, client/8)))
				if client%4 != 0 {
					b.User[row] = traffic.NoUser
				}
			}
		}
		survey := NewKeys(KeysOptions{Tables: tables, Lateness: trial.options.Lateness, Action: trial.options.Action})
		for _, b := range trial.batches {
			survey.Take(b)
		}
		some := keys[:len(keys)-rng.IntN(3)]
		bounds := NewBounds(trial.options, some)
		survey.Again(some, nil).Join(bounds)
		bounds.all[0].remember = 1 + rng.Int64N(100)
		sent := survey.Result(ingest.Stats{}).ByClient
		bounds.Sent(sent.Len(), func(client int32) int64 { return sent.At(client).Requests() })
		for bounds.Next() {
			pass := survey.Again(some, nil)
			pass.Share(bounds)
			for _, b := range trial.batches {
				pass.Take(b)
			}
		}
		for i, got := range bounds.Results() {
			trial.options.By = some[i]
			if want := trial.bound(exactUpTo, 1+rng.Int64N(100)); !reflect.DeepEqual(got, want) {
				t.Fatalf("by %s: %+v, alone %+v\n%s", some[i], got, want, trial)
			}
			if base := bounds.all[i].base; base != nil && base.result.Most.Requests > 0 {
				shared++
				others += min(1, int(bounds.all[i].result.Most.Requests))
			}
		}
	}
	if shared < 300 || others < 100 {
		t.Errorf("%d keys share requests of the target, of these %d have others", shared, others)
	}
}
