package sweep_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/policy"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// TestUnderWayAgreesWithReplay holds every N of requests under way against a replay of it, by keys of one client and by
// shared ones, of one action and of all.
func TestUnderWayAgreesWithReplay(t *testing.T) {
	refused, most := 0, 0
	testneeds.Rapid(t, func(t *rapid.T) {
		by := rapid.SampledFrom([]string{"client", "client", "client+action", "site", "agent"}).Draw(t, "by")
		config, err := policy.ParseConfig("shadow.yaml", fmt.Appendf(nil, weighedConfig, "window:1/1s", by))
		must(t, err)
		log := drawWeighedLog(t, &config, rapid.IntRange(0, 3).Draw(t, "warm") == 0)
		policies, err := policy.ParseLimits([]string{"conn:1"}, config.Policies[0].Policies[0].Parts[0].By)
		must(t, err)
		part := &policies[0].Parts[0]
		o := sweep.Options{
			Tables: log.tables, By: part.By, Kinds: []sweep.Kind{sweep.UnderWay}, Workers: 1, Doubted: someDoubted,
			Lateness: rapid.SampledFrom([]limit.Time{0, limit.Second, ingest.DefaultLateness}).Draw(t, "lateness"),
		}
		if rapid.Bool().Draw(t, "action") {
			o.Action, part.Match, part.Count = "export", 1, 1
		}
		s := sweep.New(o)
		for _, b := range log.batches {
			s.Take(b)
		}
		curve := s.Result(ingest.Stats{}).Curves[0]
		for n := range int64(30) {
			got, want := curve.At(n+1), replayed(t, policies[0], curve.Shape, n+1, log, o.Lateness)
			want.Limit, want.Counted = n+1, true
			if got != want {
				t.Fatalf("conn:%d by %s: %+v; replay says %+v", n+1, by, got, want)
			}
			refused += int(got.Refused.Sum())
			if got.Refused.Sum() > 0 {
				most = max(most, int(n+1))
			}
		}
	})
	if !testing.Short() && (refused < 250 || most < 5) {
		t.Errorf("%d requests refused, by at most %d at once: too few to say anything", refused, most)
	}
}
