package report

import (
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/replay"
	"shadow/report/format"
)

// A Population counts the clients of the counted requests: in one pass, shared by all policies.
type Population struct {
	Class             []request.Class            // by client id
	Figures           PerClass[ClassFigures]     // requests and clients; none refused yet
	ByIdentity        *PerIdentity[ClassFigures] // likewise; nil: not known
	Requests, Clients int64

	known *who.Register
}

// NewPopulation counts the clients with a counted request: not those that were only excluded, or only warmed the
// limiters. Who they are may be unknown.
func NewPopulation(clients *replay.Paged[replay.ClientTally], known *who.Register) *Population {
	p := &Population{Class: make([]request.Class, clients.Len()), known: known}
	if known != nil {
		p.ByIdentity = new(PerIdentity[ClassFigures])
	}
	for id := range int32(clients.Len()) {
		client := clients.At(id)
		class, n := client.Class(), client.Requests()
		p.Class[id] = class
		if n == 0 {
			continue
		}
		p.Requests += n
		p.Clients++
		p.Figures[class].sent(n)
		if known != nil {
			p.ByIdentity[known.Of(id)].sent(n)
		}
	}
	return p
}

// sent counts a client with so many requests.
func (f *ClassFigures) sent(requests int64) {
	f.Requests += requests
	f.Clients++
}

// hit counts a client of which so many are refused.
func (f *ClassFigures) hit(refused int64) {
	f.Refused += refused
	f.ClientsHit++
}

// byClass puts the clients that were hit into the class that each of them has.
func (p *Population) byClass(hits *replay.Hits) PerClass[ClassFigures] {
	figures := p.Figures
	for hit := range hits.All() {
		figures[p.Class[hit.Client]].hit(hit.Refused)
	}
	return figures
}

// An Identity says who a client is, and why.
type Identity struct {
	Identity string   `json:"identity"` // who.Identity: person, office, …
	Reasons  []string `json:"reasons"`  // what shows it, with figures; none where that is not known
}

// PerIdentity has a value for each identity of clients. JSON has an object with the words of who.Identity.
type PerIdentity[T any] [who.Count]T

// MarshalJSON writes an object.
func (p PerIdentity[T]) MarshalJSON() ([]byte, error) { return format.EachJSON[who.Identity](p[:]) }

// IdentityOf returns who a client of a result is; nil where that is not known.
func IdentityOf(res *replay.Result, client int32) *Identity {
	if res.Who == nil {
		return nil
	}
	return &Identity{res.Who.Of(client).One(), append([]string{}, res.Who.Reasons(client)...)}
}

// totals are the requests and clients of each identity; nil where they are not known.
func (p *Population) totals() *PerIdentity[ClassTotal] {
	if p.ByIdentity == nil {
		return nil
	}
	all := new(PerIdentity[ClassTotal])
	for is, f := range p.ByIdentity {
		all[is] = ClassTotal{f.Requests, f.Clients}
	}
	return all
}

// Identify tells who the clients are, of a report that is made without knowing it. People do not read it there.
func (h *Head) Identify(p *Population) { h.Input.Identities = p.totals() }

// IdentitiesOf returns the requests and clients of each identity.
func IdentitiesOf(tally [who.Count]who.Crowd) *PerIdentity[ClassFigures] {
	all := new(PerIdentity[ClassFigures])
	for is, n := range tally {
		all[is].Requests, all[is].Clients = n.Requests, n.Clients
	}
	return all
}

// byIdentity puts the clients that were hit to their identities.
func (p *Population) byIdentity(hits *replay.Hits) *PerIdentity[ClassFigures] {
	if p.ByIdentity == nil {
		return nil
	}
	figures := *p.ByIdentity
	for hit := range hits.All() {
		figures[p.known.Of(hit.Client)].hit(hit.Refused)
	}
	return &figures
}

// countedText counts clients of an identity: 1 person, 3 search engines.
func countedText(n int64, is who.Identity) string {
	return format.Thousands(n) + " " + is.Counted(n)
}

// identitiesText counts the clients of each identity that there are; "" where they are not known.
func (in *Input) identitiesText() string {
	if in.Identities == nil {
		return ""
	}
	var parts []string
	for is, f := range in.Identities {
		if f.Clients > 0 {
			parts = append(parts, countedText(f.Clients, who.Identity(is)))
		}
	}
	return strings.Join(parts, ", ")
}
