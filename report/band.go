package report

import (
	"fmt"

	"shadow/replay"
	"shadow/sweep"
	"shadow/traffic"
)

// The band says how far the figures may be off because stamps are whole seconds: the lowest and the highest of two
// placements, all requests of a second at its start and each client's spread evenly over it. docs/report.md defines it.

// A BandInput is how much of the input there is a band of.
type BandInput struct {
	Movable int64 `json:"movable"` // requests that the spread placement may move
	Moved   int64 `json:"moved"`   // requests that it does move
}

// A Band is from what to what the figures of a policy come at the two placements.
type Band struct {
	Refused           [2]int64    `json:"refused"`
	RefusedPercent    [2]float64  `json:"refused_percent"` // of its requests
	ClientsHit        [2]int64    `json:"clients_hit"`
	ClientsHitPercent [2]float64  `json:"clients_hit_percent"` // of its clients
	ByClass           BandClasses `json:"by_class"`
}

// BandClasses have the classes of clients in their order.
type BandClasses [traffic.ClassCount]BandFigures

// BandFigures are those of all clients of one class.
type BandFigures struct {
	Refused    [2]int64 `json:"refused"`
	ClientsHit [2]int64 `json:"clients_hit"`
}

// MarshalJSON writes an object with a key per class, in their order.
func (c BandClasses) MarshalJSON() ([]byte, error) { return marshalEach[traffic.Class](c[:]) }

// bandOf is the band of a policy whose other figures are known; nil without one.
func bandOf(p *Policy, spread *replay.Placed, who *population) *Band {
	if spread == nil {
		return nil
	}
	b := &Band{
		Refused:    ascending(p.Refused, spread.Refused),
		ClientsHit: ascending(p.ClientsHit, int64(spread.Hits.Len())),
	}
	for i := range 2 {
		b.RefusedPercent[i] = percentOf(b.Refused[i], p.Requests)
		b.ClientsHitPercent[i] = percentOf(b.ClientsHit[i], p.Clients)
	}
	for class, f := range who.byClass(&spread.Hits) {
		logged := &p.ByClass[class]
		b.ByClass[class] = BandFigures{ascending(logged.Refused, f.Refused), ascending(logged.ClientsHit, f.ClientsHit)}
	}
	return b
}

func ascending(x, y int64) [2]int64 { return [2]int64{min(x, y), max(x, y)} }

// inputBand is how much there is a band of, nil if nobody asked.
func inputBand(b *replay.Band) *BandInput {
	if b == nil {
		return nil
	}
	return &BandInput{Movable: b.Movable, Moved: b.Moved}
}

// sweepBand is the same of a sweep.
func sweepBand(b *sweep.Band) *BandInput {
	if b == nil {
		return nil
	}
	return &BandInput{Movable: b.Movable, Moved: b.Moved}
}

// bandText says what the band is of, "" if nobody asked.
func bandText(in *Input) string {
	b := in.Band
	switch {
	case b == nil || in.Requests == 0:
		return ""
	case b.Movable == 0 && in.Resolution != "second":
		return "none: stamps in " + in.Resolution + "s tell how requests lay inside a second, so there is nothing to move"
	case b.Movable == 0:
		return "none: each request came too late or took too long to be moved"
	}
	text := "lowest–highest of two placements: all of a second at its start, and each client's spread evenly over it; an indication, not a bound; "
	if b.Movable < in.Requests {
		text += fmt.Sprintf("of %s %s may be moved, the others are stamped finer, came too late or took too long; ",
			count(in.Requests, "request"), thousands(b.Movable))
	}
	if b.Moved == 0 {
		return text + "no two requests of a client share a second, so both are the same"
	}
	return text + count(b.Moved, "request") + " moved"
}

// banded tells whether there is a band.
func (m *Model) banded() bool { return m.Input.Band != nil && m.Input.Band.Movable > 0 }

// bandGrid has a row per policy.
func bandGrid(m *Model) *grid {
	g := &grid{columns: []column{{head: "limit", least: leastName}, number("refused, band")}}
	g.columns = append(g.columns, with(number("%"), number("clients hit, band"), number("%"))...)
	if m.Input.AgentsLogged {
		g.columns = append(g.columns, number("browser"))
		g.columns = append(g.columns, with(number("crawler"), number("tool"), number("monitor"), number("unknown"))...)
	}
	for i := range m.Policies {
		p := &m.Policies[i]
		b := p.Band
		row := []string{p.Policy, fromTo(b.Refused), percents(b.RefusedPercent), fromTo(b.ClientsHit), percents(b.ClientsHitPercent)}
		if m.Input.AgentsLogged {
			for _, f := range b.ByClass {
				row = append(row, fromTo(f.ClientsHit))
			}
		}
		g.add(row...)
	}
	return g
}

// fromTo writes a range; one number where it has no length.
func fromTo(r [2]int64) string {
	if r[0] == r[1] {
		return thousands(r[0])
	}
	return thousands(r[0]) + "–" + thousands(r[1])
}

// percents writes a range of shares likewise.
func percents(r [2]float64) string {
	low, high := percent(r[0]), percent(r[1])
	if low == high {
		return low
	}
	return low + "–" + high
}
