package keys

import (
	"cmp"
	"fmt"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/format"
)

// Every key is asked the same question, and answers with the number that suits it best; then they are put in order.

// New makes the report on keys.
func New(res *sweep.KeysResult, q Question, o report.Options) *Report {
	k := &Report{
		Head:      report.NewHead(&res.Stats, &report.Population{Requests: res.Sent, Clients: res.Clients}, o),
		Action:    res.Action,
		Target:    groupOf(res, q.Target, q.TargetName),
		Protected: groupOf(res, q.Protected, q.ProtectedName),
		Absent:    []AbsentKey{}, Answers: []Answer{},
		Log: res.ClientStats,
	}
	k.Warnings = mapped.Add(k.Warnings, warnings(res, k, q), o.Anonymize.Text)
	for _, by := range q.By {
		if why := absence(by, &res.ClientStats); why != "" {
			k.Absent = append(k.Absent, AbsentKey{by.String(), why})
		}
	}
	if k.Target.Requests > 0 {
		k.answer(res, q)
	}
	if s := q.Split; s != nil {
		k.Found = mapped.Add(k.Found, s.Found, request.Key.String)
		k.validate(s, q)
	}
	return k
}

func groupOf(res *sweep.KeysResult, classes []request.Class, name string) Group {
	return Group{Who: name, Visitors: res.Visitors.Of(classes), Requests: res.Requests.Of(classes)}
}

// absence says what of a key the log does not have, or nothing.
func absence(by request.Key, c *sweep.ClientStats) string {
	for _, p := range by.Parts() {
		switch {
		case p.Kind == request.PartUser && c.Users == 0:
			return "no request has a user"
		case p.Kind == request.PartAgent && c.Agents == 0:
			return "no request has an agent"
		case p.Kind != request.PartNetwork || groups(p, true) && c.IPv4 > 0 || groups(p, false) && c.IPv6 > 0:
		case groups(p, true) && groups(p, false):
			return "no client has an address"
		case groups(p, true):
			return "no client has an IPv4 address"
		default:
			return "no client has an IPv6 address"
		}
	}
	return ""
}

// groups reports whether a part puts addresses of IPv4, or of IPv6, together: /32 and /128 leave each alone, unless they are
// all that the part says.
func groups(p request.Part, four bool) bool {
	bits, whole := p.Bits(four), 128
	if four {
		whole = 32
	}
	return bits > 0 && (bits < whole || p.N6 == 0 || p.Bits(!four) == 32+128-whole)
}

// NeedsLonger reports whether some question is not answered by the curves of a result, the last q.Longer of which are of
// longer windows.
func NeedsLonger(res *sweep.KeysResult, q Question) bool {
	k := New(res, q, report.Options{})
	return slices.ContainsFunc(k.Answers, func(a Answer) bool { return a.Refuse != nil && !a.separates() && a.longer == nil })
}

// IsAbsent reports whether a log has nothing for a key.
func IsAbsent(by request.Key, c *sweep.ClientStats) bool { return absence(by, c) != "" }

// answer answers the questions.
func (k *Report) answer(res *sweep.KeysResult, q Question) {
	for i, text := range q.Limits {
		a := Answer{Limit: text, Keys: []Row{}}
		for j, by := range q.By {
			if absence(by, &res.ClientStats) == "" {
				a.Keys = append(a.Keys, k.row(by, text, &res.Limits[i*len(q.By)+j], q))
			}
		}
		k.Answers = append(k.Answers, a)
	}
	for _, share := range q.Refuse {
		asked := -q.Longer // periods
		if len(res.Sides) > 0 {
			asked += len(res.Sides[0].Curves)
		}
		for i := range max(asked, 0) {
			a := k.loosest(res, i, share, q)
			for j := asked; j < asked+q.Longer && !a.separates() && a.longer == nil; j++ {
				other := k.loosest(res, j, share, q)
				if a.tried = append(a.tried, other.Per); other.separates() {
					a.Longer, a.LongerKey, a.longer = other.Per, other.Keys[0].Key, &other.Keys[0]
				}
			}
			k.Answers = append(k.Answers, a)
		}
	}
}

// loosest finds for each key the largest limit of a window that refuses a share.
func (k *Report) loosest(res *sweep.KeysResult, period int, share float64, q Question) Answer {
	a := Answer{Refuse: &share, Per: res.Sides[0].Curves[period].PerText(), Keys: []Row{}}
	for _, side := range res.Sides {
		if absence(side.By, &res.ClientStats) != "" {
			continue
		}
		curve := &side.Curves[period]
		n := curve.Loosest(needed(k.Target.Requests, share), q.Target)
		p := curve.At(max(n, 1))
		row := k.row(side.By, curve.Limit(max(n, 1)), &p, q)
		row.Reached, row.n = n > 0, n
		a.Keys = append(a.Keys, row)
	}
	slices.SortStableFunc(a.Keys, better)
	if i := slices.IndexFunc(a.Keys, func(r Row) bool { return r.Key == clientKey }); i > 0 && !k.clearlyBetter(&a.Keys[0], &a.Keys[i]) {
		client := a.Keys[i]
		a.Keys = slices.Insert(slices.Delete(a.Keys, i, i+1), 0, client)
	}
	if len(a.Keys) > 0 && a.Keys[0].Reached {
		a.Best = a.Keys[0].Key
	}
	return a
}

// clientKey is the key that every server has, and that another must clearly be better than to be named.
var clientKey = request.ByClient.String()

// clearlyBetter reports whether a key is better than that of clients by a margin: it separates where that does not, or hits at
// most half as many of the protected, and a hundredth of all of them fewer. Where that separates, none by which clients share a
// bucket is better, unless it tells users apart: one of them uses up what the others may send.
func (k *Report) clearlyBetter(r, client *Row) bool {
	if !client.separates() && r.separates() || !client.Reached {
		return r.separates()
	}
	if key := request.Key(r.Key); client.separates() && key.Shared() && !key.ByUsers() {
		return false
	}
	return 2*r.ProtectedHit <= client.ProtectedHit && 100*(client.ProtectedHit-r.ProtectedHit) >= k.Protected.Visitors
}

// needed is the least number of requests that is such a share of all.
func needed(requests int64, percent float64) int64 {
	n := int64(percent * float64(requests) / 100)
	for format.PercentOf(n, requests) < percent {
		n++
	}
	return max(n, 1)
}

// better orders keys: those that suffice first, then by which clients they hit, then by what they refuse them.
func better(x, y Row) int {
	switch {
	case x.Reached && y.Reached:
		return cmp.Or(cmp.Compare(x.ProtectedHit, y.ProtectedHit), cmp.Compare(x.ProtectedRefused, y.ProtectedRefused))
	case x.Reached:
		return -1
	case y.Reached:
		return 1
	}
	return cmp.Compare(y.TargetRefused, x.TargetRefused)
}

func (k *Report) row(by request.Key, limit string, p *sweep.Point, q Question) Row {
	r := Row{
		Key: by.String(), Limit: limit, Reached: true, TargetRefused: p.Refused.Of(q.Target),
		ProtectedHit: p.Hit.Of(q.Protected), ProtectedRefused: p.Refused.Of(q.Protected),
	}
	r.TargetPercent = format.PercentOf(r.TargetRefused, k.Target.Requests)
	r.ProtectedHitPercent = format.PercentOf(r.ProtectedHit, k.Protected.Visitors)
	r.ProtectedPercent = format.PercentOf(r.ProtectedRefused, k.Protected.Requests)
	return r
}

// What makes an answer about keys worth less than it looks: addresses that come and go, no client to recognise, one
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
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

func rotatingText(c *sweep.ClientStats) string {
	r := &c.Rotating
	if r.Networks == 0 || format.PercentOf(r.Requests, c.Sent) < rotatingOfAll &&
		format.PercentOf(r.Requests, c.IPv6Sent) < rotatingOfIPv6 {
		return ""
	}
	return fmt.Sprintf("IPv6 addresses rotate: %s (/64) had %d or more new addresses on one day, %s in all, and sent "+
		"%s of all requests; "+
		"%s had the most, %s: a limit by client gives each of them a fresh start, client/64 (--client addr/64) does not",
		format.Count(r.Networks, "network"), sweep.RotatingAddresses, format.Thousands(r.Addresses),
		format.Percentage(format.PercentOf(r.Requests, c.Sent)), r.Most, format.Thousands(r.InMost))
}

func nobodyText(res *sweep.KeysResult, k *Report) string {
	switch {
	case res.Sent == 0:
		return ""
	case res.Agents == 0:
		return "the log has no agents: programs and browsers look the same"
	case k.Target.Requests == 0:
		return "no request comes from " + k.Target.Who +
			": there is no target, so no key is known to separate anything; --target names others"
	case k.Protected.Requests == 0:
		return "no request comes from " + k.Protected.Who + ": there is no one to protect, so all keys hit as few"
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
		text := fmt.Sprintf("%s sent %s of the target requests: the answers are about that client",
			res.Tables.ShownClient(id), format.Percentage(share))
		if address, _, ok := report.AddressOf(res.Tables.Clients.Name(id)); ok && res.Tables.Rename.Client == nil {
			text += "; --exclude " + address + " shows the others"
		}
		return text
	}
	return ""
}
