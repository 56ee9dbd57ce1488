package report

import (
	"fmt"
	"strings"

	"shadow/policy"
	"shadow/replay"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/request"
)

// judge computes the figures of one policy.
func judge(res *replay.Result, t *replay.PolicyTally, who *Population, b *Assessor, o Options) Policy {
	p := Policy{
		Policy:          t.Policy.Name,
		By:              t.Policy.By(),
		Totals:          history.NewTotals(t.Requests, t.Refused, who.Clients, int64(t.Hits.Len())),
		ByClass:         who.byClass(&t.Hits),
		HitEvidence:     b.hit(&t.Hits),
		Degraded:        t.Degraded.Requests,
		DegradedRefused: t.Degraded.Refused,
		BytesSaved:      t.BytesSaved,
		TopClients:      topClients(res, t, who, b, o),
		TopActions:      topActions(res, t, o),
		Kind:            kindOf(t.Policy),
	}
	for _, of := range t.Policy.Parts {
		p.Parts = append(p.Parts, Part{
			Limit: of.Spec.String(), By: of.By.String(), Match: of.MatchText, Count: of.CountText,
			Semantics: of.Semantics(), Nginx: of.Nearest(), text: of.String(),
		})
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

// Meanings are what the policy means: how its limits combine unless as most do, and each of them.
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

// NginxTexts are how nginx is told each of the policy's limits.
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
		text += fmt.Sprintf(", refuses %s of %s (%s%%) and hits %s of %s (%s%%)",
			p.RefusedText(), format.Count(p.Requests, "request"), format.Percent(p.RefusedPercent),
			p.HitText(), format.Count(p.Clients, "client"), format.Percent(p.ClientsHitPercent))
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf("; delays %s by %s in all, half of them by at most %s and 99%% by at most %s",
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
