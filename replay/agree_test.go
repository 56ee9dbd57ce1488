package replay_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
)

// TestAgreesWithReference replays every log, cut in random batches, by 50 random limits, and compares each verdict.
func TestAgreesWithReference(t *testing.T) {
	for name, files := range logs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			all := readAll(t, files, traffic.DefaultLateness)
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
}

// logs are the sample logs, and the real ones where they can be had, as sets that are read together.
func logs(t *testing.T) map[string][]string {
	sets := map[string][]string{}
	samples, err := filepath.Glob("../sample-logs/*.log*")
	check(t, err)
	if len(samples) == 0 {
		t.Fatal("no sample logs")
	}
	for _, name := range samples {
		sets[filepath.Base(name)] = []string{name}
	}
	real, err := os.ReadDir("../../shared/logs")
	if err != nil {
		t.Log("without the real logs, which are not on this machine")
	}
	for _, dir := range real {
		files, err := filepath.Glob("../../shared/logs/" + dir.Name() + "/*.gz")
		check(t, err)
		if files = readable(t, files); len(files) > 0 {
			sets[dir.Name()] = files
		}
	}
	return sets
}

// readable are the files whose format can be told.
func readable(t *testing.T, files []string) (some []string) {
	for _, name := range files {
		if _, err := (parse.Choice{Format: "auto"}).For(peek(t, name)); err == nil {
			some = append(some, name)
		}
	}
	return some
}

func peek(t testing.TB, name string) []byte {
	input, err := parse.OpenInput(name, nil)
	check(t, err)
	defer input.Close()
	sample, err := input.Peek()
	check(t, err)
	return sample
}

// formatOf is the format of a file, nil if it is empty.
func formatOf(t testing.TB, name string, text []byte) *parse.Format {
	if len(text) == 0 {
		return nil
	}
	found, err := parse.Choice{Format: "auto"}.For(peek(t, name))
	check(t, err)
	return found.Format
}

// randomPolicies are limits that refuse some requests and admit others, as often as not.
func randomPolicies(t *testing.T, rng *rand.Rand, n int) []policy.Policy {
	keys := []policy.Key{policy.ByClient, policy.ByClient, policy.ByClientAction, policy.ByAction, policy.BySite}
	var policies []policy.Policy
	for len(policies) < n {
		algorithm := []string{"token", "leaky", "window"}[rng.IntN(3)]
		per := []string{"1s", "7s", "30s", "1m", "333ms", "10m", "1h", "24h"}[rng.IntN(8)]
		p, err := policy.ParseLimits([]string{fmt.Sprintf("%s:%d/%s", algorithm, 1+rng.IntN(40), per)}, keys[rng.IntN(len(keys))])
		check(t, err)
		policies = append(policies, p...)
	}
	return policies
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

func reference(all []request, policies []policy.Policy) []verdictSum {
	idle := map[policy.Key]limit.Time{}
	for _, p := range policies {
		by := p.Parts[0].By
		idle[by] = max(idle[by], p.Horizon()+traffic.DefaultLateness)
	}
	sums := make([]verdictSum, len(policies))
	for i, p := range policies {
		judgeAll(all, p, traffic.DefaultLateness, idle[p.Parts[0].By], func(q *request) {
			sums[i].add(1, q.at, q.client, q.action, q.status)
		})
	}
	return sums
}

// A summing sink adds up events.
type summing struct {
	tables *traffic.Tables
	sums   []verdictSum
}

func (s *summing) Write(events []replay.Event) error {
	for _, e := range events {
		s.sums[e.Policy].add(int64(e.Count), e.At, s.tables.Clients.Name(e.Client), s.tables.Actions.Name(e.Action), e.Status)
	}
	return nil
}

// replayed replays files in batches of a random size.
func replayed(t *testing.T, files []string, policies []policy.Policy, rng *rand.Rand) []verdictSum {
	o := readerOptions(t)
	o.Batch = []int{64, 1000, 50_000, 500_000}[rng.IntN(4)]
	o.Workers = 1 + rng.IntN(4)
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	reader, err := traffic.NewReader(context.Background(), files, nil, o)
	check(t, err)
	defer reader.Close()
	sink := &summing{tables: o.Tables, sums: make([]verdictSum, len(policies))}
	engine := replay.New(replay.Options{
		Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Sink: sink, EventPolicies: len(policies),
	})
	check(t, engine.Run(reader))
	result := engine.Result(reader.Stats())
	for i := range result.Policies {
		if p := &result.Policies[i]; p.Refused != sink.sums[i].refused {
			t.Errorf("%s: %d refused, but events of %d", p.Policy.Name, p.Refused, sink.sums[i].refused)
		}
	}
	return sink.sums
}

func readerOptions(t testing.TB) traffic.Options {
	tables := &traffic.Tables{
		Clients: traffic.NewDict(), Agents: traffic.NewAgents(), Actions: traffic.NewDict(), Hosts: traffic.NewDict(),
	}
	actions, err := traffic.NewActions(nil, tables.Actions)
	check(t, err)
	return traffic.Options{
		Tables: tables, Actions: actions, Lateness: traffic.DefaultLateness, Format: parse.Choice{Format: "auto"},
	}
}
