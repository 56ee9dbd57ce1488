package advice

import (
	"fmt"
	"strconv"
	"strings"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/sample"
	"shadow/suggest"
)

// A SampleProof is what a sample can promise of the answer over the whole log, and what it cannot.
type SampleProof struct {
	Promises       []SamplePromise `json:"promises"`
	Requests       int64           `json:"requests"` // of the target, of the whole log
	Refused        int64           `json:"refused"`  // of these: an estimate
	RefusedRange   [2]int64        `json:"refused_range"`
	RefusedPercent [2]float64      `json:"refused_percent_range"`
}

// A SamplePromise is that of one promise.
type SamplePromise struct {
	Who     string   `json:"who"`
	Percent float64  `json:"percent"` // that was to be promised
	Clients int64    `json:"clients"` // of the log
	Drawn   int64    `json:"drawn"`   // of these, in the sample that proves it
	Hit     int64    `json:"clients_hit"`
	MostHit float64  `json:"most_hit_percent"`      // of the clients, with 95 % confidence
	Kept    bool     `json:"kept"`                  // whether that is as much as was to be promised
	Needed  *float64 `json:"needed_sample_percent"` // a sample that may show it, if it hits none; nil: only the whole log does
}

// ProofOf are the figures of a proof; nil of none.
func ProofOf(p *suggest.SampleProof) *SampleProof {
	if p == nil {
		return nil
	}
	s := &SampleProof{Promises: []SamplePromise{}, Requests: p.Requests, Refused: p.Refused.Estimate, RefusedRange: p.Refused.Ends()}
	for i := range s.RefusedPercent {
		s.RefusedPercent[i] = format.PercentOf(s.RefusedRange[i], p.Requests)
	}
	for i := range p.Goals {
		g := &p.Goals[i]
		promise := SamplePromise{
			Who: g.Who.String(), Percent: g.Percent.Float(), Clients: g.Clients, Drawn: g.Drawn, Hit: g.Hit,
			MostHit: g.MostHit.Float(), Kept: g.Kept(),
		}
		if g.Needed > 0 {
			promise.Needed = &g.Needed
		}
		s.Promises = append(s.Promises, promise)
	}
	return s
}

// unsampled are what answers have of a part of the clients.
var unsampled = []string{"figures of limits: those of the clients that were judged"}

// Sampled says of the report that its limits were tried on a part of the clients; nil: on all.
func (s *Report) Sampled(d *sample.Design) {
	if d == nil {
		return
	}
	seen := strings.NewReplacer("the whole log", "the sample", "The whole log", "The sample")
	for i := range s.Answers {
		a := &s.Answers[i]
		a.Verdict.Reason = seen.Replace(a.Verdict.Reason)
		for j, note := range a.Notes {
			a.Notes[j] = seen.Replace(note)
		}
	}
	s.Sample = report.SampleOf(d, s.Input.Requests, unsampled)
	for i := range s.Answers {
		s.Answers[i].sampled = shareCell(d.Share)
	}
	s.Warnings = append([]string{fmt.Sprintf("a sample of %s %%: limits were tried on %s of %s, and their figures are those of these "+
		"clients; what is said of the whole log has its range", strconv.FormatFloat(d.Share, 'f', -1, 64), format.Thousands(d.Judged),
		format.Count(d.Units, "client"))}, s.Warnings...)
}

// facts say what the sample can promise.
func (p *SampleProof) facts() (f document.Facts) {
	if p == nil {
		return nil
	}
	for i := range p.Promises {
		f.Add("promises", p.Promises[i].text())
	}
	f.Add("whole log", fmt.Sprintf("%s of %s target requests (%s) refused", format.FromTo(p.RefusedRange),
		format.Thousands(p.Requests), format.Percentages(p.RefusedPercent)))
	return f
}

func (p *SamplePromise) text() string {
	text := fmt.Sprintf("of the log's %s %s at most %s are hit: 95 %% sure, as %s of %s in a second sample are", format.Thousands(p.Clients),
		p.Who, format.Percentage(p.MostHit), format.Thousands(p.Hit), format.Thousands(p.Drawn))
	wanted := format.ShortPercentage(p.Percent)
	switch {
	case p.Kept:
		return text + "; that keeps " + wanted
	case p.Needed == nil:
		return text + "; no sample can promise " + wanted + ": leave out --sample"
	case p.Hit > 0 && 100*float64(p.Hit)/float64(max(1, p.Drawn)) > 100-p.Percent:
		return text + "; that breaks " + wanted + ": a larger --sample finds a looser limit"
	}
	return text + fmt.Sprintf("; too few for %s: --sample %s%% may show it", wanted, strconv.FormatFloat(roundUp(*p.Needed), 'g', -1, 64))
}

// roundUp is a share with two digits that is not smaller.
func roundUp(share float64) float64 {
	unit := 1.0
	for share < 10*unit {
		unit /= 10
	}
	for share >= 100*unit {
		unit *= 10
	}
	n := float64(int64(share / unit))
	if n*unit < share {
		n++
	}
	return min(99.99, n*unit)
}

// inSample says of clients that they are those of the sample, if there is one.
func (v *Verdict) inSample() string {
	if v.Sample == nil {
		return ""
	}
	return " of the sample"
}

// sampleRows write what the sample can promise of the whole log: a row for each promise, and one for the target.
func (s *Answer) sampleRows(w *table.CSV) {
	p := s.Verdict.Sample
	if p == nil || s.Verdict.Limit == nil {
		return
	}
	row := func(proof, group string, cells ...table.Cell) {
		row := append(table.Texts(s.Action, "", "", "", "sample", *s.Verdict.Limit), table.Cell{})
		w.Add(append(append(row, table.Texts(proof, "whole log", "", group)...), cells...)...)
	}
	none := table.Cell{}
	for i := range p.Promises {
		of, proof := &p.Promises[i], "holds"
		if !of.Kept {
			proof = "not shown"
		}
		row(proof, of.Who, table.Count(of.Clients), none, none, none, s.sampled, shareCell(of.MostHit), none, none)
	}
	row("", "target", none, none, table.Count(p.Requests), table.Count(p.Refused), s.sampled, none, table.Count(p.RefusedRange[0]),
		table.Count(p.RefusedRange[1]))
}

// shareCell is a percentage for programs.
func shareCell(percent float64) table.Cell {
	return table.Shown("", strconv.FormatFloat(percent, 'g', -1, 64))
}
