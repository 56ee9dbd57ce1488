package curves

import (
	"io"

	"shadow/report/table"
	"shadow/request"
	"shadow/sweep"
)

// The curves as one rectangular table: a row for each point. Where it is not known what is refused the cell is empty.

func (s *Report) writeCSV(out io.Writer) error {
	head := []string{"limit_kind", "per", "rate", "by", "limit", "refused", "clients_hit"}
	for class := range request.ClassCount {
		head = append(head, class.String()+"_refused", class.String()+"_clients_hit")
	}
	if s.ByEvidence != nil {
		head = append(head, "people_refused", "people_clients_hit", "disguised_refused", "disguised_clients_hit")
	}
	if s.banded() {
		head = append(head, bandHead()...)
	}
	w := table.NewCSV(out, head...)
	for i := range s.curves {
		for points := range s.points(i) {
			row := s.cells(&s.curves[i], &points.Logged)
			if s.banded() {
				row = append(row, bandCells(&points)...)
			}
			w.Add(row...)
		}
	}
	return w.Flush()
}

func (s *Report) cells(c *sweep.Curve, p *sweep.Point) []table.Cell {
	row := append(table.Texts(c.Kind.String(), c.PerText(), c.RateText(), s.by.String()),
		table.Count(p.Limit), countIf(p.Counted, p.Refused.Sum()), table.Count(p.Hit.Sum()))
	for class := range request.ClassCount {
		row = append(row, countIf(p.Counted, p.Refused[class]), table.Count(p.Hit[class]))
	}
	if s.ByEvidence != nil {
		refused, hit := p.People()
		row = append(row, countIf(p.Counted, refused), table.Count(hit), countIf(p.Counted, p.Hidden.Requests), table.Count(p.Hidden.Clients))
	}
	return row
}

// countIf is a number that may not be known.
func countIf(known bool, n int64) table.Cell {
	if !known {
		return table.Cell{}
	}
	return table.Count(n)
}
