package curves

import (
	"encoding/csv"
	"io"
	"strconv"

	"shadow/report/format"
	"shadow/sweep"
	"shadow/traffic/useragent"
)

// The curves as one rectangular table: a row for each point. Where it is not known what is refused the cell is empty.

func (s *Report) csv(out io.Writer) error {
	w := csv.NewWriter(out)
	head := []string{"limit_kind", "per", "rate", "by", "limit", "refused", "clients_hit"}
	for class := range useragent.ClassCount {
		head = append(head, class.String()+"_refused", class.String()+"_clients_hit")
	}
	if s.ByEvidence != nil {
		head = append(head, "people_refused", "people_clients_hit", "disguised_refused", "disguised_clients_hit")
	}
	if s.banded() {
		head = append(head, sweepBandHead()...)
	}
	w.Write(head) //nolint:errcheck // Error tells
	for i := range s.curves {
		for points := range s.points(i) {
			row := s.csvRow(&s.curves[i], &points.Logged)
			if s.banded() {
				row = append(row, bandCells(&points)...)
			}
			w.Write(row) //nolint:errcheck // Error tells
		}
	}
	w.Flush()
	return w.Error()
}

func (s *Report) csvRow(c *sweep.Curve, p *sweep.Point) []string {
	refused := func(n int64) string {
		if !p.Counted {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	row := []string{
		c.Kind.String(), c.PerText(), c.RateText(), s.by.String(),
		format.Plain(p.Limit), refused(p.Refused.Sum()), format.Plain(p.Hit.Sum()),
	}
	for class := range useragent.ClassCount {
		row = append(row, refused(p.Refused[class]), format.Plain(p.Hit[class]))
	}
	if s.ByEvidence != nil {
		of, hit := p.People()
		row = append(row, refused(of), format.Plain(hit), refused(p.Hidden.Requests), format.Plain(p.Hidden.Clients))
	}
	return row
}
