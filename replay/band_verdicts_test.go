package replay_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/replay"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/traffictest"
)

// What a real nginx decided, and the band that its log in whole seconds gives. The logs have $msec as well, which goes under
// another name here, so that nothing finer than a second is known.
//
// The clients hit lie inside the band in all five set-ups. Of the requests refused that holds where a client may send several
// in a second. Where it may send one a second or fewer, the gaps between seconds decide and not how requests lie inside one:
// nginx refuses more than either placement, by less than 1 %. The band is an indication, not a bound.

const recordedFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ` +
	`$http_x_finer $request_time $limit_req_status "$http_x_name" $http_x_rid $connection $connection_requests $pid`

// recordings are set-ups of a real nginx, and the limits that they had.
var recordings = map[string]string{
	"nginx-60rm-dry":                     "nginx:60r/m",
	"nginx-12rm-burst6-nodelay-dry":      "nginx:12r/m,burst=6,nodelay",
	"nginx-12rm-burst6-nodelay-enforced": "nginx:12r/m,burst=6,nodelay",
	"nginx-10rs-burst20-nodelay-dry":     "nginx:10r/s,burst=20,nodelay",
	"nginx-10rs-burst20-delay8-dry":      "nginx:10r/s,burst=20,delay=8",
}

func TestBandHoldsWhatNginxDecided(t *testing.T) {
	dir := testneeds.Shared(t, "verdicts")
	for name, text := range recordings {
		file := filepath.Join(dir, name+".log.gz")
		refused, hit := decided(t, file)
		o := traffictest.Options(t)
		o.Band, o.Format = true, parse.Choice{Format: recordedFormat}
		reader, err := traffic.NewReader(context.Background(), []string{file}, nil, o)
		check(t, err)
		policies, err := policy.ParseLimits([]string{text}, policy.ByClient)
		check(t, err)
		e := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Band: true})
		check(t, e.Run(reader))
		check(t, reader.Close())
		r := e.Result(reader.Stats())
		if r.Stats.Resolution != limit.Second || r.Band.Movable != r.Stats.Parsed || r.Stats.Unreadable > 0 {
			t.Fatalf("%s: resolution %d, %d of %d requests may move", name, r.Stats.Resolution, r.Band.Movable, r.Stats.Parsed)
		}
		p := &r.Policies[0]
		t.Logf("%s: nginx refused %d of %d clients; as logged %d of %d, spread %d of %d",
			name, refused, hit, p.Refused, p.Hits.Len(), p.Spread.Refused, p.Spread.Hits.Len())
		low, high := min(p.Refused, p.Spread.Refused), max(p.Refused, p.Spread.Refused)
		if !strings.HasPrefix(text, "nginx:10r/s") {
			high += refused / 100
		}
		if refused < low || refused > high {
			t.Errorf("%s: nginx refused %d, which does not lie between %d and %d", name, refused, low, high)
		}
		if hit < min(p.Hits.Len(), p.Spread.Hits.Len()) || hit > max(p.Hits.Len(), p.Spread.Hits.Len()) {
			t.Errorf("%s: nginx hit %d clients, which does not lie between %d and %d", name, hit, p.Hits.Len(), p.Spread.Hits.Len())
		}
	}
}

// decided is how many requests nginx refused, and of how many clients.
func decided(t *testing.T, file string) (refused int64, clients int) {
	f, err := os.Open(file)
	check(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	check(t, err)
	hit := map[string]bool{}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if strings.HasPrefix(fields[len(fields)-6], "REJECTED") {
			refused++
			hit[fields[0]] = true
		}
	}
	check(t, lines.Err())
	return refused, len(hit)
}
