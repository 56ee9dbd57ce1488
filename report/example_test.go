package report

import (
	"shadow/limit"
	"shadow/parse"
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
)

// A small town of made-up clients, some of them hostile, and what two limits would do to them. All addresses are from
// the ranges for documentation.

var noon = limit.Time(1_762_000_000_123_456) // 2025-11-01 12:26:40.123456 UTC

type visitor struct {
	name, agent string
	class       traffic.Class
	requests    int64
	refused     [2]int64 // by each of the two policies
}

var visitors = []visitor{
	{"192.0.2.10", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", traffic.Browser, 1200, [2]int64{0, 14}},
	{"2001:db8:85a3:8d3:1319:8a2e:370:7348", "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://bot.example/about)", traffic.Crawler, 48000, [2]int64{21230, 23999}},
	{"198.51.100.7", "python-requests/2.32.3", traffic.Tool, 9120, [2]int64{8001, 8044}},
	{"198.51.100.8", "python-requests/2.32.3", traffic.Tool, 9120, [2]int64{8001, 8044}},
	{"203.0.113.1", "uptime-check/1.0", traffic.Monitor, 1440, [2]int64{0, 0}},
	{"203.0.113.77", "-", traffic.Unknown, 3, [2]int64{1, 1}},
	{"=HYPERLINK(\"http://evil.example\")", "=1+1|`rm -rf /`<script>alert(1)</script>", traffic.Unknown, 77, [2]int64{70, 71}},
	{"\x1b]0;owned\x07\x1b[31mred", "\u202egnp.exe\u200b\x9b2J\r\nSet-Cookie: a=b", traffic.Unknown, 55, [2]int64{40, 44}},
	{"客户端.example", "日本語ブラウザ/1.0 🙂 (とても長いユーザーエージェントの文字列がここにあります)", traffic.Browser, 90, [2]int64{30, 30}},
	{"-", "@import *bold* _under_ [link](http://evil.example) \\ # ! ~", traffic.Tool, 12, [2]int64{3, 3}},
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

// town is the result of replaying it.
func town() *replay.Result { return townOf(visitors) }

// townOf is the town when its visitors are met in this order.
func townOf(visitors []visitor) *replay.Result {
	res := nobody()
	res.Policies = []replay.PolicyTally{
		townPolicy("token", 12_345_678_901, noon+limit.Hour),
		townPolicy("leaky", 14_000_000_000, noon+2*limit.Hour),
	}
	for _, v := range visitors {
		id := res.Tables.Clients.ID([]byte(v.name))
		tally := replay.ClientTally{LastAgent: res.Tables.Agents.ID([]byte(v.agent))}
		tally.ByClass[v.class] = v.requests
		res.Clients.Grow(int(id) + 1)
		*res.Clients.At(id) = tally
		for i := range res.Policies {
			hit(&res.Policies[i], id, v.requests, v.refused[i])
		}
	}
	for _, a := range actions {
		res.Tables.Actions.ID([]byte(a.name))
		res.Actions = append(res.Actions, a.requests)
		for i := range res.Policies {
			res.Policies[i].ByAction = append(res.Policies[i].ByAction, a.refused[i])
		}
	}
	res.Stats = townStats(res.Policies[0].Requests)
	return res
}

// nobody is a result without clients.
func nobody() *replay.Result {
	return &replay.Result{
		Clients: &replay.Paged[replay.ClientTally]{},
		Tables: &traffic.Tables{
			Clients: traffic.NewDict(), Agents: traffic.NewAgents(), Actions: traffic.NewDict(), Hosts: traffic.NewDict(),
		},
	}
}

func townPolicy(algorithm string, bytes int64, worst limit.Time) replay.PolicyTally {
	spec := limit.Spec{Algorithm: algorithm, Count: 6, Period: 30 * limit.Second}
	return replay.PolicyTally{
		Policy:      onePart(spec, policy.ByClient),
		WorstMinute: worst - worst%limit.Minute, WorstMinuteRefused: 311,
		BytesSaved: bytes, UpstreamSaved: 4*limit.Hour + 11*limit.Minute + limit.Second/2,
	}
}

func hit(t *replay.PolicyTally, client int32, requests, refused int64) {
	t.Requests += requests
	t.Refused += refused
	if refused > 0 {
		first := noon + limit.Time(requests)*limit.Second
		t.Hits.Add(client, refused, first, first+limit.Day)
	}
}

func townStats(requests int64) traffic.Stats {
	return traffic.Stats{
		Lines: requests + 365, Parsed: requests + 361, Unreadable: 4, Excluded: 300, Warm: 21, Moved: 1_234,
		NotHTTP: traffic.ByStatus{{Status: 400, Lines: 23}, {Status: 408, Lines: 17}}, Late: 12, Refusals: 118,
		Bytes: 15_300_000, FirstAt: noon, LastAt: noon + 2*limit.Day, Resolution: limit.Millisecond,
		HasAgents: true, HasUpstream: true,
		Inputs: []traffic.InputStats{
			{Name: "access.log", Format: "combined", FormatText: `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`, Size: 9_000_000, Lines: requests, Parsed: requests},
			{Name: "access.log.1.gz", Format: "nginx json", Compression: "gzip", Size: 800_000, Lines: 325, Parsed: 321, Unreadable: 4, Problem: "truncated gzip"},
		},
		Faults: []traffic.FaultAt{
			{Input: "access.log.1.gz", Line: 17, Fault: parse.Fault{Reason: "no closing quote after the request", Column: 42}, Text: "192.0.2.10 - - [01/Nov/2025:12:26:40 +0000] \"GET /\x1b[2J"},
			{Input: "access.log.1.gz", Line: 18, Fault: parse.Fault{Reason: "no time stamp", Column: 1}, Text: "||||`<img src=x>"},
		},
	}
}

// onePart is the policy of one limit, without a limiter.
func onePart(spec limit.Spec, by policy.Key) policy.Policy {
	return policy.Policy{Name: spec.String(), Parts: []policy.Part{{Spec: spec, By: by}}}
}
