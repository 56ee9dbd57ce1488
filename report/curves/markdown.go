package curves

import (
	"bufio"
	"bytes"
	"fmt"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/sweep"
)

// markdown writes the tables of the curves for a wiki or a pull request.
func (s *Report) markdown(out *bufio.Writer) {
	fmt.Fprint(out, "# Every limit at once\n\n")
	for _, f := range append(report.Facts(s.model()), document.Fact{Label: "curves", Text: s.subject()}) {
		fmt.Fprintf(out, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
		for _, line := range f.Details {
			fmt.Fprintf(out, "  - %s\n", table.MarkdownText(line))
		}
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(out, "\n> **Warning**: %s\n", table.MarkdownText(w))
	}
	for kind := range sweep.KindCount {
		if curves := s.ofKind(kind); len(curves) > 0 && s.Requests > 0 {
			fmt.Fprintf(out, "\n## %s\n\n%s.\n", table.MarkdownText(kind.String()), table.MarkdownText(format.Sentence(s.kindText(kind))))
			s.percentileGrid(kind, curves).Markdown(out)
		}
	}
	if s.History != nil {
		var b bytes.Buffer
		s.model().MarkdownHistory(&b)
		out.Write(b.Bytes()) //nolint:errcheck // Flush tells
	}
	if s.Stored != nil {
		fmt.Fprintf(out, "\nStored in %s.\n", table.MarkdownText(report.StoredText(s.Stored)))
	}
}
