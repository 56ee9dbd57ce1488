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
	scale  int64 // seconds in the unit
}

// thousandths of a request per second, as nginx keeps the rate.
func (r nginxRate) thousandths() int64 { return r.number * 1000 / r.scale }

// deviation of the rate that nginx keeps from count per period: 0.01 is one percent faster.
func (r nginxRate) deviation(count int64, period limit.Time) float64 {
	return float64(r.thousandths())*float64(period)/(float64(count)*1e9) - 1
}

// nearestRate is the setting that deviates least, per second rather than per minute if both do as well.
func nearestRate(count int64, period limit.Time) nginxRate {
	best := nginxRate{1, 60}
	for _, r := range []nginxRate{{0, 60}, {0, 1}} {
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

// nginxFor returns the limit_req closest to the shape and what deviates, or the zero limit and the reason.
func nginxFor(s limit.Shape) (near limit.Spec, deviation string) {
	rate := nearestRate(s.Count, s.Period)
	off := rate.deviation(s.Count, s.Period)
	if math.Abs(off) > 0.5 {
		return near, "nginx offers whole requests per second or minute, and none comes near"
	}
	return NginxLimit(rate.number, limit.Time(rate.scale)*limit.Second, s.AtOnce-1), rateText(rate, off)
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

// NginxLimit is a limit_req of nginx that delays nothing; the burst comes on top of the first request.
func NginxLimit(count int64, period limit.Time, burst int64) limit.Spec {
	spec := limit.Spec{Algorithm: "nginx", Count: count, Period: period}
	if burst > 0 {
		spec.Options = fmt.Sprintf("burst=%d,nodelay", burst)
	}
	return spec
}
