package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/reporttest"
)

var townOptions = report.Options{
	Version: "1.2.3", Command: "shadow replay access.log* --limit 6/30s", Database: "shadow.db", Run: "7",
	Warnings: []string{"access.log.1.gz: ended early: truncated gzip"},
}

// keyed are two keys over 1,000 requests of tools and 300 of browsers: client refuses both alike, user only tools.
func keyed() *sweep.KeysResult {
	window := sweep.Shape{Kind: sweep.Window, Per: limit.Minute}
	point := func(n, tools, browsers, hit int64) sweep.Point {
		return sweep.Point{
			Limit: n, Counted: true, Refused: sweep.Classes{request.Tool: tools, request.Browser: browsers}, Hit: sweep.Classes{request.Browser: hit},
		}
	}
	return &sweep.KeysResult{
		Stats: reporttest.Town().Stats, Tables: reporttest.Town().Tables, Visitors: sweep.Classes{request.Browser: 100, request.Tool: 3},
		Requests: sweep.Classes{request.Browser: 300, request.Tool: 1000},
		Sides: []sweep.KeyCurves{
			{By: request.ByClient, Curves: []sweep.Curve{{Shape: window, Points: []sweep.Point{point(1, 900, 200, 80), point(8, 799, 20, 9), point(20, 0, 0, 0)}}}},
			{By: request.ByUser, Curves: []sweep.Curve{{Shape: window, Points: []sweep.Point{point(1, 850, 100, 50), point(5, 800, 5, 5), point(30, 0, 0, 0)}}}},
			{By: request.ByClient64, Curves: []sweep.Curve{{Shape: window}}},
		},
		ClientStats: sweep.ClientStats{Clients: 50, Agents: 103, Users: 60, IPv4: 50, Sent: 1300},
	}
}

func keysQuestion(refuse ...float64) Question {
	return Question{
		Target: []request.Class{request.Tool, request.Crawler}, Protected: []request.Class{request.Browser},
		TargetName: "programs and crawlers", ProtectedName: "browsers", Refuse: refuse,
		By: []request.Key{request.ByClient, request.ByUser, request.ByClient64},
	}
}

// What the first part chooses is held against the rest, with a bound for all keys that were tried. A key that does not separate
// there is not validated.
func TestValidated(t *testing.T) {
	q := keysQuestion(80, 85.5)
	first, rest := keyed(), keyed()
	rest.Requests, rest.Visitors = sweep.Classes{request.Tool: 500}, sweep.Classes{request.Browser: 40}
	rest.Sides[1].Curves[0].Points = []sweep.Point{
		{Limit: 1, Refused: sweep.Classes{request.Tool: 450}, Hit: sweep.Classes{request.Browser: 30}},
		{Limit: 29, Refused: sweep.Classes{request.Tool: 410}, Hit: sweep.Classes{request.Browser: 1}},
		{Limit: 40},
	}
	found := []request.Key{request.ByUser}
	for bits := range 19 {
		found = append(found, request.Key(fmt.Sprintf("client/%d", 8+bits)))
	}
	q.Split = &Split{Found: found, First: first, Rest: rest, Percent: 70}
	k := New(keyed(), q, townOptions)
	v := k.Answers[0].Validated
	want := Validated{
		Key: "user", Limit: "window:29/1m", ChosenOnPercent: 70, Tried: 20, TargetRefused: 410, TargetRequests: 500, TargetPercent: 82,
		ProtectedHit: 1, Protected: 40, ProtectedPercent: 2.5, MostPercent: 18.776062,
	}
	if v == nil || *v != want || k.Answers[1].Validated != nil || len(k.Found) != 20 || k.Found[0] != "user" {
		t.Errorf("%+v, %+v, found %v", v, k.Answers[1].Validated, k.Found)
	}
	if picked := Pick(first, q, []request.Key{request.ByClient, request.ByUser}, 2); !slices.Equal(picked, []request.Key{request.ByUser}) {
		t.Errorf("picked %v", picked)
	}
	q.Split.Found = []request.Key{"agent"}
	if v := New(keyed(), q, townOptions).Answers[0].Validated; v != nil {
		t.Errorf("user is named, which was not found in the log, and %+v is validated", *v)
	}
	q.Split.Found = found
	q.Split.Rest.Requests = sweep.Classes{}
	if text := New(keyed(), q, townOptions).Answers[0].Validated.text(); !strings.HasSuffix(text, "the rest has too little to validate it") {
		t.Error(text)
	}
}

// A sample shows which keys may separate: those that hit few, up to four times as many as one that separates, the best for
// each question and window.
func TestLikely(t *testing.T) {
	sample, by := keyed(), []request.Key{request.ByUser, request.ByClient}
	for _, want := range []struct {
		hit    int64 // visitors of 100, by client
		n      int
		likely []request.Key
	}{{20, 2, by}, {20, 1, by[:1]}, {21, 2, by[:1]}} {
		sample.Sides[0].Curves[0].Points[0].Hit[request.Browser] = want.hit
		if got := Likely(sample, keysQuestion(80, 95), by, want.n); !slices.Equal(got, want.likely) {
			t.Errorf("with %d hit, of the best %d: %v, want %v", want.hit, want.n, got, want.likely)
		}
	}
}

func TestBestKey(t *testing.T) {
	k := New(keyed(), keysQuestion(80, 85.5, 95), townOptions)
	for i, want := range []struct{ best, limit, verdict string }{
		{"user", "window:29/1m", "for 80 %: user, window:29/1m, hits 5 of 100 visitors to protect; client hits 80"},
		{"client", "window:7/1m", "for 85.5 %: client, window:7/1m, hits 80 of 100 visitors to protect; no other key hits at most half as many and 1 % of them fewer: no key separates them by such a window; a longer --per gathers more of what comes slowly"},
		{"", "window:1/1m", "no key refuses 95 % by a window of 1m, however small: at best 90.00 %, by client; a longer --per gathers more of what comes slowly"},
	} {
		a := &k.Answers[i]
		if a.Best != want.best || a.Keys[0].Limit != want.limit || a.verdict(k) != want.verdict || len(a.Keys) != 2 {
			t.Errorf("%v%%: best %q, %+v: %s", *a.Refuse, a.Best, a.Keys, a.verdict(k))
		}
	}
	if len(k.Absent) != 1 || k.Absent[0] != (AbsentKey{"client/64", "no client has an IPv6 address"}) {
		t.Errorf("absent: %v", k.Absent)
	}
}

// A key that makes one client of several is told as such, and is no better than client where that separates.
func TestSharedKey(t *testing.T) {
	k := New(keyed(), keysQuestion(80), townOptions)
	k.Bounds = &Bounds{Keys: []Bound{{Key: "user", Reach: Reach{OfClients: 3}, SharedBy: 2}}}
	if text := k.Answers[0].verdict(k); !strings.HasSuffix(text, "client hits 80; its fullest bucket has 2 of the 3 clients of the target: these share one limit") {
		t.Error(text)
	}
	for _, want := range []struct {
		key           request.Key
		client, other int64
		better        bool
	}{
		{request.ByAction, 4, 0, false},
		{request.ByAction, 6, 0, true},
		{request.ByUserAction, 4, 0, true},
		{request.ByClientAgent, 4, 0, true},
	} {
		row := func(key request.Key, hit int64) *Row {
			return &Row{Key: key.String(), Reached: true, ProtectedHit: hit, ProtectedHitPercent: float64(hit)}
		}
		if got := k.clearlyBetter(row(want.key, want.other), row(request.ByClient, want.client)); got != want.better {
			t.Errorf("%s is better than client, which hits %d: %t", want.key, want.client, got)
		}
	}
}

// Longer windows are needed as long as no key separates by those that were tried.
func TestNeedsLonger(t *testing.T) {
	r := keyed()
	for percent, want := range map[float64]bool{85.5: true, 95: true, 5: false} {
		if got := NeedsLonger(r, keysQuestion(percent)); got != want {
			t.Errorf("%v%%: %v", percent, got)
		}
	}
}

// Where no key separates by the window that was asked for, a longer one that does is named.
func TestLongerWindows(t *testing.T) {
	r, q := keyed(), keysQuestion(85.5, 95)
	for i := range r.Sides {
		points := []sweep.Point{{Limit: 1}}
		if r.Sides[i].By == request.ByUser {
			points[0] = sweep.Point{Limit: 1, Counted: true, Refused: sweep.Classes{request.Tool: 900}, Hit: sweep.Classes{request.Browser: 2}}
			points = append(points, sweep.Point{Limit: 50, Counted: true})
		}
		r.Sides[i].Curves = append(r.Sides[i].Curves, sweep.Curve{Shape: sweep.Shape{Kind: sweep.Window, Per: limit.Hour}, Points: points})
	}
	q.Longer = 1
	k := New(r, q, townOptions)
	for i, want := range []struct{ longer, verdict string }{
		{"1h", ": no key separates them by such a window; --per 1h gathers more of what comes slowly: user, window:49/1h, hits 2 of 100"},
		{"", "at best 90.00 %, by client; nor does one separate them by 1h"},
	} {
		if a := &k.Answers[i]; a.Longer != want.longer || !strings.HasSuffix(a.verdict(k), want.verdict) || len(k.Answers) != 2 {
			t.Errorf("%v%%: longer %q: %s", *a.Refuse, a.Longer, a.verdict(k))
		}
	}
}

func TestKeyWarnings(t *testing.T) {
	for want, change := range map[string]func(r *sweep.KeysResult){
		"":                   func(*sweep.KeysResult) {},
		"no agents":          func(r *sweep.KeysResult) { r.Agents = 0 },
		"no one to":          func(r *sweep.KeysResult) { r.Requests[request.Browser] = 0 },
		"there is no target": func(r *sweep.KeysResult) { r.Requests[request.Tool] = 0 },
		"2 networks (/64) had 10 or more new addresses on one day, 40 in all, and sent 1.00 %": func(r *sweep.KeysResult) {
			r.Rotating, r.IPv6Sent = sweep.AddressRotation{Networks: 2, Addresses: 40, Requests: 13}, 1300
		},
		"198.51.100.9 sent 50.10 % of the target requests: the answers are about that client; --exclude 198.51.100.9 shows": func(r *sweep.KeysResult) {
			id := r.Tables.Clients.ID([]byte("198.51.100.9"))
			r.ByClient.Grow(int(id) + 1)
			r.ByClient.At(id).ByClass[request.Tool] = 501
		},
		"only 19 requests of the target": func(r *sweep.KeysResult) { r.Requests[request.Tool] = 19 },
		"only 19 visitors to protect":    func(r *sweep.KeysResult) { r.Visitors[request.Browser] = 19 },
		"sent 0.92 %": func(r *sweep.KeysResult) { // little of all, much of IPv6
			r.Rotating, r.IPv6Sent = sweep.AddressRotation{Networks: 2, Addresses: 40, Requests: 12}, 120
		},
	} {
		r := keyed()
		change(r)
		got := strings.Join(New(r, keysQuestion(80), report.Options{}).Warnings, "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("warns %q, want %q", got, want)
		}
	}
	r := keyed()
	r.Rotating, r.IPv6Sent = sweep.AddressRotation{Networks: 1, Addresses: 12, Requests: 12}, 121
	if w := New(r, keysQuestion(80), report.Options{}).Warnings; len(w) > 0 {
		t.Errorf("warns of little: %v", w)
	}
}

// The least number of requests that is a share, of any whole.
func TestNeeded(t *testing.T) {
	for whole := int64(1); whole < 400; whole++ {
		for _, share := range []float64{0.1, 1, 33.3, 50, 80, 99.9, 100} {
			n := needed(whole, share)
			if format.PercentOf(n, whole) < share || n > 1 && format.PercentOf(n-1, whole) >= share {
				t.Fatalf("%v%% of %d is %d", share, whole, n)
			}
		}
	}
}

// docs/keys.md names each key of the JSON and each column of the tables, in code quotes; what all reports have is
// defined elsewhere.
func TestKeysAreDefined(t *testing.T) {
	page, err := os.ReadFile("../../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	k := New(keyed(), keysQuestion(80, 95), townOptions)
	names := slices.Clone(csvHead)
	for _, part := range []any{k.Target, k.Absent, k.Answers, k.Log} {
		names = append(names, namesIn(t, part)...)
	}
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/keys.md does not define `%s`", name)
		}
	}
}

func namesIn(t *testing.T, part any) (names []string) {
	text, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range bytes.Split(text, []byte(`"`)) {
		if i := bytes.Index(text, append(append([]byte(`"`), word...), `":`...)); i >= 0 && len(word) > 1 {
			names = append(names, string(word))
		}
	}
	return names
}

// Whatever a stranger wrote stays text.
func TestKeysAreHarmless(t *testing.T) {
	r := keyed()
	r.Action = "evil\x1b[31m|<b>"
	for _, format := range format.Outputs() {
		var b bytes.Buffer
		if err := New(r, keysQuestion(80), townOptions).Write(&b, format); err != nil || strings.ContainsAny(b.String(), "\x1b") {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
}
