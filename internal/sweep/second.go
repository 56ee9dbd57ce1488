package sweep

import (
	"cmp"
	"maps"
	"slices"

	"shadow/internal/request"
)

// A second look. Of a token bucket a sweep counts what it refuses for bursts that are chosen beforehand, but the bursts that people
// ask about are those that hit few of the clients, and these are known afterwards. So the requests are gone through a
// second time, by a sweep of just these bursts:
//
//	first look ──▶ who needs which burst ──▶ Uncounted ──▶ second look ──▶ what they refuse ──▶ Add

// ProtectedShares lists shares of the clients, in thousandths, for which to show the smallest limit that hits none.
func ProtectedShares() []int64 { return []int64{500, 900, 990, 999, 1000} }

// Protecting is the first point that hits none of a share of the clients; hit returns how many a point hits. Nil if there is none.
func (c *Curve) Protecting(clients, thousandths int64, hit func(*Point) int64) *Point {
	may := MayHit(clients, thousandths)
	for i := range c.Points {
		if hit(&c.Points[i]) <= may {
			return &c.Points[i]
		}
	}
	return nil
}

// MayHit returns how many clients may be hit where such a share, in thousandths, must not be.
func MayHit(clients, thousandths int64) int64 {
	return clients - (clients/1000*thousandths + (clients%1000*thousandths+999)/1000)
}

// HitBrowsers counts the browsers that a limit hits and that are not doubted.
func (p *Point) HitBrowsers() int64 { return p.Hit[request.Browser] - p.Hidden.Clients }

// People are the requests that it refuses to those, and how many of them it hits.
func (p *Point) People() (refused, hit int64) {
	return p.Refused[request.Browser] - p.Hidden.Requests, p.HitBrowsers()
}

// Browsers counts the browsers that are not doubted.
func (r *Result) Browsers() int64 {
	n := r.Clients[request.Browser]
	if r.Hidden != nil {
		n -= r.Hidden.Clients
	}
	return n
}

// HitAny counts the clients that the limit hits.
func (p *Point) HitAny() int64 { return p.Hit.Sum() }

// Uncounted are the bursts, by rate, that hit none of one of ProtectedShares of the browsers or of all clients, and of which it
// is not known what they refuse.
func (r *Result) Uncounted() map[Rate][]int64 {
	all := map[Rate][]int64{}
	for i := range r.Curves {
		c := &r.Curves[i]
		note := func(p *Point) {
			if p != nil && !p.Counted && !slices.Contains(all[c.Rate], p.Limit) {
				all[c.Rate] = append(all[c.Rate], p.Limit)
			}
		}
		for _, share := range ProtectedShares() {
			note(c.Protecting(r.Browsers(), share, (*Point).HitBrowsers))
			note(c.Protecting(r.Clients.Sum(), share, (*Point).HitAny))
		}
	}
	return all
}

// Again are the options of a second look at the requests of a sweep.
func (r *Result) Again(o Options) Options {
	o.Kinds, o.Bursts, o.BurstsOf = []Kind{Token}, nil, r.Uncounted()
	o.Rates = slices.DeleteFunc(slices.Clone(o.Rates), func(rate Rate) bool { return o.BurstsOf[rate] == nil })
	return o
}

// Add adds what a second look has counted. It is false, and nothing is added, if that was not at the same requests.
func (r *Result) Add(second *Result) bool {
	if r.Judged != second.Judged || r.Clients != second.Clients || r.ByClass != second.ByClass {
		return false
	}
	add(r.Curves, second.Curves)
	if r.Band != nil && second.Band != nil {
		add(r.Band.Low, second.Band.Low)
		add(r.Band.High, second.Band.High)
	}
	return true
}

func add(curves, counted []Curve) {
	for i := range curves {
		j := slices.IndexFunc(counted, func(c Curve) bool { return c.Shape == curves[i].Shape })
		if j >= 0 {
			curves[i].add(counted[j].Points)
		}
	}
}

// add takes over points, counted ones in the place of others.
func (c *Curve) add(points []Point) {
	at := make(map[int64]Point, len(c.Points))
	for _, list := range [][]Point{c.Points, points} {
		for _, p := range list {
			if _, known := at[p.Limit]; !known || p.Counted {
				at[p.Limit] = p
			}
		}
	}
	c.Points = slices.SortedFunc(maps.Values(at), func(x, y Point) int { return cmp.Compare(x.Limit, y.Limit) })
}

// Within returns the least and the most requests that a limit refuses: the count, or what counted neighbours tell. A
// larger bucket has at no time admitted less of a key than a smaller one: at the first request after which it had, the
// smaller one would admit and the larger one refuse, though both have admitted as many; so of those in reach of the
// request the larger one would have admitted more, and less of those before. Most is −1 if there is no bound.
func (c *Curve) Within(p *Point) (least, most int64) {
	most = -1
	for i := range c.Points {
		switch q := &c.Points[i]; {
		case !q.Counted:
		case q.Limit < p.Limit:
			most = q.Refused.Sum()
		case q.Limit == p.Limit:
			return q.Refused.Sum(), q.Refused.Sum()
		default:
			return q.Refused.Sum(), most
		}
	}
	return 0, most
}
