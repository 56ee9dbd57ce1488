package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// Logs of which it is known who sent what: the answer is compared with what was planted, and with fresh traffic of the
// same kind.

// A planter writes a log.
type planter struct {
	*rand.Rand
	requests []plantedRequest
	people   map[string]bool // the addresses of people

	forwarded bool // whether a proxy stands in front, see tagged
}

type plantedRequest struct {
	at   time.Duration
	line string // with a verb for the time
}

var (
	plantedStart = time.Date(2026, 11, 16, 6, 0, 0, 0, time.UTC)
	webAgents    = []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0",
	}
)

const (
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	ahrefs    = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	scraper   = "python-requests/2.32.0"
)

// send adds a request.
func (p *planter) send(at time.Duration, client, method, path string, status int, referer, agent string) {
	p.requests = append(p.requests, plantedRequest{at, fmt.Sprintf("%s - - [%%s] \"%s %s HTTP/1.1\" %d %d \"%s\" \"%s\"\n",
		client, method, path, status, 200+p.IntN(9000), referer, agent)})
}

// address is one of a range that no other kind of client has.
func address(kind, i int) string { return fmt.Sprintf("%d.%d.%d.%d", kind, 20+i>>16, i>>8&255, i&255) }

// visit plants what a person sends: some pages with their files, and time to read them. That is spread as with the
// people of labelled logs, a third of a minute in the middle, 33 s on average: gaps of six and more vary by 79 % there.
func (p *planter) visit(client, agent string, at time.Duration) {
	from := "https://www.example.org/"
	for range 1 + p.IntN(8) {
		page := fmt.Sprintf("/page/%d", p.IntN(400))
		p.send(at, client, "GET", page, 200, from, agent)
		from = "https://shop.example" + page
		for file := range 2 + p.IntN(9) {
			p.send(at+time.Duration(200+p.IntN(1500))*time.Millisecond, client, "GET", fmt.Sprintf("/static/%d.css", file), 200, from, agent)
		}
		at += time.Duration(float64(20*time.Second) * math.Exp(p.NormFloat64()))
	}
}

// visitors are people, each from an address of their own.
func (p *planter) visitors(n int, span time.Duration) {
	for i := range n {
		client := address(81, i)
		p.people[client] = true
		for range 1 + p.IntN(2) {
			p.visit(client, webAgents[p.IntN(len(webAgents))], time.Duration(p.Int64N(int64(span))))
		}
	}
}

// machine sends requests for pages at a rate a second, for some time.
func (p *planter) machine(client, agent, path string, status int, from, length time.Duration, rate float64) {
	for at := from; at < from+length; at += time.Duration(p.ExpFloat64() / rate * float64(time.Second)) {
		target := path
		if strings.Contains(path, "%d") {
			target = fmt.Sprintf(path, p.IntN(5000))
		}
		method := "GET"
		if status == 401 {
			method = "POST"
		}
		p.send(at, client, method, target, status, "-", agent)
	}
}

// write writes the log in the order of time.
func (p *planter) write(t *testing.T, name string) string {
	t.Helper()
	slices.SortStableFunc(p.requests, func(x, y plantedRequest) int { return int(x.at - y.at) })
	var text bytes.Buffer
	for _, r := range p.requests {
		fmt.Fprintf(&text, r.line, plantedStart.Add(r.at).Format("02/Jan/2006:15:04:05 -0700"))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const plantedDay = 8 * time.Hour

// scrapers come all day long, from a few addresses.
func (p *planter) scrapers(n int, rate float64) {
	for i := range n {
		for hour := range 8 {
			p.machine(address(45, i), scraper, "/page/%d", 200, time.Duration(hour)*time.Hour+time.Duration(p.IntN(1800))*time.Second,
				4*time.Minute, rate)
		}
	}
}

// plantings are the kinds of logs, with the verdicts that are right.
var plantings = []struct {
	name  string
	plant func(p *planter)
	right []string
	site  string
}{
	{"a site with scrapers", func(p *planter) {
		p.visitors(300+p.IntN(200), plantedDay)
		p.scrapers(2+p.IntN(3), 2+3*p.Float64())
	}, []string{"deploy"}, "people"},
	{"a site", func(p *planter) { p.visitors(300+p.IntN(200), plantedDay) }, []string{"ceiling", "no_limit_can"}, "people"},
	{"an API with one client that overdoes it", func(p *planter) {
		for i := range 400 + p.IntN(100) {
			p.machine(address(91, i), "acme-client/"+fmt.Sprint(1+i%3)+".0", "/api/items/%d", 200, time.Duration(p.Int64N(int64(plantedDay-time.Hour))),
				time.Duration(10+p.IntN(30))*time.Minute, 0.02)
		}
		for hour := range 8 {
			p.machine(address(92, 1), "go-http-client/2.0", "/api/items/%d", 200, time.Duration(hour)*time.Hour, 5*time.Minute, 2)
		}
	}, []string{"deploy"}, "api"},
	{"an app", func(p *planter) {
		for i := range 300 + p.IntN(200) {
			p.machine(address(93, i), "acme/4.2 okhttp/4.12", "/v1/feed/%d", 200, time.Duration(p.Int64N(int64(plantedDay-time.Hour))),
				20*time.Minute, 0.05+0.02*p.Float64())
		}
	}, []string{"ceiling", "no_limit_can"}, "api"},
	{"a proxy in front", func(p *planter) {
		for range 400 {
			p.visit(fmt.Sprintf("10.0.0.%d", 1+p.IntN(2)), webAgents[p.IntN(len(webAgents))], time.Duration(p.Int64N(int64(plantedDay))))
		}
	}, []string{"not_judgeable"}, ""},
	{"somebody who guesses passwords", func(p *planter) {
		p.visitors(300+p.IntN(200), plantedDay)
		for hour := range 8 {
			p.machine(address(46, 1), scraper, "/login", 401, time.Duration(hour)*time.Hour+time.Duration(p.IntN(900))*time.Second, 20*time.Minute, 1)
		}
	}, []string{"deploy"}, "people"},
	{"crawlers", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		for i := range 12 {
			agent := googlebot
			if i%3 == 0 {
				agent = ahrefs
			}
			p.machine(address(66, i), agent, "/page/%d", 200, 0, plantedDay, 0.05)
		}
	}, []string{"ceiling", "no_limit_can", "deploy"}, "people"},
	{"an office of fifty behind one address", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.people[address(82, 1)] = true
		for i := range 50 {
			p.visit(address(82, 1), webAgents[i%len(webAgents)], time.Duration(p.Int64N(int64(plantedDay))))
		}
		p.scrapers(3, 4+2*p.Float64())
	}, []string{"deploy"}, "people"},
	{"a few minutes", func(p *planter) { p.visitors(12, 4*time.Minute) }, []string{"not_judgeable"}, ""},
	{"scrapers as slow as people", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		for i := range 300 {
			p.machine(address(47, i), scraper, "/page/%d", 200, time.Duration(p.Int64N(int64(plantedDay-time.Hour))), 20*time.Minute, 0.01)
		}
	}, []string{"ceiling", "no_limit_can"}, ""},
}

// plantedAnswer holds what the test reads of an answer.
type plantedAnswer struct {
	Answer struct {
		Verdict, Reason, Site string
		Limit                 *string
		MostHit               *float64 `json:"most_hit_percent"`
		Protects              struct{ Clients int }
	}
}

func askJSON(t *testing.T, ask func(Logs) error, l Logs, out *bytes.Buffer, to any) {
	t.Helper()
	l.Wanted = true
	if err := ask(l); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), to); err != nil {
		t.Fatal(err)
	}
}

// peopleHit counts the people that a limit would hit.
func peopleHit(t *testing.T, log, limit string, people map[string]bool) (hit int) {
	t.Helper()
	var out, errs bytes.Buffer
	var found struct {
		Policies []struct {
			Clients []struct {
				Client  string
				Refused int64
			} `json:"top_clients"`
		}
	}
	askJSON(t, func(l Logs) error {
		r := Replay{Logs: l, Choice: Choice{Limits: []string{limit}}, Look: Look{Output: "json", Top: 1 << 20}, Keeping: Keeping{NoStore: true}}
		return r.Run(t.Context(), []string{log})
	}, Logs{Caller: called(&out, &errs)}, &out, &found)
	for _, c := range found.Policies[0].Clients {
		if c.Refused > 0 && people[c.Client] {
			hit++
		}
	}
	return hit
}

// TestPlanted wants the right verdict on 95 of 100 planted logs, and as often the promise kept on fresh traffic of the
// same kind: no larger a share of people hit than is promised, or than the answer says that it may be.
func TestPlanted(t *testing.T) {
	each, rng := testneeds.Draws(4, 20), testneeds.Rand(t, 16, 1)
	all, right, promised, kept, people, believed := 0, 0, 0, 0, 0, 0
	for _, kind := range plantings {
		for range each {
			all++
			seeds := [4]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
			plant := func(a, b uint64) *planter {
				p := &planter{Rand: testneeds.Rand(t, a, b), people: map[string]bool{}}
				kind.plant(p)
				return p
			}
			p := plant(seeds[0], seeds[1])
			log := p.write(t, "access.log")
			var out, errs bytes.Buffer
			var a plantedAnswer
			askJSON(t, func(l Logs) error {
				s := Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json"}
				return s.Run(t.Context(), []string{log})
			}, Logs{Caller: called(&out, &errs)}, &out, &a)
			n := &a.Answer
			if slices.Contains(kind.right, strings.TrimSuffix(n.Verdict, "_unproven")) && (kind.site == "" || n.Site == kind.site) {
				right++
			} else {
				t.Logf("%s: %s (%s), a site for %s", kind.name, n.Verdict, n.Reason, n.Site)
			}
			if n.Site == "people" && kind.site == "people" {
				people, believed = people+len(p.people), believed+n.Protects.Clients
			}
			if n.Limit == nil || len(p.people) == 0 {
				continue
			}
			promised++
			fresh := plant(seeds[2], seeds[3])
			hit, share := peopleHit(t, fresh.write(t, "fresh.log"), *n.Limit, fresh.people), 0.1
			if n.MostHit != nil {
				share = max(share, *n.MostHit)
			}
			if float64(hit)*100 <= share*float64(len(fresh.people)) {
				kept++
			} else {
				t.Logf("%s: %s hits %d of %d people of fresh traffic, %.2f %% at most were said", kind.name, *n.Limit, hit, len(fresh.people), share)
			}
		}
	}
	t.Logf("%d of %d verdicts are right, %d of %d promises kept", right, all, kept, promised)
	if believed*100 < people*97 {
		t.Errorf("evidence believes %d of %d people", believed, people)
	}
	t.Logf("evidence believes %d of %d people", believed, people)
	if right*100 < all*95 || kept*100 < promised*95 {
		t.Errorf("%d of %d verdicts are right, %d of %d promises kept", right, all, kept, promised)
	}
}

// Where many addresses of one network send no more than people do, the answer says that a limit by network might.
func TestAnotherKeyMight(t *testing.T) {
	p := &planter{Rand: testneeds.Rand(t, 16, 4), people: map[string]bool{}}
	for i := range 400 {
		p.visit(fmt.Sprintf("81.%d.%d.7", i/200, i%200), webAgents[i%len(webAgents)], time.Duration(p.Int64N(int64(plantedDay))))
	}
	for i := range 250 {
		p.machine(fmt.Sprintf("45.1.1.%d", i), scraper, "/page/%d", 200, time.Duration(p.Int64N(int64(plantedDay-time.Hour))), time.Hour, 0.004)
	}
	log := p.write(t, "access.log")
	var out, errs bytes.Buffer
	var a plantedAnswer
	askJSON(t, func(l Logs) error {
		return (&Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json"}).Run(t.Context(), []string{log})
	}, Logs{Caller: called(&out, &errs)}, &out, &a)
	if n := &a.Answer; n.Verdict != "no_limit_can" || !strings.Contains(n.Reason, "; limits by client/24 may refuse up to ") {
		t.Errorf("%s: %s", n.Verdict, n.Reason)
	}
}

// Where no key that the answer tries separates, it says that there are others, and names the command that tries them.
func TestOtherKeysAreNotDenied(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(400, plantedDay)
		for i := range 250 { // of one /48
			from := time.Duration(p.Int64N(int64(plantedDay - time.Hour)))
			p.machine(fmt.Sprintf("2001:db8:7:%x::1", i), scraper, "/page/%d", 200, from, time.Hour, 0.004)
		}
	})
	if a.Verdict != "no_limit_can" || !strings.Contains(a.Reason, ", nor one by the other keys tried here (shadow keys tries more); most of ") {
		t.Errorf("%s: %s", a.Verdict, a.Reason)
	}
	if len(a.Next) < 2 || !strings.HasPrefix(a.Next[0], "shadow keys ") || !strings.Contains(a.Next[1], " --action ") {
		t.Errorf("next: %q", a.Next)
	}
}
