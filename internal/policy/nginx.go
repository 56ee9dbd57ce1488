package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"shadow/limit"
)

// What limit_req of nginx offers: a rate in whole requests per second or minute, which it keeps as whole thousandths of
// a request per second, rounded down (10r/m is 166), and a burst that comes on top of the first request.
// Source: ngx_http_limit_req_module.c, ngx_http_limit_req_zone: ctx->rate = rate * 1000 / scale.

// nginxRate is one rate= setting.
type nginxRate struct {
	number int64
	unit   string // "s" or "m"
	scale  int64  // seconds in the unit
}

// thousandths of a request per second, as nginx keeps the rate.
func (r nginxRate) thousandths() int64 { return r.number * 1000 / r.scale }

func (r nginxRate) String() string { return fmt.Sprintf("rate=%dr/%s", r.number, r.unit) }

// deviation of the rate that nginx keeps from count per period: 0.01 is one percent faster.
func (r nginxRate) deviation(count int64, period limit.Time) float64 {
	return float64(r.thousandths())*float64(period)/(float64(count)*1e9) - 1
}

// nearestRate is the setting that deviates least, per second rather than per minute if both do as well.
func nearestRate(count int64, period limit.Time) nginxRate {
	best := nginxRate{1, "m", 60}
	for _, r := range []nginxRate{{0, "m", 60}, {0, "s", 1}} {
		exact := float64(count) * float64(r.scale) * 1e6 / float64(period)
		lower := int64(min(math.Floor(exact), 1e12))
		for r.number = max(1, lower); r.number <= lower+1; r.number++ {
			if math.Abs(r.deviation(count, period)) <= math.Abs(best.deviation(count, period)) {
				best = r
			}
		}
	}
	return best
}

// nginxConn returns the setting of limit_conn that is a limit on requests under way.
func nginxConn(spec limit.Spec) string {
	setting := fmt.Sprintf("limit_conn %d", spec.Count)
	if spec.Options != "" {
		return fmt.Sprintf("none (closest: %s; nginx has no queue)", setting)
	}
	return setting
}

// nginxFor returns the limit_req setting closest to the shape and what deviates, or no setting and the reason.
func nginxFor(s limit.Shape) (setting, deviation string) {
	rate := nearestRate(s.Count, s.Period)
	off := rate.deviation(s.Count, s.Period)
	if math.Abs(off) > 0.5 {
		return "", "nginx offers whole requests per second or minute, and none comes near"
	}
	setting = rate.String()
	if s.AtOnce > 1 {
		setting += fmt.Sprintf(" burst=%d nodelay", s.AtOnce-1)
	}
	return setting, rateText(rate, off)
}

// rateText returns how far a rate is off, if that is noticeable.
func rateText(rate nginxRate, off float64) string {
	text := offText(off)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("nginx keeps %.3f requests per second, %s", float64(rate.thousandths())/1000, text)
}

// join puts the parts that say something side by side.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// A NginxTwin is a limit_req of nginx, as a limit.
type NginxTwin struct {
	Rate  string // 6r/m
	Burst int64  // on top of the first request; with it goes nodelay
}

// Limit is the twin as --limit takes it.
func (t NginxTwin) Limit() string {
	if t.Burst == 0 {
		return "nginx:" + t.Rate
	}
	return fmt.Sprintf("nginx:%s,burst=%d,nodelay", t.Rate, t.Burst)
}
