package calibrate

import (
	"cmp"
	"slices"

	"shadow/internal/request"
	"shadow/limit"
)

// A Verdict is what the server decided on a request.
type Verdict uint8

// The verdicts.
const (
	Passed Verdict = iota
	Delayed
	Refused
)

// Requests holds the requests of a log that reached the server's limit, column by column, in log order.
type Requests struct {
	At      []limit.Time
	Verdict []Verdict
	Client  []int32
	Class   []request.Class
	Path    []int32 // -1: not logged
	Input   []uint32
	Line    []int64
	Retry   []limit.Time // what the server asked to wait after a refusal; 0: nothing
	Keys    [][]int32    // a column for each key that is tried
	Places  [][]int32    // a column for each way to divide the requests by where they went: the host, the beginning of the path
}

// Len returns the number of requests.
func (r *Requests) Len() int { return len(r.At) }

// Spread has requests whose stamps are whole seconds lie evenly in their second, in the order of the log: the order of
// a busy log says more of when they came than the second does.
func (r *Requests) Spread() {
	rows := make(map[limit.Time][]int32)
	for row, at := range r.At {
		if at%limit.Second == 0 {
			rows[at] = append(rows[at], int32(row))
		}
	}
	for at, of := range rows {
		for i, row := range of {
			r.At[row] = at + (limit.Time(2*i)+1)*limit.Second/limit.Time(2*len(of))
		}
	}
}

// A timeline is the requests of one key in the order of time.
type timeline struct {
	rows    []int32
	at      []limit.Time
	verdict []Verdict
	refused int64
}

// timelines returns the timelines by one column of keys, of the rows that take part.
func (r *Requests) timelines(keys []int32, part func(row int32) bool) (all []timeline) {
	rows := make(map[int32][]int32)
	var order []int32
	for row, key := range keys {
		if part != nil && !part(int32(row)) {
			continue
		}
		if rows[key] == nil {
			order = append(order, key)
		}
		rows[key] = append(rows[key], int32(row))
	}
	for _, key := range order {
		of := rows[key]
		slices.SortStableFunc(of, r.before)
		t := timeline{rows: of, at: make([]limit.Time, len(of)), verdict: make([]Verdict, len(of))}
		for i, row := range of {
			t.at[i], t.verdict[i] = r.At[row], r.Verdict[row]
			if r.Verdict[row] == Refused {
				t.refused++
			}
		}
		all = append(all, t)
	}
	return all
}

// span returns the time from the first request of some timelines to the last.
func span(all []timeline) limit.Time {
	first, last := all[0].at[0], all[0].at[0]
	for _, t := range all {
		first, last = min(first, t.at[0]), max(last, t.at[len(t.at)-1])
	}
	return max(last-first, limit.Second)
}

// before orders two requests of a key. Of one moment those that were refused come last: of requests that differ by less
// than a log can tell, the first are admitted.
func (r *Requests) before(x, y int32) int {
	refused := func(row int32) int {
		if r.Verdict[row] == Refused {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(r.At[x], r.At[y]), refused(x)-refused(y))
}

// sampled are the timelines that say most about a limit, cut where there are more requests than wanted: those with
// verdicts that change often first.
func sampled(all []timeline, most int) (some []timeline) {
	longest := most / 8 // requests of one key
	changes := make([]int, len(all))
	order := make([]int, len(all))
	for i, t := range all {
		order[i] = i
		for j := 1; j < len(t.verdict); j++ {
			if (t.verdict[j] == Refused) != (t.verdict[j-1] == Refused) {
				changes[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(changes[y], changes[x]), cmp.Compare(len(all[y].at), len(all[x].at)))
	})
	for _, i := range order {
		n := min(len(all[i].at), longest, most)
		if n == 0 {
			break
		}
		t := all[i]
		t.rows, t.at, t.verdict, t.refused = t.rows[:n], t.at[:n], t.verdict[:n], 0
		for _, v := range t.verdict {
			if v == Refused {
				t.refused++
			}
		}
		some, most = append(some, t), most-n
	}
	return some
}
