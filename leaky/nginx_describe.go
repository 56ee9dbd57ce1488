package leaky

import (
	"fmt"

	"shadow/limit"
)

// What a zone of limit_req tells of itself.
//
// A key whose excess is e and that then asks is a bucket in which e + 1000 thousandths of burst+1 requests are taken: the
// same bucket as a token bucket of burst+1, in coarser units.

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
	return fmt.Sprintf("limit_req of nginx: %d at once%s, then one every %s, in whole milliseconds; a refused request costs nothing",
		n.atOnce(), n.delays(), limit.Interval(n.rate, thousand*limit.Second))
}

// delays tells which of the requests at once are delayed.
func (n *Nginx) delays() string {
	if n.undelayed() == n.atOnce() {
		return ""
	}
	return fmt.Sprintf(" (those after the first %d delayed)", n.undelayed())
}

// Shape implements limit.Describer.
func (n *Nginx) Shape() limit.Shape {
	s := limit.Shape{Count: n.rate, Period: thousand * limit.Second, AtOnce: n.atOnce(), Kin: true}
	if d := n.delays(); d != "" {
		s.Unlike = "it delays requests after the first " + fmt.Sprint(n.undelayed())
	}
	return s
}
