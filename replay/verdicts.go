package replay

import (
	"cmp"
	"slices"

	"shadow/limit"
)

// Verdicts tell the requests of a timeline that were not simply admitted, by their indices.
type verdicts struct {
	refused []int32         // ascending
	late    []limit.Delayed // admitted and kept waiting, ascending
	retry   []Retry         // if wanted: for each refused one, how long to stay away
}

func (v *verdicts) reset() { v.refused, v.late, v.retry = v.refused[:0], v.late[:0], v.retry[:0] }

func (v *verdicts) empty() bool { return len(v.refused)+len(v.late) == 0 }

// add takes in the verdict on a request.
func (v *verdicts) add(index int32, refused bool, delay limit.Time) {
	switch {
	case refused:
		v.refused = append(v.refused, index)
	case delay > 0:
		v.late = append(v.late, limit.Delayed{Index: index, By: delay})
	}
}

// sort restores the order of what several limits have added to v behind the given lengths. Of a request that several limits
// keep waiting the longest delay counts.
func (v *verdicts) sort(refused, late int) {
	slices.Sort(v.refused[refused:])
	slices.SortFunc(v.late[late:], func(x, y limit.Delayed) int {
		return cmp.Or(cmp.Compare(x.Index, y.Index), cmp.Compare(y.By, x.By))
	})
	longest := slices.CompactFunc(v.late[late:], func(x, y limit.Delayed) bool { return x.Index == y.Index })
	v.late = v.late[:late+len(longest)]
}
