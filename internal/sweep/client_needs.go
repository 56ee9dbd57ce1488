package sweep

// Needs has do see the clients that the curves are about, each with the smallest limits of some shapes, which go by
// their places among the curves, that do not hit it. Keys must belong to one client each.
func (s *Sweep) Needs(shapes []int, do func(shape int, client int32, need int64)) {
	s.tallies.Grow(s.options.Tables)
	who := s.population()
	s.sieve.find(who)
	for _, i := range shapes {
		shape, needOf := &s.shapes[i], mostNeeded
		if shape.rate != nil {
			needOf = burstNeeded
		}
		for _, c := range who {
			do(i, c.id, int64(shape.need(c.slot, needOf)))
		}
	}
}

// RefusedTo returns how many requests of a client each of some limits of shape i refuses. The shape must be none of
// token buckets, and the sweep one without groups.
func (s *Sweep) RefusedTo(i int, client int32, limits []int64) []int64 {
	refused := make([]int64, len(limits))
	who := []member{{id: client}}
	s.sieve.find(who)
	s.shapes[i].needs.eachOf(who, func(_ *member, need uint32, requests int64) {
		for k, n := range limits {
			if int64(need) > n {
				refused[k] += requests
			}
		}
	})
	return refused
}
