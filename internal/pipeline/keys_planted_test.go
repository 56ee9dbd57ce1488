package pipeline

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// Attacks of which each address sends no more than people do. What they have in common is the key that was planted.

// fieldsFormat logs, beside the usual fields, a fingerprint, a session and what proxies say.
const fieldsFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ` +
	`"$ssl_ja4" "$cookie_session" "$http_x_forwarded_for"`

// tagged has what send adds carry further fields.
func (p *planter) tagged(user, ja4, session string, send func()) {
	from := len(p.requests)
	send()
	for i := range p.requests[from:] {
		line := &p.requests[from+i].line
		client, rest, _ := strings.Cut(strings.TrimSuffix(*line, "\n"), " - - [")
		peer, list := client, "-"
		if p.forwarded { // any client may have written what stands first
			peer, list = "10.0.0.1", p.anywhere(150)+", "+client
		}
		*line = fmt.Sprintf("%s - %s [%s %q %q %q\n", peer, user, rest, ja4, session, list)
	}
}

// anywhere is an address of no network in particular. Those of people begin otherwise.
func (p *planter) anywhere(from int) string {
	return fmt.Sprintf("%d.%d.%d.%d", from+p.IntN(40), p.IntN(256), p.IntN(256), 1+p.IntN(250))
}

// crowd is people who have few fingerprints among them, and a session each.
func (p *planter) crowd(n int) {
	for i := range n {
		agent := p.IntN(len(webAgents))
		user := "-"
		if i%3 == 0 {
			user = fmt.Sprintf("user%d", i)
		}
		p.tagged(user, fmt.Sprintf("t13d_browser%d", agent), fmt.Sprintf("s%d", i), func() {
			p.visit(p.anywhere(60), webAgents[agent], time.Duration(p.Int64N(int64(plantedDay))))
		})
	}
}

// anyTool is an agent of a tool that hardly any other request has.
func (p *planter) anyTool() string {
	return fmt.Sprintf("python-requests/2.%d.%d", p.IntN(60), p.IntN(60))
}

// tagless is a fingerprint that hardly any other request has.
func (p *planter) tagless() string { return fmt.Sprintf("t13d_%x", p.Uint64()) }

// swarm sends requests at a rate a second, each from a client that sender chooses.
func (p *planter) swarm(from, length time.Duration, rate float64, path string, sender func(i int) (client, user, agent, ja4 string)) {
	for i, at := 0, from; at < from+length; i, at = i+1, at+time.Duration(p.ExpFloat64()/rate*float64(time.Second)) {
		client, user, agent, ja4 := sender(i)
		p.tagged(user, ja4, "-", func() { p.send(at, client, "GET", fmt.Sprintf(path, p.IntN(5000)), 200, "-", agent) })
	}
}

var keyPlantings = []struct {
	name  string
	key   string
	plant func(p *planter)
}{
	{"100 residential addresses with one fingerprint", "field:ssl_ja4", func(p *planter) {
		var homes []string
		for range 100 {
			homes = append(homes, p.anywhere(110))
		}
		p.swarm(0, plantedDay, 1.5, "/page/%d", func(int) (string, string, string, string) {
			return homes[p.IntN(100)], "-", p.anyTool(), "t13d_bot"
		})
	}},
	{"a new address every minute with one fingerprint", "field:ssl_ja4", func(p *planter) {
		client := ""
		p.swarm(0, plantedDay, 1, "/page/%d", func(i int) (string, string, string, string) {
			if i%60 == 0 {
				client = p.anywhere(110)
			}
			return client, "-", p.anyTool(), "t13d_bot"
		})
	}},
	{"one /20", "client/20", func(p *planter) {
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return fmt.Sprintf("45.9.%d.%d", 16+p.IntN(16), p.IntN(256)), "-", p.anyTool(), p.tagless()
		})
	}},
	{"rotating agents", "client", func(p *planter) {
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return "45.9.16.7", "-", p.anyTool(), p.tagless()
		})
	}},
	{"one agent on many addresses", "agent", func(p *planter) {
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return p.anywhere(110), "-", scraper, p.tagless()
		})
	}},
	{"one account on many addresses", "user", func(p *planter) {
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return p.anywhere(110), "mallory", p.anyTool(), p.tagless()
		})
	}},
	{"one segment's scraping", "action", func(p *planter) {
		for _, from := range []time.Duration{time.Hour, 3 * time.Hour, 6 * time.Hour, 7 * time.Hour} {
			p.swarm(from, 15*time.Minute, 10, "/catalogue/%d", func(int) (string, string, string, string) {
				return p.anywhere(110), "-", p.anyTool(), p.tagless()
			})
		}
	}},
	{"IPv6 within a /48", "client/48", func(p *planter) {
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return fmt.Sprintf("2001:db8:7:%x::%x", p.IntN(1<<16), p.IntN(1<<16)), "-", p.anyTool(), p.tagless()
		})
	}},
	{"one autonomous system", "asn", func(p *planter) {
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return fmt.Sprintf("%d.%d.%d.%d", 200+p.IntN(8), p.IntN(256), p.IntN(256), p.IntN(256)), "-", p.anyTool(), p.tagless()
		})
	}},
	{"forged addresses in X-Forwarded-For", "client", func(p *planter) {
		p.forwarded = true
		p.swarm(0, plantedDay, 1, "/page/%d", func(int) (string, string, string, string) {
			return "45.9.16.7", "-", p.anyTool(), p.tagless()
		})
	}},
	{"slow and wide", "client/16", func(p *planter) {
		p.swarm(0, plantedDay, 0.2, "/page/%d", func(int) (string, string, string, string) {
			return fmt.Sprintf("45.9.%d.%d", p.IntN(256), p.IntN(256)), "-", p.anyTool(), p.tagless()
		})
	}},
	{"IPv6 within a /32", "client/32/32", func(p *planter) {
		p.swarm(0, plantedDay, 0.2, "/page/%d", func(int) (string, string, string, string) {
			return fmt.Sprintf("2001:db8:%x:%x::%x", p.IntN(1<<16), p.IntN(1<<16), p.IntN(1<<16)), "-", p.anyTool(), p.tagless()
		})
	}},
}

// TestPlantedKeys wants the planted key first, and its limit validated on the rest of the log.
func TestPlantedKeys(t *testing.T) {
	owners := filepath.Join(t.TempDir(), "owners.mmdb")
	records := testneeds.Records{"200.0.0.0/5": testneeds.Owner(64500, "Bullet Proof", "ZZ")}
	for i := range 40 {
		records[fmt.Sprintf("%d.0.0.0/8", 60+i)] = testneeds.Owner(uint32(64501+i), fmt.Sprint("Provider ", i), "DE")
	}
	if err := testneeds.MMDB(owners, "GeoLite2-ASN", records); err != nil {
		t.Fatal(err)
	}
	for i, attack := range keyPlantings {
		t.Run(attack.name, func(t *testing.T) {
			p := &planter{Rand: testneeds.Rand(t, 17, uint64(i)), people: map[string]bool{}}
			p.crowd(300)
			attack.plant(p)
			log := p.write(t, "access.log")
			if dir := os.Getenv("SHADOW_PLANTED"); dir != "" {
				p.keep(t, filepath.Join(dir, fmt.Sprintf("%02d", i)), log, owners)
			}
			var out, errs bytes.Buffer
			var found struct {
				Found   []string
				Answers []struct {
					Refuse    float64 `json:"refuse_percent"`
					Best, Per string
					Longer    string `json:"longer_per"`
					LongerKey string `json:"longer_key"`
					Keys      []struct {
						Key   string
						Limit string
						Hit   float64 `json:"spare_hit_percent"`
					}
					Validated *struct {
						Key, Limit string
						Tried      int
						Stopped    float64 `json:"stopped_percent"`
						Hit        float64 `json:"spare_hit_percent"`
						Most       float64 `json:"spare_hit_percent_most"`
					}
				}
			}
			batch := 0 // all at once
			ask := func(l Logs) error {
				l.Format, l.NetworkDB = fieldsFormat, []string{owners}
				if p.forwarded {
					l.ClientFrom, l.Trusted = "x-forwarded-for", []string{"10.0.0.0/8"}
				}
				return (&Keys{Logs: l, Refuse: []float64{80}, Output: "json", batch: batch}).Run(t.Context(), []string{log})
			}
			askJSON(t, ask, Logs{Caller: called(&out, &errs)}, &out, &found)
			once := slices.Clone(out.Bytes())
			if batch = 100 + p.IntN(5000); ask(Logs{Caller: called(&out, &errs)}) != nil || !bytes.HasSuffix(out.Bytes(), once) {
				t.Errorf("in batches of %d the answer is another one", batch)
			}
			a := found.Answers[0]
			t.Logf("%d requests; found %v; best %s %s, hits %.1f %%, longer %q %s; validated %+v", len(p.requests), found.Found, a.Best, a.Keys[0].Limit,
				a.Keys[0].Hit, a.Longer, a.LongerKey, a.Validated)
			if named := cmp.Or(a.LongerKey, a.Best); named != attack.key {
				t.Errorf("%s is best, want %s: %+v", named, attack.key, a.Keys)
			}
			if v := a.Validated; v != nil && (v.Key != attack.key || v.Stopped < 60 || v.Hit > 5) {
				t.Errorf("validated %+v", *v)
			}
		})
	}
}

// keep copies a log and its table of networks beside a configuration that says how they are read.
func (p *planter) keep(t *testing.T, name, log, owners string) {
	t.Helper()
	config := fmt.Sprintf("defaults:\n  format: '%s'\n  network-db: [%s.mmdb]\n", fieldsFormat, name)
	if p.forwarded {
		config += "  client-from: x-forwarded-for\n  trusted-proxy: [10.0.0.0/8]\n"
	}
	err := os.WriteFile(name+".yaml", []byte(config), 0o600)
	for from, to := range map[string]string{log: name + ".log", owners: name + ".mmdb"} {
		data, failed := os.ReadFile(from)
		err = cmp.Or(err, failed, os.WriteFile(to, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A batch is cut by the time in which its requests were let in.
func TestPartOfBatch(t *testing.T) {
	b := &traffic.Batch{
		At: []limit.Time{5, 1, 9, 7}, Client: []int32{0, 1, 2, 3}, Agent: make([]uint16, 4), Action: make([]uint16, 4),
		Status: make([]uint16, 4), Bytes: make([]int64, 4), Seq: []limit.Time{5, 6, 9, 7},
	}
	b.Values[0] = []int32{4, 5, 6, traffic.NoValue}
	r := Keys{cut: 7}
	first, rest := r.part(b, true), r.part(b, false)
	if !slices.Equal(first.Client, []int32{0, 1}) || !slices.Equal(rest.Client, []int32{2, 3}) || !slices.Equal(first.Sequence(), []limit.Time{5, 6}) ||
		!slices.Equal(first.Values[0], []int32{4, 5}) || rest.Seq != nil {
		t.Errorf("%+v and %+v", first, rest)
	}
	r.cut = 8
	if first, rest = r.part(b, true), r.part(b, false); !slices.Equal(first.Client, []int32{0, 1, 3}) || !slices.Equal(rest.At, []limit.Time{9}) {
		t.Errorf("%+v and %+v", first, rest)
	}
	if r.cut = 10; r.part(b, true) != b || r.part(b, false).Len() != 0 {
		t.Error("all are of the first part")
	}
}

// Sampled is where most of the target is, before the cut, in as few batches next to each other as have enough requests.
func TestDensest(t *testing.T) {
	var r Keys
	r.question.Target = []request.Class{request.Tool}
	marks := func(tools ...int64) (marks []sweep.Mark) {
		var sent sweep.Classes
		for i, n := range tools {
			sent[request.Tool], sent[request.Browser] = sent[request.Tool]+n, sent[request.Browser]+100-n
			marks = append(marks, sweep.Mark{At: limit.Time(9 + 10*i), Requests: sent})
		}
		return marks
	}
	var fine []int64
	for i := range 40 {
		fine = append(fine, int64(i%5))
	}
	for _, want := range []struct {
		tools    []int64
		cut      limit.Time
		from, to int
	}{
		{[]int64{1, 2, 9, 2, 1, 0, 5, 50, 60, 70}, 70, 2, 3},
		{[]int64{1, 2, 9, 2, 1, 0, 5, 50, 60, 70}, 80, 7, 8},
		{[]int64{0, 9}, 5, 0, 1},
		{fine, 300, 2, 5},
		{nil, 70, 0, 0},
	} {
		r.cut, r.marks = want.cut, marks(want.tools...)
		if from, to := r.densest(); from != want.from || to != want.to {
			t.Errorf("%v: batches from %d to %d, want %d to %d", want.tools, from, to, want.from, want.to)
		}
	}
}

// Values that all requests share, or that hardly two share, tell no groups of requests.
func TestValueCounts(t *testing.T) {
	tables := traffic.NewTables()
	tables.Parts = []request.Part{{Kind: request.PartField, Name: "id"}, {Kind: request.PartField, Name: "ja4"}, {Kind: request.PartField, Name: "zone"}}
	b := new(traffic.Batch)
	for i := range 10 {
		b.Values[0] = append(b.Values[0], tables.Values.ID(fmt.Append(nil, i/2*i)))
		b.Values[1] = append(b.Values[1], tables.Values.ID(fmt.Append(nil, i%3)))
		b.Values[2] = append(b.Values[2], tables.Values.ID([]byte("z")))
	}
	b.Values[1][0] = traffic.NoValue
	var c valueCounts
	c.take(b, tables)
	for key, want := range map[request.Key]bool{"field:id": false, "field:ja4": true, "field:zone": false, "client/24+field:ja4": true, "client/20": true} {
		if got := c.tell(key, tables); got != want {
			t.Errorf("%s tells groups: %t, want %t", key, got, want)
		}
	}
}

// A column with too many values is given up, however many requests have each.
func TestValueCountsGiveUp(t *testing.T) {
	tables := traffic.NewTables()
	tables.Parts = []request.Part{{Kind: request.PartField, Name: "id"}, {Kind: request.PartField, Name: "ja4"}}
	b := new(traffic.Batch)
	for i := range 3 * (mostValues + 1) {
		b.Values[0] = append(b.Values[0], tables.Values.ID(fmt.Append(nil, i/3)))
		b.Values[1] = append(b.Values[1], tables.Values.ID(fmt.Append(nil, i%3)))
	}
	c := valueCounts{trial: new(ingest.Trial)}
	c.take(b, tables)
	if c.tell("field:id", tables) || !c.tell("field:ja4", tables) || !c.trial.GivenUp(0) || c.trial.GivenUp(1) {
		t.Errorf("%d and %d values: given up are %t and %t", c.values[0], c.values[1], c.trial.GivenUp(0), c.trial.GivenUp(1))
	}
}

// Fields are looked for by their names.
func TestIdentifiers(t *testing.T) {
	for name, want := range map[string]bool{
		"ja4": true, "ssl_ja3_hash": true, "tls.ja4": true, "http_x_api_key": true, "request.headers.X-Api-Key": true, "cookie_session": true, "cookie_sid": true,
		"account_id": true, "tls_fingerprint": true, "session_id": true, "device_id": true,
		"status": false, "inside": false, "request_id": false, "ja": false, "sessions_open": false, "api_keyed": false,
	} {
		if got := identifier().MatchString(name); got != want {
			t.Errorf("%s is an identifier: %t, want %t", name, got, want)
		}
	}
}

// The fields come from the first file that is a log, compressed or not.
func TestFindFields(t *testing.T) {
	dir := t.TempDir()
	line := `{"time":"2026-01-01T00:00:00Z","client":"192.0.2.7","path":"/a","status":200,"tls":{"ja4":"t13d"},"request_id":"1"}` + "\n"
	for name, text := range map[string]string{"a.txt": "read me\n", "b.json": line} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []request.Key{"field:tls.ja4", "segment:1", "segment:2", "segment:3"}
	if got := new(Keys).findFields([]string{dir}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := new(Keys).findFields([]string{"-"}); got != nil {
		t.Errorf("of standard input %v", got)
	}
}
