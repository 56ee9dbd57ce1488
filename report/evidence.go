package report

import (
	"fmt"

	"shadow/replay"
	"shadow/traffic"
)

// Evidence is what the evidence about one client comes to.
type Evidence struct {
	Verdict string   `json:"verdict"` // human, bot or undecided
	Shared  bool     `json:"shared"`  // whether many seem to use the address
	Reasons []string `json:"reasons"` // the signs that say something, with their figures
}

// Verdicts counts clients by verdict. Those that look shared are in one of the other three as well.
type Verdicts struct {
	Human     int64 `json:"human"`
	Bot       int64 `json:"bot"`
	Undecided int64 `json:"undecided"`
	Shared    int64 `json:"shared"`
}

// A jury holds what is needed to judge clients by their evidence; nil where none was gathered.
type jury struct {
	evidence *replay.Paged[traffic.Evidence]
	rules    traffic.EvidenceRules
	customs  traffic.Customs
	who      *population
}

func newJury(res *replay.Result, who *population, o Options) *jury {
	if res.Evidence == nil {
		return nil
	}
	b := &jury{evidence: res.Evidence, who: who, rules: traffic.DefaultEvidenceRules}
	if o.Evidence != nil {
		b.rules = *o.Evidence
	}
	for id := range int32(res.Evidence.Len()) {
		b.customs.Add(res.Evidence.At(id))
	}
	return b
}

func (b *jury) judge(client int32) traffic.Judgement {
	return b.rules.Judge(b.evidence.At(client), b.who.class[client], &b.customs)
}

// explain is the evidence about one client with its reasons.
func (b *jury) explain(client int32) *Evidence {
	if b == nil {
		return nil
	}
	j := b.judge(client)
	return &Evidence{j.Verdict.String(), j.Shared, j.Reasons(b.evidence.At(client), b.who.class[client])}
}

// all counts the clients with a counted request.
func (b *jury) all(clients *replay.Paged[replay.ClientTally]) *Verdicts {
	if b == nil {
		return nil
	}
	v := new(Verdicts)
	for id := range int32(clients.Len()) {
		if clients.At(id).Requests() > 0 {
			v.add(b.judge(id))
		}
	}
	return v
}

// hit counts the clients that a policy hit.
func (b *jury) hit(hits *replay.Hits) *Verdicts {
	if b == nil {
		return nil
	}
	v := new(Verdicts)
	for hit := range hits.All() {
		v.add(b.judge(hit.Client))
	}
	return v
}

func (v *Verdicts) add(j traffic.Judgement) {
	switch j.Verdict {
	case traffic.Human:
		v.Human++
	case traffic.Bot:
		v.Bot++
	case traffic.Undecided:
		v.Undecided++
	}
	if j.Shared {
		v.Shared++
	}
}

// text says what the evidence about some clients comes to; nil and nobody say nothing.
func (v *Verdicts) text(whose string) string {
	if v == nil || v.Human+v.Bot+v.Undecided == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s, %s undecided", count(v.Human, "human"), count(v.Bot, "bot"), thousands(v.Undecided))
	if v.Shared > 0 {
		text += fmt.Sprintf("; %s of %s %s look shared", thousands(v.Shared), thousands(v.Human+v.Bot+v.Undecided), whose)
	}
	return text
}

// short is the evidence about a client in a cell of a table.
func (e *Evidence) short() string {
	if e == nil {
		return ""
	}
	if e.Shared {
		return e.Verdict + ", shared"
	}
	return e.Verdict
}
