package report

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/replay"
)

// A report can be right in every figure and still mislead: when one address stands for many people, when the site
// calls itself, when a format put another field where the agent belongs, when a file ended early. These are the signs.

const (
	heavyPercent = 20 // of all requests: more from one client want an explanation
	mixedPercent = 1  // of a client's requests: a second class with more than that speaks for several people
)

func warnings(res *replay.Result, who *population) []string {
	var all []string
	for _, f := range res.Stats.Inputs {
		for _, w := range f.Warnings {
			all = append(all, f.Name+": "+w)
		}
		if f.Problem != "" {
			all = append(all, fmt.Sprintf("%s ended early: %s", f.Name, f.Problem))
		}
	}
	for _, id := range heavy(res, who.requests) {
		all = append(all, heavyText(res.Tables.Clients.Name(id), res.Clients.At(id), who.requests))
	}
	if res.Stats.HasAgents && agentsLookWrong(res, who.requests) {
		all = append(all, "most user agents are URLs or empty, so the classes mean nothing: does the log have "+
			"other fields than its format says? `shadow parse FILE` shows them, --format sets them")
	}
	return all
}

// heavy are the clients with more than heavyPercent of all requests, the heaviest first.
func heavy(res *replay.Result, total int64) []int32 {
	requests := func(id int32) int64 { return res.Clients.At(id).Requests() }
	var ids []int32
	for id := range int32(res.Clients.Len()) {
		if percentOf(requests(id), total) > heavyPercent {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int32) int {
		most := cmp.Compare(requests(b), requests(a))
		return cmp.Or(most, strings.Compare(res.Tables.Clients.Name(a), res.Tables.Clients.Name(b)))
	})
	return ids
}

// heavyText offers a flag to paste into a shell only for an address: any other name is a stranger's text.
func heavyText(name string, c *replay.ClientTally, total int64) string {
	text := fmt.Sprintf("%s sent %s%% of all requests", name, percent(percentOf(c.Requests(), total)))
	address, isAddress := addressOf(name)
	proxy := "if it is a proxy, use --client-from x-forwarded-for --trusted-proxy " + address
	switch {
	case !isAddress:
		return text + ": is it one client?"
	case mixed(c):
		return text + ", with agents of several classes: " + proxy
	}
	return text + ": " + proxy + "; if it is the site itself or a health checker, --exclude " + address
}

// addressOf is the address or prefix that name is, in its usual writing.
func addressOf(name string) (string, bool) {
	if address, err := netip.ParseAddr(name); err == nil && address.Zone() == "" {
		return address.String(), true
	}
	if prefix, err := netip.ParsePrefix(name); err == nil {
		return prefix.String(), true
	}
	return "", false
}

// mixed tells whether a client's agents are of several classes: most likely it is many clients behind one address.
func mixed(c *replay.ClientTally) bool {
	classes := 0
	for _, n := range c.ByClass {
		if percentOf(n, c.Requests()) > mixedPercent {
			classes++
		}
	}
	return classes > 1
}

// agentsLookWrong tells whether more than half of the requests come from clients whose agent is a URL or missing, and
// at least a tenth from such with a URL: the referer, or some other field, was taken for the agent.
func agentsLookWrong(res *replay.Result, total int64) bool {
	agents := make([]byte, res.Tables.Agents.Len()) // 'u' for a URL, '-' for none
	for id := range agents {
		switch name := res.Tables.Agents.Name(int32(id)); {
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			agents[id] = 'u'
		case name == "", name == "-":
			agents[id] = '-'
		}
	}
	var n [256]int64
	for i := range int32(res.Clients.Len()) {
		client := res.Clients.At(i)
		if id := client.LastAgent; id >= 0 && int(id) < len(agents) {
			n[agents[id]] += client.Requests()
		}
	}
	return percentOf(n['u'], total) >= 10 && percentOf(n['u']+n['-'], total) > 50
}
