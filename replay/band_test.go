package replay_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
	"shadow/traffic/traffictest"
)

// The band is held against replays of logs in which the requests lie where the spread placement puts them: their stamps
// have six digits behind the point, which come from nothing but this file.

// A stampedLine is one of a made-up log, which is stamped in whole seconds.
type stampedLine struct {
	second int64 // since the epoch
	client string
	action string
	took   int64 // request time, milliseconds
	file   int
	micros int64 // behind the second, in the spread placement
}

const (
	wholeFormat = `$remote_addr [$time_iso8601] "$request" $status $body_bytes_sent "$http_user_agent"`
	fineFormat  = `$remote_addr [$msec] "$request" $status $body_bytes_sent "$http_user_agent"`
)

// text is the line, padded if it is to be long, so that a block of bytes holds few of them.
func (l *stampedLine) text(fine, took bool, pad string) string {
	stamp := time.Unix(l.second, 0).UTC().Format("2006-01-02T15:04:05-07:00")
	if fine {
		stamp = fmt.Sprintf("%d.%06d", l.second, l.micros)
	}
	text := fmt.Sprintf(`%s [%s] "GET /%s?%s HTTP/1.1" 200 17 "curl/8"`, l.client, stamp, l.action, pad)
	if took {
		text += fmt.Sprintf(" %d.%03d", l.took/1000, l.took%1000)
	}
	return text + "\n"
}

// bandLog makes a log of two files, as busy as not, in which lines are out of order by up to five seconds.
func bandLog(rng *rand.Rand, n int) (lines []stampedLine) {
	clients, perSecond := 1+rng.IntN(30), 1+rng.IntN(40)
	for i := range n {
		l := stampedLine{
			second: 1_767_268_800 + int64(i/perSecond), action: string(rune('a' + rng.IntN(3))),
			client: fmt.Sprintf("192.0.%d.%d", rng.IntN(2), rng.IntN(clients)), took: rng.Int64N(4000), file: rng.IntN(2),
		}
		if i < 2 {
			l.file, l.second = i, l.second-10 // so that the first file has the earlier beginning
		} else if rng.IntN(4) == 0 {
			l.second -= rng.Int64N(5)
		}
		if rng.IntN(200) == 0 {
			l.took += rng.Int64N(15_000)
		}
		lines = append(lines, l)
	}
	lines[0].second -= 30
	return lines
}

// spreadLines says where each line lies in its second: the n of one client at 0, 1/n, 2/n …, those of the first file before
// those of the second.
func spreadLines(lines []stampedLine, clientOf func(string) string) {
	seconds := map[string][]*stampedLine{}
	for file := range 2 {
		for i := range lines {
			if l := &lines[i]; l.file == file {
				key := fmt.Sprint(clientOf(l.client), " ", l.second)
				seconds[key] = append(seconds[key], l)
			}
		}
	}
	for _, group := range seconds {
		for i, l := range group {
			l.micros = int64(i) * 1_000_000 / int64(len(group))
		}
	}
}

// writeLog writes the lines as two files.
func writeLog(t *testing.T, lines []stampedLine, fine, took bool, pad int) (names []string) {
	dir := t.TempDir()
	for file, name := range []string{"a.log", "b.log"} {
		var text strings.Builder
		for i := range lines {
			if lines[i].file == file {
				text.WriteString(lines[i].text(fine, took, strings.Repeat("x", pad)))
			}
		}
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, []byte(text.String()), 0o600))
		names = append(names, path)
	}
	return names
}

// A bandCase is how one log is replayed.
type bandCase struct {
	rule     string // --client
	took     bool   // whether the request time is logged
	batch    int
	policies []policy.Policy
}

func (c *bandCase) replay(t *testing.T, names []string, fine, band bool) *replay.Result {
	o := traffictest.Options(t)
	o.Band, o.Batch, o.Workers, o.Lateness = band, c.batch, 1+rand.IntN(3), 40*limit.Second
	o.Format = parse.Choice{Format: wholeFormat}
	if fine {
		o.Format.Format = fineFormat
	}
	if c.took {
		o.Format.Format += " $request_time"
	}
	var err error
	o.Clients, err = traffic.ParseClientRule(c.rule, "", nil)
	check(t, err)
	reader, err := traffic.NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer reader.Close()
	e := replay.New(replay.Options{Tables: o.Tables, Policies: c.policies, Lateness: o.Lateness, Band: band})
	check(t, e.Run(reader))
	r := e.Result(reader.Stats())
	if r.Stats.Late > 0 || r.Stats.Unreadable > 0 {
		t.Fatalf("%d requests are late, %d lines unreadable", r.Stats.Late, r.Stats.Unreadable)
	}
	return r
}

// hitsByName are the refused requests by client.
func hitsByName(r *replay.Result, hits *replay.Hits) map[string]int64 {
	refused := map[string]int64{}
	for hit := range hits.All() {
		refused[r.Tables.Clients.Name(hit.Client)] = hit.Refused
	}
	return refused
}

// TestBandEqualsRewrittenLogs holds both ends of the band against replays of rewritten logs, request time or not, whoever a
// client is, whatever limits count by, and however the log is cut into batches.
func TestBandEqualsRewrittenLogs(t *testing.T) {
	for round := range 24 {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		lines := bandLog(rng, 500+rng.IntN(2000))
		c := bandCase{
			rule: []string{"addr", "addr/24"}[rng.IntN(2)], took: round%2 == 0, batch: []int{16, 300, 100_000}[rng.IntN(3)],
		}
		for range 12 {
			part := randomPart(t, rng)
			c.policies = append(c.policies, policy.Policy{Name: part.Spec.String() + " by " + part.By.String(), Parts: []policy.Part{part}})
		}
		spreadLines(lines, func(client string) string {
			if c.rule == "addr" {
				return client
			}
			return client[:len("192.0.2")]
		})
		whole := writeLog(t, lines, false, c.took, []int{0, 3_000, 12_000}[rng.IntN(3)])
		got, plain := c.replay(t, whole, false, true), c.replay(t, whole, false, false)
		want := c.replay(t, writeLog(t, lines, true, c.took, 0), true, true)
		if want.Band.Movable != 0 || want.Policies[0].Spread != nil || plain.Band != nil {
			t.Errorf("seed %d: there is a band where nothing can move: %+v", seed, want.Band)
		}
		if n := int64(len(lines)); got.Band.Movable != n {
			t.Errorf("seed %d: %d requests are in whole seconds, want %d", seed, got.Band.Movable, n)
		}
		for i, p := range c.policies {
			logged, spread := &got.Policies[i], got.Policies[i].Spread
			if logged.Refused != plain.Policies[i].Refused || !maps.Equal(hitsByName(got, &logged.Hits), hitsByName(plain, &plain.Policies[i].Hits)) {
				t.Errorf("seed %d: %s: %d refused as logged, and %d without a band", seed, p.Name, logged.Refused, plain.Policies[i].Refused)
			}
			if spread.Refused != want.Policies[i].Refused || !maps.Equal(hitsByName(got, &spread.Hits), hitsByName(want, &want.Policies[i].Hits)) {
				t.Errorf("seed %d: %s: %d refused, and %d of the log with spread stamps", seed, p.Name, spread.Refused, want.Policies[i].Refused)
			}
		}
	}
}
