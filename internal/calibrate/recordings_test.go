package calibrate

import (
	"bufio"
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// Recordings of real servers, whose limits are known. The project's own are made by scripts/record-refusals and
// scripts/record-verdicts.

// A recording is what a server decided, and the limit that it had.
type recording struct {
	name  string
	limit string
	read  func(fields []string) (key string, at, took limit.Time, verdict string) // -: no verdict
	file  string
}

// Readers of lines. A moment is in seconds with decimals, or in microseconds.
func moment(t *testing.T, text string) limit.Time {
	whole, decimals, fraction := strings.Cut(text, ".")
	if fraction {
		whole += (decimals + "000000")[:6]
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return limit.Time(n)
}

// fromNginx reads lines whose fields from the given one on, counted from the end, are $msec $request_time, and then,
// perhaps behind others, $limit_req_status.
func fromNginx(t *testing.T, from, verdict int) func([]string) (string, limit.Time, limit.Time, string) {
	return func(f []string) (string, limit.Time, limit.Time, string) {
		last := f[len(f)-from:]
		return f[0], moment(t, last[0]), moment(t, last[1]), last[verdict]
	}
}

// fromHAProxy reads lines that have the key, the microsecond and a word for refused.
func fromHAProxy(t *testing.T, key, micros int, refused string) func([]string) (string, limit.Time, limit.Time, string) {
	return func(f []string) (string, limit.Time, limit.Time, string) {
		at := func(i int) string { return f[(i+len(f))%len(f)] }
		verdict := "PASSED"
		if slices.Contains(f, refused) {
			verdict = "REJECTED"
		}
		if at(key) == "-" || slices.Contains(f, "<BADREQ>") || slices.Contains(f, `"<BADREQ>"`) {
			verdict = "-"
		}
		if verdict == "-" {
			return at(key), 0, 0, verdict
		}
		return at(key), moment(t, at(micros)), 0, verdict
	}
}

// listed are the recordings of a folder.
func listed(t *testing.T, folder string) (all []recording) {
	for line := range strings.Lines(string(testneeds.Content(t, filepath.Join(folder, "limits.txt")))) {
		f := strings.Fields(line)
		r := recording{name: f[0], limit: f[1], file: filepath.Join(folder, f[0]+".log.gz"), read: fromNginx(t, 4, 3)}
		if f[0][0] == 'h' {
			r.read = fromHAProxy(t, 0, 1, "429")
		}
		all = append(all, r)
	}
	return all
}

// recordings are all that there are.
func recordings(t *testing.T) []recording {
	all := listed(t, "testdata/verdicts")
	own := filepath.Join(testneeds.Root(t), "leaky/testdata/verdicts")
	for name, limit := range map[string]string{
		"nginx-60rm": "nginx:60r/m", "nginx-100rm-burst6-nodelay": "nginx:100r/m,burst=6,nodelay",
		"nginx-10rs-burst20-delay8-enforced": "nginx:10r/s,burst=20,delay=8", "nginx-10rs-burst20-delay8-dry": "nginx:10r/s,burst=20,delay=8",
	} {
		all = append(all, recording{name: name, limit: limit, file: filepath.Join(own, name+".log.gz"), read: fromNginx(t, 3, 2)})
	}
	for _, of := range []struct {
		name, limit string
		from        int
	}{
		{"nginx-60rm-dry", "nginx:60r/m", 8},
		{"nginx-12rm-burst6-nodelay-dry", "nginx:12r/m,burst=6,nodelay", 8},
		{"nginx-12rm-burst6-nodelay-enforced", "nginx:12r/m,burst=6,nodelay", 8},
		{"nginx-10rs-burst20-nodelay-dry", "nginx:10r/s,burst=20,nodelay", 8},
		{"nginx-10rs-burst20-delay8-dry", "nginx:10r/s,burst=20,delay=8", 8},
		{"nginx2-5rs-burst10-delay5-dry", "nginx:5r/s,burst=10,delay=5", 4},
		{"nginx2-5rs-burst10-delay5-enforced", "nginx:5r/s,burst=10,delay=5", 4},
		{"nginx2-two-zones-dry", "nginx:5r/s,burst=5,nodelay+nginx:60r/m,burst=30,nodelay", 4},
		{"nginx2-20rm-burst2-by-client-uri-dry", "nginx:20r/m,burst=2", 4},
		{"nginx2-1rs-burst3-rewritten-enforced", "nginx:1r/s,burst=3,nodelay", 4},
		{"openresty-limit-req-4rs-burst6", "nginx:4r/s,burst=6", 4},
	} {
		r := recording{name: of.name, limit: of.limit, read: fromNginx(t, of.from, 2)}
		if strings.Contains(of.name, "by-client-uri") {
			nginx := r.read
			r.read = func(f []string) (string, limit.Time, limit.Time, string) {
				key, at, took, verdict := nginx(f)
				return key + f[6], at, took, verdict
			}
		}
		all = append(all, r)
	}
	all = append(all,
		recording{name: "haproxy-rate30s-rate10s-dry", limit: "haproxy:6/30s", read: fromHAProxy(t, -3, -12, "wb30=1")},
		recording{name: "haproxy-rate30s-rate10s-dry", limit: "haproxy:20/10s", read: fromHAProxy(t, -3, -12, "wb10=1")},
		recording{name: "haproxy2-gpc0rate-8-10s", limit: "haproxy:8/10s,charge=admitted", read: fromHAProxy(t, 0, -8, "v=1")},
	)
	return all
}

// requests reads a recording, as it is or in whole seconds.
func (r *recording) requests(t *testing.T, whole bool) *Requests {
	file := r.file
	if file == "" {
		file = testneeds.Shared(t, filepath.Join("verdicts", r.name+".log.gz"))
	}
	all, ids := &Requests{Keys: make([][]int32, 1)}, map[string]int32{}
	lines := bufio.NewScanner(bytes.NewReader(testneeds.Content(t, file)))
	for lines.Scan() {
		key, at, took, word := r.read(strings.Fields(lines.Text()))
		id, known := ids[key]
		if !known {
			id = int32(len(ids))
			ids[key] = id
		}
		at -= took
		if whole {
			at -= at % limit.Second
		}
		verdict := map[byte]Verdict{'P': Passed, 'D': Delayed, 'R': Refused, '-': none}[word[0]]
		all.At, all.Verdict, all.Keys[0] = append(all.At, at), append(all.Verdict, verdict), append(all.Keys[0], id)
	}
	if whole {
		all.Spread()
	}
	return all
}

// none is the verdict of a request that did not come as far as the limit.
const none Verdict = 0xff

// search finds the limit of a recording.
func (r *recording) search(t *testing.T, whole bool) *Found {
	all := r.requests(t, whole)
	o := Options{Delays: true, Prefer: "nginx", Only: true, Whole: whole}
	if strings.HasPrefix(r.limit, "haproxy") {
		o = Options{Prefer: "haproxy", Only: true, Whole: whole}
	}
	return all.Search(all.Keys[0], func(row int32) bool { return all.Verdict[row] != none }, o)
}

// same reports whether two texts are the same limits.
func same(t *testing.T, x, y string) bool {
	limiters := func(text string) (all []limit.Limiter) {
		policies, err := policy.ParseLimits([]string{text}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		for i := range policies[0].Parts {
			all = append(all, policies[0].Parts[i].Limiter)
		}
		return all
	}
	return reflect.DeepEqual(limiters(x), limiters(y))
}

func TestRecordingsAreRecovered(t *testing.T) {
	found, of := 0, 0
	for _, r := range recordings(t) {
		if r.file == "" && !testneeds.HasShared(t) {
			continue
		}
		f := r.search(t, false)
		of++
		mark := ""
		if same(t, r.limit, f.Best.Limit) {
			found++
		} else {
			mark = " NOT FOUND"
		}
		t.Logf("%-40s %-35s %6.2f %% (%.2f–%.2f), unseen %.2f, %d equal, %d as good%s: %s", r.name, r.limit, f.Percent, f.Low, f.High, f.Unseen,
			len(f.Equal), len(f.AsGood), mark, f.Best.Limit)
		if mark != "" {
			for i, as := range append(slices.Clone(f.Equal), f.AsGood...) {
				if i < 6 || same(t, as.Limit, r.limit) {
					t.Log("   ", i, as.Limit, as.Wrong)
				}
			}
		}
	}
	t.Logf("%d of %d recovered", found, of)
	if of < 28 || 100*found < 96*of {
		t.Errorf("%d of %d recordings are recovered, want 95 %%", found, of)
	}
}

// In whole seconds too the limit of the server is told, as its users write it.
func TestNamesOfTheServer(t *testing.T) {
	for _, r := range listed(t, "testdata/whole") {
		if f := r.search(t, true); !same(t, r.limit, f.Best.Limit) {
			t.Errorf("%s: %s, %d wrong; want %s", r.name, f.Best.Limit, f.Best.Wrong, r.limit)
		}
	}
}

// In whole seconds a log of a minute tells most limits, and names most others among those that fit. One of ten seconds
// rarely does.
func TestWholeSeconds(t *testing.T) {
	var told, named, of int
	for _, r := range recordings(t) {
		if r.file != "" || !testneeds.HasShared(t) {
			continue
		}
		f := r.search(t, true)
		of++
		mark := "neither"
		for _, as := range append(slices.Clone(f.Equal), f.AsGood...) {
			if same(t, as.Limit, r.limit) {
				mark = "named"
			}
		}
		if same(t, r.limit, f.Best.Limit) {
			mark = "told"
			told++
		}
		if server, _ := limit.CutAlgorithm(r.limit); !strings.HasPrefix(f.Best.Limit, server) {
			t.Errorf("%s: %s is of another server", r.name, f.Best.Limit)
		}
		if mark != "neither" {
			named++
		}
		t.Logf("%-7s %-40s %-35s %6.2f %%, %d as good: %s", mark, r.name, r.limit, f.Percent, len(f.Equal)+len(f.AsGood), f.Best.Limit)
	}
	t.Logf("%d of %d told, %d named", told, of, named)
	if of > 0 && (told < 11 || named < 12) {
		t.Errorf("of %d limits %d are told, want 11; and %d named, want 12", of, told, named)
	}
}
