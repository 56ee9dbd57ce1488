package replay_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/network"
	"shadow/limit"
	"shadow/replay"
)

// A line is one request of a hand-made log.
type line struct {
	at     limit.Time
	place  limit.Time // when it was let in, if it came too late; 0: at
	client string
	user   string // "": none
	action string
	agent  string
	status uint16
	bytes  int64
	tokens string     // "": none
	spent  limit.Time // by upstreams
	took   limit.Time // from the beginning to the end
	source uint32
	marks  uint64
	warm   bool
}

// A bench feeds hand-made lines to an engine, and holds what comes out.
type bench struct {
	t      testing.TB
	tables *traffic.Tables
	engine *replay.Engine
	events []event
}

// An event is one of one policy.
type event struct {
	policy   int32
	degraded bool
	replay.Event
}

// Write implements replay.Sink.
func (b *bench) Write(events []replay.Event, sets *replay.Sets) error {
	for _, e := range events {
		for _, r := range sets.All[e.Set] {
			b.events = append(b.events, event{r.Policy, r.Degraded, e})
		}
	}
	return nil
}

// newBench makes an engine for limits that count by the given key; all policies have events.
func newBench(t testing.TB, lateness limit.Time, by request.Key, limits ...string) *bench {
	policies, err := policy.ParseLimits(limits, by)
	check(t, err)
	return newBenchOf(t, lateness, policies)
}

func newBenchOf(t testing.TB, lateness limit.Time, policies []policy.Policy) *bench {
	b := &bench{t: t, tables: traffic.NewTables()}
	b.tables.Owners = owners()
	b.tables.Parts = []request.Part{{Kind: request.PartSegment, N: 2}, {Kind: request.PartField, Name: "session"}, {Kind: request.PartField, Name: "tokens", Number: true}}
	b.engine = replay.New(replay.Options{
		Tables: b.tables, Policies: policies, Lateness: lateness, Sink: b, EventPolicies: len(policies),
	})
	return b
}

// batch makes a batch of lines, which must all be warm or none.
func (b *bench) batch(lines []line) *traffic.Batch {
	out := new(traffic.Batch)
	late := false
	for _, l := range lines {
		out.At = append(out.At, l.at)
		out.Client = append(out.Client, b.tables.Clients.ID([]byte(l.client)))
		out.Agent = append(out.Agent, uint16(b.tables.Agents.ID([]byte(l.agent))))
		out.Action = append(out.Action, uint16(b.tables.Actions.ID([]byte(l.action))))
		out.Host = append(out.Host, b.tables.Hosts.ID([]byte(l.client)))
		out.User = append(out.User, b.user(l.user))
		out.Values[0] = append(out.Values[0], b.tables.Values.ID([]byte(l.agent)))
		session := int32(traffic.NoValue)
		if l.user != "" {
			session = b.tables.Values.ID([]byte(l.user))
		}
		out.Values[1] = append(out.Values[1], session)
		tokens := int32(traffic.NoValue)
		if l.tokens != "" {
			tokens = b.tables.Values.ID([]byte(l.tokens))
		}
		out.Values[2] = append(out.Values[2], tokens)
		out.Path = append(out.Path, b.tables.Paths.ID([]byte("/"+l.agent)))
		out.Status = append(out.Status, l.status)
		out.Bytes = append(out.Bytes, l.bytes)
		out.Upstream = append(out.Upstream, int64(l.spent))
		out.Took = append(out.Took, int64(l.took))
		out.Source = append(out.Source, l.source)
		out.Seq = append(out.Seq, max(l.at, l.place))
		out.Marks = append(out.Marks, l.marks)
		out.Warm = l.warm
		late = late || l.place > l.at
	}
	if !late {
		out.Seq = nil
	}
	return out
}

func (b *bench) user(name string) int32 {
	if name == "" {
		return traffic.NoUser
	}
	return b.tables.Users.ID([]byte(name))
}

// judge judges lines as one batch each.
func (b *bench) judge(batches ...[]line) {
	b.t.Helper()
	for _, lines := range batches {
		check(b.t, b.engine.Judge(b.batch(lines)))
	}
}

// result ends the replay.
func (b *bench) result() *replay.Result {
	b.t.Helper()
	check(b.t, b.engine.Run(nothing{}))
	return b.engine.Result(ingest.Stats{})
}

// verdicts writes the refused requests of the first policy as "client@second", joined by blanks.
func (b *bench) verdicts() string {
	b.result()
	var refused []string
	for _, e := range b.events {
		if e.policy == 0 {
			for range e.Count {
				refused = append(refused, b.tables.Clients.Name(e.Client)+"@"+limit.FormatPeriod(e.At))
			}
		}
	}
	return strings.Join(refused, " ")
}

// nothing is a source without requests.
type nothing struct{}

func (nothing) Next() (*traffic.Batch, error) { return nil, io.EOF }

// owners is a database in which one owner has all of IPv4.
var owners = sync.OnceValue(func() *network.Database {
	dir, err := os.MkdirTemp("", "shadow-owners-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) // what is open stays readable
	name := filepath.Join(dir, "owners.mmdb")
	if err := testneeds.MMDB(name, "GeoLite2-ASN", testneeds.Records{"0.0.0.0/0": testneeds.Owner(64500, "Example", "DE")}); err != nil {
		panic(err)
	}
	d, err := network.Open([]string{name})
	if err != nil {
		panic(err)
	}
	return d
})
