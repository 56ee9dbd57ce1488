package evidence

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/limit/limittest"
	"shadow/parse"
)

// testdata/evidence.txt holds clients, and under each what was made of it:
//
//	9 GET /shop 404 from /     the second, the method, the target, the status (200 if left out), the referer on this site
//	0+10x20 GET /p/%           the same twenty times, every ten seconds, with 0 … 19 in the place of %
//	claim crawler              instead of a browser
//	browsers 3                 from here on it claims to be as many in turn
//	unusual files, referers    on this site
//	as they come               the requests are not sorted by time
func TestEvidence(t *testing.T) {
	const file = "testdata/evidence.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for piece := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n\n") {
		s := newEvidenceScript(t)
		var lines []string
		for line := range strings.SplitSeq(piece, "\n") {
			if strings.HasPrefix(line, "= ") {
				continue
			}
			lines = append(lines, line)
			if line != "" && line[0] != '#' {
				s.do(line)
			}
		}
		out = append(out, strings.Join(append(lines, s.told()...), "\n"))
	}
	limittest.Golden(t, file, strings.Join(out, "\n\n")+"\n")
}

// An evidenceScript is one client of the script.
type evidenceScript struct {
	t        *testing.T
	clues    *ClueReader
	claim    request.Class
	site     SiteBaseline
	browsers int
	unsorted bool
	requests []scriptRequest
}

type scriptRequest struct {
	at     limit.Time
	status uint16
	agents uint16
	clue   traffic.Clue
}

func newEvidenceScript(t *testing.T) *evidenceScript {
	robots, err := ParseRobots("User-agent: *\nDisallow: /private/")
	if err != nil {
		t.Fatal(err)
	}
	finder, err := NewClueFinder(ClueRules{
		Beacon: "/beacon.gif", Background: []string{"/api/**"}, Hosts: []string{"shop.example"}, Robots: robots,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &evidenceScript{t: t, clues: finder.NewReader(), site: SiteBaseline{views: 100, withAssets: 50, steps: 100, followed: 50}, browsers: 1}
}

var scriptLine = regexp.MustCompile(`^(-?[0-9.]+)(?:\+([0-9.]+)x([0-9]+))? ([A-Z]+) (\S+)(?: ([0-9]{3}))?(?: from (\S+))?$`)

func (s *evidenceScript) do(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "claim":
		for s.claim = 0; s.claim.String() != rest; {
			s.claim++
		}
		return
	case "browsers":
		s.browsers, _ = strconv.Atoi(rest)
		return
	case "unusual":
		if strings.Contains(rest, "files") {
			s.site.withAssets = 0
		}
		if strings.Contains(rest, "referers") {
			s.site.followed = 0
		}
		return
	}
	if line == "as they come" {
		s.unsorted = true
		return
	}
	m := scriptLine.FindStringSubmatch(line)
	if m == nil {
		s.t.Fatalf("%q is no request", line)
	}
	at, step := seconds(m[1]), seconds(m[2])
	times, _ := strconv.Atoi(m[3])
	for i := range max(1, times) {
		s.request(at+limit.Time(i)*step, m[4], m[5:], strconv.Itoa(i))
	}
}

func seconds(text string) limit.Time {
	n, _ := strconv.ParseFloat(text, 64)
	return limit.Time(math.Round(n * 1e6))
}

// request notes a request; fields are target, status and referer.
func (s *evidenceScript) request(at limit.Time, method string, fields []string, number string) {
	target, status, from := strings.ReplaceAll(fields[0], "%", number), fields[1], strings.ReplaceAll(fields[2], "%", number)
	r := parse.Record{Method: []byte(method), Path: []byte(target)}
	switch {
	case strings.HasPrefix(from, "/"):
		r.Referer = []byte("https://www.shop.example" + from)
	case from != "":
		r.Referer = []byte(from)
	}
	code := 200
	if status != "" {
		code, _ = strconv.Atoi(status)
	}
	var agents uint16
	if s.claim == request.Browser {
		agents = 1 << (len(s.requests) % s.browsers)
	}
	var clue [1]traffic.Clue
	s.clues.Find(clue[:], []parse.Record{r})
	s.requests = append(s.requests, scriptRequest{at, uint16(code), agents, clue[0]})
}

// told returns the summary and the votes of the client, as lines.
func (s *evidenceScript) told() []string {
	if !s.unsorted {
		slices.SortStableFunc(s.requests, func(a, b scriptRequest) int { return cmp.Compare(a.at, b.at) })
	}
	e := new(Summary)
	for _, r := range s.requests {
		e.Add(r.at, r.status, r.agents, r.clue)
	}
	lines := []string{fmt.Sprintf("= views %d, with assets %d, steps %d, referred %d, followed %d, errors %d; gaps %d, quick %d, variation %d%%; hours %d",
		e.Views, e.WithAssets, e.Steps, e.Referred, e.Followed, e.Errors, e.Gaps, e.Quick, e.Variation(), e.Hours)}
	j := DefaultRules.Assess(e, s.claim, &s.site)
	if j.Shared {
		lines = append(lines, "= shared")
	}
	for _, reason := range j.Reasons(e, s.claim) {
		lines = append(lines, "=   "+reason)
	}
	return lines
}

// An evidence is kept for every client there is.
func TestEvidenceIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Summary{}); size > 64 {
		t.Errorf("%d bytes", size)
	}
}

func TestEvidenceDoesNotAllocate(t *testing.T) {
	s := newEvidenceScript(t)
	records := []parse.Record{{Method: []byte("GET"), Path: []byte("/shop?page=2"), Referer: []byte("https://WWW.shop.example:443/shop?page=1#top"), Host: []byte("shop.example")}}
	var clue [1]traffic.Clue
	var e Summary
	if n := testing.AllocsPerRun(100, func() {
		s.clues.Find(clue[:], records)
		e.Add(0, 200, 1, clue[0])
		DefaultRules.Assess(&e, request.Browser, &s.site)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever a log says, the sums have room, the shares stay shares, and the variation is what floats say it is.
func TestEvidenceOfAnything(t *testing.T) {
	rng := testneeds.Rand(t, 1, 2)
	for range 300 {
		var e Summary
		var gaps []float64
		at, span := limit.Time(rng.Int64N(1<<50)), 1+rng.Int64N(int64(40*limit.Minute))
		for range rng.IntN(2000) {
			was := e
			at += limit.Time(rng.Int64N(span)) - limit.Time(span/20)
			e.Add(at, uint16(rng.IntN(600)), 1<<rng.IntN(16), traffic.Clue{
				Traits: traffic.Trait(rng.IntN(128)), Page: uint16(rng.IntN(6)), From: uint16(rng.IntN(6)),
			})
			if e.Gaps > was.Gaps {
				gaps = append(gaps, float64(e.GapSum-was.GapSum))
			}
		}
		if e.WithAssets > e.Views || e.Followed > e.Steps || e.Errors > e.Steps || e.Quick > e.Gaps || uint32(e.Gaps) > e.Views {
			t.Fatalf("%+v", e)
		}
		if want := variation(gaps); math.Abs(float64(e.Variation())-want) > 1.001 {
			t.Fatalf("the variation of %d gaps is %d, want %f", e.Gaps, e.Variation(), want)
		}
	}
}

// The most that there can be fits.
func TestEvidenceOfTheLargest(t *testing.T) {
	var e Summary
	for i := range 1 << 17 {
		e.Add(limit.Time(i)*restTime, 200, 1, traffic.Clue{Traits: traffic.Stepped | traffic.Asked, Page: uint16(1 + i%2)})
	}
	if e.Gaps != math.MaxUint16 || e.GapSum != math.MaxUint16*18000 || e.Variation() != 0 || e.Views != 1<<17 {
		t.Errorf("%+v varies by %d", e, e.Variation())
	}
	half := Summary{Gaps: math.MaxUint16, GapSum: 18000, GapSquares: 18000 * 18000}
	if want := int64(25599); half.Variation() != want { // one rest among gaps of nothing: √(n−1)
		t.Errorf("varies by %d, want %d", half.Variation(), want)
	}
}

// variation returns the standard deviation in percent of the mean.
func variation(gaps []float64) float64 {
	var sum, squares float64
	for _, g := range gaps {
		sum += g
	}
	if sum == 0 {
		return 0
	}
	mean := sum / float64(len(gaps))
	for _, g := range gaps {
		squares += (g - mean) * (g - mean)
	}
	return 100 * math.Sqrt(squares/float64(len(gaps))) / mean
}
