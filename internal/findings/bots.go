package findings

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/report/format"
)

// botsShare is the percentage of all requests that networks of bots, together, must send to be worth reporting.
const botsShare = 1

// tellBots tells of networks, unless what they send together is little.
func (l *networks) tellBots(span limit.Time) []Finding {
	named := l.census.Networks
	var requests int64
	once := map[int32]bool{} // a network and its owner's may overlap
	for _, g := range named {
		for _, id := range g.Members {
			if !once[id] {
				requests += l.all.At(id).requests()
			}
			once[id] = true
		}
	}
	if 100*requests < botsShare*l.total || requests < mustRequests {
		return nil
	}
	const most = 3
	var names []string
	for i, g := range named {
		if i < most {
			names = append(names, g.Name)
		}
	}
	first := &named[0]
	what, from := first.Name+" is one bot", "come from"
	if len(named) > 1 {
		what, from = fmt.Sprintf("%d networks (%s) are one bot each", len(named), format.Named(names, int64(len(named)))), "are theirs, the first has"
	}
	rate := float64(requests) / float64(max(span, limit.Minute)) * float64(limit.Minute)
	f := Finding{
		Code: "bot_network", Severity: Info, Share: ShareOf(requests, l.total),
		Evidence: fmt.Sprintf("%s: %s requests, %s a minute, %s %s, at most %s from each; %s fetched a file, where of as many "+
			"others about %s would; %s", what, format.Share(requests, l.total), format.Amount(rate), from, addresses(int64(len(first.Members))),
			format.Thousands(first.Most), format.Thousands(first.Fetchers), format.Thousands(first.Expected), strings.Join(first.Signs, ", ")),
	}
	if l.By && !slices.Contains(l.Keys, first.Key) {
		f.Remedy = "--by " + string(first.Key)
	}
	return []Finding{f}
}
