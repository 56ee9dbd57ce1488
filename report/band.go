package report

import (
	"fmt"
	"slices"

	"shadow/replay"
	"shadow/report/format"
)

// The band says how far the figures may be off because stamps are whole seconds: from the least to the most that they
// come to wherever in its second each request came. docs/report.md defines it.

// A BandInput is how much of the input there is a band of.
type BandInput struct {
	Movable int64 `json:"movable"` // requests that are stamped in whole seconds
}

// A Band holds the ranges of the figures of a policy.
type Band struct {
	Refused           [2]int64              `json:"refused"`
	RefusedPercent    [2]float64            `json:"refused_percent"` // of its requests
	ClientsHit        [2]int64              `json:"clients_hit"`
	ClientsHitPercent [2]float64            `json:"clients_hit_percent"` // of its clients
	ByClass           PerClass[BandFigures] `json:"by_class"`
}

// BandFigures holds the figures of all clients of one class.
type BandFigures struct {
	Refused    [2]int64 `json:"refused"`
	ClientsHit [2]int64 `json:"clients_hit"`
}

// bandOf is the band of a policy whose other figures are known; nil without one.
func bandOf(p *Policy, t *replay.PolicyTally, who *Population) *Band {
	if t.Bounds == nil {
		return nil
	}
	b := new(Band)
	all := []*replay.Hits{&t.Bounds[0].Hits, &t.Hits, &t.Bounds[1].Hits}
	b.Refused = RangeOf(t.Bounds[0].Refused, p.Refused, t.Bounds[1].Refused)
	for i, hits := range all {
		for class, f := range who.byClass(hits) {
			r := &b.ByClass[class].Refused
			if i == 0 {
				*r = [2]int64{f.Refused, f.Refused}
			}
			*r = RangeOf(r[0], f.Refused, r[1])
		}
		for hit := range hits.All() {
			first, inAll := !found(all[:i], hit.Client), i == 0 && found(all[1:2], hit.Client) && found(all[2:], hit.Client)
			class := who.Class[hit.Client]
			if inAll {
				b.ClientsHit[0]++
				b.ByClass[class].ClientsHit[0]++
			}
			if first {
				b.ClientsHit[1]++
				b.ByClass[class].ClientsHit[1]++
			}
		}
	}
	for i := range 2 {
		b.RefusedPercent[i] = format.PercentOf(b.Refused[i], p.Requests)
		b.ClientsHitPercent[i] = format.PercentOf(b.ClientsHit[i], p.Clients)
	}
	return b
}

// found reports whether a client is among any of the hits.
func found(all []*replay.Hits, client int32) bool {
	return slices.ContainsFunc(all, func(h *replay.Hits) bool { _, hit := h.Find(client); return hit })
}

// RangeOf is from the least to the most of three figures.
func RangeOf(x, y, z int64) [2]int64 { return [2]int64{min(x, y, z), max(x, y, z)} }

// bandText says what the band is of, "" if not asked for.
func (in *Input) bandText() string {
	b := in.Band
	switch {
	case b == nil || in.Requests == 0:
		return ""
	case b.Movable == 0:
		return "none: timestamps in " + in.Resolution + "s tell when requests came"
	}
	text := "least–most, wherever in its second each request came"
	if b.Movable < in.Requests {
		text += fmt.Sprintf("; of %s %s are stamped in whole seconds, and the others are taken for as coarse",
			format.Count(in.Requests, "request"), format.Thousands(b.Movable))
	}
	return text
}

// Banded reports whether there is a band.
func (m *Model) Banded() bool { return m.Input.Band != nil && m.Input.Band.Movable > 0 }
