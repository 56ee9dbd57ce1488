package report

import (
	"slices"
	"strings"
	"testing"

	"shadow/replay"
	"shadow/traffic"
)

// crowd adds a client with so many requests per class.
func crowd(res *replay.Result, name, agent string, byClass ...int64) {
	id := res.Tables.Clients.ID([]byte(name))
	res.Clients.Grow(int(id) + 1)
	tally := res.Clients.At(id)
	copy(tally.ByClass[:], byClass)
	tally.LastAgent = res.Tables.Agents.ID([]byte(agent))
}

func TestHeavyClients(t *testing.T) {
	const rest = 1000 // requests of everybody else
	for _, c := range []struct {
		about, name string
		byClass     []int64
		want        []string // what the warning says; none: no warning
		not         string
	}{
		{"a fifth is no more than a fifth", "192.0.2.1", []int64{250}, nil, ""},
		{"one class", "192.0.2.1", []int64{0, 0, 0, 251}, []string{"192.0.2.1 sent 20.06%", "--exclude 192.0.2.1", "--trusted-proxy 192.0.2.1"}, ""},
		{"many agents", "10.0.0.1", []int64{900, 50, 50}, []string{"proxy", "--client-from x-forwarded-for --trusted-proxy 10.0.0.1"}, "--exclude"},
		{"a stray agent is not many", "10.0.0.1", []int64{900, 1}, []string{"--exclude 10.0.0.1"}, ""},
		{"a prefix", "2001:db8::/64", []int64{900}, []string{"--exclude 2001:db8::/64"}, ""},
		{"nothing to paste", "$(reboot)", []int64{900}, []string{"$(reboot) sent 47.37%"}, "--"},
		{"nothing in a zone", "fe80::1%$(reboot)", []int64{900}, []string{"sent"}, "--"},
	} {
		res := nobody()
		for i := range 100 {
			crowd(res, "198.51.100."+string(rune('a'+i)), "Mozilla/5.0", rest/100)
		}
		crowd(res, c.name, "agent", c.byClass...)
		got := strings.Join(New(res, Options{}).Warnings, "\n")
		if (c.want == nil) != (got == "") || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q", c.about, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", c.about, got, want)
			}
		}
	}
}

func TestAgentsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		about               string
		urls, none, browser int64
		want                bool
	}{
		{"URLs where agents belong", 50, 30, 20, true},
		{"clients without agents", 0, 90, 10, false},
		{"some URLs", 12, 8, 80, false},
	} {
		res := nobody()
		res.Stats.HasAgents = true
		crowd(res, "a", "https://www.example/page", c.urls)
		crowd(res, "b", "", c.none)
		crowd(res, "c", "Mozilla/5.0", c.browser)
		got := slices.ContainsFunc(New(res, Options{}).Warnings, func(w string) bool { return strings.Contains(w, "URLs") })
		if got != c.want {
			t.Errorf("%s: %v", c.about, got)
		}
	}
}

func TestInputProblems(t *testing.T) {
	res := nobody()
	res.Stats.Inputs = []traffic.InputStats{{Name: "a.gz", Warnings: []string{"odd"}, Problem: "truncated gzip"}, {Name: "b"}}
	want := []string{"mine", "a.gz: odd", "a.gz ended early: truncated gzip"}
	if got := New(res, Options{Warnings: []string{"mine"}}).Warnings; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
