package curves

import (
	"iter"
	"strconv"

	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
	"shadow/sweep"
)

// The band of curves: each point has, beside its figures as logged, the least and the most that they may be.

// banded reports whether there is a band.
func (s *Report) banded() bool { return s.result.Band != nil && s.result.Band.Low != nil }

// points are those of a curve, with a band every limit at which it changes or one of its bounds does.
func (s *Report) points(curve int) iter.Seq[sweep.Banded] {
	return func(yield func(sweep.Banded) bool) {
		if !s.banded() {
			for _, p := range s.curves[curve].Points {
				if !yield(sweep.Banded{Logged: p, Low: p, High: p}) {
					return
				}
			}
			return
		}
		for _, n := range s.result.Limits(curve) {
			if !yield(s.result.Banded(curve, n)) {
				return
			}
		}
	}
}

// Figures of a point, of all clients and of those of one class.

func refusedSum(p *sweep.Point) int64 { return p.Refused.Sum() }

func refusedOf(class request.Class) func(*sweep.Point) int64 {
	return func(p *sweep.Point) int64 { return p.Refused[class] }
}

func hitOf(class request.Class) func(*sweep.Point) int64 {
	return func(p *sweep.Point) int64 { return p.Hit[class] }
}

// appendBand appends what is refused, null if that is not known, and who is hit: from … to.
func appendBand(b []byte, p *sweep.Banded) []byte {
	b = appendRange(append(b, '{'), p.Counted(), p.Range(refusedSum), p.Range((*sweep.Point).HitAny))
	b = append(b, `, "by_class": {`...)
	for class := range request.ClassCount {
		b = append(b, separator(int(class))...)
		b = append(append(append(b, '"'), class.String()...), `": {`...)
		b = appendRange(b, p.Counted(), p.Range(refusedOf(class)), p.Range(hitOf(class)))
		b = append(b, '}')
	}
	return append(b, "}}"...)
}

func appendRange(b []byte, counted bool, refused, hit [2]int64) []byte {
	b = append(b, `"refused": `...)
	if counted {
		b = appendPair(b, refused)
	} else {
		b = append(b, "null"...)
	}
	return appendPair(append(b, `, "clients_hit": `...), hit)
}

func appendPair(b []byte, r [2]int64) []byte {
	b = strconv.AppendInt(append(b, '['), r[0], 10)
	return append(strconv.AppendInt(append(b, ", "...), r[1], 10), ']')
}

// bandHead are the columns that a band adds to CSV.
func bandHead() []string {
	head := []string{"refused_low", "refused_high", "clients_hit_low", "clients_hit_high"}
	for class := range request.ClassCount {
		for _, name := range head[:4] {
			head = append(head, class.String()+"_"+name)
		}
	}
	return head
}

// bandCells are what stands in them.
func bandCells(p *sweep.Banded) []table.Cell {
	cells := rangeCells(p.Counted(), p.Range(refusedSum), p.Range((*sweep.Point).HitAny))
	for class := range request.ClassCount {
		cells = append(cells, rangeCells(p.Counted(), p.Range(refusedOf(class)), p.Range(hitOf(class)))...)
	}
	return cells
}

func rangeCells(counted bool, refused, hit [2]int64) []table.Cell {
	return []table.Cell{countIf(counted, refused[0]), countIf(counted, refused[1]), table.Count(hit[0]), table.Count(hit[1])}
}

// edges are the bounds of a curve, nil without a band.
func (s *Report) edges(c *sweep.Curve) []*sweep.Curve {
	if !s.banded() {
		return nil
	}
	for i := range s.curves {
		if &s.curves[i] == c {
			return []*sweep.Curve{&s.result.Band.Low[i], &s.result.Band.High[i]}
		}
	}
	return nil
}

// otherLimit is from what to what the limit goes that spares so many clients, behind the one as logged; "" if there
// is just that one.
func (s *Report) otherLimit(c *sweep.Curve, p *sweep.Point, clients, share int64, hit func(*sweep.Point) int64) string {
	r := [2]int64{p.Limit, p.Limit}
	for _, edge := range s.edges(c) {
		if q := edge.Protecting(clients, share, hit); q != nil {
			r = report.RangeOf(r[0], q.Limit, r[1])
		}
	}
	if r[0] == r[1] {
		return ""
	}
	return format.Between(r)
}

// otherShare is from what to what goes what a limit refuses, behind that as logged; "" if it is known to be just that.
func (s *Report) otherShare(c *sweep.Curve, p *sweep.Point) string {
	refused := p.Refused.Sum()
	r := [2]int64{refused, refused}
	for _, edge := range s.edges(c) {
		if q := edge.At(p.Limit); q.Counted {
			r = report.RangeOf(r[0], q.Refused.Sum(), r[1])
		}
	}
	if r[0] == r[1] {
		return ""
	}
	return " (" + format.Percents([2]float64{format.PercentOf(r[0], s.Requests), format.PercentOf(r[1], s.Requests)}) + ")"
}

// sweepBand is the same of a sweep.
func sweepBand(b *sweep.Band) *report.BandInput {
	if b == nil {
		return nil
	}
	return &report.BandInput{Movable: b.Movable}
}
