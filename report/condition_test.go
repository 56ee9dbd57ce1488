package report

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/intern"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/reporttest"
)

// moved counts clients by class.
func moved(byClass ...int64) history.Moved {
	var m history.Moved
	copy(m.ByClass[:], byClass)
	m.Clients = m.ByClass.Sum()
	return m
}

// townWithHistory is the town, compared with a run before.
func townWithHistory() *Model {
	m := New(reporttest.Town(), townOptions)
	h := &history.History{Compare: "previous", Runs: []int32{7}, Base: []int32{6}, Degraded: []int32{4, 6}, NewActions: 2, TopNewActions: []history.NewAction{{Action: "/<new>", Requests: 7}}, Repeat: history.Repeat{HitDays: 3, OfDays: 7}}
	h.SafeLimits = &history.SafeLimits{Class: "browser", Percent: 99.9, Before: 5, Now: 8, Limits: []history.SafeLimit{
		{By: "client", Before: "window:14/30s", Now: "window:19/30s", Change: 5}, {By: "client", Before: "window:20/1m", Now: "window:20/1m"},
	}}
	for i := range m.Policies {
		p := &m.Policies[i]
		before := history.NewTotals(1000, 100, 50, 5)
		h.Policies = append(h.Policies, history.Policy{
			Policy: p.Policy, By: p.By, Before: &before,
			Trend: []history.Trend{
				history.NewTrend(6, reporttest.Noon, reporttest.Noon+1, before, history.HitClasses{5}),
				history.NewTrend(7, reporttest.Noon+1, reporttest.Noon+2, history.NewTotals(p.Requests, p.Refused, p.Clients, p.ClientsHit), history.HitClasses{}),
			},
			NewlyHit: moved(1, 0, 1), Released: moved(1), Repeating: moved(0, 0, 1),
			TopNewlyHit:  []history.Mover{{Client: "192.0.2.1", Class: "browser", Identity: "person", Requests: 10, Refused: 5, Known: true}, {Client: "\x1b[2J|evil", Class: "tool", Requests: 3, Refused: 1}},
			TopReleased:  []history.Mover{{Client: "=cmd()", Class: "browser", Refused: 8, Known: true}},
			TopRepeating: []history.Mover{{Client: "198.51.100.7", Class: "tool", Requests: 9, Refused: 20, Days: 4, Known: true}},
		})
	}
	m.SetHistory(h, nil)
	return m
}

func TestConditions(t *testing.T) {
	m := townWithHistory()
	first := m.Policies[0].Policy
	for text, want := range map[string]int{
		"refused > 0": 2, "refused < 0": 0, "requests_refused_share_of_worst_client > 0.5": 2,
		"requests_refused_share_of_worst_client > 0.6": 0, "policy == '" + first + "'": 1, "browsers_hit_share > 1": 0,
		"newly_hit_browsers == 1 && newly_hit == 2": 2, "released_browsers > 0": 2, "repeat_offenders_tools > 0": 2, "new_actions > 1": 2,
		"safe_limits_changed == 1": 2, "refused_share_before == 0.1": 2, "compared": 2, "unknown_hit >= 0": 2,
		"browsers_hit + crawlers_hit + tools_hit + monitors_hit + unknown_hit == clients_hit": 2,
		"browsers_refused/requests >= 0 and worst_minute_refused > 0":                         2,
	} {
		c, err := ParseCondition(text, WithHistory, WithRuns)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if policies, err := c.Holds(m); err != nil || len(policies) != want {
			t.Errorf("%s: holds for %q (%v), want %d policies", text, policies, err, want)
		}
	}
}

// TestHistoryIsDefined: docs/nightly.md names each key.
func TestHistoryIsDefined(t *testing.T) {
	page, err := os.ReadFile("../docs/nightly.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range historyNames(t) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/nightly.md does not define `%s`", name)
		}
	}
}

// historyNames are the keys of a history in JSON.
func historyNames(t *testing.T) []string {
	text, err := json.Marshal(townWithHistory().History)
	if err != nil {
		t.Fatal(err)
	}
	return reporttest.JSONNames(t, text)
}

// Whatever is typed as a condition, it is read or refused, and decided or not, but nothing falls over.
func TestConditionsNeverPanic(t *testing.T) {
	m := townWithHistory()
	words := append([]string{"(", ")", "+", "/", "%", "0", "1", "1.5", "'x'", ">", "==", "and", "not", "[", "]", "..", "matches", "??", "let", ";", "len", "map", "#"}, ConditionNames()...)
	testneeds.Rapid(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "words"), " ")
		var scopes []Scope
		if rapid.Bool().Draw(t, "history") {
			scopes = append(scopes, WithHistory, WithRuns)
		}
		c, err := ParseCondition(text, scopes...)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", text, err)
			}
			return
		}
		_, _ = c.Holds(m)
	})
}

// A report that is anonymous names no client, in no format, and is the same report in every figure.
func TestAnonymous(t *testing.T) {
	for _, mode := range Anonymizations() {
		a, err := NewAnonymizer(mode, []byte("key"))
		if err != nil {
			t.Fatal(err)
		}
		testneeds.Rapid(t, func(t *rapid.T) {
			res := anyResult().Draw(t, "result")
			var names []string
			for id := range int32(res.Tables.Clients.Len()) {
				if name := res.Tables.Clients.Name(id); len(name) > 3 {
					names = append(names, name)
				}
			}
			address := "203.0.113.77"
			id := res.Tables.Clients.ID([]byte(address))
			res.Clients.Grow(int(id) + 1)
			res.Clients.At(id).ByClass[0] += 1000
			for i := range res.Policies {
				reporttest.Hit(&res.Policies[i], id, 1000, 1000)
			}
			named := New(res, Options{})
			a.Rename(res.Tables)
			hidden := New(res, Options{Anonymize: a, Command: "shadow replay --exclude " + address, Warnings: []string{address + ": odd"}})
			for _, format := range format.Outputs() {
				var b strings.Builder
				if err := hidden.Write(&b, format); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(b.String(), address) {
					t.Fatalf("%s, %s: %s in\n%s", mode, format, address, b.String())
				}
			}
			for i := range hidden.Policies {
				for j, c := range hidden.Policies[i].TopClients {
					if slices.Contains(names, c.Client) {
						t.Fatalf("%s: client %q", mode, c.Client)
					}
					if was := named.Policies[i].TopClients[j]; c.Refused != was.Refused || c.Requests != was.Requests || c.Client != a.Name(was.Client) {
						t.Fatalf("%s: %+v was %+v", mode, c, was)
					}
				}
			}
		})
	}
}

func TestAnonymizer(t *testing.T) {
	prefix, _ := NewAnonymizer("prefix", []byte("key"))
	for name, want := range map[string]string{
		"203.0.113.77": "203.0.113.0/24", "203.0.113.0/24": "203.0.113.0/24", "10.0.0.0/8": "10.0.0.0/8", "2001:db8:1:2::3": "2001:db8:1::/48",
		"2001:db8:1:2::/64": "2001:db8:1::/48", "fe80::1%eth0": "fe80::/48", "-": "-", "alice": "client-" + "e1c3e3",
	} {
		if got := prefix.Name(name); got != want && name != "alice" || name == "alice" && !strings.HasPrefix(got, "client-") {
			t.Errorf("%s is called %s, want %s", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"--exclude 203.0.113.77, 2001:db8::1.": "--exclude 203.0.113.0/24, 2001:db8::/48.",
		"at 10:20:30 of token:6/30s, 1.5 %":    "at 10:20:30 of token:6/30s, 1.5 %",
		"192.0.2.1:8080 and ::1":               "192.0.2.0/24:8080 and ::/48",
		"[2001:db8::7]:443":                    "[2001:db8::/48]:443",
		"Chrome/120.0.0.0 a/10.1.2.3":          "Chrome/120.0.0.0 a/10.1.2.0/24",
		"Added:192.0.2.1, facade:2001:db8::7.": "Added:192.0.2.0/24, facade:2001:db8::/48.",
		"Net::HTTP Faraday::Connection ::":     "Net::HTTP Faraday::Connection ::",
		"1.2.3.4.5 or 1234.1.1.1":              "1.2.3.4.5 or 1234.1.1.1",
		"(45.9.16.0/28, 45.9.0.0/16), 2001:db8:7::/64 is, 192.0.2.1./24, 192.0.2.1:80/9": "(45.9.16.0/24, 45.9.0.0/16), 2001:db8:7::/48 is, " +
			"192.0.2.0/24./24, 192.0.2.0/24:80/9",
	} {
		if got := prefix.Text(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, text := range []string{"a (alice@example.org)", "q=alice%40example.org&b", "alice [at] example.org", "alice[at]example.org"} {
		if got := prefix.Text(text); strings.Contains(got, "alice") || !strings.Contains(got, AnonymousClient) {
			t.Errorf("%q: %q", text, got)
		}
	}
	clients := intern.NewDict()
	clients.ID([]byte("alice"))
	prefix.Know(clients)
	if got, want := prefix.Text("alice. /user/alice/malice"), prefix.Name("alice"); got != want+". /user/"+want+"/malice" {
		t.Errorf("%q", got)
	}
	hash, other := &Anonymizer{mode: "hash", key: []byte("key")}, &Anonymizer{mode: "hash", key: []byte("another")}
	if hash.Name("a") == hash.Name("b") || hash.Name("a") == other.Name("a") || hash.Name("a") != (&Anonymizer{mode: "hash", key: []byte("key")}).Name("a") {
		t.Error("hashes are not what they should be")
	}
}
