package calibrate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

// fewBusy are the requests of a few clients in some minutes: at a pace of their own, with bursts.
func fewBusy(r *rand.Rand) *Requests {
	all := &Requests{Keys: make([][]int32, 1)}
	for client := range int32(8) {
		pace := limit.Time(1) << (19 + r.IntN(4)) // 0.5 to 4 s
		for at := limit.Time(r.Int64N(int64(20 * limit.Second))); at < 2*limit.Minute; at += 1 + limit.Time(r.Int64N(int64(2*pace))) {
			at -= at % limit.Millisecond
			for range 1 + r.IntN(4)*r.IntN(4) {
				all.At, all.Verdict, all.Keys[0] = append(all.At, at), append(all.Verdict, Passed), append(all.Keys[0], client)
				at += limit.Time(r.IntN(30)) * limit.Millisecond
			}
		}
	}
	return all
}

// All limits that a search tries, summed up by algorithm, with those that are contradicted least, in a file that -update
// rewrites. Another rate, window, pair or ban that is tried, or another verdict on one, shows.
func TestWhatIsExplored(t *testing.T) {
	if os.Getenv(testneeds.SeedVariable) != "" {
		t.Skip("the file is of one seed")
	}
	var text strings.Builder
	for _, c := range []struct {
		limit string
		Options
	}{
		{"token:2/1s,burst=5", Options{Delays: true}},
		{"nginx:90r/m,burst=6,delay=3", Options{Delays: true, Prefer: "nginx"}},
		{"window:9/10s", Options{}},
		{"fixed:31/45s,align=first", Options{}},
		{"haproxy:20/30s", Options{Prefer: "haproxy"}},
		{"counter:12/10s,round=nearest", Options{}},
		{"fail2ban:9/10s,bantime=20s", Options{}},
		{"window:8/10s,cooldown=15s", Options{}},
		{"token:3/1s,burst=6+token:60/1m,burst=40", Options{}},
		{"nginx:2r/s,burst=8,nodelay", Options{Whole: true, Prefer: "nginx"}},
		{"nginx:2r/s,burst=8,nodelay", Options{Whole: true, Prefer: "nginx", Only: true}},
		{"haproxy:15/15s,charge=admitted", Options{Whole: true}},
	} {
		all := fewBusy(testneeds.Rand(t, 37, 5))
		j, err := newJudge(c.limit, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range all.timelines(all.Keys[0], nil) {
			for i, v := range j.judge(&line) {
				all.Verdict[line.rows[i]] = v
			}
		}
		if c.Whole {
			for i := range all.At {
				all.At[i] -= all.At[i] % limit.Second
			}
			all.Spread()
		}
		s := explore(all.timelines(all.Keys[0], nil), c.Options)
		fmt.Fprintf(&text, "%s %+v: %d tried on %d requests\n", c.limit, c.Options, len(s.wrong), s.requests())
		for _, line := range s.ranked()[:3] {
			fmt.Fprintf(&text, "\t%s: %d\n", line, s.wrong[line])
		}
		tried, wrong := map[string]int{}, map[string]int64{}
		for line, n := range s.wrong {
			name, _ := limit.CutAlgorithm(line)
			if strings.Contains(line, "+") {
				name = "pairs"
			}
			tried[name]++
			wrong[name] += n
		}
		for _, name := range slices.Sorted(maps.Keys(tried)) {
			fmt.Fprintf(&text, "\t%s: %d tried, %d contradictions\n", name, tried[name], wrong[name])
		}
		f := all.Search(all.Keys[0], nil, c.Options)
		fmt.Fprintf(&text, "%s\n", f.told())
	}
	limittest.Golden(t, "testdata/explored.txt", text.String())
}

// What clients do after a refusal, class by class.
func TestReactions(t *testing.T) {
	r := logOf(
		"AaaB      Z                                                                    Z", // tools: refused twice, then another path
		"A a a a                                                                         ", // and then nothing
		"a                                                                              A",
		"A                                                                             aA", // too near the end
	)
	for row := range r.At {
		if r.Client[row] == 2 {
			r.Class[row] = request.Browser
		}
	}
	r.Retry[1] = 5 * limit.Second // asked for, not honoured
	r.Retry[7] = 2 * limit.Second // honoured
	var text strings.Builder
	for _, waits := range [][]limit.Time{nil, slices.Repeat([]limit.Time{3 * limit.Second}, r.Len())} {
		for _, c := range r.Reactions(waits) {
			fmt.Fprintf(&text, "%+v\n", c)
		}
	}
	limittest.Golden(t, "testdata/reactions.txt", text.String())
}

// A limit that is given is held against the verdicts, by the key that it explains most by, and says how long it asks to wait.
func TestHold(t *testing.T) {
	r := logOf("AAAaaAaaaa", "AAAaaAaaaa  AAA")
	r.Keys = append(r.Keys, make([]int32, r.Len())) // all of one key
	found := r.Hold([]string{"window:3/5s", "window:2/5s", "nonsense"}, Options{})
	if len(found) != 1 || found[0].Key != 0 || found[0].Best == nil || found[0].Best.Limit != "window:3/5s" || found[0].Requests != 23 {
		t.Fatalf("%+v", found)
	}
	var waits []string
	for _, wait := range r.Waits(found) {
		waits = append(waits, fmt.Sprint(wait))
	}
	t.Log(found[0].told())
	limittest.Golden(t, "testdata/hold.txt", found[0].told()+"\n"+strings.Join(waits, " ")+"\n")
	if empty := (&Requests{Keys: [][]int32{nil}}).Hold([]string{"window:3/5s"}, Options{}); empty[0].Best != nil {
		t.Errorf("%+v", empty)
	}
	if none := r.Hold([]string{"nonsense"}, Options{}); none[0].Best != nil || none[0].Refused == 0 {
		t.Errorf("%+v", none)
	}
}

// The table of need.go: the size that is contradicted least, by how many, and those that are contradicted as little.
func TestSizeOfNeeds(t *testing.T) {
	n := needs{admitted: []int64{0, 210, 180, 90, 70, 61, 1, 0, 0}, refused: []int64{0, 0, 0, 0, 0, 2, 95, 80, 300}}
	if got := n.best(); got != (size{5, 5, 3}) {
		t.Errorf("%+v", got)
	}
	n = needs{}
	for need, refused := range map[float64]bool{1: false, 2: false, 6: true, 7: true, 2 << 20: true, -3: false} {
		n.add(need, refused)
	}
	if got := n.best(); got != (size{2, 5, 0}) || len(n.admitted) != mostNeeded+1 || n.admitted[1] != 2 {
		t.Errorf("%+v", got)
	}
	if got := new(needs).best(); got.wrong < 1 {
		t.Errorf("%+v explains nothing", got)
	}
}

// Of several keys the one counts by which a limit explains most.
func TestBestKey(t *testing.T) {
	for first := range 2 {
		r := logOf("AAaaaAaaAaaaA  AAa", "   AAaaaAaa  AAaaa", "A  AA   aaaAaaAA a")
		other := make([]int32, r.Len())
		for row := range other {
			other[row] = int32(row / 3)
		}
		r.Keys = [][]int32{r.Keys[0], other}
		if first == 1 {
			r.Keys[0], r.Keys[1] = r.Keys[1], r.Keys[0]
		}
		byClient := r.Search(r.Keys[first], nil, Options{}).Best.Wrong
		byOther := r.Search(r.Keys[1-first], nil, Options{}).Best.Wrong
		if l := r.locate(-1, nil, Options{}); byClient == byOther || (l.Key == first) != (byClient < byOther) || l.Best.Wrong != min(byClient, byOther) {
			t.Errorf("key %d, %d wrong; by client %d, by the other %d", l.Key, l.Best.Wrong, byClient, byOther)
		}
	}
}

// The rates and periods in which people write limits, which are all tried.
func TestUsualNumbers(t *testing.T) {
	var text strings.Builder
	for name, all := range map[string][]limit.Time{"rates": ratePeriods, "windows": windowPeriods} {
		fmt.Fprintf(&text, "%s by", name)
		for _, per := range all {
			fmt.Fprintf(&text, " %s", limit.FormatPeriod(per))
		}
		text.WriteString("\n")
	}
	for name, all := range map[string][]rate{"2 to 2.5 a second": simpleRates(2, 2.5), "near 7.3 a second": ratesNear(7.3, 0.02), "near one a minute": ratesNear(1.0/60, 0.02)} {
		fmt.Fprintf(&text, "%s", name)
		for _, r := range all {
			fmt.Fprintf(&text, " %d/%s=%.6f%s", r.n, limit.FormatPeriod(r.per), r.perSecond, map[bool]string{true: "n"}[r.nginx])
		}
		text.WriteString("\n")
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	slices.Sort(lines)
	limittest.Golden(t, "testdata/numbers.txt", strings.Join(lines, "\n")+"\n")
}

// HAProxy counts in whole requests: of six three tenths are left after 17 s of 10 s each, which are one. Others count 1.8.
func TestNeedsOfWindows(t *testing.T) {
	for kind, want := range map[windowKind]int{{"haproxy", ""}: 2, {"counter", ""}: 3, {"window", ""}: 1} {
		l, err := kind.limiter(10 * limit.Second)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Repeat([]limit.Time{0}, 6)
		n := windowNeeds([]timeline{{at: append(at, 17*limit.Second), verdict: append(make([]Verdict, 6), Refused)}}, l)
		if need := slices.Index(n.refused, 1); need != want {
			t.Errorf("%s: it needs %d, want %d", kind.algorithm, need, want)
		}
	}
	for _, kind := range windowKinds {
		if _, err := kind.limiter(limit.Minute); err != nil {
			t.Errorf("%+v is never tried: %v", kind, err)
		}
	}
}
