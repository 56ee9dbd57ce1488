// Package curves reports on a sweep: what every limit of some shapes would refuse comes in; text, JSON, CSV, Markdown
// or a page goes out.
package curves

import (
	"bufio"
	"bytes"
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
	report.Head
	Action   string                       `json:"action"`   // whose requests the curves are about; "" for all
	Requests int64                        `json:"requests"` // that the curves are about
	Clients  int64                        `json:"clients"`  // that these are from
	ByClass  map[string]report.ClassTotal `json:"by_class"`
	Stored   *report.Stored               `json:"stored"` // nil: nowhere

	History    *history.History `json:"history,omitempty"`    // of a stored sweep; nil: not asked for
	Anonymized string           `json:"anonymized,omitempty"` // how clients are renamed; "": not at all

	ByEvidence *divided `json:"by_evidence,omitempty"` // the browsers of ByClass, divided; nil: not gathered

	result *sweep.Result
}

// divided are browsers by whether the evidence contradicts their claim.
type divided struct {
	People    report.ClassTotal `json:"people"`
	Disguised report.ClassTotal `json:"disguised"`
}

// New makes the report on a sweep. It keeps the curves.
func New(res *sweep.Result, o report.Options) *Report {
	who := report.NewPopulation(&res.Tallies.Clients)
	s := &Report{
		Head: report.NewHead(&res.Stats, who, o), Action: res.Action, Requests: res.Judged, Clients: res.Clients.Sum(),
		ByClass: map[string]report.ClassTotal{}, Stored: o.Stored(), result: res,
	}
	if res.Band != nil {
		s.Input.Band = &report.BandInput{Movable: res.Band.Movable}
	}
	s.Warnings = append(s.Warnings, report.HeavyWarnings(&res.Tallies.Clients, res.Tables.Clients, who.Requests, o.Anonymize)...)
	for class := range request.ClassCount {
		s.ByClass[class.String()] = report.ClassTotal{Requests: res.ByClass[class], Clients: res.Clients[class]}
	}
	s.Input.Evidence = report.AssessorOf(o.Assessor, &res.Tallies.Clients, who).All(&res.Tallies.Clients)
	if h := res.Hidden; h != nil {
		s.ByEvidence = &divided{
			People: report.ClassTotal{
				Requests: res.ByClass[request.Browser] - h.Requests, Clients: res.Clients[request.Browser] - h.Clients,
			},
			Disguised: report.ClassTotal{Requests: h.Requests, Clients: h.Clients},
		}
	}
	m := s.model()
	m.Anonymize(o.Anonymize)
	s.Head, s.Anonymized = m.Head, m.Anonymized
	return s
}

// model is what a report on curves has in common with one on policies.
func (s *Report) model() *report.Model {
	return &report.Model{Head: s.Head, Stored: s.Stored, History: s.History, Anonymized: s.Anonymized}
}

// Write writes the report in one of format.PageOutputs.
func (s *Report) Write(w io.Writer, output string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch output {
	case "html":
		return (&html.Page{Model: s.model(), Curves: s.Curves()}).Write(w) // nothing is judged on it
	case "json":
		err = s.json(out)
	case "csv":
		err = s.writeCSV(out)
	default:
		return document.Write(w, s, s.View, output, format.PageOutputs())
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

// Curves are those of the sweep, for a Page.
func (s *Report) Curves() *html.Curves { return html.CurvesOf(s.result) }
