// Package diff reports on what changes when one policy gives way to another: a replay.Comparison comes in; text,
// JSON, CSV, Markdown or a page goes out.
package diff

import (
	"cmp"
	"strings"

	"shadow/internal/traffic/who"
	"shadow/replay"
	"shadow/report"
	"shadow/report/history"
)

// A Report says what changes for which clients when policy A gives way to policy B. Requests are compared one by one.
// Clients and actions are hit when a policy refuses at least one of their requests; one that B hits and A does not is
// newly hit, one that A hits and B does not is released. docs/diff.md defines every figure.
type Report struct {
	report.Head
	A Policy `json:"a"`
	B Policy `json:"b"`

	Requests Change                       `json:"requests"` // refused
	Clients  Change                       `json:"clients"`  // hit
	Actions  Change                       `json:"actions"`  // hit
	ByClass  report.PerClass[ClassChange] `json:"by_class"`

	ByIdentity *report.PerIdentity[ClassChange] `json:"by_identity"` // nil: not known

	ClientsMoved int64 `json:"clients_moved"` // with different numbers of refused requests

	TopMovers     []Client `json:"top_movers"`
	TopNewlyHit   []Client `json:"top_newly_hit"`
	TopReleased   []Client `json:"top_released"`
	TopHitByBoth  []Client `json:"top_hit_by_both"`
	TopActionsHit []Action `json:"top_actions"`

	model *report.Model // of both policies
}

// A Policy is one of the two.
type Policy struct {
	Policy     string        `json:"policy"`
	By         string        `json:"by"`
	Semantics  string        `json:"semantics"`
	Refused    int64         `json:"refused"`
	ClientsHit int64         `json:"clients_hit"`
	Range      *report.Range `json:"range"` // nil when it is judged exactly
}

// A Change counts requests, clients or actions by who refuses or hits them.
type Change struct {
	OnlyA   int64 `json:"only_a"` // released
	OnlyB   int64 `json:"only_b"` // newly hit
	Both    int64 `json:"both"`
	Neither int64 `json:"neither"`
}

// ClassChange holds what changes for the clients of one class.
type ClassChange struct {
	Requests Change `json:"requests"`
	Clients  Change `json:"clients"`
}

// A Client is a client that at least one of the policies hits.
type Client struct {
	Client   string `json:"client"`
	Class    string `json:"class"`
	Agent    string `json:"agent"` // its latest
	Requests int64  `json:"requests"`
	Counts

	Identity *report.Identity `json:"identity"` // nil: not known
}

// An Action is an action that at least one of the policies hits.
type Action struct {
	Action   string `json:"action"`
	Requests int64  `json:"requests"`
	Counts
}

// Counts are the refused requests of one client or action.
type Counts struct {
	Change     string `json:"change"` // "newly hit", "released", "hit by both"
	RefusedA   int64  `json:"refused_a"`
	RefusedB   int64  `json:"refused_b"`
	Difference int64  `json:"difference"` // B less A
	OnlyA      int64  `json:"only_a"`
	OnlyB      int64  `json:"only_b"`
	Both       int64  `json:"both"`
}

// The changes.
const (
	newlyHit  = "newly hit"
	released  = "released"
	hitByBoth = "hit by both"
)

// New computes what changes. The result is that of a replay of two policies, which c has observed.
func New(res *replay.Result, c *replay.Comparison, o report.Options) *Report {
	m := report.New(res, o)
	d := &Report{
		Head: m.Head, model: m, A: policyOf(&m.Policies[0]), B: policyOf(&m.Policies[1]),
	}
	d.Requests = Change{c.Refused.OnlyA, c.Refused.OnlyB, c.Refused.Both, 0}
	d.Requests.rest(m.Input.Requests)
	d.countClients(report.NewPopulation(res.Clients, res.Who), res.Who, c)
	for id := range c.Actions {
		d.Actions.hit(c.Actions[id])
	}
	for _, requests := range res.Actions {
		if requests > 0 {
			d.Actions.Neither++
		}
	}
	d.Actions.rest(d.Actions.Neither)
	o.Top = cmp.Or(o.Top, report.DefaultTop)
	list := func(wanted func(replay.Sides) bool) []Client { return clientsOf(res, c, o, wanted) }
	d.TopMovers = list(func(s replay.Sides) bool { return distance(s) > 0 })
	d.TopNewlyHit, d.TopReleased, d.TopHitByBoth = list(is(newlyHit)), list(is(released)), list(is(hitByBoth))
	d.TopActionsHit = actionsOf(res, c, o)
	return d
}

// Changed returns the model of policy B alone, with what it changes as history: conditions ask it as they ask a night.
func (d *Report) Changed() *report.Model {
	m, a := *d.model, &d.model.Policies[0]
	m.Policies = m.Policies[1:]
	change := history.Policy{Policy: d.B.Policy, By: d.B.By, Before: &history.Totals{
		Requests: a.Requests, Refused: a.Refused, RefusedPercent: a.RefusedPercent,
		Clients: a.Clients, ClientsHit: a.ClientsHit, ClientsHitPercent: a.ClientsHitPercent,
	}}
	change.NewlyHit.Clients, change.Released.Clients = d.Clients.OnlyB, d.Clients.OnlyA
	for class, c := range d.ByClass {
		change.NewlyHit.ByClass[class], change.Released.ByClass[class] = c.Clients.OnlyB, c.Clients.OnlyA
	}
	if d.ByIdentity != nil {
		for is, c := range d.ByIdentity {
			change.NewlyHit.ByIdentity[is], change.Released.ByIdentity[is] = c.Clients.OnlyB, c.Clients.OnlyA
		}
	}
	m.History = &history.History{Policies: []history.Policy{change}}
	return &m
}

func policyOf(p *report.Policy) Policy {
	return Policy{
		Policy: p.Policy, By: p.By, Semantics: p.Semantics, Refused: p.Refused, ClientsHit: p.ClientsHit,
		Range: p.Range,
	}
}

// rest makes all that is not counted yet what neither policy refuses.
func (c *Change) rest(all int64) { c.Neither = all - c.OnlyA - c.OnlyB - c.Both }

// hit counts a client or an action.
func (c *Change) hit(s replay.Sides) {
	switch changeOf(s) {
	case newlyHit:
		c.OnlyB++
	case released:
		c.OnlyA++
	case hitByBoth:
		c.Both++
	}
}

// changeOf says what changes for a client or an action, "" if neither policy hits it.
func changeOf(s replay.Sides) string {
	switch a, b := s.A() > 0, s.B() > 0; {
	case a && b:
		return hitByBoth
	case a:
		return released
	case b:
		return newlyHit
	}
	return ""
}

// countClients counts clients, and requests by the class and the identity of their client.
func (d *Report) countClients(p *report.Population, known *who.Register, c *replay.Comparison) {
	if known != nil {
		d.ByIdentity = new(report.PerIdentity[ClassChange])
	}
	for id := range int32(c.Clients.Len()) {
		s, class := *c.Clients.At(id), p.Class[id]
		d.Clients.hit(s)
		if distance(s) > 0 {
			d.ClientsMoved++
		}
		d.ByClass[class].hit(s)
		if known != nil {
			d.ByIdentity[known.Of(id)].hit(s)
		}
	}
	d.Clients.rest(p.Clients)
	for class, figures := range p.Figures {
		d.ByClass[class].rest(figures)
	}
	if known != nil {
		for is, figures := range p.ByIdentity {
			d.ByIdentity[is].rest(figures)
		}
	}
}

// hit counts a client.
func (c *ClassChange) hit(s replay.Sides) {
	c.Clients.hit(s)
	c.Requests.OnlyA += s.OnlyA
	c.Requests.OnlyB += s.OnlyB
	c.Requests.Both += s.Both
}

// rest makes all that is not counted yet what neither policy refuses.
func (c *ClassChange) rest(all report.ClassFigures) {
	c.Clients.rest(all.Clients)
	c.Requests.rest(all.Requests)
}

// A moved is what clients and actions are ranked by: how far apart the policies are.
type moved struct {
	id    int32
	sides replay.Sides
}

// moving orders by the difference in refused requests, the largest first; then by how many either refuses, then by
// name.
func moving(name func(id int32) string) func(x, y moved) int {
	return func(x, y moved) int {
		return cmp.Or(
			cmp.Compare(distance(y.sides), distance(x.sides)),
			cmp.Compare(y.sides.OnlyA+y.sides.OnlyB+y.sides.Both, x.sides.OnlyA+x.sides.OnlyB+x.sides.Both),
			strings.Compare(name(x.id), name(y.id)))
	}
}

func distance(s replay.Sides) int64 { return max(s.OnlyA-s.OnlyB, s.OnlyB-s.OnlyA) }

func is(change string) func(replay.Sides) bool {
	return func(s replay.Sides) bool { return changeOf(s) == change }
}

// clientsOf are the top ones of the clients that are wanted.
func clientsOf(
	res *replay.Result, c *replay.Comparison, o report.Options, wanted func(replay.Sides) bool,
) []Client {
	clients := []Client{}
	all := func(yield func(moved) bool) {
		for id := range int32(c.Clients.Len()) {
			if s := *c.Clients.At(id); wanted(s) && !yield(moved{id, s}) {
				return
			}
		}
	}
	for _, m := range report.Top(all, o.Top, moving(res.Tables.Clients.Name)) {
		client := res.Clients.At(m.id)
		clients = append(clients, Client{
			Client: res.Tables.ShownClient(m.id), Class: client.Class().String(),
			Agent: res.Tables.ShownAgent(client.LastAgent), Requests: client.Requests(), Counts: countsOf(m.sides),
			Identity: report.IdentityOf(res, m.id),
		})
	}
	return clients
}

func actionsOf(res *replay.Result, c *replay.Comparison, o report.Options) []Action {
	actions := []Action{}
	all := func(yield func(moved) bool) {
		for id, s := range c.Actions {
			if changeOf(s) != "" && !yield(moved{int32(id), s}) {
				return
			}
		}
	}
	for _, m := range report.Top(all, o.Top, moving(res.Tables.Actions.Name)) {
		actions = append(actions, Action{
			Action: res.Tables.ShownAction(m.id), Requests: res.Actions[m.id], Counts: countsOf(m.sides),
		})
	}
	return actions
}

func countsOf(s replay.Sides) Counts {
	return Counts{
		Change: changeOf(s), RefusedA: s.A(), RefusedB: s.B(), Difference: s.B() - s.A(),
		OnlyA: s.OnlyA, OnlyB: s.OnlyB, Both: s.Both,
	}
}
