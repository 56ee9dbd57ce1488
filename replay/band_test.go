package replay_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/traffictest"
	"shadow/limit"
	"shadow/parse/detect"
	"shadow/replay"
)

// Generated logs whose milliseconds are known: three shapes of traffic, each judged by fourteen limits as it is, and
// in whole seconds with a band.

// A stampedLine is one of a made-up log.
type stampedLine struct {
	second int64 // since the epoch
	micros int64 // behind it, unknown to a log in whole seconds
	client string
	action string
	took   int64 // request time, milliseconds
}

const (
	wholeFormat = `$remote_addr [$time_iso8601] "$request" $status $body_bytes_sent "$http_user_agent"`
	fineFormat  = `$remote_addr [$msec] "$request" $status $body_bytes_sent "$http_user_agent"`
)

// text returns the line.
func (l *stampedLine) text(fine, took bool) string {
	stamp := time.Unix(l.second, 0).UTC().Format("2006-01-02T15:04:05-07:00")
	if fine {
		stamp = fmt.Sprintf("%d.%06d", l.second, l.micros)
	}
	text := fmt.Sprintf(`%s [%s] "GET /%s HTTP/1.1" 200 17 "curl/8"`, l.client, stamp, l.action)
	if took {
		text += fmt.Sprintf(" %d.%03d", l.took/1000, l.took%1000)
	}
	return text + "\n"
}

// writeStamped writes lines as a log, and returns its name.
func writeStamped(t *testing.T, lines []stampedLine, fine, took bool) string {
	var text strings.Builder
	for i := range lines {
		text.WriteString(lines[i].text(fine, took))
	}
	name := filepath.Join(t.TempDir(), "access.log")
	check(t, os.WriteFile(name, []byte(text.String()), 0o600))
	return name
}

// shapes of traffic: each says when the requests of a client come, in milliseconds from the start.
var shapes = map[string]func(rng *rand.Rand) []int{
	// Requests at random, from one in two minutes to eight a second.
	"random": func(rng *rand.Rand) (at []int) {
		mean := 125 * (1 << rng.IntN(11))
		for t := rng.IntN(mean); t < generatedSpan; t += int(rng.ExpFloat64()*float64(mean)) + 1 {
			at = append(at, t)
		}
		return at
	},
	// Pages with 3 to 25 files, that come within a second and a half, and time to read.
	"pages": func(rng *rand.Rand) (at []int) {
		for t := rng.IntN(60_000); t < generatedSpan; t += 4_000 + rng.IntN(60_000) {
			at = append(at, t)
			for range 3 + rng.IntN(23) {
				at = append(at, t+50+rng.IntN(1_450))
			}
		}
		return at
	},
	// A request every so many milliseconds, exactly.
	"pollers": func(rng *rand.Rand) (at []int) {
		every := []int{100, 140, 200, 250, 333, 500, 1_000, 1_100, 2_000, 5_000, 9_700, 10_000, 30_000}[rng.IntN(13)]
		for t := rng.IntN(every); t < generatedSpan; t += every {
			at = append(at, t)
		}
		return at
	},
}

const generatedSpan = 300_000 // milliseconds

// generated returns the lines of 60 clients in the order of time.
func generated(rng *rand.Rand, shape func(rng *rand.Rand) []int) (lines []stampedLine) {
	for client := range 60 {
		for _, ms := range shape(rng) {
			lines = append(lines, stampedLine{
				second: 1_767_268_800 + int64(ms/1000), micros: int64(ms%1000) * 1000, client: fmt.Sprintf("192.0.2.%d", client), action: "a",
			})
		}
	}
	slices.SortStableFunc(lines, func(a, b stampedLine) int {
		return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.micros, b.micros))
	})
	return lines
}

// generatedLimits are judged on each shape.
var generatedLimits = []string{
	"token:6/30s", "token:60/1m", "token:10/1s,burst=20", "window:5/1s", "window:30/10s", "window:20/10s,charge=all", "fixed:10/10s",
	"leaky:30/1m", "nginx:5r/s,burst=10,nodelay", "nginx:60r/m", "gcra:30/1m,burst=5", "counter:30/1m", "haproxy:20/10s", "caddy:6/3s",
}

func TestBandHoldsGenerated(t *testing.T) {
	var s bandScore
	for _, name := range []string{"random", "pages", "pollers"} {
		lines := generated(testneeds.Rand(t, 1, 2), shapes[name])
		whole, fine := writeStamped(t, lines, false, false), writeStamped(t, lines, true, false)
		for _, text := range generatedLimits {
			got := replayLog(t, whole, false, false, text, request.ByClient)
			p := replayLog(t, fine, true, false, text, request.ByClient).Policies[0]
			if p.Bounds != nil {
				t.Errorf("%s: there are bounds where the stamps tell", text)
			}
			s.take(t, name+" "+text, truth{p.Refused, p.Hits.Len()}, &got.Policies[0])
		}
	}
	s.log(t)
	if s.setups != 42 || s.refused < 40 || s.hit < 40 {
		t.Errorf("the band holds the refused requests in %d and the clients hit in %d of %d set-ups, want 40 of 42", s.refused, s.hit, s.setups)
	}
}

// The band is the same however the logs are cut into batches, and without it the figures as logged are the same:
// limits of all kinds, by any key, alone and together, with requests that come out of order and take long.
func TestBandAnyhowCut(t *testing.T) {
	for round := range 6 {
		rng := testneeds.Rand(t, 1, uint64(round))
		names, took := disorderly(t, rng), round%2 == 0
		policies := anyPolicies(t, rng)
		want := replayCut(t, names, took, policies, true, 100_000)
		plain := replayCut(t, names, took, policies, false, 100_000)
		for _, batch := range []int{16, 300} {
			got := replayCut(t, names, took, policies, true, batch)
			for i := range policies {
				p, q := &got.Policies[i], &want.Policies[i]
				if figuresOf(p) != figuresOf(q) || p.Refused != plain.Policies[i].Refused || plain.Policies[i].Bounds != nil {
					t.Errorf("%s in batches of %d: %v, want %v; %d refused without a band", p.Policy.Name, batch, figuresOf(p), figuresOf(q), plain.Policies[i].Refused)
				}
			}
			if got.Band.Movable != got.Stats.Parsed {
				t.Errorf("%d of %d requests are in whole seconds", got.Band.Movable, got.Stats.Parsed)
			}
		}
	}
}

// disorderly makes two logs, the lines of which are out of order by up to five seconds.
func disorderly(t *testing.T, rng *rand.Rand) (names []string) {
	files := make([][]stampedLine, 2)
	clients, perSecond := 1+rng.IntN(30), 1+rng.IntN(40)
	for i := range 500 + rng.IntN(2000) {
		l := stampedLine{
			second: 1_767_268_800 + int64(i/perSecond) - rng.Int64N(5), action: string(rune('a' + rng.IntN(3))),
			client: fmt.Sprintf("192.0.%d.%d", rng.IntN(2), rng.IntN(clients)), took: rng.Int64N(4000),
		}
		file := rng.IntN(2)
		files[file] = append(files[file], l)
	}
	for _, lines := range files {
		names = append(names, writeStamped(t, lines, false, true))
	}
	return names
}

// countsTimes returns the algorithms to which it does not matter how long requests take.
func countsTimes() []policy.Algorithm {
	return slices.DeleteFunc(slices.Clone(policy.Algorithms), func(a policy.Algorithm) bool { return a.Name == "conn" })
}

// anyPolicies returns limits of each kind by some keys, and some of several limits.
func anyPolicies(t *testing.T, rng *rand.Rand) (policies []policy.Policy) {
	for _, a := range countsTimes() {
		by := []request.Key{request.ByClient, request.ByClient24, request.BySite, request.ByClientAction}[rng.IntN(4)]
		p, err := policy.ParseLimits([]string{a.Example}, by)
		check(t, err)
		policies = append(policies, p...)
	}
	for range 4 {
		var parts []policy.Part
		for range 2 + rng.IntN(2) {
			parts = append(parts, randomPart(t, rng))
		}
		policies = append(policies, policy.Policy{Name: fmt.Sprint("together ", len(policies)), Parts: parts})
	}
	return policies
}

func replayCut(t *testing.T, names []string, took bool, policies []policy.Policy, band bool, batch int) *replay.Result {
	o := traffictest.Options(t)
	o.Band, o.Batch, o.Lateness, o.Format = band, batch, 40*limit.Second, detect.Choice{Format: wholeFormat + " $request_time"}
	if !took {
		o.Format.Format = wholeFormat + " $anything"
	}
	reader, err := ingest.NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer reader.Close()
	e := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Band: band})
	check(t, e.Run(reader))
	return e.Result(reader.Stats())
}

// figuresOf returns the figures of a policy that has bounds: requests refused and clients hit, as logged, at least and
// at most.
func figuresOf(p *replay.PolicyTally) (f [6]int64) {
	f[0], f[1] = p.Refused, int64(p.Hits.Len())
	for i := range p.Bounds {
		f[2+2*i], f[3+2*i] = p.Bounds[i].Refused, int64(p.Bounds[i].Hits.Len())
	}
	return f
}
