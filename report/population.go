package report

import (
	"fmt"

	"shadow/replay"
	"shadow/report/format"
	"shadow/request"
	"shadow/traffic/evidence"
)

// A Population is who sent the counted requests: one pass over the clients, shared by all policies.
type Population struct {
	Class             []request.Class        // by client id
	Figures           PerClass[ClassFigures] // requests and clients; nobody refused yet
	Requests, Clients int64
}

// NewPopulation counts the clients with a counted request: not those that were only excluded, or only warmed the
// limiters.
func NewPopulation(clients *replay.Paged[replay.ClientTally]) *Population {
	who := &Population{Class: make([]request.Class, clients.Len())}
	for id := range who.Class {
		client := clients.At(int32(id))
		class, n := client.Class(), client.Requests()
		who.Class[id] = class
		if n == 0 {
			continue
		}
		who.Requests += n
		who.Clients++
		who.Figures[class].Requests += n
		who.Figures[class].Clients++
	}
	return who
}

// byClass puts the clients that were hit into the class that each of them has.
func (who *Population) byClass(hits *replay.Hits) PerClass[ClassFigures] {
	figures := who.Figures
	for hit := range hits.All() {
		f := &figures[who.Class[hit.Client]]
		f.Refused += hit.Refused
		f.ClientsHit++
	}
	return figures
}

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

// An Assessor judges clients by their evidence; nil where none was gathered.
type Assessor struct {
	*replay.Assessor
	Disguised []bool       // by client
	hidden    ClassFigures // requests and clients of the disguised; nobody refused yet
}

// NewAssessor returns what judges the clients of a result; nil without evidence.
func NewAssessor(res *replay.Result, who *Population, o Options) *Assessor {
	return AssessorOf(replay.NewAssessor(res, o.Evidence), res.Clients, who)
}

// AssessorOf divides the clients that inner judges; nil if inner is.
func AssessorOf(inner *replay.Assessor, clients *replay.Paged[replay.ClientTally], who *Population) *Assessor {
	if inner == nil {
		return nil
	}
	b := &Assessor{Assessor: inner, Disguised: make([]bool, len(who.Class))}
	for id := range b.Disguised {
		requests := clients.At(int32(id)).Requests()
		if requests > 0 && inner.Disguised(int32(id)) {
			b.Disguised[id] = true
			b.hidden.Requests += requests
			b.hidden.Clients++
		}
	}
	return b
}

// Of is the evidence about one client with its reasons.
func (b *Assessor) Of(client int32) *Evidence {
	if b == nil {
		return nil
	}
	f := b.Explain(client)
	return &Evidence{f.Verdict.String(), f.Shared, append([]string{}, f.Reasons...)}
}

// All counts the clients with a counted request.
func (b *Assessor) All(clients *replay.Paged[replay.ClientTally]) *Verdicts {
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
func (b *Assessor) hit(hits *replay.Hits) *Verdicts {
	if b == nil {
		return nil
	}
	v := new(Verdicts)
	for hit := range hits.All() {
		b.count(v, hit.Client)
	}
	return v
}

// Divide tells of the browsers that a policy hit which of them are disguised. browsers are the figures of them all.
func (b *Assessor) Divide(browsers ClassFigures, hits *replay.Hits) *ByEvidence {
	if b == nil {
		return nil
	}
	d := &ByEvidence{Disguised: b.hidden}
	for hit := range hits.All() {
		if b.Disguised[hit.Client] {
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

func (b *Assessor) count(v *Verdicts, client int32) {
	f := b.Find(client)
	switch f.Verdict {
	case evidence.Human:
		v.Human++
	case evidence.Bot:
		v.Bot++
	case evidence.Undecided:
		v.Undecided++
	}
	if f.Shared {
		v.Shared++
	}
	if b.Disguised[client] {
		v.Disguised++
	}
}

// Text says what the evidence about some clients comes to; nil and nobody say nothing.
func (v *Verdicts) Text(whose string) string {
	if v == nil || v.Human+v.Bot+v.Undecided == 0 {
		return ""
	}
	bots := format.Count(v.Bot, "bot")
	if v.Disguised > 0 {
		bots += fmt.Sprintf(" (%s disguised)", format.Thousands(v.Disguised))
	}
	text := fmt.Sprintf("%s, %s, %s undecided", format.Count(v.Human, "human"), bots, format.Thousands(v.Undecided))
	if v.Shared > 0 {
		text += fmt.Sprintf("; %s of %s %s look shared", format.Thousands(v.Shared),
			format.Thousands(v.Human+v.Bot+v.Undecided), whose)
	}
	return text
}

// Short is the evidence about a client in a cell of a table.
func (e *Evidence) Short() string {
	if e == nil {
		return ""
	}
	if e.Shared {
		return e.Verdict + ", shared"
	}
	return e.Verdict
}
