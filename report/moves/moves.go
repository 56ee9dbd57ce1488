// Package moves reports on limits as a server is told them: an export and, if it was replayed, a comparison come in;
// text, JSON, CSV or Markdown goes out.
package moves

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"shadow/internal/servers"
	"shadow/internal/traffic/who"
	"shadow/report/diff"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// A Report is what to tell a server, and what that changes. docs/export.md defines every figure, with docs/diff.md.
type Report struct {
	*diff.Report // A is wanted, B is what the server has; nil: nothing was replayed

	Target     string             `json:"target"`
	Limits     []servers.Exported `json:"limits"`
	Lost       []string           `json:"lost"`
	Notes      []string           `json:"notes"`
	Enforce    string             `json:"enforce"`
	Paste      []servers.Block    `json:"paste"`
	Correction *Correction        `json:"correction,omitempty"` // nil: none was looked for

	text string
}

// New is a report on an export. d may be nil.
func New(e *servers.Export, d *diff.Report) *Report {
	return &Report{
		Report: d, Target: e.Target.Name, Limits: e.Limits, Lost: append([]string{}, e.Lost...),
		Notes: append([]string{}, e.Notes...), Enforce: e.Target.Enforce, text: e.Text(),
		Paste: append([]servers.Block{}, e.Blocks...),
	}
}

// Schema implements document.Report.
func (r *Report) Schema() format.Schema { return format.ExportSchema }

// Text writes the comparison, and what to paste.
func (r *Report) Text(w *document.Writer) {
	if r.Report != nil {
		r.Report.Text(w)
	}
	if r.Correction != nil {
		r.Correction.write(w)
	}
	w.Section(2, "For "+r.Target)
	w.Lines(strings.Split(strings.TrimRight(r.text, "\n"), "\n"))
}

// CSV writes the comparison for programs.
func (r *Report) CSV(w io.Writer) error {
	if r.Report == nil {
		var rows []table.Record
		for _, x := range r.Limits {
			rows = append(rows, table.Record{
				"wanted": table.Text(x.Wanted), "set": table.Text(x.Set), "deviation": table.Text(x.Deviation),
				"problem": table.Text(x.Problem),
			})
		}
		return table.Records(w, []string{"wanted", "set", "deviation", "problem"}, rows)
	}
	return r.Report.CSV(w)
}

// Write writes the report; without a comparison nothing but what to paste.
func (r *Report) Write(w io.Writer, output string) error {
	var view document.View
	if r.Report != nil {
		view = r.View
	} else if output == "table" {
		_, err := io.WriteString(w, r.text)
		return err
	}
	return document.Write(w, r, view, output, format.Outputs())
}

// A Correction is the smallest one that keeps a promise.
type Correction struct {
	Promise []string `json:"promise"` // as --protect takes them
	Judged  bool     `json:"judged"`  // whether some request is one that the limits may refuse; else nothing is known
	Kept    bool     `json:"kept"`    // without any correction
	Found   bool     `json:"found"`   // whether some limit keeps it
	Limits  []string `json:"limits"`  // of the correction, in the order of the limits; "": one that is left out
	Before  Moved    `json:"before"`
	After   Moved    `json:"after"` // of the correction
}

// Moved counts the clients that a move newly hits and releases, by group.
type Moved struct {
	NewlyHit map[string]int64 `json:"newly_hit"`
	Released map[string]int64 `json:"released"`
}

// Take fills in both.
func (m *Moved) Take(hit, released *who.Groups) {
	m.NewlyHit, m.Released = map[string]int64{}, map[string]int64{}
	for g := range who.Count {
		m.NewlyHit[g.String()], m.Released[g.String()] = hit[g], released[g]
	}
}

// groupText formats how many clients there are of which groups.
func groupText(of map[string]int64) string {
	var texts []string
	for g := range who.Count {
		if n := of[g.String()]; n > 0 {
			texts = append(texts, format.Thousands(n)+" "+g.String())
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "no client")
}

// write says what becomes of the promise.
func (c *Correction) write(w *document.Writer) {
	var f document.Facts
	f.Add("promise", "not newly hit: "+strings.Join(c.Promise, ", "))
	f.Add("nearest", "newly hit: "+groupText(c.Before.NewlyHit)+"; released: "+groupText(c.Before.Released))
	switch {
	case !c.Judged:
		f.Add("correction", "not known: no request of this log is one that these limits may refuse")
	case c.Kept:
		f.Add("correction", "none: the nearest limit keeps the promise")
	case !c.Found:
		f.Add("correction", "none that keeps the promise was found: the nearest limit breaks it")
	default:
		f.Add("correction", strings.Join(slices.DeleteFunc(slices.Clone(c.Limits), func(l string) bool { return l == "" }), " + ")+
			"; newly hit: "+groupText(c.After.NewlyHit)+"; released: "+groupText(c.After.Released))
	}
	w.Section(2, "The promise")
	w.Facts(f...)
}
