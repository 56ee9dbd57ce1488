// Package curves reports on a sweep: what every limit of some shapes would refuse comes in; text, JSON, CSV, Markdown
// or a page goes out.
package curves

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/html"
	"shadow/request"
	"shadow/sweep"
)

// A Report is the report on curves: what every limit of some shapes would refuse. Its JSON is an interface for other
// programs, as that of Model.
type Report struct {
	Version  string         `json:"version"` // of shadow
	Command  string         `json:"command"` // as typed
	Input    report.Input   `json:"input"`
	Warnings []string       `json:"warnings"`
	Action   string         `json:"action"`   // whose requests the curves are about; "" for all
	Requests int64          `json:"requests"` // that the curves are about
	Clients  int64          `json:"clients"`  // that these are from
	ByClass  classes        `json:"by_class"`
	Stored   *report.Stored `json:"stored"` // nil: nowhere

	History    *history.History `json:"history,omitempty"`    // of a stored sweep; nil: not asked for
	Anonymized string           `json:"anonymized,omitempty"` // how clients are renamed; "": not at all

	ByEvidence *divided `json:"by_evidence,omitempty"` // the browsers of ByClass, divided; nil: not gathered

	result *sweep.Result
	curves []sweep.Curve
	by     request.Key
	totals [request.ClassCount]report.ClassTotal
	view   document.View
}

// classes are the requests and clients of each class that curves are about.
type classes map[string]report.ClassTotal

// divided are browsers by whether the evidence contradicts their claim.
type divided struct {
	People    report.ClassTotal `json:"people"`
	Disguised report.ClassTotal `json:"disguised"`
}

// New makes the report on a sweep. It keeps the curves.
func New(res *sweep.Result, o report.Options) *Report {
	who := report.Census(&res.Tallies.Clients)
	s := &Report{
		Version: o.Version, Command: o.Command, Input: report.NewInput(&res.Stats, who, cmp.Or(o.Timezone, "UTC")),
		Warnings: append([]string{}, o.Warnings...), Action: res.Action, Requests: res.Judged,
		Clients: res.Clients.Sum(), ByClass: classes{}, curves: res.Curves, by: res.By,
		view: document.View{Width: o.Width, Color: o.Color}, result: res,
	}
	s.Input.Band = sweepBand(res.Band)
	s.Warnings = append(s.Warnings, report.HeavyWarnings(&res.Tallies.Clients, res.Tables.Clients, who.Requests, o.Anonymize)...)
	for class := range request.ClassCount {
		s.totals[class] = report.ClassTotal{Requests: res.ByClass[class], Clients: res.Clients[class]}
		s.ByClass[class.String()] = s.totals[class]
	}
	s.Input.Evidence = report.JuryOf(o.Jury, &res.Tallies.Clients, who).All(&res.Tallies.Clients)
	if h := res.Hidden; h != nil {
		all := s.totals[request.Browser]
		s.ByEvidence = &divided{
			People:    report.ClassTotal{Requests: all.Requests - h.Requests, Clients: all.Clients - h.Clients},
			Disguised: report.ClassTotal{Requests: h.Requests, Clients: h.Clients},
		}
	}
	if o.Database != "" {
		s.Stored = &report.Stored{Database: o.Database, Run: o.Run}
	}
	m := s.model()
	m.Anonymize(o.Anonymize)
	s.Command, s.Input, s.Warnings, s.Anonymized = m.Command, m.Input, m.Warnings, m.Anonymized
	return s
}

// model is what a report on curves has in common with one on policies.
func (s *Report) model() *report.Model {
	return &report.Model{Version: s.Version, Command: s.Command, Input: s.Input, Warnings: s.Warnings, Stored: s.Stored, History: s.History, Anonymized: s.Anonymized}
}

// Write writes the report in one of format.PageOutputs.
func (s *Report) Write(w io.Writer, output string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch output {
	case "html":
		return s.page().Write(w)
	case "json":
		err = s.json(out)
	case "csv":
		err = s.writeCSV(out)
	default:
		return document.Write(w, s, s.view, output, format.PageOutputs())
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return out.Flush()
}

// CSV writes the curves for programs.
func (s *Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	err := s.writeCSV(&b)
	return b.Bytes(), err
}

// page is the report as a page, on which nothing is judged.
func (s *Report) page() *html.Page {
	return &html.Page{Model: s.model(), Curves: s.Curves()}
}

// Curves are those of the sweep, for a Page.
func (s *Report) Curves() *html.Curves {
	return html.CurvesOf(s.result)
}
