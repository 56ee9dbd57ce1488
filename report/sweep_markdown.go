package report

import (
	"bufio"
	"bytes"
	"fmt"

	"shadow/sweep"
)

// markdown writes the tables of the curves for a wiki or a pull request.
func (s *Sweep) markdown(out *bufio.Writer) {
	fmt.Fprint(out, "# Every limit at once\n\n")
	for _, f := range append(facts(s.model()), fact{label: "curves", text: s.subject()}) {
		fmt.Fprintf(out, "- **%s**: %s\n", f.label, markdownText(f.text))
		for _, line := range f.details {
			fmt.Fprintf(out, "  - %s\n", markdownText(line))
		}
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(out, "\n> **Warning**: %s\n", markdownText(w))
	}
	for kind := range sweep.KindCount {
		if curves := s.ofKind(kind); len(curves) > 0 && s.Requests > 0 {
			fmt.Fprintf(out, "\n## %s\n\n%s.\n", markdownText(kind.String()), markdownText(sentence(s.kindText(kind))))
			s.percentileGrid(kind, curves).markdown(out)
		}
	}
	if s.History != nil {
		var b bytes.Buffer
		s.model().markdownHistory(&b)
		out.Write(b.Bytes()) //nolint:errcheck // Flush tells
	}
	if s.Stored != nil {
		fmt.Fprintf(out, "\nStored in %s.\n", markdownText(storedText(s.Stored)))
	}
}
