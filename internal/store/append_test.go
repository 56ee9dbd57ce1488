//go:build !nostore

package store

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// A grown run is what batches have added up to, counted the slow and obvious way.
type grown struct {
	lines, requests, unreadable, late int64
	refused, saved                    []int64
	degraded                          []replay.Degraded
	inputs                            map[string][3]int64
	faults                            []string
	clients                           map[string]*grownClient
	actions                           map[string]int64
	events                            map[string]int64 // by all that they show
	hits                              map[string]int64 // by policy and client
	minutes                           []map[limit.Time]int64
}

type grownClient struct {
	byClass [request.ClassCount]int64
	agent   string
}

func newGrown(policies int) *grown {
	g := &grown{
		refused: make([]int64, policies), saved: make([]int64, policies), degraded: make([]replay.Degraded, policies), clients: map[string]*grownClient{},
		actions: map[string]int64{}, events: map[string]int64{}, hits: map[string]int64{}, inputs: map[string][3]int64{},
	}
	for range policies {
		g.minutes = append(g.minutes, map[limit.Time]int64{})
	}
	return g
}

var batchDay = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// madeBatch makes up a batch, and counts it in g.
func madeBatch(rng *rand.Rand, number uint64, policies int, g *grown) *replay.Addition {
	a := &replay.Addition{
		Tail: "tail's", Number: number, Made: batchDay.Add(time.Duration(number) * time.Second), Resolution: limit.Second,
		Counts: ingest.Counts{Unreadable: rng.Int64N(3), Late: rng.Int64N(3)}, Did: make([]replay.PolicyCounts, policies),
	}
	for i := range policies {
		a.Did[i].Degraded.Requests = rng.Int64N(3)
		g.degraded[i].Requests += a.Did[i].Degraded.Requests
		a.Policies = append(a.Policies, replay.PolicyText{Name: fmt.Sprint("p", i, names[i]), By: "client", Combine: "each", Parts: []replay.PartText{{By: "client", Text: "x"}}})
	}
	for i := range 3 {
		a.Agents = append(a.Agents, replay.AgentPart{Name: names[rng.IntN(len(names))] + fmt.Sprint(i), Class: "tool"})
	}
	for range rng.IntN(20) {
		c := replay.ClientPart{Name: fmt.Sprint(names[rng.IntN(len(names))], rng.IntN(3)), Agent: int32(rng.IntN(3))}
		c.ByClass[rng.IntN(5)] = 1 + rng.Int64N(3)
		a.Clients = append(a.Clients, c)
		a.Requests += sum(c.ByClass)
		g.client(c.Name).add(c, a.Agents[c.Agent].Name)
	}
	for i := range 2 {
		a.Actions = append(a.Actions, replay.ActionPart{Name: names[rng.IntN(len(names))], Requests: int64(i) + 1})
		g.actions[a.Actions[i].Name] += int64(i) + 1
	}
	a.Lines = a.Requests + a.Unreadable
	madeInputs(rng, a, g)
	madeEvents(rng, a, g)
	g.lines, g.requests, g.unreadable, g.late = g.lines+a.Lines, g.requests+a.Requests, g.unreadable+a.Unreadable, g.late+a.Late
	return a
}

func madeInputs(rng *rand.Rand, a *replay.Addition, g *grown) {
	for i := range rng.IntN(4) {
		in := replay.InputPart{Name: names[rng.IntN(5)] + fmt.Sprint(i), Format: "combined", FormatText: "%h", Lines: 5, Parsed: 3, Unreadable: rng.Int64N(3)}
		a.Inputs = append(a.Inputs, in)
		sum := g.inputs[duck.EncodeText(in.Name)]
		g.inputs[duck.EncodeText(in.Name)] = [3]int64{sum[0] + in.Lines, sum[1] + in.Parsed, sum[2] + in.Unreadable}
		for range in.Unreadable {
			f := replay.FaultPart{Input: in.Name, Column: len(g.faults) + 1, Reason: "no time stamp", Text: names[rng.IntN(len(names))]}
			a.Faults = append(a.Faults, f)
			g.faults = append(g.faults, fmt.Sprint(duck.EncodeText(f.Input), " ", f.Column, " no time stamp ", duck.EncodeText(f.Text)))
		}
	}
}

func madeEvents(rng *rand.Rand, a *replay.Addition, g *grown) {
	if len(a.Clients) == 0 {
		return
	}
	a.First, a.Last = dayOne, dayOne+limit.Hour
	var sets replay.Sets
	for range rng.IntN(4 << rng.IntN(5)) {
		var set []replay.Refuser
		for p := range a.Policies {
			if rng.IntN(2) == 0 {
				set = append(set, replay.Refuser{Policy: int32(p), Degraded: rng.IntN(3) == 0})
			}
		}
		if set == nil {
			continue
		}
		e := replay.Event{
			Client: int32(rng.IntN(len(a.Clients))), Action: int32(rng.IntN(2)), Status: 200, Count: 1,
			At: dayOne + limit.Time(rng.IntN(20))*20*limit.Second, Set: sets.ID(set),
		}
		a.Events = append(a.Events, e)
		client := a.Clients[e.Client].Name
		for _, r := range set {
			if r.Degraded {
				a.Did[r.Policy].Degraded.Refused++
				g.degraded[r.Policy].Refused++
			}
			a.Did[r.Policy].Refused++
			a.Did[r.Policy].BytesSaved += 100
			g.refused[r.Policy]++
			g.saved[r.Policy] += 100
			g.events[fmt.Sprint(r.Policy, " ", duck.EncodeText(client), " ", duck.EncodeText(a.Actions[e.Action].Name), " ", int64(e.At), " ", r.Degraded)]++
			g.hits[fmt.Sprint(r.Policy, " ", duck.EncodeText(client))]++
			g.minutes[r.Policy][e.At/limit.Minute*limit.Minute]++
		}
	}
	a.Sets = sets.All
}

func sum(n [request.ClassCount]int64) (all int64) {
	for _, v := range n {
		all += v
	}
	return all
}

func (g *grown) client(name string) *grownClient {
	if g.clients[name] == nil {
		g.clients[name] = new(grownClient)
	}
	return g.clients[name]
}

func (c *grownClient) add(part replay.ClientPart, agent string) {
	for i, n := range part.ByClass {
		c.byClass[i] += n
	}
	c.agent = agent
}

// worst is the minute with most refusals, of several the first.
func (g *grown) worst(policy int) (worst limit.Time, most int64) {
	for minute, n := range g.minutes[policy] {
		if n > most || n == most && minute < worst {
			worst, most = minute, n
		}
	}
	return worst, most
}

// check holds a run of a database against what was counted.
func (g *grown) check(t *testing.T, path string, run int) {
	t.Helper()
	where := fmt.Sprintf(" WHERE run = %d", run)
	want := [][]any{{g.lines, g.requests, g.unreadable, g.late}}
	if got := mustAsk(t, path, "SELECT lines, requests, unreadable, late FROM runs"+where); !reflect.DeepEqual(got, want) {
		t.Errorf("lines, requests, unreadable, late: %v, want %v", got, want)
	}
	for i := range g.refused {
		minute, most := g.worst(i)
		hit := 0
		for key := range g.hits {
			if strings.HasPrefix(key, fmt.Sprint(i, " ")) {
				hit++
			}
		}
		got := mustAsk(t, path, fmt.Sprintf("SELECT requests, refused, degraded, degraded_refused, bytes_saved, clients_hit, coalesce(epoch_us(worst_minute), 0), worst_minute_refused FROM policies%s AND policy = %d", where, i))
		if want := [][]any{{g.requests, g.refused[i], g.degraded[i].Requests, g.degraded[i].Refused, g.saved[i], int64(hit), int64(minute), most}}; !reflect.DeepEqual(got, want) {
			t.Errorf("policy %d: %v, want %v", i, got, want)
		}
	}
	var clients, actions, inputs, faults [][]any
	for name, n := range g.inputs {
		inputs = append(inputs, []any{name, "combined", "%h", n[0], n[1], n[2], nil})
	}
	for _, text := range g.faults[:min(len(g.faults), 10)] {
		faults = append(faults, []any{text})
	}
	same(t, "inputs", mustAsk(t, path, "SELECT name, format, format_text, lines, parsed, unreadable, size FROM inputs"+where), inputs)
	same(t, "ids of inputs", mustAsk(t, path, "SELECT count(DISTINCT input), coalesce(max(input) + 1, 0)::BIGINT FROM inputs"+where),
		[][]any{{int64(len(inputs)), int64(len(inputs))}})
	same(t, "faults", mustAsk(t, path, "SELECT concat(input, ' ', col, ' ', reason, ' ', text) FROM unreadable_lines"+where+" AND line IS NULL"), faults)
	for name, c := range g.clients {
		tally := traffic.ClientTally{ByClass: c.byClass}
		clients = append(clients, []any{duck.EncodeText(name), duck.EncodeText(c.agent), tally.Class().String(), sum(c.byClass)})
	}
	for name, n := range g.actions {
		actions = append(actions, []any{duck.EncodeText(name), n})
	}
	same(t, "clients", mustAsk(t, path, "SELECT c.name, a.name, c.class, c.requests FROM clients c JOIN agents a USING (run, agent)"+where), clients)
	same(t, "actions", mustAsk(t, path, "SELECT name, requests FROM actions"+where), actions)
	same(t, "events", mustAsk(t, path, `SELECT concat(policy, ' ', c.name, ' ', a.name, ' ', epoch_us(time), ' ', degraded), sum(count)::BIGINT FROM events
		JOIN clients c USING (run, client) JOIN actions a USING (run, action)`+where+" GROUP BY ALL"), pairs(g.events))
	same(t, "hits", mustAsk(t, path, "SELECT concat(policy, ' ', name), refused FROM client_tallies JOIN clients USING (run, client)"+where), pairs(g.hits))
}

func pairs(m map[string]int64) (rows [][]any) {
	for key, n := range m {
		rows = append(rows, []any{key, n})
	}
	return rows
}

func same(t *testing.T, what string, got, want [][]any) {
	t.Helper()
	for _, rows := range [][][]any{got, want} {
		slices.SortFunc(rows, func(x, y []any) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	}
	if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// appendTo hands batches over as a tail does.
func appendTo(t *testing.T, path string, batches ...*replay.Addition) (known int) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	known, err = s.Append(context.Background(), info, batches)
	if err != nil {
		t.Fatal(err)
	}
	check(t, s.Close())
	return known
}

// However many batches come at once, and some of them again, the run is what they add up to.
func TestAppend(t *testing.T) {
	for seed := range uint64(3) {
		rng := testneeds.Rand(t, seed, 1)
		path, g := dbPath(t), newGrown(3)
		var batches []*replay.Addition
		for len(batches) < 60 { // more than two groups of pieces
			done := len(batches)
			for range min(1+rng.IntN(3), 60-done) {
				batches = append(batches, madeBatch(rng, uint64(len(batches)+1), 3, g))
			}
			again := rng.IntN(min(done, 3) + 1)
			if known := appendTo(t, path, batches[done-again:]...); known != again {
				t.Errorf("%d batches were known, want %d", known, again)
			}
			g.check(t, path, 1)
		}
		if got := mustAsk(t, path, "SELECT count(*), min(batch), any_value(r.run) FROM tails t JOIN runs r USING (run)"); !reflect.DeepEqual(got, [][]any{{int64(1), int64(60), int64(1)}}) {
			t.Errorf("tails: %v", got)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Of lines that come late, the first and the last refusal are still those by time, whichever batch tells of them.
func TestAppendLateRefusals(t *testing.T) {
	path := dbPath(t)
	first, last := limit.Time(100), limit.Time(100)
	for i, at := range []limit.Time{100, 50, 200, 150} {
		first, last = min(first, at), max(last, at)
		a := &replay.Addition{
			Tail: "tail's", Number: uint64(i + 1), Made: batchDay, Resolution: limit.Second, Counts: ingest.Counts{Lines: 1}, Requests: 1,
			First: dayOne + at, Last: dayOne + at, Did: []replay.PolicyCounts{{Refused: 1}},
			Policies: []replay.PolicyText{{Name: "p", By: "client", Combine: "each", Parts: []replay.PartText{{By: "client", Text: "x"}}}},
			Agents:   []replay.AgentPart{{Name: "curl", Class: "tool"}},
			Clients:  []replay.ClientPart{{Name: "192.0.2.7", ByClass: [request.ClassCount]int64{request.Tool: 1}}},
			Actions:  []replay.ActionPart{{Name: "/", Requests: 1}},
			Events:   []replay.Event{{At: dayOne + at, Count: 1}}, Sets: [][]replay.Refuser{{{Policy: 0}}},
		}
		appendTo(t, path, a)
		got := mustAsk(t, path, "SELECT refused, epoch_us(first_refused), epoch_us(last_refused) FROM client_tallies")
		if want := [][]any{{int64(i + 1), int64(dayOne + first), int64(dayOne + last)}}; !reflect.DeepEqual(got, want) {
			t.Errorf("after a refusal at %d: %v, want %v", at, got, want)
		}
	}
}

// Another day, other policies, and a run that was deleted: each begins a run, also in the middle of what is handed over.
func TestAppendBeginsRuns(t *testing.T) {
	rng := testneeds.Rand(t, 1, 2)
	path := dbPath(t)
	grown := []*grown{newGrown(2), newGrown(2), newGrown(3), newGrown(3)}
	var batches []*replay.Addition
	add := func(run, policies int, made time.Time) {
		a := madeBatch(rng, uint64(len(batches)+1), policies, grown[run])
		a.Made = made
		batches = append(batches, a)
	}
	add(0, 2, batchDay)
	add(0, 2, batchDay.Add(15*time.Hour+59*time.Minute))
	add(1, 2, batchDay.Add(16*time.Hour))
	add(2, 3, batchDay.Add(17*time.Hour))
	appendTo(t, path, batches...)
	s := openStore(t, path)
	if _, err := s.Delete(context.Background(), []int32{3}); err != nil {
		t.Fatal(err)
	}
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info) // does not take the number, as something of that run is kept
	if known := appendTo(t, path, batches[3]); known != 1 {
		t.Error("a batch came back with the run that was deleted")
	}
	add(3, 3, batchDay.Add(18*time.Hour))
	appendTo(t, path, batches[4])
	grown[0].check(t, path, 1)
	grown[1].check(t, path, 2)
	grown[3].check(t, path, 5)
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 4 {
		t.Errorf("%d runs", n)
	}
}

// A clock that is set back over midnight, as by a server of time, does not break runs into pieces; one that was wrong by days begins another.
func TestAppendClockSetBack(t *testing.T) {
	rng := testneeds.Rand(t, 1, 6)
	midnight := dayOf(batchDay).Add(24 * time.Hour)
	path := dbPath(t)
	runs := []*grown{newGrown(2), newGrown(2), newGrown(2)}
	var batches []*replay.Addition
	for i, c := range []struct {
		run  int
		made time.Time
	}{
		{0, midnight.Add(-time.Second)},
		{1, midnight},
		{1, midnight.Add(-2 * time.Second)},
		{1, midnight.Add(-time.Second)},
		{1, midnight.Add(time.Second)},
		{2, midnight.Add(-48 * time.Hour)},
		{2, midnight.Add(-48*time.Hour - time.Minute)},
	} {
		a := madeBatch(rng, uint64(i+1), 2, runs[c.run])
		a.Made = c.made
		batches = append(batches, a)
	}
	appendTo(t, path, batches[:3]...)
	appendTo(t, path, batches[3])
	appendTo(t, path, batches[4:]...)
	for i, g := range runs {
		g.check(t, path, i+1)
	}
	if got := mustAsk(t, path, "SELECT epoch_us(started), epoch_us(finished) FROM runs WHERE run = 2"); !reflect.DeepEqual(got, [][]any{{midnight.UnixMicro(), midnight.Add(time.Second).UnixMicro()}}) {
		t.Errorf("%v", got)
	}
}

// Batches that never come are missed, where others of their tail have come.
func TestAppendMisses(t *testing.T) {
	rng := testneeds.Rand(t, 1, 7)
	path, other := dbPath(t), dbPath(t)
	var batches []*replay.Addition
	for n := range uint64(12) {
		batches = append(batches, madeBatch(rng, n+1, 2, newGrown(2)))
	}
	appendTo(t, other, batches[5:7]...) // into another file from here on
	appendTo(t, path, batches[:3]...)
	appendTo(t, path, batches[4], batches[5], batches[8])
	appendTo(t, path, batches[8], batches[9])
	appendTo(t, path, batches[11])
	if n := askNumber(t, other, "SELECT count(*) FROM warnings"); n != 0 {
		t.Errorf("%d warnings where nothing is missing", n)
	}
	l := mustLoad(t, path, 1)
	if len(l.Warnings) != 2 || !strings.Contains(l.Warnings[0], " batch 4, 7–8 never came") || !strings.Contains(l.Warnings[1], " batch 11 never came") {
		t.Errorf("%q", l.Warnings)
	}
}

// Two tails share a database, and do not know of each other.
func TestAppendTwoTails(t *testing.T) {
	rng := testneeds.Rand(t, 1, 3)
	path := dbPath(t)
	a, b := newGrown(2), newGrown(2)
	for n := range uint64(3) {
		mine, other := madeBatch(rng, n+1, 2, a), madeBatch(rng, n+1, 2, b)
		other.Tail = "other"
		appendTo(t, path, mine, other)
	}
	a.check(t, path, 1)
	b.check(t, path, 2)
}

// A batch that contradicts itself is refused, and leaves no trace.
func TestAppendRefuses(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	before := fingerprint(t, path)
	for name, spoil := range map[string]func(a *replay.Addition){
		"without a number": func(a *replay.Addition) { a.Number = 0 },
		"tallies":          func(a *replay.Addition) { a.Did = nil },
		"other policies":   func(a *replay.Addition) { a.Did = a.Did[:1] },
		"agent 9":          func(a *replay.Addition) { a.Clients[0].Agent = 9 },
		"policies 77":      func(a *replay.Addition) { a.Events[0].Set = 77 },
		"policies [{9":     func(a *replay.Addition) { a.Sets[0] = []replay.Refuser{{Policy: 9}} },
		"client -1":        func(a *replay.Addition) { a.Events[0].Client = -1 },
		"outside":          func(a *replay.Addition) { a.Events[0].At = 1<<63 - 1 },
	} {
		rng := testneeds.Rand(t, 1, 4)
		a := madeBatch(rng, 1, 2, newGrown(2))
		for len(a.Clients) == 0 || len(a.Events) == 0 { // what is spoiled has to be there
			a = madeBatch(rng, 1, 2, newGrown(2))
		}
		spoil(a)
		s := openStore(t, path)
		_, err := s.Append(context.Background(), info, []*replay.Addition{a})
		wantError(t, err, name)
	}
	if after := fingerprint(t, path); after != before {
		t.Errorf("%s\nand was\n%s", after, before)
	}
}

// A database that is gathered from others has a tail's run as it was when it was last merged, and under the same number.
func TestMergeGrownRun(t *testing.T) {
	rng := testneeds.Rand(t, 1, 5)
	path, all, g := dbPath(t), dbPath(t), newGrown(2)
	storeRun(t, all, makeRun(t, 1, 2, 10, 100), info)
	merge := func(want Merged) {
		t.Helper()
		s := openStore(t, all)
		got, err := s.Merge(context.Background(), path)
		if err != nil || !reflect.DeepEqual(got[0].Runs, want.Runs) || !reflect.DeepEqual(got[0].Known, want.Known) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	taken, had := map[int32]int32{1: 2}, map[int32]int32{}
	for n := range uint64(3) {
		a := madeBatch(rng, n+1, 2, g)
		if a.Lines++; n == 2 { // something to grow by, at a time that was before
			a.Made = a.Made.Add(-2 * time.Second)
		}
		g.lines++
		appendTo(t, path, a)
		merge(Merged{Runs: taken, Known: had})
		g.check(t, all, 2)
		merge(Merged{Runs: had, Known: taken})
	}
	g.check(t, all, 2)
	if n := askNumber(t, all, "SELECT count(*) FROM runs"); n != 2 {
		t.Errorf("%d runs", n)
	}
}
