package sweep

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"shadow/internal/traffic"
	"shadow/limit"
)

// ClientCurves draw curves by client, one client after the other: nothing has to be remembered of any but when it sent
// requests. It goes through them twice. First it finds what each client needs of every shape, so that nothing is refused
// to it. Then what windows refuse from some limits on, which is asked only of those who need more:
//
//	pass 1   all requests ──▶ times by client ──▶ needs by client and shape ──▶ clients hit
//	pass 2   those of clients that need more ──▶ times by client ──▶ what each request needs ──▶ requests refused
//
// Either pass may be several, each for some of the clients.
type ClientCurves struct {
	options ClientOptions
	shapes  []Shape
	first   [KindCount]int // by kind: where in shapes
	slack   limit.Time     // of stamps, in which bounds are looked for; 0: none
	groups  ClientGroups
	rough   []uint8 // by client and shape: what it needs, see roughly; 0: no request
	hit     [2][]needCounts
	from    []int64 // by shape: from which limit on it is known what is refused; nil: not asked for yet
	refused []needCounts

	wanted   func(client int32) bool
	gathered gathered
}

// ClientOptions say what to look at, as Options of the same names do. All clients must be known.
type ClientOptions struct {
	Tables   *traffic.Tables // of all requests
	Kinds    []Kind          // not UnderWay
	Periods  []limit.Time
	Rates    []Rate
	Action   string
	Lateness limit.Time
	Band     bool // whether to look at the high bounds of limits as well, where stamps are coarse

	// TooLong reports whether a window is so long that nothing is to be found out about it: its curves stay without
	// points. nil: none is.
	TooLong func(per limit.Time) bool

	Group func(client int32) uint8 // below mostGroups
}

// ClientGroups are the clients and requests that curves are about, by group.
type ClientGroups struct{ Clients, Requests [mostGroups]int64 }

// NewClientCurves returns ClientCurves that have seen nothing.
func NewClientCurves(o ClientOptions) *ClientCurves {
	c := &ClientCurves{options: o}
	for _, kind := range []Kind{Window, Fixed, WindowAll, Token} {
		c.first[kind] = len(c.shapes)
		switch {
		case !has(o.Kinds, kind):
		case kind == Token:
			for _, rate := range o.Rates {
				c.shapes = append(c.shapes, Shape{Kind: kind, Rate: rate})
			}
		default:
			for _, per := range o.Periods {
				c.shapes = append(c.shapes, Shape{Kind: kind, Per: per})
			}
		}
	}
	return c
}

// Begin begins a pass over the requests of some clients; nil: all.
func (c *ClientCurves) Begin(wanted func(client int32) bool) {
	if c.wanted = wanted; c.rough == nil {
		c.rough = make([]uint8, c.options.Tables.Clients.Len()*len(c.shapes))
		for i := range c.hit {
			c.hit[i] = make([]needCounts, len(c.shapes))
		}
	}
}

// BeginRefused is Begin of a second pass: it asks what windows refuse from some limits on, one by shape.
func (c *ClientCurves) BeginRefused(from []int64, wanted func(client int32) bool) {
	c.from = from
	if c.refused == nil {
		c.refused = make([]needCounts, len(c.shapes))
	}
	asked := make([]bool, c.options.Tables.Clients.Len())
	for client := range asked {
		for i := range c.shapes {
			asked[client] = asked[client] || c.asksRefused(int32(client), i)
		}
		asked[client] = asked[client] && (wanted == nil || wanted(int32(client)))
	}
	c.wanted = func(client int32) bool { return asked[client] }
}

// asksRefused reports whether a limit whose refusals are wanted may refuse something to a client.
func (c *ClientCurves) asksRefused(client int32, shape int) bool {
	s := c.shapes[shape]
	return s.Kind != Token && c.need(client, shape) > c.from[shape] && !c.tooLong(s.Per)
}

func (c *ClientCurves) tooLong(per limit.Time) bool {
	return c.options.TooLong != nil && c.options.TooLong(per)
}

// Take takes in the requests of one batch, which must not be warm.
func (c *ClientCurves) Take(b *traffic.Batch) {
	if c.options.Band {
		c.slack = b.Stamps.Slack
	}
	c.gathered.lateness = c.options.Lateness
	action := actionIDs(c.options.Tables, c.options.Action)
	c.gathered.take(b, c.options.Tables, c.wanted, actionOf(c.options.Action, action))
}

// Finish ends a pass.
func (c *ClientCurves) Finish() {
	clients := c.gathered.clients.Len()
	judges := make([]*clientJudge, runtime.GOMAXPROCS(0))
	for i := range judges {
		judges[i] = newClientJudge(c)
	}
	const some = 256
	var next atomic.Int32
	each(len(judges), len(judges), func(i int) {
		for from := next.Add(some) - some; int(from) < clients; from = next.Add(some) - some {
			for client := from; int(client) < min(clients, int(from)+some); client++ {
				if s := c.gathered.clients.At(client); s.requests > 0 {
					judges[i].judge(client, s)
				}
			}
		}
	})
	for _, j := range judges {
		for g := range mostGroups {
			c.groups.Clients[g] += j.groups.Clients[g]
			c.groups.Requests[g] += j.groups.Requests[g]
		}
		for i := range c.shapes {
			for placement := range c.hit {
				c.hit[placement][i].join(&j.hit[placement][i])
			}
			if c.from != nil {
				c.refused[i].join(&j.refused[i])
			}
		}
	}
	c.gathered = gathered{}
}

// roughly returns a need in one byte, which need reads: exact up to 16, above it by up to an eighth too large.
func roughly(need int64) uint8 {
	need = min(need, math.MaxUint32)
	if need < 8 {
		return uint8(need)
	}
	e := bits.Len64(uint64(need)) - 4
	return uint8(e<<3 + int(limit.CeilDiv(need, 1<<e)))
}

// need returns the most that a client needs of a shape; 0 if it sent no request.
func (c *ClientCurves) need(client int32, shape int) int64 {
	rough := int64(c.rough[int(client)*len(c.shapes)+shape])
	if rough < 16 {
		return rough
	}
	e := rough>>3 - 1
	return (rough - e<<3) << e
}

// Needs has do see the clients with a request, each with limits of some shapes that do not hit it: the smallest, or an
// eighth more. Of a window that is too long it is how many requests the client sent.
func (c *ClientCurves) Needs(shapes []int, do func(shape int, client int32, need int64)) {
	for client := range int32(len(c.rough) / max(1, len(c.shapes))) {
		for _, shape := range shapes {
			if need := c.need(client, shape); need > 0 {
				do(shape, client, need)
			}
		}
	}
}

// Groups returns which clients and requests the curves are about.
func (c *ClientCurves) Groups() ClientGroups { return c.groups }

// A ClientCurve says of each limit of a shape what it would refuse, by group.
type ClientCurve struct {
	Shape
	Points []ClientPoint // ascending; between two of them, what the lower one says holds
}

// A ClientPoint is one limit of a curve.
type ClientPoint struct {
	Limit        int64
	Counted      bool // whether Refused is known
	Refused, Hit [mostGroups]int64
}

// Curves are the curves of the log as it is, and those of high bounds; nil: the stamps tell when requests came. The bounds
// tell of no window what it refuses.
func (c *ClientCurves) Curves() (logged, high []ClientCurve) {
	for i, shape := range c.shapes {
		logged = append(logged, c.curve(shape, &c.hit[0][i], i))
		if c.slack > 0 {
			high = append(high, c.curve(shape, &c.hit[1][i], -1))
		}
	}
	return logged, high
}

// curve is one curve; refused −1: it does not matter what is refused.
func (c *ClientCurves) curve(shape Shape, hit *needCounts, refused int) ClientCurve {
	curve := ClientCurve{Shape: shape}
	if c.groups == (ClientGroups{}) || shape.Kind != Token && c.tooLong(shape.Per) {
		return curve
	}
	from, steps := int64(math.MaxInt64), new(needCounts)
	if refused >= 0 && shape.Kind != Token && c.from != nil {
		from, steps = c.from[refused], &c.refused[refused]
	}
	limits := append(hit.limits(), steps.limits()...)
	limits = append(limits, 1)
	if most := slices.Max(limits); from <= most {
		limits = append(limits, from)
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	curve.Points = make([]ClientPoint, len(limits))
	p := ClientPoint{}
	for i := len(limits) - 1; i >= 0; i-- {
		p.Limit = limits[i]
		p.Counted = p.Limit >= from || p.Hit == [mostGroups]int64{}
		curve.Points[i] = p
		if !p.Counted {
			curve.Points[i].Refused = [mostGroups]int64{}
		}
		hit.addTo(&p.Hit, p.Limit)
		steps.addTo(&p.Refused, p.Limit)
	}
	return curve
}

// needCounts counts by need and group. The zero needCounts is empty.
type needCounts struct {
	small [][mostGroups]int64 // by need, below smallNeeds
	large map[needOf]int64
}

type needOf struct {
	need  int64
	group uint8
}

const smallNeeds = 512

func (c *needCounts) add(need int64, group uint8, n int64) {
	if need >= smallNeeds {
		if c.large == nil {
			c.large = map[needOf]int64{}
		}
		c.large[needOf{need, group}] += n
		return
	}
	if int(need) >= len(c.small) {
		c.small = append(c.small, make([][mostGroups]int64, int(need)+1-len(c.small))...)
	}
	c.small[need][group] += n
}

func (c *needCounts) join(other *needCounts) {
	for need := range other.small {
		for group, n := range other.small[need] {
			if n > 0 {
				c.add(int64(need), uint8(group), n)
			}
		}
	}
	for of, n := range other.large {
		c.add(of.need, of.group, n)
	}
}

// limits are the needs that occur, in any order.
func (c *needCounts) limits() (all []int64) {
	for need := range c.small {
		if c.small[need] != [mostGroups]int64{} {
			all = append(all, int64(need))
		}
	}
	for of := range c.large {
		all = append(all, of.need)
	}
	return all
}

// addTo adds the counts of a need.
func (c *needCounts) addTo(sum *[mostGroups]int64, need int64) {
	if need < smallNeeds {
		if int(need) < len(c.small) {
			for g, n := range c.small[need] {
				sum[g] += n
			}
		}
		return
	}
	for g := range sum {
		sum[g] += c.large[needOf{need, uint8(g)}]
	}
}
