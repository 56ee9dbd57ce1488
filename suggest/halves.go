package suggest

import (
	"slices"

	"shadow/limit"
	"shadow/traffic"
)

// halves divides batches into those of the first part of a log and those of the rest, as if the log were read from the
// cut on and what lies before it warmed the limits. So a request of before the cut that came too late for that, at the
// cut or behind it, is in neither.
type halves struct {
	split bool // whether there is a rest
	cut   limit.Time
	parts [2]traffic.Batch // of a batch that lies on both sides, reused
}

// divide hands what lies in each part to do.
func (h *halves) divide(b *traffic.Batch, do func(part int, b *traffic.Batch) error) error {
	whole := *b
	whole.Warm = false
	seqs := b.Sequence()
	if !h.split || len(seqs) == 0 || slices.Max(seqs) < h.cut {
		return do(0, &whole)
	}
	if slices.Min(b.At) >= h.cut {
		return do(1, &whole)
	}
	side := func(row int) int { // 2: neither
		switch {
		case b.At[row] >= h.cut:
			return 1
		case seqs[row] < h.cut:
			return 0
		}
		return 2
	}
	like := traffic.Columns{
		Source: b.Source != nil, Host: b.Host != nil, User: b.User != nil, Path: b.Path != nil,
		Upstream: b.Upstream != nil, Marks: b.Marks != nil, Traces: b.Traces != nil, Origins: b.Origin != nil,
	}
	for part := range h.parts {
		to := &h.parts[part]
		to.Refit(0, like)
		to.Reset()
		for i := 0; i < b.Len(); {
			j := i + 1
			for j < b.Len() && side(j) == side(i) {
				j++
			}
			if side(i) == part {
				to.Take(b, i, j)
			}
			i = j
		}
		to.Stamps = b.Stamps
	}
	for part := range h.parts {
		if h.parts[part].Len() == 0 {
			continue
		}
		if err := do(part, &h.parts[part]); err != nil {
			return err
		}
	}
	return nil
}
