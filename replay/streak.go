package replay

import (
	"cmp"
	"strings"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// A Streak is some requests of one client. Without requests it is none.
type Streak struct {
	Client      int32
	Requests    int64
	First, Last limit.Time
}

// longer reports whether s lasts longer than t, or as long with more requests.
func longer(s, t Streak) bool {
	if x, y := s.Last-s.First, t.Last-t.First; t.Requests > 0 && x != y {
		return x > y
	}
	return s.Requests > t.Requests
}

// earlier orders stretches of different clients: by when they begin, then by name.
func earlier(s, t Streak, clients *intern.Dict) bool {
	return cmp.Or(cmp.Compare(s.First, t.First), strings.Compare(clients.Name(s.Client), clients.Name(t.Client))) < 0
}

// yield becomes t if that has more requests, or as many and is earlier.
func (s *Streak) yield(t Streak, clients *intern.Dict) {
	if t.Requests > s.Requests || t.Requests > 0 && t.Requests == s.Requests && earlier(t, *s, clients) {
		*s = t
	}
}

// slidingMax is the time of some length in which a client had most requests admitted.
type slidingMax struct {
	most     Streak
	admitted limit.State // its ring: when, in the last such time
}

// admit counts a request that was admitted, in a span of some length: what came a whole one before is not in it. One that came too
// late counts as if it came with the latest.
func (f *slidingMax) admit(client int32, at, length limit.Time) {
	if r := f.admitted.Ring(); r.Len() > 0 {
		at = max(at, r.Nth(r.Len()-1))
	}
	r := f.admitted.Push(at, length)
	r.Expire(at, length)
	if n := int64(r.Len()); n > f.most.Requests {
		f.most = Streak{Client: client, Requests: n, First: r.Oldest(), Last: at}
	}
}

// rows notes which rows of a batch a policy refuses. Between two policies it notes none.
type rows []bool

// mark has do see the rows that are refused.
func (r rows) mark(refused []int32, do func()) {
	for _, row := range refused {
		r[row] = true
	}
	do()
	for _, row := range refused {
		r[row] = false
	}
}
