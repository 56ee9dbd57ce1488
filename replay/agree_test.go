package replay_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/traffictest"
	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
)

// TestAgreesWithReference replays every log, cut in random batches, by 50 random policies, and compares each verdict.
func TestAgreesWithReference(t *testing.T) {
	traffictest.EachLog(t, func(t *testing.T, rng *rand.Rand, _ string, files []string) {
		all := readAll(t, files, ingest.DefaultLateness)
		policies := randomPolicies(t, rng, 50)
		got := replayed(t, files, policies, rng)
		want := reference(all, policies)
		for i, p := range policies {
			if got[i] != want[i] {
				t.Errorf("%s by %s: %d refused (checksum %x), the reference refuses %d (%x)",
					p.Name, p.By(), got[i].refused, got[i].sum, want[i].refused, want[i].sum)
			}
		}
	})
}

// Without a sink policies are judged on several cores, timeline by timeline: what is counted is the same as with one.
func TestManyPoliciesSideBySide(t *testing.T) {
	rng := testneeds.Rand(t, 3, 4)
	o := traffictest.Options(t)
	o.Batch = 500
	reader, err := ingest.NewReader(context.Background(), []string{"../sample-logs/shop-combined.log"}, nil, o)
	check(t, err)
	defer reader.Close()
	policies := randomPolicies(t, rng, 50)
	sink := &summing{tables: o.Tables, sums: make([]verdictSum, len(policies))}
	options := replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness}
	several := replay.New(options)
	options.Sink = sink
	one := replay.New(options)
	source := marking{reader, o.Tables}
	for {
		b, err := source.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		check(t, errors.Join(one.Judge(b), several.Judge(b)))
	}
	want, got := one.Result(reader.Stats()).Policies, several.Result(reader.Stats()).Policies
	refused := 0
	for i := range want {
		w, g := tallied(&want[i]), tallied(&got[i])
		if w != g {
			t.Errorf("%s: on several cores\n%s, want\n%s", want[i].Policy.Name, g, w)
		}
		refused += int(min(want[i].Refused, 1))
	}
	if refused < len(policies)/2 {
		t.Errorf("the test is too easy: %d policies refuse requests", refused)
	}
}

// tallied returns all that is counted of a policy.
func tallied(p *replay.PolicyTally) string {
	hits := slices.SortedFunc(p.Hits.All(), func(x, y replay.Hit) int { return cmp.Compare(x.Client, y.Client) })
	return fmt.Sprint(p.Refused, p.BytesSaved, p.UpstreamSaved, p.WorstMinute, p.WorstMinuteRefused, p.ByAction, hits)
}

// formatOf returns the format of a file, nil if it is empty.
func formatOf(t testing.TB, name string, text []byte) *parse.Format {
	if len(text) == 0 {
		return nil
	}
	return traffictest.Format(t, name)
}

// randomPolicies returns limits that refuse some requests and admit others, as often as not, and policies of several
// such.
func randomPolicies(t *testing.T, rng *rand.Rand, n int) []policy.Policy {
	var policies []policy.Policy
	for i := range n {
		p := policy.Policy{Parts: []policy.Part{randomPart(t, rng)}}
		if i%2 == 1 {
			p.Parts[0].Match, p.Parts[0].Count = randomScopes(rng)
			for range rng.IntN(3) {
				part := randomPart(t, rng)
				part.Match, part.Count = randomScopes(rng)
				if i%4 == 1 {
					part.By = p.Parts[0].By
				}
				p.Parts = append(p.Parts, part)
			}
		}
		p.Combine = policy.Combine(i / 2 % 3)
		p.Name = fmt.Sprint(i, ": ", p.Text())
		policies = append(policies, p)
	}
	return policies
}

func randomPart(t *testing.T, rng *rand.Rand) policy.Part {
	keys := []request.Key{request.ByClient, request.ByClient, request.ByClientAction, request.ByAction, request.BySite}
	algorithm := []string{"token", "leaky", "window"}[rng.IntN(3)]
	per := []string{"1s", "7s", "30s", "1m", "333ms", "10m", "1h", "24h"}[rng.IntN(8)]
	p, err := policy.ParseLimits([]string{fmt.Sprintf("%s:%d/%s", algorithm, 1+rng.IntN(40), per)}, keys[rng.IntN(len(keys))])
	check(t, err)
	return p[0].Parts[0]
}

// randomScopes returns two scopes, as often as not the same one.
func randomScopes(rng *rand.Rand) (match, count policy.Scope) {
	match = policy.Scope(rng.IntN(scopes + 1))
	if count = match; rng.IntN(2) == 0 {
		count = policy.Scope(rng.IntN(scopes + 1))
	}
	return match, count
}

const scopes = 4

// marksOf puts requests in scopes: two tiers of clients, errors, and what is chosen by all three.
func marksOf(client, action string, status uint16) (marks uint64) {
	tier := crc32.ChecksumIEEE([]byte(client)) % 2
	marks = 1 << tier
	if status >= 400 {
		marks |= 1 << 2
	}
	if crc32.ChecksumIEEE([]byte(action))%3 == tier {
		marks |= 1 << 3
	}
	return marks
}

// A marking source gives the requests of another their marks.
type marking struct {
	replay.Source
	tables *traffic.Tables
}

func (m marking) Next() (*traffic.Batch, error) {
	b, err := m.Source.Next()
	if err != nil {
		return nil, err
	}
	marked := *b // which belongs to the other source
	for i, client := range b.Client {
		marked.Marks = append(marked.Marks, marksOf(m.tables.Clients.Name(client), m.tables.Actions.Name(int32(b.Action[i])), b.Status[i]))
	}
	return &marked, nil
}

// A verdictSum stands for the verdicts of one policy on all requests: equal verdicts have equal sums.
type verdictSum struct {
	refused int64
	sum     uint64
}

var seed = maphash.MakeSeed()

// add takes in n refused requests that share everything that a verdict tells.
func (v *verdictSum) add(n int64, at limit.Time, client, action string, status uint16) {
	b := make([]byte, 0, 128)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = binary.LittleEndian.AppendUint16(b, status)
	b = append(append(append(b, client...), 0), action...)
	v.refused += n
	v.sum += uint64(n) * maphash.Bytes(seed, b)
}

func reference(all []sent, policies []policy.Policy) []verdictSum {
	idle := idleTimes(policies, ingest.DefaultLateness)
	sums := make([]verdictSum, len(policies))
	for i, p := range policies {
		judgeAll(all, p, ingest.DefaultLateness, idle, func(q *sent) {
			sums[i].add(1, q.at, q.client, q.action, q.status)
		})
	}
	return sums
}

// idleTimes returns how long a key of each kind is remembered at least.
func idleTimes(policies []policy.Policy, lateness limit.Time) map[request.Key]limit.Time {
	idle := map[request.Key]limit.Time{}
	for _, p := range policies {
		for _, part := range p.Parts {
			idle[part.By] = max(idle[part.By], part.Horizon()+lateness)
		}
	}
	return idle
}

// A summing sink adds up events.
type summing struct {
	tables *traffic.Tables
	sums   []verdictSum
}

func (s *summing) Write(events []replay.Event, sets *replay.Sets) error {
	for _, e := range events {
		for _, r := range sets.All[e.Set] {
			s.sums[r.Policy].add(int64(e.Count), e.At, s.tables.Clients.Name(e.Client), s.tables.Actions.Name(e.Action), e.Status)
		}
	}
	return nil
}

// replayed replays files in batches of a random size.
func replayed(t *testing.T, files []string, policies []policy.Policy, rng *rand.Rand) []verdictSum {
	o := traffictest.Options(t)
	o.Batch = []int{64, 1000, 50_000, 500_000}[rng.IntN(4)]
	o.Workers = 1 + rng.IntN(4)
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	reader, err := ingest.NewReader(context.Background(), files, nil, o)
	check(t, err)
	defer reader.Close()
	sink := &summing{tables: o.Tables, sums: make([]verdictSum, len(policies))}
	engine := replay.New(replay.Options{
		Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Sink: sink, EventPolicies: len(policies),
	})
	check(t, engine.Run(marking{reader, o.Tables}))
	result := engine.Result(reader.Stats())
	for i := range result.Policies {
		if p := &result.Policies[i]; p.Refused != sink.sums[i].refused {
			t.Errorf("%s: %d refused, but events of %d", p.Policy.Name, p.Refused, sink.sums[i].refused)
		}
	}
	return sink.sums
}
