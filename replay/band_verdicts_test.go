package replay_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/traffictest"
	"shadow/limit"
	"shadow/parse/detect"
	"shadow/replay"
)

// What real servers decided, and the band that their logs in whole seconds give. Set-ups are recordings of nginx,
// OpenResty, HAProxy and libraries, with the limit that they had, whose verdicts are known, and with others, which a
// replay of the stamps as recorded judges exactly.

// A recording is requests that a server or a library decided on.
type recording struct {
	requests []decided
	verdicts map[string]func(d *decided) bool // by limit: whether the request was refused
}

// A decided request.
type decided struct {
	client  string
	path    string
	stamp   limit.Time // of the line: the end, where took is not 0
	took    limit.Time
	columns []string // with verdicts
}

// readRecording reads the lines of a recording.
func readRecording(t *testing.T, name string, read func(fields []string) (d decided, ok bool)) (all []decided) {
	f, err := os.Open(testneeds.Shared(t, filepath.Join("verdicts", name)))
	check(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	check(t, err)
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		if d, ok := read(strings.Fields(lines.Text())); ok {
			all = append(all, d)
		}
	}
	check(t, lines.Err())
	return all
}

// moment reads seconds with decimals, or microseconds.
func moment(t *testing.T, text string) limit.Time {
	whole, decimals, found := strings.Cut(text, ".")
	if found {
		whole += (decimals + "000000")[:6]
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	check(t, err)
	return limit.Time(n)
}

// ofNginx reads a line whose fields from the given one on, counted from the end, are $msec $request_time
// $limit_req_status.
func ofNginx(t *testing.T, from int) func(fields []string) (decided, bool) {
	return func(fields []string) (decided, bool) {
		last := fields[len(fields)-from:]
		d := decided{client: fields[0], path: fields[6], stamp: moment(t, last[0]), took: moment(t, last[1]), columns: last[2:3]}
		return d, last[2] != "-" // never came as far as the limiter
	}
}

// rejected returns nginx's own verdict.
func rejected(d *decided) bool { return strings.HasPrefix(d.columns[0], "REJECTED") }

// ofHAProxy reads a line that has the microsecond, counted from the end, and the client; the stamp is the beginning.
func ofHAProxy(t *testing.T, micros int, client func(fields []string) string) func(fields []string) (decided, bool) {
	return func(fields []string) (decided, bool) {
		n := len(fields)
		d := decided{client: client(fields), path: fields[6], columns: fields}
		if d.client == "-" {
			return d, false // <BADREQ>
		}
		d.stamp = moment(t, fields[n-micros])
		return d, true
	}
}

// has returns the verdict in a field.
func has(field string) func(d *decided) bool {
	return func(d *decided) bool { return slices.Contains(d.columns, field) }
}

// recordings reads them all.
func recordings(t *testing.T) map[string]*recording {
	all := map[string]*recording{}
	for name, of := range map[string]struct {
		from  int
		limit string
	}{
		"nginx-60rm-dry":                       {8, "nginx:60r/m"},
		"nginx-12rm-burst6-nodelay-dry":        {8, "nginx:12r/m,burst=6,nodelay"},
		"nginx-12rm-burst6-nodelay-enforced":   {8, "nginx:12r/m,burst=6,nodelay"},
		"nginx-10rs-burst20-nodelay-dry":       {8, "nginx:10r/s,burst=20,nodelay"},
		"nginx-10rs-burst20-delay8-dry":        {8, "nginx:10r/s,burst=20,delay=8"},
		"nginx2-5rs-burst10-delay5-dry":        {4, "nginx:5r/s,burst=10,delay=5"},
		"nginx2-5rs-burst10-delay5-enforced":   {4, "nginx:5r/s,burst=10,delay=5"},
		"nginx2-two-zones-dry":                 {4, "nginx:5r/s,burst=5,nodelay+nginx:60r/m,burst=30,nodelay"},
		"nginx2-20rm-burst2-by-client-uri-dry": {4, "nginx:20r/m,burst=2"},
		"nginx2-1rs-burst3-rewritten-enforced": {4, "nginx:1r/s,burst=3"},
		"openresty-limit-req-4rs-burst6":       {4, "nginx:4r/s,burst=6"},
	} {
		all[name] = &recording{
			requests: readRecording(t, name+".log.gz", ofNginx(t, of.from)),
			verdicts: map[string]func(d *decided) bool{of.limit: rejected},
		}
	}
	byURI := all["nginx2-20rm-burst2-by-client-uri-dry"]
	for i := range byURI.requests {
		byURI.requests[i].client += byURI.requests[i].path
	}
	all["haproxy"] = &recording{
		requests: readRecording(t, "haproxy-rate30s-rate10s-dry.log.gz", ofHAProxy(t, 12, func(f []string) string { return f[len(f)-3] })),
		verdicts: map[string]func(d *decided) bool{"haproxy:6/30s": has("wb30=1"), "haproxy:20/10s": has("wb10=1")},
	}
	all["haproxy2"] = &recording{
		requests: readRecording(t, "haproxy2-gpc0rate-8-10s.log.gz", ofHAProxy(t, 8, func(f []string) string { return f[0] })),
		verdicts: map[string]func(d *decided) bool{"haproxy:8/10s,charge=admitted": has("v=1")},
	}
	all["libraries"] = readLibraries(t)
	return all
}

// readLibraries reads what libraries decided.
func readLibraries(t *testing.T) *recording {
	r := &recording{verdicts: map[string]func(d *decided) bool{}}
	first := true
	r.requests = readRecording(t, "library-verdicts.csv.gz", func(fields []string) (decided, bool) {
		columns := strings.Split(fields[0], ",")
		if first {
			first = false
			return decided{}, false
		}
		return decided{client: columns[1], path: "/", stamp: moment(t, columns[0]), columns: columns[2:]}, true
	})
	for i, text := range []string{"token:6/30s", "token:60/1m", "token:10/1s,burst=20", "gcra:6/30s,burst=5", "gcra:60/1m,burst=59", "gcra:10/1s,burst=19"} {
		r.verdicts[text] = func(d *decided) bool { return d.columns[i] == "0" }
	}
	return r
}

// A setup is a recording that a limit judges.
type setup struct {
	recording string
	limit     string
	by        request.Key
	took      bool // whether the log has the request time
}

// setups returns the recorded limits, where request times are logged with and without them, and other limits.
func setups(all map[string]*recording) (list []setup) {
	for name, r := range all {
		for text := range r.verdicts {
			list = append(list, setup{name, text, request.ByClient, false})
			if strings.Contains(text, "nginx") {
				list = append(list, setup{name, text, request.ByClient, true})
			}
		}
	}
	for _, name := range []string{"nginx-60rm-dry", "nginx2-5rs-burst10-delay5-dry", "openresty-limit-req-4rs-burst6", "haproxy2"} {
		took := name != "haproxy2"
		list = append(list,
			setup{name, "window:5/1s", request.ByClient, took},
			setup{name, "token:60/1m", request.ByClient, took},
			setup{name, "fixed:30/10s", request.ByClient, took},
			setup{name, "token:20/1s", request.ByClient24, took},
			setup{name, "window:600/10s", request.BySite, took},
		)
	}
	slices.SortFunc(list, func(a, b setup) int {
		return cmp.Or(cmp.Compare(a.recording, b.recording), cmp.Compare(a.limit, b.limit), cmp.Compare(a.by, b.by))
	})
	return list
}

// write writes a recording as a log, finely stamped or in whole seconds.
func (r *recording) write(t *testing.T, fine, took bool) string {
	addresses, lines := map[string]string{}, []stampedLine(nil)
	for i := range r.requests {
		d := &r.requests[i]
		address, known := addresses[d.client]
		if !known {
			n := len(addresses)
			address = fmt.Sprintf("10.%d.%d.%d", n/400, n/20%20, n%20)
			addresses[d.client] = address
		}
		lines = append(lines, stampedLine{
			second: int64(d.stamp / limit.Second), micros: int64(d.stamp % limit.Second), client: address, took: int64(d.took / limit.Millisecond),
		})
	}
	return writeStamped(t, lines, fine, took)
}

// replayLog replays a log.
func replayLog(t *testing.T, name string, fine, took bool, limits string, by request.Key) *replay.Result {
	o := traffictest.Options(t)
	o.Band, o.Format = true, detect.Choice{Format: wholeFormat}
	if fine {
		o.Format.Format = fineFormat
	}
	if took {
		o.Format.Format += " $request_time"
	}
	policies, err := policy.ParseLimits([]string{limits}, by)
	check(t, err)
	reader, err := ingest.NewReader(context.Background(), []string{name}, nil, o)
	check(t, err)
	defer reader.Close()
	e := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Band: true})
	check(t, e.Run(reader))
	return e.Result(reader.Stats())
}

// A truth counts the requests that were really refused, and their clients.
type truth struct {
	refused int64
	hit     int
}

// truthOf returns what was decided, or what a replay of the timestamps as recorded decides.
func (r *recording) truthOf(t *testing.T, s setup) (is truth) {
	verdict := r.verdicts[s.limit]
	if verdict == nil {
		p := replayLog(t, r.write(t, true, true), true, true, s.limit, s.by).Policies[0]
		return truth{p.Refused, p.Hits.Len()}
	}
	hit := map[string]bool{}
	for i := range r.requests {
		if d := &r.requests[i]; verdict(d) {
			is.refused++
			hit[d.client] = true
		}
	}
	is.hit = len(hit)
	return is
}

// A bandScore is in how many set-ups the band holds the truth, and how wide it is.
type bandScore struct {
	setups, refused, hit int
	width, hitWidth      []float64 // percent of the requests refused and of the clients hit in truth, where that is not 0
	share                []float64 // percent of all requests
}

// take takes in one set-up.
func (s *bandScore) take(t *testing.T, name string, is truth, p *replay.PolicyTally) {
	t.Helper()
	low, high := p.Bounds[0], p.Bounds[1]
	from, to := min(low.Refused, p.Refused, high.Refused), max(low.Refused, p.Refused, high.Refused)
	seen := map[int32]int{}
	for _, h := range []*replay.Hits{&low.Hits, &p.Hits, &high.Hits} {
		for hit := range h.All() {
			seen[hit.Client]++
		}
	}
	least, most := 0, len(seen)
	for _, n := range seen {
		if n == 3 {
			least++
		}
	}
	s.setups++
	note := ""
	if from <= is.refused && is.refused <= to {
		s.refused++
	} else {
		note = " REFUSED OUTSIDE"
	}
	if least <= is.hit && is.hit <= most {
		s.hit++
	} else {
		note += " HIT OUTSIDE"
	}
	if is.refused > 0 {
		s.width = append(s.width, 100*float64(to-from)/float64(is.refused))
		s.hitWidth = append(s.hitWidth, 100*float64(most-least)/float64(is.hit))
	}
	s.share = append(s.share, 100*float64(to-from)/float64(p.Requests))
	t.Logf("%-70s refused %6d in %6d–%6d (as logged %6d), hit %3d in %3d–%3d%s",
		name, is.refused, from, to, p.Refused, is.hit, least, most, note)
}

func (s *bandScore) log(t *testing.T) {
	t.Logf("inside: refused %d, clients hit %d of %d", s.refused, s.hit, s.setups)
	t.Logf("width, mean and median: %s of the requests refused, %s of the clients hit (%d set-ups in which there are any); %s of all requests",
		middle(s.width), middle(s.hitWidth), len(s.width), middle(s.share))
}

// middle returns the mean and the median of some percentages.
func middle(all []float64) string {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	slices.Sort(all)
	return fmt.Sprintf("%.1f and %.1f %%", sum/float64(len(all)), all[len(all)/2])
}

func TestBandHoldsRecordings(t *testing.T) {
	all := recordings(t)
	var s bandScore
	for _, of := range setups(all) {
		r := all[of.recording]
		got := replayLog(t, r.write(t, false, of.took), false, of.took, of.limit, of.by)
		if got.Stats.Resolution != limit.Second || got.Band.Movable != got.Stats.Parsed || got.Stats.Unreadable > 0 {
			t.Fatalf("%v: resolution %d, %d of %d requests may move", of, got.Stats.Resolution, got.Band.Movable, got.Stats.Parsed)
		}
		name := fmt.Sprintf("%s %s by %s", of.recording, of.limit, of.by)
		if of.took {
			name += ", timed"
		}
		s.take(t, name, r.truthOf(t, of), &got.Policies[0])
	}
	s.log(t)
	if s.setups < 50 || 100*s.refused < 95*s.setups || 100*s.hit < 95*s.setups {
		t.Errorf("the band holds the refused requests in %d and the clients hit in %d of %d set-ups, want 95 %% of at least 50", s.refused, s.hit, s.setups)
	}
}
