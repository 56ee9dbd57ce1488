package ingest

import (
	"shadow/limit"
	"shadow/logfile"
	"shadow/parse"
	"shadow/traffic"
)

// wholeSecond is the slack of stamps in whole seconds.
const wholeSecond = limit.Second - limit.Microsecond

// coarseness is that of some inputs. Where some are stamped in whole seconds and others are not, it is that of those
// that are.
func coarseness(feeds []*feed) (c traffic.Coarseness) {
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
		line, sample = logfile.CutLine(sample)
		if parser.Parse(line, &record).OK() && record.Stamp%limit.Second != 0 {
			return false
		}
	}
	return true
}
