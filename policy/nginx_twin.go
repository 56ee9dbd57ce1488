package policy

import (
	"fmt"
	"math"

	"shadow/limit"
)

// Which token buckets does nginx have itself? Those whose rate is near a whole number of requests per second or minute. Its
// own arithmetic then takes the place of ours: a limit of the preset nginx, which can be replayed, says what it does.

// nginxClose is how far the rate that nginx keeps may be off for a limit to count as the same one: 1r/m is kept as 16
// thousandths of a request per second, 4 % slower.
const nginxClose = 0.05

// A NginxTwin is what limit_req is to be told for a token bucket.
type NginxTwin struct {
	Rate      string // 6r/m
	Burst     int64  // on top of the first request; with it goes nodelay
	Deviation string
}

// NginxOf is the twin of a policy; false unless that is one token bucket that nginx has.
func NginxOf(p Policy) (twin NginxTwin, ok bool) {
	if len(p.Parts) != 1 {
		return twin, false
	}
	d, ok := p.Parts[0].Limiter.(limit.Describer)
	if !ok {
		return twin, false
	}
	s := d.Shape()
	if !s.Kin || s.Unlike != "" {
		return twin, false
	}
	g := limit.GCD(s.Count, int64(s.Period))
	count, period := s.Count/g, s.Period/limit.Time(g)
	rate := nearestRate(count, period)
	off := rate.deviation(count, period)
	if math.Abs(off) > nginxClose {
		return twin, false
	}
	return NginxTwin{
		Rate: fmt.Sprintf("%dr/%s", rate.number, rate.unit), Burst: s.AtOnce - 1,
		Deviation: join(rateText(rate, off), "counts in milliseconds"),
	}, true
}

// Limit is the twin as --limit takes it.
func (t NginxTwin) Limit() string {
	if t.Burst == 0 {
		return "nginx:" + t.Rate
	}
	return fmt.Sprintf("nginx:%s,burst=%d,nodelay", t.Rate, t.Burst)
}

// Setting is what limit_req_zone and limit_req are told: rate=6r/m burst=13 nodelay.
func (t NginxTwin) Setting() string {
	if t.Burst == 0 {
		return "rate=" + t.Rate
	}
	return fmt.Sprintf("rate=%s burst=%d nodelay", t.Rate, t.Burst)
}
