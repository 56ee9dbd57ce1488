// Package reporttest has results to test reports with, and checks that all reports share.
package reporttest

import (
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
)

// A small town of made-up clients, some of them hostile, and what two limits would do to them. All addresses are from
// the ranges for documentation.

// Noon is when the town wakes: 2025-11-01 12:26:40.123456 UTC.
var Noon = limit.Time(1_762_000_000_123_456) // 2025-11-01 12:26:40.123456 UTC

type visitor struct {
	Name, Agent string
	class       request.Class
	requests    int64
	refused     [2]int64 // by each of the two policies
}

// Visitors are the clients of the town.
var Visitors = []visitor{
	{
		"192.0.2.10", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", request.Browser, 1200,
		[2]int64{0, 14},
	},
	{
		"2001:db8:85a3:8d3:1319:8a2e:370:7348", "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://bot.example/about)",
		request.Crawler, 48000,
		[2]int64{21230, 23999},
	},
	{"198.51.100.7", "python-requests/2.32.3", request.Tool, 9120, [2]int64{8001, 8044}},
	{"198.51.100.8", "python-requests/2.32.3", request.Tool, 9120, [2]int64{8001, 8044}},
	{"203.0.113.1", "uptime-check/1.0", request.Monitor, 1440, [2]int64{0, 0}},
	{"203.0.113.77", "-", request.Unknown, 3, [2]int64{1, 1}},
	{
		"=HYPERLINK(\"http://evil.example\")", "=1+1|`rm -rf /`<script>alert(1)</script>", request.Unknown, 77,
		[2]int64{70, 71},
	},
	{"\x1b]0;owned\x07\x1b[31mred", "\u202egnp.exe\u200b\x9b2J\r\nSet-Cookie: a=b", request.Unknown, 55, [2]int64{40, 44}},
	{"客户端.example", "日本語ブラウザ/1.0 🙂 (とても長いユーザーエージェントの文字列がここにあります)", request.Browser, 90, [2]int64{30, 30}},
	{"-", "@import *bold* _under_ [link](http://evil.example) \\ # ! ~", request.Tool, 12, [2]int64{3, 3}},
}

var actions = []struct {
	name     string
	requests int64
	refused  [2]int64
}{
	{"/product", 40117, [2]int64{30000, 31000}},
	{"/search|all", 18000, [2]int64{7000, 8200}},
	{"/login`\n<b>", 9000, [2]int64{376, 1050}},
	{"static", 2000, [2]int64{0, 0}},
}

// Town is the result of replaying it.
func Town() *replay.Result { return TownOf(Visitors) }

// TownOf is the town when its visitors are met in this order.
func TownOf(visitors []visitor) *replay.Result {
	res := Nobody()
	res.Policies = []replay.PolicyTally{
		townPolicy("token", 12_345_678_901, Noon+limit.Hour),
		townPolicy("leaky", 14_000_000_000, Noon+2*limit.Hour),
	}
	for _, v := range visitors {
		id := res.Tables.Clients.ID([]byte(v.Name))
		tally := replay.ClientTally{LastAgent: res.Tables.Agents.ID([]byte(v.Agent))}
		tally.ByClass[v.class] = v.requests
		res.Clients.Grow(int(id) + 1)
		*res.Clients.At(id) = tally
		for i := range res.Policies {
			Hit(&res.Policies[i], id, v.requests, v.refused[i])
		}
	}
	for _, a := range actions {
		res.Tables.Actions.ID([]byte(a.name))
		res.Actions = append(res.Actions, a.requests)
		for i := range res.Policies {
			res.Policies[i].ByAction = append(res.Policies[i].ByAction, a.refused[i])
		}
	}
	res.Stats = TownStats(res.Policies[0].Requests)
	return res
}

// Nobody returns a result without clients.
func Nobody() *replay.Result {
	return &replay.Result{
		Clients: &replay.Paged[replay.ClientTally]{},
		Tables: &traffic.Tables{
			Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict(),
		},
	}
}

func townPolicy(algorithm string, bytes int64, worst limit.Time) replay.PolicyTally {
	spec := limit.Spec{Algorithm: algorithm, Count: 6, Period: 30 * limit.Second}
	return replay.PolicyTally{
		Policy:      OnePart(spec, request.ByClient),
		WorstMinute: worst - worst%limit.Minute, WorstMinuteRefused: 311,
		PolicyCounts: replay.PolicyCounts{BytesSaved: bytes}, UpstreamSaved: 4*limit.Hour + 11*limit.Minute + limit.Second/2,
	}
}

// Hit notes that a policy has refused requests of a client.
func Hit(t *replay.PolicyTally, client int32, requests, refused int64) {
	t.Requests += requests
	t.Refused += refused
	if refused > 0 {
		first := Noon + limit.Time(requests)*limit.Second
		t.Hits.Add(client, refused, first, first+limit.Day)
	}
}

// TownStats returns what reading the log of the town found.
func TownStats(requests int64) ingest.Stats {
	return ingest.Stats{
		Counts: ingest.Counts{Lines: requests + 365, Parsed: requests + 361, Unreadable: 4, Excluded: 300, Moved: 1_234, NotHTTP: ingest.ByStatus{{Status: 400, Lines: 23}, {Status: 408, Lines: 17}}, Late: 12, Bytes: 15_300_000}, Warm: 21, Refusals: 118, FirstAt: Noon, LastAt: Noon + 2*limit.Day, Resolution: limit.Millisecond,
		HasAgents: true, HasUpstream: true,
		Inputs: []ingest.InputStats{
			{
				Name: "access.log", Format: "combined",
				FormatText: `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`,
				Size:       9_000_000, Lines: requests, Parsed: requests,
			},
			{
				Name: "access.log.1.gz", Format: "nginx json", Compression: "gzip",
				Size: 800_000, Lines: 325, Parsed: 321, Unreadable: 4, Problem: "truncated gzip",
			},
		},
		Faults: []ingest.FaultAt{
			{
				Input: "access.log.1.gz", Line: 17, Fault: parse.Fault{Reason: "no closing quote after the request", Column: 42},
				Text: "192.0.2.10 - - [01/Nov/2025:12:26:40 +0000] \"GET /\x1b[2J",
			},
			{
				Input: "access.log.1.gz", Line: 18, Fault: parse.Fault{Reason: "no time stamp", Column: 1},
				Text: "||||`<img src=x>",
			},
		},
	}
}

// OnePart is the policy of one limit, without a limiter.
func OnePart(spec limit.Spec, by request.Key) policy.Policy {
	return policy.Policy{Name: spec.String(), Parts: []policy.Part{{Spec: spec, By: by}}}
}

// TownOfMany is the town under twelve limits: more than --top.
func TownOfMany() *replay.Result {
	res := Town()
	for len(res.Policies) < 12 {
		res.Policies = append(res.Policies, res.Policies[:2]...)
	}
	return res
}

// Site is the town under a limit for the whole site, in a log without agents and within one day.
func Site() *replay.Result {
	res := Town()
	res.Stats.HasAgents, res.Stats.HasUpstream = false, false
	res.Stats.LastAt = res.Stats.FirstAt + limit.Hour
	res.Stats.Resolution = limit.Second
	res.Policies[1].Policy.Parts[0].By = request.BySite
	return res
}

// Made returns the town under policies made of more than one limit for all requests: a client's limits for logins and
// for all, inside the site's, and an approximation; then a limit that keeps no client waiting, though it could.
func Made() *replay.Result {
	res := Town()
	first, second := &res.Policies[0], &res.Policies[1]
	login := policy.Part{
		Spec: limit.Spec{Algorithm: "token", Count: 5, Period: 5 * limit.Minute}, Match: 1, Count: 2,
		MatchText: "action login", CountText: "action login, status 401 or 403",
	}
	site := policy.Part{
		Spec: limit.Spec{Algorithm: "nginx", Count: 100, Period: limit.Second, Options: "burst=200"},
		By:   request.BySite,
	}
	first.Policy = policy.Policy{Name: "login|<b>", Parts: []policy.Part{login, first.Policy.Parts[0], site}}
	first.Degraded = replay.Degraded{Requests: 1_041, Refused: 60}
	first.Delays = &replay.Delays{Requests: 1234, Total: 321 * limit.Second, P50: 180 * limit.Millisecond, P99: 1_999_001}
	second.Policy.Parts[0].Spec.Algorithm = "cloudflare~"
	second.Policy.Name = second.Policy.Text()
	// told, though it has no length
	second.Range = &replay.Range{Refused: [2]int64{39_000, 41_360}, ClientsHit: [2]int64{9, 9}}
	res.Policies = append(res.Policies, replay.PolicyTally{
		Policy:       OnePart(limit.Spec{Algorithm: "nginx", Count: 6, Period: limit.Second}, request.ByClient),
		PolicyCounts: replay.PolicyCounts{Requests: first.Requests, Degraded: replay.Degraded{Requests: 1}}, ByAction: make([]int64, len(first.ByAction)), Delays: &replay.Delays{},
	})
	return res
}

// Peaceful returns the town under a limit that no client meets.
func Peaceful() *replay.Result {
	res := Town()
	t := res.Policies[0]
	t.Refused, t.Hits, t.ByAction = 0, replay.Hits{}, make([]int64, len(t.ByAction))
	t.WorstMinute, t.WorstMinuteRefused, t.BytesSaved, t.UpstreamSaved = 0, 0, 0, 0
	res.Policies = []replay.PolicyTally{t}
	return res
}

// Empty is an empty file.
func Empty() *replay.Result {
	res := Nobody()
	res.Stats.Inputs = []ingest.InputStats{{Name: "empty.log"}}
	res.Policies = []replay.PolicyTally{{Policy: OnePart(limit.Spec{
		Algorithm: "token", Count: 6,
		Period: 30 * limit.Second,
	}, request.ByClient)}}
	return res
}

// BandedTown is the town read in whole seconds, where the first policy may refuse more, and spare a client that it
// refuses less than a hundred requests.
func BandedTown() *replay.Result {
	res := Town()
	res.Stats.Resolution = limit.Second
	res.Band = &replay.Band{Movable: res.Policies[0].Requests}
	for i := range res.Policies {
		p := &res.Policies[i]
		p.Bounds = new([2]replay.Bound)
		for hit := range p.Hits.All() {
			for side := range p.Bounds {
				b, n := &p.Bounds[side], hit.Refused
				if i == 0 && side == 0 && n < 100 {
					continue
				}
				if i == 0 && side == 1 {
					n += 100
				}
				b.Refused += n
				b.Hits.Add(hit.Client, n, hit.First, hit.Last)
			}
		}
	}
	return res
}

// Witnessed returns the town whose clients are known: a person, an attacker, an office, and others who show nothing.
func Witnessed() *replay.Result {
	res := Town()
	known := make(who.Identities, res.Clients.Len())
	for id := range known {
		known[id] = who.Undecided
	}
	for name, is := range map[string]who.Identity{"192.0.2.10": who.Person, "客户端.example": who.Attacker, "203.0.113.77": who.Office} {
		id, _ := res.Tables.Clients.Find([]byte(name))
		known[id] = is
	}
	res.Who = &who.Register{Identities: known, Reasons: func(client int32) []string {
		return map[who.Identity][]string{
			who.Person: {"files came with 38 of 40 pages", "55 of 60 steps follow from one of the latest pages"}, who.Attacker: {"31 of 40 passwords were wrong"},
		}[known[client]]
	}}
	return res
}

// Told returns a register of clients that are these, by their ids, with a reason each.
func Told(identities ...who.Identity) *who.Register {
	return &who.Register{Identities: identities, Reasons: func(int32) []string { return []string{Evil} }}
}

// SweptTown is a sweep of some browsers and a tool: a window that is known whole, and a bucket that is not.
func SweptTown(points int) *sweep.Result {
	res := Town()
	r := &sweep.Result{
		Stats: res.Stats, Tables: res.Tables, Tallies: &traffic.Tallies{Clients: *res.Clients}, By: request.ByClient,
		Action: "evil\x1b[31m", Judged: 4000, Clients: sweep.Classes{request.Browser: 1000, request.Tool: 1},
		ByClass: sweep.Classes{request.Browser: 3000, request.Tool: 1000},
	}
	window := sweep.Curve{Shape: sweep.Shape{Kind: sweep.Window, Per: limit.Minute}}
	for i := range points {
		left := int64(points - 1 - i)
		window.Points = append(window.Points, sweep.Point{
			Limit: int64(i + 1), Counted: true, Refused: sweep.Classes{request.Browser: left, request.Tool: left},
			Hit: sweep.Classes{request.Browser: left, request.Tool: min(left, 1)},
		})
	}
	token := sweep.Curve{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 1, Per: limit.Second}}}
	token.Points = []sweep.Point{{Limit: 1, Hit: sweep.Classes{2}}, {Limit: 5, Counted: true}}
	r.Curves = []sweep.Curve{window, token}
	return r
}

// Watched replays a made-up log of two clients by two policies; all share the second in part, for an observer.
func Watched[T replay.Observer](
	t *testing.T, observe func(*traffic.Tables, []policy.Policy) T,
) (*replay.Result, T, []policy.Policy) {
	t.Helper()
	policies, err := policy.ParseLimits([]string{"token:2/10s", "nginx:6r/m,burst=2,delay=1"}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := policy.ParseLimits([]string{"window:3/1m"}, request.BySite)
	if err != nil {
		t.Fatal(err)
	}
	policies[1].Parts = append(policies[1].Parts, shared[0].Parts...)
	policies[1].Name = Evil
	tables := traffic.NewTables()
	b := new(traffic.Batch)
	for i, at := range []limit.Time{0, 0, 0, 3, 12, 13, 40} {
		b.At = append(b.At, at*limit.Second)
		b.Client = append(b.Client, tables.Clients.ID([]byte([]string{Evil, "192.0.2.1"}[i%4/3])))
		b.Agent = append(b.Agent, uint16(tables.Agents.ID([]byte(Evil))))
		b.Action = append(b.Action, uint16(tables.Actions.ID([]byte(Evil))))
		b.Status = append(b.Status, 200)
		b.Bytes = append(b.Bytes, 1)
	}
	observer := observe(tables, policies)
	engine := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: limit.Hour, Observer: observer})
	if err := engine.Judge(b); err != nil {
		t.Fatal(err)
	}
	stats := ingest.Stats{HasAgents: true, LastAt: 40 * limit.Second, Resolution: limit.Second}
	return engine.Result(stats), observer, policies
}
