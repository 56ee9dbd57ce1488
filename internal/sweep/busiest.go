package sweep

// The busiest window. The smallest limit that refuses a client nothing is the most requests that any one window has of it.
// A window that ends with a request has more than the most so far if the request as far back as that most lies in it:
//
//	window 10s   at    0  1  2  3  11  12  13  14
//	             most  1  2  3  4   4   4   4   5?   no: 4 back is the request at 3, 11 s before 14
//
// So each request is compared with one other, needs no slot, and is counted nowhere.

// busiest raises the most requests in a window by those at some times, which ascend.
func (w *span) busiest(most int, at []uint64) int {
	within := w.length
	if w.cell > 0 {
		within = uint64(w.cell) + w.slack
	}
	var since, until uint64 // what was before since is outside of windows that end up to until
	for i := most; i < len(at); i++ {
		now, before := at[i], at[i-most]
		if now-before >= within {
			continue
		}
		if w.cell > 0 {
			if now > until {
				since, until = w.counting(now)
			}
			if before < since {
				continue
			}
		}
		most++ // a window has at most one request more than that of the request before
	}
	return most
}
