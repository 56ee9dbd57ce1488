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
	Disguised int64 `json:"disguised"` // of the bots: those that claim to be browsers
}

// ByEvidence divides the figures of class browser by whether the evidence contradicts the claim.
type ByEvidence struct {
	People    ClassFigures `json:"people"`    // it does not
	Disguised ClassFigures `json:"disguised"` // it does
}

// A jury judges clients by their evidence; nil where none was gathered.
type jury struct {
	*replay.Jury
	disguised []bool       // by client
	hidden    ClassFigures // requests and clients of the disguised; nobody refused yet
}

func newJury(res *replay.Result, who *population, o Options) *jury {
	return juryOf(replay.NewJury(res, o.Evidence), res.Clients, who)
}

func juryOf(inner *replay.Jury, clients *replay.Paged[replay.ClientTally], who *population) *jury {
	if inner == nil {
		return nil
	}
	b := &jury{Jury: inner, disguised: make([]bool, len(who.class))}
	for id := range b.disguised {
		requests := clients.At(int32(id)).Requests()
		if requests > 0 && inner.Disguised(int32(id)) {
			b.disguised[id] = true
			b.hidden.Requests += requests
			b.hidden.Clients++
		}
	}
	return b
}

// explain is the evidence about one client with its reasons.
func (b *jury) explain(client int32) *Evidence {
	if b == nil {
		return nil
	}
	f := b.Explain(client)
	return &Evidence{f.Verdict.String(), f.Shared, append([]string{}, f.Reasons...)}
}

// all counts the clients with a counted request.
func (b *jury) all(clients *replay.Paged[replay.ClientTally]) *Verdicts {
	if b == nil {
		return nil
	}
	v := new(Verdicts)
	for id := range int32(clients.Len()) {
		if clients.At(id).Requests() > 0 {
			b.count(v, id)
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
		b.count(v, hit.Client)
	}
	return v
}

// divide tells of the browsers that a policy hit which of them are disguised. browsers are the figures of them all.
func (b *jury) divide(browsers ClassFigures, hits *replay.Hits) *ByEvidence {
	if b == nil {
		return nil
	}
	d := &ByEvidence{Disguised: b.hidden}
	for hit := range hits.All() {
		if b.disguised[hit.Client] {
			d.Disguised.Refused += hit.Refused
			d.Disguised.ClientsHit++
		}
	}
	d.People = ClassFigures{
		Requests: browsers.Requests - d.Disguised.Requests, Refused: browsers.Refused - d.Disguised.Refused,
		Clients: browsers.Clients - d.Disguised.Clients, ClientsHit: browsers.ClientsHit - d.Disguised.ClientsHit,
	}
	return d
}

func (b *jury) count(v *Verdicts, client int32) {
	f := b.Find(client)
	switch f.Verdict {
	case traffic.Human:
		v.Human++
	case traffic.Bot:
		v.Bot++
	case traffic.Undecided:
		v.Undecided++
	}
	if f.Shared {
		v.Shared++
	}
	if b.disguised[client] {
		v.Disguised++
	}
}

// text says what the evidence about some clients comes to; nil and nobody say nothing.
func (v *Verdicts) text(whose string) string {
	if v == nil || v.Human+v.Bot+v.Undecided == 0 {
		return ""
	}
	bots := count(v.Bot, "bot")
	if v.Disguised > 0 {
		bots += fmt.Sprintf(" (%s disguised)", thousands(v.Disguised))
	}
	text := fmt.Sprintf("%s, %s, %s undecided", count(v.Human, "human"), bots, thousands(v.Undecided))
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
