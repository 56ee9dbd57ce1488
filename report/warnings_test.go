package report

import (
	"slices"
	"strings"
	"testing"

	"shadow/replay"
	"shadow/report/reporttest"
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
		{"one class", "192.0.2.1", []int64{0, 0, 0, 251}, []string{"192.0.2.1 sent 20.06%", "--exclude 192.0.2.1"}, "proxy"},
		{"many agents", "10.0.0.1", []int64{900, 50, 50}, []string{"as a proxy has", "--client-from x-forwarded-for --trusted-proxy 10.0.0.1"}, ""},
		{"many agents of a public address", "192.0.2.1", []int64{900, 50, 50}, []string{"as a proxy has", "--trusted-proxy 192.0.2.1"}, ""},
		{"a stray agent is not many", "10.0.0.1", []int64{900, 1}, []string{"--trusted-proxy 10.0.0.1", "--exclude 10.0.0.1"}, "as a proxy has"},
		{"this machine", "::1", []int64{900}, []string{"--trusted-proxy ::1"}, ""},
		{"an IPv4 address as IPv6", "::ffff:192.168.1.1", []int64{900}, []string{"--trusted-proxy ::ffff:192.168.1.1"}, ""},
		{"the inner side of a carrier", "100.127.255.255", []int64{900}, []string{"--trusted-proxy 100.127.255.255"}, ""},
		{"beside it", "100.128.0.0", []int64{900}, []string{"--exclude 100.128.0.0"}, "proxy"},
		{"nobody's address", "0.0.0.0", []int64{900, 50, 50}, []string{"nobody's address", "--exclude 0.0.0.0 leaves them out"}, "trusted"},
		{"nobody's address in IPv6", "::", []int64{900}, []string{"nobody's address", "--exclude :: leaves them out"}, "trusted"},
		{"a prefix", "2001:db8::/64", []int64{900}, []string{"--exclude 2001:db8::/64"}, "proxy"},
		{"an inner prefix", "10.1.0.0/16", []int64{900}, []string{"--trusted-proxy 10.1.0.0/16"}, ""},
		{"nothing to paste", "$(reboot)", []int64{900}, []string{"$(reboot) sent 47.37%"}, "--"},
		{"nothing in a zone", "fe80::1%$(reboot)", []int64{900}, []string{"sent"}, "--"},
	} {
		res := reporttest.Nobody()
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

// Warnings of one kind are one line: the first, the names of some others, and how many there are more.
func TestFoldWarnings(t *testing.T) {
	texts := []string{"1.2.3.4 sent 30% of all requests"}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		texts = append(texts, name+".gz: ended early: at byte 17", name+".log: fine")
	}
	texts = append(texts, "a.gz: ended early: at byte 18", "b.gz: ended early: at byte 17")
	apart := []string{"p: not /v1/pay", "q: not /v2/pay", "r: not /v3/pay", "s: twice", "s: twice", "s: twice"}
	got := FoldWarnings(append(append(texts, "x: by itself", "y: by itself"), apart...))
	want := []string{
		"1.2.3.4 sent 30% of all requests", "a.gz: ended early: at byte 17; likewise b.gz, c.gz, d.gz, and 2 more",
		"a.log: fine; likewise b.log, c.log, d.log, and 2 more", "a.gz: ended early: at byte 18",
		"x: by itself", "y: by itself",
	}
	want = append(want, apart...)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
