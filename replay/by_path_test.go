package replay_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/traffictest"
	"shadow/parse/detect"
	"shadow/replay"
)

// pathFormat reads nginx's own verdict as the user agent: the recorded lines have one agent only.
const pathFormat = `$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "$other" ` +
	`$msec $request_time $http_user_agent $http_x_rid`

// A zone of nginx whose key is the client and $uri counts by client+path: as many requests are refused, and verdicts agree up to
// what a log cannot tell. Counted by client+action, 3.9 % more are refused, since /old/x and /old/y are one action.
func TestByPathReachesTheCeiling(t *testing.T) {
	file := testneeds.Shared(t, filepath.Join("verdicts", "nginx2-20rm-burst2-by-client-uri-dry.log.gz"))
	const truth = 7081
	for _, test := range []struct {
		by      request.Key
		refused int64
		percent float64 // of verdicts, at least
	}{
		{request.ByClientPath, truth, 99.87},
		{request.ByClientAction, 7359, 0},
	} {
		for _, rows := range []int{0, 1000, 37} {
			t.Run(fmt.Sprint(test.by, " in batches of ", rows), func(t *testing.T) {
				o := traffictest.Options(t)
				o.Batch, o.Paths, o.Format = rows, true, detect.Choice{Format: pathFormat}
				reader, err := ingest.NewReader(context.Background(), []string{file}, nil, o)
				check(t, err)
				policies, err := policy.ParseLimits([]string{"nginx:20r/m,burst=2"}, test.by)
				check(t, err)
				seen := zoneVerdicts{tables: o.Tables}
				e := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Observer: &seen})
				check(t, e.Run(reader))
				check(t, reader.Close())
				percent := 100 * float64(seen.same) / float64(seen.judged)
				t.Logf("%d of %d verdicts agree, %.2f %%; %d refused, by nginx %d", seen.same, seen.judged, percent, seen.refused, seen.truth)
				if seen.judged != 10_473 || seen.truth != truth || seen.refused != test.refused || percent < test.percent {
					t.Errorf("want 10473 verdicts, %d refused, by nginx %d, and %.2f %% that agree", test.refused, truth, test.percent)
				}
			})
		}
	}
}

// zoneVerdicts holds verdicts against those that stand in the place of the user agent.
type zoneVerdicts struct {
	tables                       *traffic.Tables
	judged, same, refused, truth int64
}

func (z *zoneVerdicts) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	refused := make([]bool, b.Len())
	for _, row := range verdicts[0].Refused {
		refused[row] = true
		z.refused++
	}
	for row, agent := range b.Agent {
		truth := strings.HasPrefix(z.tables.Agents.Name(int32(agent)), "REJECTED")
		z.judged++
		if truth {
			z.truth++
		}
		if truth == refused[row] {
			z.same++
		}
	}
	return nil
}
