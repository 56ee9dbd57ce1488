package sweep

import (
	"cmp"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
)

// curve returns what the first look has found. Where needs do not tell which clients an N hits it has no points yet.
// With it come the needs of the clients that it is about, and of the browsers among them, largest first.
func (w *Weighed) curve(who func(client int32) member) (c WeighedCurve, needs [2][]int64) {
	c = WeighedCurve{Curve{Shape: w.Shape}, w.Subject}
	falls, at := map[int64]*step{}, map[int64]*Point{1: {Limit: 1}}
	for client := range int32(w.needs.Len()) {
		need := *w.needs.At(client)
		if need == 0 {
			continue
		}
		its := who(client)
		c.Clients[its.class]++
		needs[0] = append(needs[0], need)
		switch {
		case its.doubted:
			c.Hidden++
		case its.class == request.Browser:
			needs[1] = append(needs[1], need)
		}
		if need > w.Most {
			c.Beyond++
		} else if at[need] == nil {
			at[need] = &Point{Limit: need}
		}
		if falls[need] == nil {
			falls[need] = new(step)
		}
		falls[need].protect(&its)
	}
	for _, all := range needs {
		slices.SortFunc(all, func(x, y int64) int { return cmp.Compare(y, x) })
	}
	if len(needs[0]) > 0 && !w.partial && !w.By.Shared() {
		c.Points = inOrder(at)
		spread(c.Points, falls)
	}
	return c, needs
}

// fewUnderWay is up to how many requests under way each N is shown.
const fewUnderWay = 20

// matter are the N of which people want to know what they refuse: those that are stated, and for each of ProtectedShares
// the smallest that is enough for such a share of the clients, or of the browsers; of requests under way the first few
// too.
func (w *Weighed) matter(needs [2][]int64) []int64 {
	limits := slices.Concat(w.Named, w.More)
	if w.Shape.Kind == UnderWay && len(needs[0]) > 0 {
		for n := range min(needs[0][0], fewUnderWay) {
			limits = append(limits, n+1)
		}
	}
	for _, all := range needs {
		for _, share := range ProtectedShares() {
			if len(all) > 0 {
				limits = append(limits, all[MayHit(int64(len(all)), share)])
			}
		}
	}
	limits = slices.DeleteFunc(limits, func(n int64) bool { return n > w.Most })
	slices.Sort(limits)
	return slices.Compact(limits)
}

// A WeighedLook is the second look at the limits of some policies.
type WeighedLook struct {
	curves []WeighedCurve
	looks  [][]*Weighed // by curve
}

// LookAgain ends the first look of some policies at the requests of a sweep.
func (r *Result) LookAgain(first []*Weighed, doubted func(client int32) bool) *WeighedLook {
	who := func(client int32) member {
		class := r.Tallies.Clients.At(client).Class()
		return member{id: client, class: class, doubted: class == request.Browser && doubted != nil && doubted(client)}
	}
	second := new(WeighedLook)
	for _, w := range first {
		curve, needs := w.curve(who)
		var looks []*Weighed
		for limits := range slices.Chunk(w.matter(needs), limitsAtOnce) {
			looks = append(looks, w.again(limits, who))
		}
		second.curves, second.looks = append(second.curves, curve), append(second.looks, looks)
	}
	return second
}

// Take takes in the requests of one batch, which was taken in before.
func (s *WeighedLook) Take(b *traffic.Batch) {
	for _, looks := range s.looks {
		for _, w := range looks {
			w.Take(b)
		}
	}
}

// Curves returns the curves of the limits, each with a point for each N that matters, with what it refuses.
func (s *WeighedLook) Curves() []WeighedCurve {
	for i, looks := range s.looks {
		for _, w := range looks {
			s.curves[i].add(w.points)
		}
	}
	return s.curves
}
