package report

import (
	"strings"

	"shadow/policy"
	"shadow/replay"
	"shadow/report/format"
	"shadow/request"
)

// judge computes the figures of one policy.
func judge(res *replay.Result, t *replay.PolicyTally, who *Population, b *Jury, o Options) Policy {
	p := Policy{
		Policy:            t.Policy.Name,
		By:                t.Policy.By(),
		Parts:             parts(t.Policy),
		Requests:          t.Requests,
		Refused:           t.Refused,
		RefusedPercent:    format.PercentOf(t.Refused, t.Requests),
		Clients:           who.Clients,
		ClientsHit:        int64(t.Hits.Len()),
		ClientsHitPercent: format.PercentOf(int64(t.Hits.Len()), who.Clients),
		ByClass:           who.byClass(&t.Hits),
		HitEvidence:       b.hit(&t.Hits),
		Degraded:          t.Degraded.Requests,
		DegradedRefused:   t.Degraded.Refused,
		BytesSaved:        t.BytesSaved,
		TopClients:        topClients(res, t, who, b, o),
		TopActions:        topActions(res, t, o),
		Kind:              kindOf(t.Policy),
	}
	p.ByEvidence = b.Divide(p.ByClass[request.Browser], &t.Hits)
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

// parts are the limits of a policy.
func parts(p policy.Policy) []Part {
	parts := make([]Part, len(p.Parts))
	for i, of := range p.Parts {
		parts[i] = Part{
			Limit: of.Spec.String(), By: of.By.String(), Match: of.MatchText, Count: of.CountText,
			Semantics: of.Semantics(), Nginx: of.Nearest(), text: of.String(),
		}
	}
	return parts
}

// plain reports whether the policy is no more than what its name says: one limit for all requests.
func (p *Policy) plain() bool {
	return len(p.Parts) == 1 && p.Parts[0].Limit == p.Policy && p.Parts[0].Match+p.Parts[0].Count == ""
}

// told is what there is to tell of each limit of the policy, with the limit before it unless that goes without saying.
func (p *Policy) told(what func(*Part) string) []string {
	texts := make([]string, len(p.Parts))
	for i := range p.Parts {
		part := &p.Parts[i]
		if texts[i] = what(part); !p.plain() {
			texts[i] = part.text + ": " + texts[i]
		}
	}
	return texts
}

// Meanings are what the policy means: how its limits combine unless as most do, and each of them.
func (p *Policy) Meanings() []string {
	texts := p.told(func(part *Part) string { return part.Semantics })
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

// NginxTexts are how nginx is told each of the policy's limits.
func (p *Policy) NginxTexts() []string { return p.told(func(part *Part) string { return part.Nginx }) }
