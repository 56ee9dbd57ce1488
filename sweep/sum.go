package sweep

import (
	"errors"
	"fmt"
	"slices"
)

// Curves of different clients add up: of each limit, what it refuses to some and what to others.

// A Sum is what sweeps of different clients have found, as far as it adds up.
type Sum struct {
	By      string
	Action  string
	Judged  int64
	Clients Classes
	ByClass Classes
	Shapes  []SumShape
}

// A SumShape is one curve of it.
type SumShape struct {
	Shape  Shape
	Points []Point
	Shared bool // several clients share a key: of a token bucket only counted points hold
}

// Sum is what a sweep has found, if it has no band. It leaves out the doubted: who they are shows only to a sweep that
// sees all requests, so what a sweep of some knows of them does not add up.
func (r *Result) Sum() (*Sum, error) {
	if r.Band != nil {
		return nil, errors.New("curves with a band do not add up")
	}
	s := &Sum{By: r.By.String(), Action: r.Action, Judged: r.Judged, Clients: r.Clients, ByClass: r.ByClass}
	for _, c := range r.Curves {
		points := c.Points
		if r.Hidden != nil {
			points = slices.Clone(points)
			for i := range points {
				points[i].Hidden = Doubted{}
			}
		}
		s.Shapes = append(s.Shapes, SumShape{c.Shape, points, c.Kind == Token && r.By.Shared()})
	}
	return s, nil
}

// Add adds what another sweep has found, of the same shapes and of other clients.
func (s *Sum) Add(other *Sum) error {
	if s.By != other.By || s.Action != other.Action || len(s.Shapes) != len(other.Shapes) {
		return fmt.Errorf("curves by %s of %d shapes, and by %s of %d, do not add up", s.By, len(s.Shapes), other.By, len(other.Shapes))
	}
	for i := range s.Shapes {
		if s.Shapes[i].Shape != other.Shapes[i].Shape {
			return fmt.Errorf("curves of %s and %s do not add up", s.Shapes[i].Shape, other.Shapes[i].Shape)
		}
	}
	switch {
	case other.Judged == 0: // it has no curves to speak of
		return nil
	case s.Judged == 0:
		*s = *other
		s.Shapes = slices.Clone(other.Shapes)
		return nil
	}
	s.Judged += other.Judged
	s.Clients.add(&other.Clients)
	s.ByClass.add(&other.ByClass)
	for i := range s.Shapes {
		s.Shapes[i].add(&other.Shapes[i])
	}
	return nil
}

func (c *Classes) add(other *Classes) {
	for class, n := range other {
		c[class] += n
	}
}

// add adds another curve. Of a limit that only one of the two has a point for, the other says what At says.
func (s *SumShape) add(other *SumShape) {
	a, b := Curve{s.Shape, s.Points}, Curve{other.Shape, other.Points}
	var limits []int64
	for _, p := range slices.Concat(s.Points, other.Points) {
		limits = append(limits, p.Limit)
	}
	slices.Sort(limits)
	s.Points = nil
	for _, n := range slices.Compact(limits) {
		p, q := s.at(&a, n), s.at(&b, n)
		p.Counted = p.Counted && q.Counted
		p.Hit.add(&q.Hit)
		if p.Refused.add(&q.Refused); !p.Counted {
			p.Refused = Classes{}
		}
		if s.Shared && !p.Counted {
			continue // which clients it hits is not known
		}
		s.Points = append(s.Points, p)
	}
}

// at is what a curve says of a limit. Of buckets that clients share nothing is known below the first point.
func (s *SumShape) at(c *Curve, n int64) Point {
	p := c.At(n)
	if s.Shared && (len(c.Points) == 0 || n < c.Points[0].Limit) {
		p.Counted = false
	}
	return p
}

// Put makes r, which has the statistics and tallies, what was found.
func (s *Sum) Put(r *Result) {
	r.Action, r.Judged, r.Clients, r.ByClass = s.Action, s.Judged, s.Clients, s.ByClass
	for _, shape := range s.Shapes {
		r.Curves = append(r.Curves, Curve{shape.Shape, shape.Points})
	}
}
