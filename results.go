package shadow

import (
	"io"

	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/report"
	"shadow/report/advice"
	"shadow/report/curves"
)

// A Report says what each policy would have done.
type Report struct {
	Requests int64 // judged
	Clients  int64 // that sent them
	Warnings []string
	Policies []Policy

	model *report.Model
}

// A Policy is one limit, or several that judge together, with what it would have done.
type Policy struct {
	Name       string // as Limit takes it, or as the configuration names it
	Refused    int64  // requests
	ClientsHit int64  // with a refused request
	PeopleHit  int64  // of these, clients that behave like people
	Top        []Client
}

// A Client is one that a policy refuses.
type Client struct {
	Name     string
	Identity string // person, attacker, program …: what it is by what it does
	Agent    string // of its latest request
	Requests int64
	Refused  int64
}

// WriteJSON writes the report as shadow replay --output json does.
func (r *Report) WriteJSON(w io.Writer) error { return r.model.Write(w, "json") }

// An Answer is the limit that a site should have, with its price.
type Answer struct {
	Verdict string // deploy, deploy_unproven, ceiling, no_limit_can or not_judgeable
	Reason  string // in a sentence
	Limit   string // as Limit takes it; "": there is none
	For     string // the server that has it
	Paste   []string
	Hit     int64   // protected clients that it hits
	MostHit float64 // percent of the protected clients that it hits at most, with 95 % confidence; 100 where nothing shows it
	Stops   float64 // percent of the target's requests

	page *advice.Report
}

// WriteJSON writes the answer as shadow suggest --output json does.
func (a *Answer) WriteJSON(w io.Writer) error { return a.page.Write(w, "json") }

// Curves say what limits of every size would do.
type Curves struct {
	Requests, Clients int64 // that they are about
	Curves            []Curve

	report *curves.Report
}

// A Curve is what limits of one shape do: a window of a minute, a bucket that refills 10 a second.
type Curve struct {
	Shape  string // window:N/1m: as Limit takes it, with N for the number
	Points []Point
}

// A Point is one limit of a curve; between two points the lower one holds.
type Point struct {
	N          int64
	Refused    int64 // requests; -1: not counted
	ClientsHit int64
}

// WriteJSON writes the curves as shadow sweep --output json does.
func (c *Curves) WriteJSON(w io.Writer) error { return c.report.Write(w, "json") }

func reportOf(m *report.Model) *Report {
	if m == nil {
		return nil
	}
	r := &Report{Requests: m.Input.Requests, Clients: m.Input.Clients, Warnings: m.Warnings, model: m}
	for i := range m.Policies {
		of := &m.Policies[i]
		p := Policy{Name: of.Policy, Refused: of.Refused, ClientsHit: of.ClientsHit}
		if of.ByIdentity != nil {
			p.PeopleHit = of.ByIdentity[who.Person].ClientsHit
		}
		for j := range of.TopClients {
			c := &of.TopClients[j]
			client := Client{Name: c.Client, Agent: c.Agent, Requests: c.Requests, Refused: c.Refused}
			if c.Identity != nil {
				client.Identity = c.Identity.Identity
			}
			p.Top = append(p.Top, client)
		}
		r.Policies = append(r.Policies, p)
	}
	return r
}

func answerOf(page *advice.Report) *Answer {
	if page == nil {
		return nil
	}
	v := page.Answer
	a := &Answer{
		Verdict: v.Verdict, Reason: v.Reason, For: v.For, Hit: v.Protects.Hit, MostHit: 100,
		Stops: v.Targets.RefusedPercent, page: page,
	}
	if v.Limit != nil {
		a.Limit = *v.Limit
	}
	if v.MostHit != nil {
		a.MostHit = *v.MostHit
	}
	for _, block := range v.Paste {
		a.Paste = append(a.Paste, block.Lines...)
	}
	return a
}

func curvesOf(result *sweep.Result, r *curves.Report) *Curves {
	if result == nil {
		return nil
	}
	c := &Curves{Requests: r.Requests, Clients: r.Clients, report: r}
	for _, of := range result.Curves {
		curve := Curve{Shape: of.Shape.String()}
		for _, p := range of.Points {
			refused := p.Refused.Sum()
			if !p.Counted {
				refused = -1
			}
			curve.Points = append(curve.Points, Point{p.Limit, refused, p.Hit.Sum()})
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}
