package who

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/limit"
	"shadow/limit/limittest"
	"shadow/parse"
	"shadow/parse/detect"
)

// census reads logs as a command does, and returns who their clients are.
func census(t testing.TB, format, client string, files ...string) *Census {
	t.Helper()
	return reading{format: format, client: client}.census(t, files...)
}

// reading says how a test reads a log.
type reading struct {
	format, client string
	owners         string                                // a database of networks
	batch          int                                   // rows of one; 0: as by default
	change         func(*traffic.Batch, *traffic.Tables) // what a test does to batches; nil: nothing
}

func (r reading) census(t testing.TB, files ...string) *Census {
	t.Helper()
	o := ingest.Options{Tables: traffic.NewTables(), Lateness: ingest.DefaultLateness, Batch: r.batch}
	var err error
	if o.Clients, err = match.ParseClientRule(r.client, "", nil); err != nil {
		t.Fatal(err)
	}
	if o.Actions, err = match.NewActions(nil, o.Tables.Actions); err != nil {
		t.Fatal(err)
	}
	if o.ClueFinder, err = evidence.NewClueFinder(evidence.ClueRules{Purposes: true}); err != nil {
		t.Fatal(err)
	}
	o.Format = detect.Choice{Format: cmp.Or(r.format, "auto"), Options: parse.Options{Extra: o.Clients.Extra()}}
	reader, err := ingest.NewReader(context.Background(), files, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var known network.Known
	if r.owners != "" {
		if known.Owners, err = network.Open([]string{r.owners}); err != nil {
			t.Fatal(err)
		}
	}
	w := New(Options{Tables: o.Tables, Addresses: o.Clients.IsAddress(), Known: known})
	var group traffic.Group
	for {
		b, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return w.Identify(reader.Stats().SiteHosts)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.change != nil {
			r.change(b, o.Tables)
		}
		group.Sort(b, b.Client, o.Tables.Clients.Len())
		w.Take(b, &group)
	}
}

// realLogs lie beside the project, with their formats.
var realLogs = []struct{ set, pattern, format, client string }{
	{set: "almhuette-2015-2016"},
	{set: "almhuette-2018"},
	{set: "elastic-nginx"},
	{set: "hackers-basjes-2015"},
	{set: "imooc-2016"},
	{set: "nasa-1995-07-09"},
	{set: "roadmap-nginx-2024"},
	{set: "sparkdeveloper-2016"},
	{set: "sundog-2017"},
	{set: "zanbil-sample-2019"},
	{"webbot-phase1", "*_access_*.gz", webbotFormat, "session"},
	{"webbot-phase2", "humans_access_*.gz", webbotFormat, "session"},
}

const webbotFormat = `- - [$time_local] "$request" $status $body_bytes_sent "$http_referer" $session "$http_user_agent"`

// How many clients of real logs are what, in a file that -update rewrites.
func TestIdentitiesOfRealLogs(t *testing.T) {
	if !testneeds.HasShared(t) {
		t.Skip("the logs lie beside the project")
	}
	var text strings.Builder
	for _, log := range realLogs {
		files, err := filepath.Glob(filepath.Join("../../../../shared/logs", log.set, cmp.Or(log.pattern, "*.gz")))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", log.set, err)
		}
		c := census(t, log.format, log.client, files...)
		fmt.Fprintf(&text, "%s\n", log.set)
		for who, n := range c.Tally() {
			if n.Clients > 0 {
				fmt.Fprintf(&text, "\t%-10s %6d clients %8d requests\n", Identity(who), n.Clients, n.Requests)
			}
		}
		for _, s := range c.Swarms {
			fmt.Fprintf(&text, "\tswarm of %s\n", s.Reason)
		}
		for _, l := range c.Loots() {
			fmt.Fprintf(&text, "\tgiven away %d times to %d clients\n", l.Requests, len(l.Clients))
		}
	}
	limittest.Golden(t, "testdata/real.txt", text.String())
}

// A site that answers whatever is asked for with one page, which may be its first, gives nothing away. No more does HEAD.
func TestOnePageForAll(t *testing.T) {
	for name, requests := range map[string][]string{
		"secrets": {"GET /.env", "GET /.git/config", "GET /id_rsa", "GET /.aws/credentials"}, "what else scanners ask for": {"GET /.env", "GET /config.json", "GET /v2/_catalog"},
		"the first page": {"GET /.env", "GET /"}, "no page": {"HEAD /.env"},
	} {
		w := &town{Rand: testneeds.Rand(t, 38, 3), want: map[string][]Identity{}}
		for i, request := range requests {
			w.answer(time.Duration(i)*time.Second, "198.51.100.9", request, 956, curl)
		}
		for i := range 3 { // such are no scanner's
			w.answer(time.Hour, "198.51.100.7", fmt.Sprint("GET /shop/", i), 4711, curl)
		}
		w.answer(time.Minute, "198.51.100.9", "GET /.svn/entries", 4711, curl)
		if found := census(t, "", "", w.write(t)).Loots(); len(found) != 1 || found[0].Requests != 1 {
			t.Errorf("%s: %+v was given away, want the answer of another size", name, found)
		}
	}
}

// A site that answers whatever is asked for, there or below one folder, with pages of nearly the same size gives nothing
// away. No more does one whose repositories git reads.
func TestAlikePages(t *testing.T) {
	for name, c := range map[string]struct {
		agent    string
		requests []string // each with an answer some bytes longer
		others   int      // that ask for another page each
		want     int      // what is given away
	}{
		"all":             {curl, []string{"GET /.env", "GET /config.json", "GET /v2/_catalog", "GET /setup"}, 0, 0},
		"but few":         {curl, []string{"GET /.env", "GET /config.json", "GET /setup"}, 0, 1},
		"a server":        {curl, []string{"GET /.env"}, 3, 0},
		"alike by chance": {curl, []string{"GET /.env"}, 2, 1},
		"a folder":        {curl, []string{"GET /api/.env", "GET /api/eval-stdin.php"}, 0, 0},
		"its page":        {curl, []string{"GET /blog", "GET /blog/.env"}, 0, 0},
		"another folder":  {curl, []string{"GET /api/.env", "GET /shop/eval-stdin.php"}, 0, 1},
		"a repository":    {curl, []string{"GET /.git/HEAD", "GET /.git/config", "GET /.git/index"}, 0, 3},
		"a clone's":       {"git/2.43.0", []string{"GET /pub/.git/HEAD", "GET /pub/.git/info/refs"}, 0, 0},
	} {
		w := &town{Rand: testneeds.Rand(t, 38, 4), want: map[string][]Identity{}}
		for i, request := range c.requests {
			w.answer(time.Duration(i)*time.Second, "198.51.100.9", request, 7400+9*i, c.agent)
		}
		for i := range c.others {
			w.answer(time.Hour, fmt.Sprint("198.51.100.", i), fmt.Sprint("GET /page", i), 7400, c.agent)
		}
		given := 0
		for _, l := range census(t, "", "", w.write(t)).Loots() {
			given += int(l.Requests)
		}
		if given != c.want {
			t.Errorf("%s: %d given away, want %d", name, given, c.want)
		}
	}
}

// What a client got is told by action, with who got it.
func TestLoots(t *testing.T) {
	w := &town{Rand: testneeds.Rand(t, 38, 2), want: map[string][]Identity{}}
	for i, request := range []string{"/.git/config", "/.git/HEAD", "/.env", "/shop/1"} {
		w.answer(time.Duration(i)*time.Second, "198.51.100.9", "GET "+request, 100+i, curl)
	}
	w.hit(0, "198.51.100.8", "GET /.git/HEAD", 200, "-", curl)
	w.hit(0, "198.51.100.7", "GET /.env", 404, "-", curl)
	c := census(t, "", "", w.write(t))
	var text []string
	for _, l := range c.Loots() {
		text = append(text, fmt.Sprint(c.observer.Tables.Actions.Name(l.Action), " ", l.Requests, " ", len(l.Clients)))
	}
	if want := []string{"/.git/… 3 2", "/.env 1 1"}; !slices.Equal(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
}

// Most gaps of the same length are a rhythm, few are none.
func TestRhythm(t *testing.T) {
	for name, c := range map[string]struct {
		gaps []limit.Time
		want bool
	}{
		"a clock":             {slices.Repeat([]limit.Time{300 * limit.Second}, 12), true},
		"too few gaps":        {slices.Repeat([]limit.Time{300 * limit.Second}, 11), false},
		"a twentieth off":     {slices.Repeat([]limit.Time{300 * limit.Second, 285 * limit.Second, 315 * limit.Second}, 8), true},
		"a tenth off":         {slices.Repeat([]limit.Time{300 * limit.Second, 270 * limit.Second, 330 * limit.Second}, 8), false},
		"redirected at once":  {slices.Repeat([]limit.Time{300 * limit.Second, limit.Second}, 12), true},
		"one of five another": {slices.Repeat([]limit.Time{60 * limit.Second, 60 * limit.Second, 60 * limit.Second, 60 * limit.Second, 7 * limit.Second}, 6), true},
		"two of five others":  {slices.Repeat([]limit.Time{60 * limit.Second, 7 * limit.Second, 60 * limit.Second, 60 * limit.Second, 9 * limit.Second}, 6), false},
		"every two seconds":   {slices.Repeat([]limit.Time{2 * limit.Second}, 40), true},
	} {
		var r rhythm
		at := limit.Hour
		r.add(at)
		for _, gap := range c.gaps {
			at += gap
			r.add(at)
		}
		if r.fixed() != c.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Which answer a wrong password gets is learned from the log.
func TestLogins(t *testing.T) {
	for name, c := range map[string]struct {
		all          [triesCount]int64
		tries        [triesCount]uint32
		wrong, right uint32
		open         uint32
	}{
		"denied":                 {[triesCount]int64{50, 50, 0}, [triesCount]uint32{3, 1, 1}, 3, 2, 0},
		"hardly ever denied":     {[triesCount]int64{1, 100, 50}, [triesCount]uint32{0, 3, 1}, 3, 1, 0},
		"answered again":         {[triesCount]int64{0, 90, 10}, [triesCount]uint32{0, 4, 1}, 4, 1, 0},
		"always the same answer": {[triesCount]int64{0, 0, 90}, [triesCount]uint32{0, 0, 9}, 0, 0, 9},
		"of some it is not told": {[triesCount]int64{50, 50, 0, 90}, [triesCount]uint32{3, 1, 1, 9}, 3, 2, 9},
		"no password was tried":  {[triesCount]int64{}, [triesCount]uint32{}, 0, 0, 0},
		"another client did":     {[triesCount]int64{0, 50, 0}, [triesCount]uint32{}, 0, 0, 0},
		"a hundredth was denied": {[triesCount]int64{1, 99, 0}, [triesCount]uint32{0, 5, 0}, 0, 5, 0},
		"a hundredth was let in": {[triesCount]int64{0, 99, 1}, [triesCount]uint32{0, 5, 0}, 5, 0, 0},
		"less than that was":     {[triesCount]int64{0, 100, 1}, [triesCount]uint32{0, 5, 0}, 0, 0, 5},
	} {
		l := Logins{Tries: c.all}
		if wrong, right, open := l.of(&record{tries: c.tries}); wrong != c.wrong || right != c.right || open != c.open {
			t.Errorf("%s: %d wrong, %d right, %d not told, want %d, %d and %d", name, wrong, right, open, c.wrong, c.right, c.open)
		}
	}
}

func TestMajority(t *testing.T) {
	for text, want := range map[string]uint16{"aab": 'a', "abb": 'b', "abcbb": 'b', "a": 'a', "bbbaaaaa": 'a'} {
		var m majority
		for _, v := range text {
			m.add(uint16(v))
		}
		if m.value != want {
			t.Errorf("%s: %c", text, m.value)
		}
	}
}

// An agent that names the site's own address is the site's own.
func TestNamesHost(t *testing.T) {
	hosts := [][]byte{[]byte("shop.example")}
	for agent, want := range map[string]bool{
		"WordPress/6.5; https://shop.example": true, "WordPress/6.5; https://www.Shop.example/blog": true, "Warmer (+http://shop.example)": true,
		"WordPress/6.5; https://other.example": false, "Warmer shop.example": false, "x; https://shop.example.org": false, "": false,
	} {
		if namesHost(agent, hosts) != want {
			t.Errorf("%q: %v", agent, !want)
		}
	}
}

// Every identity has a name of its own.
func TestNames(t *testing.T) {
	for i := range Count {
		if got, known := Parse(i.One()); !known || got != i {
			t.Errorf("%s is read as %s", i, got)
		}
	}
	if _, known := Parse("human"); known {
		t.Error("human is no identity")
	}
	for i := range Count {
		if got, err := ParseSet(i.String()); err != nil || got != 1<<i {
			t.Errorf("%s is read as %s, %v", i, got, err)
		}
	}
	for _, set := range []Set{Everybody, Browsers, Users} {
		if got, err := ParseSet(set.String()); err != nil || got != set {
			t.Errorf("%s is read as %s, %v", set, got, err)
		}
	}
	if _, err := ParseSet("scrapers"); err == nil || !strings.Contains(err.Error(), "mostly programs and disguised") {
		t.Errorf("scrapers: %v", err)
	}
}
