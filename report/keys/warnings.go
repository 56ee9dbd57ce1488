package keys

import (
	"fmt"
	"slices"
	"strings"

	"shadow/report"
	"shadow/report/format"
	"shadow/sweep"
)

// What makes an answer about keys worth less than it looks: addresses that come and go, nobody to recognise, one
// client who is nearly all of the target, few to protect.

const (
	rotatingOfAll  = 1  // percent of all requests from networks that rotate their addresses
	rotatingOfIPv6 = 10 // the same, of the requests from IPv6 addresses
	mostOfTarget   = 50 // percent of the target requests from one client: more, and the answers are about that one
	fewProtected   = 20 // visitors: of fewer, one is more than wellSeparated
	fewTargets     = 20 // requests: of fewer, a share is a matter of one or two
)

func warnings(res *sweep.KeysResult, k *Report, q Question) []string {
	texts := []string{rotatingText(&res.ClientStats), nobodyText(res, k), oneTarget(res, k, q)}
	if n := k.Target.Requests; 0 < n && n < fewTargets {
		texts = append(texts, fmt.Sprintf("only %s of the target: too few to compare keys by", format.Count(n, "request")))
	}
	if n := k.Protected.Visitors; 0 < n && n < fewProtected && k.Target.Requests > 0 {
		texts = append(texts, fmt.Sprintf("only %s to protect: too few to compare keys by", format.Count(n, "visitor")))
	}
	if k.Action == "" {
		texts = append(texts, report.HeavyWarnings(&res.Claimed, res.Tables.Clients, res.Requests.Sum(), nil)...)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

func rotatingText(c *sweep.ClientStats) string {
	r := &c.Rotating
	if r.Networks == 0 || format.PercentOf(r.Requests, c.Sent) < rotatingOfAll && format.PercentOf(r.Requests, c.IPv6Sent) < rotatingOfIPv6 {
		return ""
	}
	return fmt.Sprintf("IPv6 addresses rotate: %s (/64) had %d or more new addresses on one day, %s in all, and sent %s%% of all requests; "+
		"%s had the most, %s: a limit by client gives each of them a fresh start, client/64 does not",
		format.Count(r.Networks, "network"), sweep.RotatingAddresses, format.Thousands(r.Addresses), format.Percent(format.PercentOf(r.Requests, c.Sent)), r.Most, format.Thousands(r.InMost))
}

func nobodyText(res *sweep.KeysResult, k *Report) string {
	switch {
	case res.Sent == 0:
		return ""
	case res.Agents == 0:
		return "the log has no agents: tools and browsers look the same, so no key is known to separate them"
	case k.Target.Requests == 0:
		return "no request is of class " + strings.Join(k.Target.Classes, " or ") +
			": there is no target, so no key is known to separate anything; --target names other classes"
	case k.Protected.Requests == 0:
		return "no request is of class " + strings.Join(k.Protected.Classes, " or ") + ": there is no one to protect, so all keys hit as few"
	}
	return ""
}

// oneTarget tells of a client that sent most target requests.
func oneTarget(res *sweep.KeysResult, k *Report, q Question) string {
	for id := range int32(res.ByClient.Len()) {
		sent := sweep.Classes(res.ByClient.At(id).ByClass).Of(q.Target)
		share := format.PercentOf(sent, k.Target.Requests)
		if share <= mostOfTarget {
			continue
		}
		text := fmt.Sprintf("%s sent %s%% of the target requests: the answers are about that client", res.Tables.Clients.Name(id), format.Percent(share))
		if address, _, ok := report.AddressOf(res.Tables.Clients.Name(id)); ok {
			text += "; --exclude " + address + " shows the others"
		}
		return text
	}
	return ""
}
