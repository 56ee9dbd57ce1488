package report

import (
	"iter"
	"strconv"

	"shadow/sweep"
	"shadow/traffic"
)

// The band of curves: each point has, beside its figures as logged, the lowest and the highest of both placements.

// banded tells whether there is a band.
func (s *Sweep) banded() bool { return s.result.Band != nil && s.result.Band.Curves != nil }

// points are those of a curve, with a band those of both placements: every limit at which one of the two changes.
func (s *Sweep) points(curve int) iter.Seq[sweep.Banded] {
	return func(yield func(sweep.Banded) bool) {
		if !s.banded() {
			for _, p := range s.curves[curve].Points {
				if !yield(sweep.Banded{p, p}) {
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

// appendBand appends what is refused, null if that is not known at both placements, and who is hit: from … to.
func appendBand(b []byte, p *sweep.Banded) []byte {
	b = appendRange(append(b, '{'), p.Counted(), ascending(p[0].Refused.Sum(), p[1].Refused.Sum()), ascending(p[0].Hit.Sum(), p[1].Hit.Sum()))
	b = append(b, `, "by_class": {`...)
	for class := range traffic.ClassCount {
		b = append(b, separator(int(class))...)
		b = append(append(append(b, '"'), class.String()...), `": {`...)
		b = appendRange(b, p.Counted(), ascending(p[0].Refused[class], p[1].Refused[class]), ascending(p[0].Hit[class], p[1].Hit[class]))
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

// sweepBandHead are the columns that a band adds to CSV.
func sweepBandHead() []string {
	head := []string{"refused_low", "refused_high", "clients_hit_low", "clients_hit_high"}
	for class := range traffic.ClassCount {
		for _, name := range head[:4] {
			head = append(head, class.String()+"_"+name)
		}
	}
	return head
}

// bandCells are what stands in them.
func bandCells(p *sweep.Banded) []string {
	cells := rangeCells(p.Counted(), ascending(p[0].Refused.Sum(), p[1].Refused.Sum()), ascending(p[0].Hit.Sum(), p[1].Hit.Sum()))
	for class := range traffic.ClassCount {
		cells = append(cells, rangeCells(p.Counted(), ascending(p[0].Refused[class], p[1].Refused[class]), ascending(p[0].Hit[class], p[1].Hit[class]))...)
	}
	return cells
}

func rangeCells(counted bool, refused, hit [2]int64) []string {
	cells := []string{"", "", plain(hit[0]), plain(hit[1])}
	if counted {
		cells[0], cells[1] = plain(refused[0]), plain(refused[1])
	}
	return cells
}

// spreadCurve is a curve at the spread placement, nil without a band.
func (s *Sweep) spreadCurve(c *sweep.Curve) *sweep.Curve {
	if !s.banded() {
		return nil
	}
	for i := range s.curves {
		if &s.curves[i] == c {
			return &s.result.Band.Curves[i]
		}
	}
	return nil
}

// otherLimit is the range of limits that spare so many clients, behind the one as logged; "" if there is just that one.
func (s *Sweep) otherLimit(c *sweep.Curve, p *sweep.Point, clients, share int64, hit func(*sweep.Point) int64) string {
	other := s.spreadCurve(c)
	if other == nil {
		return ""
	}
	q := other.Sparing(clients, share, hit)
	if q == nil || q.Limit == p.Limit {
		return ""
	}
	return between(ascending(p.Limit, q.Limit))
}

// otherShare is the range of what a limit refuses, behind that as logged; "" if both are the same.
func (s *Sweep) otherShare(c *sweep.Curve, p *sweep.Point) string {
	other := s.spreadCurve(c)
	if other == nil {
		return ""
	}
	q := other.At(p.Limit)
	if !q.Counted || q.Refused.Sum() == p.Refused.Sum() {
		return ""
	}
	r := ascending(p.Refused.Sum(), q.Refused.Sum())
	return " (" + percents([2]float64{percentOf(r[0], s.Requests), percentOf(r[1], s.Requests)}) + ")"
}
