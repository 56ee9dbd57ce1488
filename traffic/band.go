package traffic

import (
	"shadow/limit"
	"shadow/parse"
)

// A log in whole seconds does not tell when in its second a request came. What limiters make of that is in package
// limit, see limit.Bounds; here is how coarse the stamps of a run are.

// Coarseness says how far the stamps of a run may lie from the moments when requests came. The zero value is of
// stamps that tell those moments.
type Coarseness struct {
	Slack limit.Time // by how much a request may have come later than its time

	// Ends is set when stamps may be those of the ends of requests, and no input tells how long requests took. A
	// limit that kept requests waiting when the log was written has moved their stamps by up to its longest delay.
	Ends bool
}

// wholeSecond is the slack of stamps in whole seconds.
const wholeSecond = limit.Second - limit.Microsecond

// coarseness is that of some inputs. Where some are stamped in whole seconds and others are not, it is that of those
// that are.
func coarseness(feeds []*feed) (c Coarseness) {
	for _, f := range feeds {
		if f.whole {
			c.Slack = wholeSecond
			c.Ends = c.Ends || !f.has(parse.FieldRequestTime)
		}
	}
	return c
}

// wholeSeconds reports whether no stamp at the beginning of an input has a fraction of a second. In an input that has
// some, a stamp without one is no whole second but a fraction of zero.
func wholeSeconds(sample []byte, parser parse.Parser) bool {
	var record parse.Record
	for len(sample) > 0 {
		var line []byte
		line, sample = cutLine(sample)
		if parser.Parse(line, &record).OK() && record.Stamp%limit.Second != 0 {
			return false
		}
	}
	return true
}
