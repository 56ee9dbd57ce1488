package pipeline

import (
	"cmp"

	"shadow/report/html"
)

// A Look says how a report is written.
type Look struct {
	Output  string // the format
	Top     int    // rows per list
	PageTop int    // of a page, where they can be searched; 0: more than elsewhere
	Sort    string // one of report.Sorts; "": the first
}

// Rows are those per list.
func (f *Look) Rows() int {
	if f.Output == "html" {
		return cmp.Or(f.PageTop, html.MostRows)
	}
	return f.Top
}
