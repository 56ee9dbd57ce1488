package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"shadow/limit"
	"shadow/sweep"
	"shadow/traffic"
)

// A Sweep is the report on curves: what every limit of some shapes would refuse. Its JSON is an interface for other
// programs, as that of Model.
type Sweep struct {
	Version  string       `json:"version"` // of shadow
	Command  string       `json:"command"` // as typed
	Input    Input        `json:"input"`
	Warnings []string     `json:"warnings"`
	Action   string       `json:"action"`   // whose requests the curves are about; "" for all
	Requests int64        `json:"requests"` // that the curves are about
	Clients  int64        `json:"clients"`  // that these are from
	ByClass  sweepClasses `json:"by_class"`
	Stored   *Stored      `json:"stored"` // nil: nowhere

	History    *History `json:"history,omitempty"`    // of a stored sweep; nil: not asked for
	Anonymized string   `json:"anonymized,omitempty"` // how clients are renamed; "": not at all

	ByEvidence *sweepDivided `json:"by_evidence,omitempty"` // the browsers of ByClass, divided; nil: not gathered

	result *sweep.Result
	curves []sweep.Curve
	by     traffic.Key
	totals [traffic.ClassCount]classTotal
	view   view
}

// sweepClasses are the requests and clients of each class that curves are about.
type sweepClasses map[string]classTotal

// sweepDivided are browsers by whether the evidence contradicts their claim.
type sweepDivided struct {
	People    classTotal `json:"people"`
	Disguised classTotal `json:"disguised"`
}

type classTotal struct {
	Requests int64 `json:"requests"`
	Clients  int64 `json:"clients"`
}

// NewSweep makes the report on a sweep. It keeps the curves.
func NewSweep(res *sweep.Result, o Options) *Sweep {
	who := census(&res.Tallies.Clients)
	s := &Sweep{
		Version: o.Version, Command: o.Command, Input: input(&res.Stats, who, cmp.Or(o.Timezone, "UTC")),
		Warnings: append([]string{}, o.Warnings...), Action: res.Action, Requests: res.Judged,
		Clients: res.Clients.Sum(), ByClass: sweepClasses{}, curves: res.Curves, by: res.By,
		view: view{width: o.Width, color: o.Color}, result: res,
	}
	s.Input.Band = sweepBand(res.Band)
	s.Warnings = append(s.Warnings, warnings(&res.Tallies.Clients, res.Tables.Clients, who.requests, o.Anonymize)...)
	for class := range traffic.ClassCount {
		s.totals[class] = classTotal{Requests: res.ByClass[class], Clients: res.Clients[class]}
		s.ByClass[class.String()] = s.totals[class]
	}
	s.Input.Evidence = juryOf(o.Jury, &res.Tallies.Clients, who).all(&res.Tallies.Clients)
	if h := res.Hidden; h != nil {
		all := s.totals[traffic.Browser]
		s.ByEvidence = &sweepDivided{
			People:    classTotal{Requests: all.Requests - h.Requests, Clients: all.Clients - h.Clients},
			Disguised: classTotal{Requests: h.Requests, Clients: h.Clients},
		}
	}
	if o.Database != "" {
		s.Stored = &Stored{Database: o.Database, Run: o.Run}
	}
	m := s.model()
	m.anonymize(o.Anonymize)
	s.Command, s.Input, s.Warnings, s.Anonymized = m.Command, m.Input, m.Warnings, m.Anonymized
	return s
}

// model is what a report on curves has in common with one on policies.
func (s *Sweep) model() *Model {
	return &Model{Version: s.Version, Command: s.Command, Input: s.Input, Warnings: s.Warnings, Stored: s.Stored, History: s.History, Anonymized: s.Anonymized}
}

// Write writes the report in one of SweepFormats.
func (s *Sweep) Write(w io.Writer, format string) error {
	if format == "html" {
		return s.page().Write(w)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch format {
	case "table":
		s.table(out)
	case "json":
		err = s.json(out)
	case "csv":
		err = s.csv(out)
	case "markdown":
		s.markdown(out)
	default:
		err = unknownFormat(format, PageFormats())
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return out.Flush()
}

// page is the report as a page, on which nothing is judged.
func (s *Sweep) page() *Page {
	return &Page{Model: s.model(), Curves: s.Curves()}
}

// Curves are those of the sweep, for a Page.
func (s *Sweep) Curves() *Curves {
	c := &Curves{By: s.by.String(), Action: s.Action, Curves: s.curves, Hidden: s.result.Hidden}
	for class, n := range s.totals {
		c.Requests[class], c.Clients[class] = n.Requests, n.Clients
	}
	return c
}

// perText and rateText are those of a curve, "" where it has none.
func perText(s *sweep.Shape) string {
	if s.Kind == sweep.Token {
		return ""
	}
	return limit.FormatPeriod(s.Per)
}

func rateOf(s *sweep.Shape) string {
	if s.Kind != sweep.Token {
		return ""
	}
	return s.Rate.String()
}
