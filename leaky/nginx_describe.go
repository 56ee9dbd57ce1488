package leaky

import (
	"fmt"

	"shadow/limit"
)

// What a zone of limit_req tells of itself.
//
// It is a bucket of burst+1 requests in coarse units: where the last request left the excess e, there are e + 1000
// thousandths of a request in it, which sink at the rate.

// Level implements limit.Leveler: how many of burst+1 requests are taken.
func (n *Nginx) Level(s *limit.State, t limit.Time) float64 {
	excess, last := begin(s, t)
	return float64(n.after(excess, n.elapsed(last, milliseconds(t)))) / thousand
}

// atOnce is how many requests of a new key are admitted at once.
func (n *Nginx) atOnce() int64 { return n.burst/thousand + 1 }

// undelayed is how many of them are passed on without delay.
func (n *Nginx) undelayed() int64 { return min(n.delay/thousand, n.burst/thousand) + 1 }

// Semantics implements limit.Describer.
func (n *Nginx) Semantics() string {
	return fmt.Sprintf("limit_req of nginx: %d at once%s, then %d.%03d a second, in whole milliseconds; a refused request costs nothing",
		n.atOnce(), n.delays(), n.rate/thousand, n.rate%thousand)
}

// delays returns which of the requests at once are delayed.
func (n *Nginx) delays() string {
	if n.undelayed() == n.atOnce() {
		return ""
	}
	return fmt.Sprintf(" (those after the first %d delayed)", n.undelayed())
}

// Shape implements limit.Describer.
func (n *Nginx) Shape() limit.Shape {
	s := limit.Shape{Count: n.rate, Period: thousand * limit.Second, AtOnce: n.atOnce(), Kin: true, Unlike: "it counts finer than nginx, which counts in milliseconds"}
	if d := n.delays(); d != "" {
		s.Unlike = fmt.Sprintf("nginx delays requests after the first %d, and counts in milliseconds", n.undelayed())
	}
	return s
}
