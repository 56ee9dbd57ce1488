package suggest

import (
	"math"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/servers"
	"shadow/internal/sweep"
	"shadow/limit"
)

// A Market offers the limits to choose from: this program, which has limits of all kinds and numbers, or a server,
// which has those of its own grid in its own arithmetic.
type Market struct {
	Server   *servers.Server // nil: any limit
	families []family
}

// MarketOf is the market of a server, with its families of some shapes.
func MarketOf(s *servers.Server, wanted func(sweep.Shape) bool) Market {
	m := Market{Server: s}
	for _, f := range s.Families() {
		if shape := shapeOf(f); wanted(shape) {
			of := family{shape: shape, own: &f}
			if bucket, ok := f.Bucket(1); ok {
				of.bucket = &bucket
			}
			m.families = append(m.families, of)
		}
	}
	return m
}

// Shapes returns the shapes of the curves that tell where to look for the market's limits.
func (m *Market) Shapes() (shapes []sweep.Shape) {
	return mapped.Of(m.families, func(f family) sweep.Shape { return f.shape })
}

// shapeOf is the shape whose curve is nearest to a server's limits.
func shapeOf(f servers.Family) sweep.Shape {
	kind, err := sweep.ParseKind(f.Kind.String())
	if err != nil {
		panic(err) // the kinds of both packages have the same names
	}
	if kind == sweep.Token {
		return sweep.Shape{Kind: kind, Rate: sweep.Rate{Count: f.Count, Per: f.Per}}
	}
	return sweep.Shape{Kind: kind, Per: f.Per}
}

// A family is limits that differ in their size only.
type family struct {
	shape sweep.Shape
	own   *servers.Family // nil: limits of the shape itself; its curve tells all of them

	bucket *limit.Shape // that limits of the server are; nil: none that is filled evenly
}

// text is the limit of a size as replay takes it; false if the server has none.
func (f *family) text(n int64) (string, bool) {
	if f.own != nil {
		return f.own.Limit(n)
	}
	return f.shape.Limit(n), true
}

// mostNeeded is the most that a client can need of a family when the curve says that it needs n: what it needs itself,
// unless it is of a server. A bucket that is filled evenly may round its rate down, and what came back since the request
// before to a thousandth of one (nginx). A window that begins at other moments than the curve's, or that is estimated
// from two, sees no more than two of these do, and another bucket may be filled once per period. But it never needs
// more than it sends.
func (f *family) mostNeeded(n, requests int64) int64 {
	if f.own == nil {
		return n
	}
	if b := f.bucket; b != nil {
		slower := ceilProduct(requests*f.own.Count, int64(b.Period), b.Count*int64(f.own.Per)) - requests
		return min(requests, n+max(0, slower)+requests/1000+3)
	}
	return min(requests, 2*n+f.own.Count+requests/16+3)
}

// scaled is the limit for clients that send so many times as much; false if its numbers do not fit. A server's rate is
// rounded up to a whole number.
func (f *family) scaled(by Scale, n int64) (string, bool) {
	if by.One() {
		return f.text(n)
	}
	scaled := *f
	if f.shape.Kind == sweep.Token {
		count, per, ok := by.times(f.shape.Rate.Count, f.shape.Rate.Per)
		if !ok {
			return "", false
		}
		scaled.shape.Rate = sweep.Rate{Count: count, Per: per}
		if f.own != nil {
			own := *f.own
			own.Count = by.Up(own.Count)
			scaled.own = &own
		}
	}
	return scaled.text(scaled.plain(by.Up(n)))
}

// near are the sizes among which a server's own limit lies when the curve's is n, and looser ones, at which it may stop as
// much and hit fewer. Where the curve allows for coarse stamps, which a replay does not, no smaller one will do.
func near(n int64, banded bool) (sizes []int64) {
	from := n
	if !banded {
		from = max(1, n-2)
	}
	for size := from; size <= n+3; size++ {
		sizes = append(sizes, size)
	}
	return append(sizes, loosened(n+3)...)
}

// loosened are limits far above n.
func loosened(n int64) (sizes []int64) {
	for _, percent := range []int64{125, 150, 200, 300, 500, 1000} {
		if n <= math.MaxInt64/1000 {
			sizes = append(sizes, limit.CeilDiv(n*percent, 100))
		}
	}
	return slices.Compact(sizes)
}
