package pipeline

import (
	"cmp"
	"slices"
	"strings"

	"shadow/report"
	"shadow/report/format"
	"shadow/report/html"
)

// A Look says how a report is written.
type Look struct {
	Output  string // the format; "": table
	Top     int    // rows per list
	PageTop int    // of a page, where they can be searched; 0: more than elsewhere
	Sort    string
}

// Verify completes the options, and says what is wrong with them.
func (f *Look) Verify() error {
	f.Sort = cmp.Or(f.Sort, report.Sorts()[0])
	switch {
	case !slices.Contains(report.Sorts(), f.Sort):
		return Usage("--sort %q: want one of %s", f.Sort, strings.Join(report.Sorts(), ", "))
	case f.Top < 1:
		return Usage("--top %d: want at least 1", f.Top)
	}
	return VerifyOutput(&f.Output, format.PageOutputs())
}

// Rows are those per list.
func (f *Look) Rows() int {
	if f.Output == "html" {
		return cmp.Or(f.PageTop, html.MostRows)
	}
	return f.Top
}

// VerifyOutput is the error of a format that a command does not write. "" is the first of those that it writes.
func VerifyOutput(output *string, formats []string) error {
	*output = cmp.Or(*output, formats[0])
	if !slices.Contains(formats, *output) {
		return Usage("--output %q: want one of %s", *output, strings.Join(formats, ", "))
	}
	return nil
}
