package report

import (
	"cmp"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/useragent"
	"shadow/parse"
	"shadow/replay"
	"shadow/report/format"
	"shadow/report/history"
)

// judge computes the figures of one policy.
func judge(res *replay.Result, t *replay.PolicyTally, who *Population, o Options) Policy {
	p := Policy{
		Policy:          t.Policy.Name,
		By:              t.Policy.By(),
		Totals:          history.NewTotals(t.Requests, t.Refused, who.Clients, int64(t.Hits.Len())),
		ByClass:         who.byClass(&t.Hits),
		ByIdentity:      who.byIdentity(&t.Hits),
		Degraded:        t.Degraded.Requests,
		DegradedRefused: t.Degraded.Refused,
		BytesSaved:      t.BytesSaved,
		TopClients:      topClients(res, t, who, o),
		TopActions:      topActions(res, t, o),
		Kind:            kindOf(t.Policy),
	}
	for _, of := range t.Policy.Parts {
		p.Parts = append(p.Parts, Part{
			Limit: of.Spec.String(), By: of.By.String(), Match: of.MatchText, Count: of.CountText,
			Semantics: of.Semantics(), Nginx: of.Nearest(), text: of.String(),
		})
	}
	p.combine, p.Combine = t.Policy.Combine, t.Policy.Combine.String()
	p.Semantics = strings.Join(p.Meanings(), "; ")
	p.Nginx = strings.Join(p.NginxTexts(), "; ")
	if t.WorstMinuteRefused > 0 {
		p.WorstMinute = &Minute{Start: format.Moment(t.WorstMinute), Refused: t.WorstMinuteRefused}
	}
	if t.Refused > 0 {
		worst := int64(0)
		for hit := range t.Hits.All() {
			worst = max(worst, hit.Refused)
		}
		share := format.ShareOf(worst, t.Refused)
		p.WorstClientShare = &share
	}
	if res.Stats.HasUpstream {
		seconds := format.InSeconds(t.UpstreamSaved)
		p.UpstreamSecondsSaved = &seconds
	}
	if d := t.Delays; d != nil {
		p.Delayed = d.Requests
		p.Delay = &Delay{Total: format.InSeconds(d.Total), P50: format.InSeconds(d.P50), P99: format.InSeconds(d.P99)}
	}
	if r := t.Range; r != nil {
		p.Range = &Range{Refused: r.Refused, ClientsHit: r.ClientsHit}
	}
	p.Band = bandOf(&p, t, who)
	return p
}

// each returns a text about each limit of the policy, behind the limit unless the policy's name says it all.
func (p *Policy) each(about func(*Part) string) []string {
	plain := len(p.Parts) == 1 && p.Parts[0].Limit == p.Policy && p.Parts[0].Match+p.Parts[0].Count == ""
	texts := make([]string, len(p.Parts))
	for i := range p.Parts {
		part := &p.Parts[i]
		if texts[i] = about(part); !plain {
			texts[i] = part.text + ": " + texts[i]
		}
	}
	return texts
}

// Meanings returns what the policy means: how its limits combine unless as most do, and what each one means.
func (p *Policy) Meanings() []string {
	texts := p.each(func(part *Part) string { return part.Semantics })
	if p.combine != policy.Together && len(p.Parts) > 1 {
		return append([]string{p.combine.Means()}, texts...)
	}
	return texts
}

// kindOf is the same for policies that differ in their numbers only. What has a name of its own is a kind of its own.
func kindOf(p policy.Policy) string {
	if p.Name != p.Text() {
		return p.Name
	}
	kind := p.Combine.String() + ":"
	for i := range p.Parts {
		part := &p.Parts[i]
		kind += part.Spec.Algorithm + "," + part.Spec.Options + " " + part.MatchText + " " + part.CountText + "+"
	}
	return kind
}

// NginxTexts returns how to tell nginx each of the policy's limits.
func (p *Policy) NginxTexts() []string { return p.each(func(part *Part) string { return part.Nginx }) }

// Headline says in a sentence what a policy did.
func Headline(p *Policy) string {
	text := "by " + strings.ReplaceAll(p.By, ", ", " and ")
	if p.Range != nil {
		text += ", as an approximation"
	}
	if p.Refused == 0 && p.Range == nil {
		text += fmt.Sprintf(", refuses none of %s", format.Count(p.Requests, "request"))
	} else {
		text += fmt.Sprintf(", refuses %s of %s (%s) and hits %s of %s (%s)",
			p.RefusedText(), format.Count(p.Requests, "request"), format.Percentage(p.RefusedPercent),
			p.HitText(), format.Count(p.Clients, "client"), format.Percentage(p.ClientsHitPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf("; delays %s by %s in all, half of them by at most %s and 99 %% by at most %s",
			format.Thousands(p.Delayed), format.Wait(p.Delay.Total), format.Wait(p.Delay.P50), format.Wait(p.Delay.P99))
	}
	return text
}

// RefusedText is the requests refused, with what they may also be if the policy is an approximation.
func (p *Policy) RefusedText() string {
	if p.Range == nil {
		return format.Thousands(p.Refused)
	}
	return format.Thousands(p.Refused) + format.Between(p.Range.Refused)
}

// HitText is the same of the clients hit.
func (p *Policy) HitText() string {
	if p.Range == nil {
		return format.Thousands(p.ClientsHit)
	}
	return format.Thousands(p.ClientsHit) + format.Between(p.Range.ClientsHit)
}

// The n best of millions are found with room for 2n: whatever beats the n-th best so far is put aside, and when the
// room is full, its better half stays. That is one comparison for nearly every item, and log n for the rest.

// Top returns the n first of items in the order of compare, sorted.
func Top[T any](items iter.Seq[T], n int, compare func(a, b T) int) []T {
	if n <= 0 {
		return nil
	}
	var best []T
	var last T // the n-th of best, once full
	full := false
	for item := range items {
		if full && compare(item, last) >= 0 {
			continue
		}
		if best = append(best, item); len(best)/2 >= n {
			slices.SortFunc(best, compare)
			best, last, full = best[:n], best[n-1], true
		}
	}
	slices.SortFunc(best, compare)
	return best[:min(n, len(best))]
}

// Sorts are the values of --sort: by what tables of clients and actions are ordered.
func Sorts() []string { return []string{"refused", "requests", "client"} }

// A ranked is what clients and actions are ranked by.
type ranked struct {
	index             int32 // into Hits or Actions
	refused, requests int64
}

// ranking orders by refused or by requests, most first, then by the other of the two, then by name. It never asks for
// an id, which depends on the goroutine that met the name first.
func ranking(sort string, name func(index int32) string) func(a, b ranked) int {
	return func(a, b ranked) int {
		refused, requests := cmp.Compare(b.refused, a.refused), cmp.Compare(b.requests, a.requests)
		if sort == "requests" {
			refused, requests = requests, refused
		}
		if refused != 0 || requests != 0 {
			return cmp.Or(refused, requests)
		}
		return strings.Compare(name(a.index), name(b.index))
	}
}

// compareNames orders addresses by number and before all other names.
func compareNames(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(x.Compare(y), strings.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

func topClients(res *replay.Result, t *replay.PolicyTally, who *Population, o Options) []Client {
	hits := func(yield func(ranked) bool) {
		for i := range int32(t.Hits.Len()) {
			hit := t.Hits.At(i)
			if !yield(ranked{i, hit.Refused, res.Clients.At(hit.Client).Requests()}) {
				return
			}
		}
	}
	name := func(index int32) string { return res.Tables.Clients.Name(t.Hits.At(index).Client) }
	clients := []Client{}
	for _, r := range Top(hits, o.Top, ranking(o.Sort, name)) {
		hit := t.Hits.At(r.index)
		clients = append(clients, Client{
			id:             hit.Client,
			Client:         res.Tables.ShownClient(hit.Client),
			Requests:       r.requests,
			Refused:        r.refused,
			RefusedPercent: format.PercentOf(r.refused, r.requests),
			Class:          who.Class[hit.Client].String(),
			Agent:          res.Tables.ShownAgent(res.Clients.At(hit.Client).LastAgent),
			First:          format.Moment(hit.First),
			Last:           format.Moment(hit.Last),
			Identity:       IdentityOf(res, hit.Client),
		})
		c := &clients[len(clients)-1]
		c.Network, c.Crawler = TellNetwork(name(r.index), c.Class, c.Agent, &o.Known)
	}
	if o.Sort == "client" {
		slices.SortFunc(clients, func(a, b Client) int { return compareNames(a.Client, b.Client) })
	}
	return clients
}

// TellNetwork returns what files of the user tell of a client with a class and an agent, as Client has it.
func TellNetwork(client, class, agent string, known *network.Known) (of *Network, crawler string) {
	addr, ok := parse.Addr([]byte(client))
	if !ok {
		return nil, ""
	}
	if owner := known.Owners.Of(addr); owner != (network.Owner{}) {
		of = &Network{owner.ASN, owner.Name, owner.Country, owner.String()}
	}
	if known.Crawlers != nil && class == request.Crawler.String() {
		crawler = known.Crawlers.Check(useragent.CrawlerName(agent), addr).String()
	}
	return of, crawler
}

func topActions(res *replay.Result, t *replay.PolicyTally, o Options) []Action {
	hit := func(yield func(ranked) bool) {
		for id, refused := range t.ByAction {
			if refused > 0 && !yield(ranked{int32(id), refused, res.Actions[id]}) {
				return
			}
		}
	}
	actions := []Action{}
	for _, r := range Top(hit, o.Top, ranking(o.Sort, res.Tables.Actions.Name)) {
		actions = append(actions, Action{
			id:             r.index,
			Action:         res.Tables.ShownAction(r.index),
			Requests:       r.requests,
			Refused:        r.refused,
			RefusedPercent: format.PercentOf(r.refused, r.requests),
			SharePercent:   format.PercentOf(r.refused, t.Refused),
		})
	}
	if o.Sort == "client" {
		slices.SortFunc(actions, func(a, b Action) int { return strings.Compare(a.Action, b.Action) })
	}
	return actions
}
