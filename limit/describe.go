package limit

import "fmt"

// An Explainer is a Limiter that can say what it means, for reports.
type Explainer interface {
	// Semantics is one line, without the numbers of the limit repeated: what fills and empties it, how many it admits
	// at once, and whether a refused request counts.
	Semantics() string
}

// A Describer is an Explainer that a bucket comes close to.
type Describer interface {
	Explainer

	// Shape is the continuous bucket that comes closest to the limiter.
	Shape() Shape
}

// A Shape is a continuous bucket: AtOnce requests from a full one, refilled evenly with Count per Period. It is what
// most servers offer, so a report can say what to configure.
type Shape struct {
	Count  int64
	Period Time
	AtOnce int64
	Kin    bool   // whether the limiter is such a bucket, apart from what Unlike says
	Step   Time   // what refills comes together, or most of it, once in so long; 0: it comes evenly
	Unlike string // how the limiter differs; "" when not at all
	Span   Time   // in which the limiter never admits more than AtOnce, and a bucket does; 0: there is none
}

// Interval is the text of the time between two of count requests per period: "5s", or "1/3 of 10s".
func Interval(count int64, period Time) string {
	g := GCD(count, int64(period))
	if count, period = count/g, period/Time(g); count > 1 {
		return fmt.Sprintf("1/%d of %s", count, FormatPeriod(period))
	}
	return FormatPeriod(period)
}
