package ingest

import (
	"shadow/limit"
	"shadow/parse"
)

// Steps counts the lines that lie before the one above them, by their timestamps: more than a second, as lines of one
// second may come in any order.
type Steps struct {
	Back     int64      // lines
	Far      int64      // of these, by more than farBack
	Furthest limit.Time // the largest step
	At       limit.Time // the moment that it leads to
}

// farBack is a step back that no request lasts, or hardly any.
const farBack = 55 * limit.Minute

// Add adds the steps of other lines.
func (s *Steps) Add(more Steps) {
	s.Back += more.Back
	s.Far += more.Far
	if more.Furthest > s.Furthest {
		s.Furthest, s.At = more.Furthest, more.At
	}
}

// step takes down that a line of one moment follows one of another.
func (s *Steps) step(from, to limit.Time) {
	back := from - to
	if back <= limit.Second {
		return
	}
	s.Back++
	if back > s.Furthest {
		s.Furthest, s.At = back, to
	}
	if back > farBack {
		s.Far++
	}
}

// Zones counts the changes of zone in timestamps from line to line, as in spring and autumn.
type Zones struct {
	Changes  int64
	At       limit.Time // of the first change: the line in the new zone
	From, To parse.Zone // of the first change
	begin    limit.Time // the first line that names one
	first    parse.Zone
	last     parse.Zone
}

// Named reports whether timestamps name a zone.
func (z *Zones) Named() bool { return z.first.Named }

// see takes in a line.
func (z *Zones) see(zone parse.Zone, at limit.Time) {
	switch {
	case zone == z.last || !zone.Named:
		return
	case !z.last.Named:
		z.begin, z.first = at, zone
	default:
		z.change(zone, at)
	}
	z.last = zone
}

func (z *Zones) change(to parse.Zone, at limit.Time) {
	if z.Changes == 0 {
		z.At, z.From, z.To = at, z.last, to
	}
	z.Changes++
}

// add takes in lines that follow.
func (z *Zones) add(next *Zones) {
	z.see(next.first, next.begin)
	if z.Changes == 0 {
		z.At, z.From, z.To = next.At, next.From, next.To
	}
	z.Changes += next.Changes
	if next.last.Named {
		z.last = next.last
	}
}
