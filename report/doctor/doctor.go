// Package doctor reports on what a log is like: findings come in; text, JSON, CSV, Markdown or a page goes out.
package doctor

import (
	"io"
	"strconv"

	"shadow/internal/findings"
	"shadow/internal/traffic/ingest"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/table"
)

// A Report is all that was found in a log. Its JSON is an interface for other programs, as that of report.Model.
type Report struct {
	report.Head
	Site findings.Site `json:"site"` // whose site it is
}

// New makes the report on a log of a site that clients sent so many requests to.
func New(s *ingest.Stats, who *report.Population, site findings.Site, o report.Options) *Report {
	return &Report{report.NewHead(s, who, o), site}
}

// Write writes the report in one of format.PageOutputs, all of it or nothing.
func (r *Report) Write(w io.Writer, output string) error {
	return html.WriteReport(w, r, &r.Head, "What in this log would mislead an answer, and which flags help.", output)
}

// Schema implements document.Report.
func (r *Report) Schema() format.Schema { return format.DoctorSchema }

// Text writes the report for people.
func (r *Report) Text(w *document.Writer) {
	all := r.Findings
	head := r.Head
	head.Findings = nil // they follow, one by one
	head.Warnings = r.OtherWarnings()
	head.Begin(w, "What the log is like", document.Fact{Label: "site", Text: r.Site.Text()})
	switch in := &r.Input; {
	case in.Lines == 0:
		w.Remark("There is no line, so nothing could be looked at.")
	case in.Unreadable == in.Lines:
		w.Remark("No line could be read, so nothing could be looked at: --format says how to read them.")
	case len(all) == 0 && in.Requests == 0:
		w.Remark("There is no request to judge, so nothing could be looked at.")
	case len(all) == 0:
		w.Remark("Nothing was found that would mislead.")
	}
	for i := range all {
		writeFinding(w, &all[i])
	}
}

func writeFinding(w *document.Writer, f *findings.Finding) {
	text := f.Severity.String()
	if f.Share >= 0 {
		text += ", " + format.Percentage(100*float64(f.Share)) + " of the requests"
	}
	w.Topic(2, f.Code, text)
	var facts document.Facts
	facts.Add("found", f.Evidence)
	facts.Add("means", findings.Means(f.Code))
	facts.Add("try", f.Remedy)
	w.Facts(facts...)
}

// CSV writes a row for each finding.
func (r *Report) CSV(w io.Writer) error {
	var records []table.Record
	for i := range r.Findings {
		f := &r.Findings[i]
		record := table.Record{
			"code": table.Text(f.Code), "severity": table.Text(f.Severity.String()), "evidence": table.Text(f.Evidence),
			"remedy": table.Text(f.Remedy),
		}
		if f.Share >= 0 {
			record["share"] = table.Text(strconv.FormatFloat(float64(f.Share), 'f', -1, 64))
		}
		records = append(records, record)
	}
	return table.Records(w, []string{"code", "severity", "share", "evidence", "remedy"}, records)
}
