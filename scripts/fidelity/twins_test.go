package main

import (
	"slices"
	"testing"

	"shadow/limit"
)

// A twin stands in for code that cannot be had: what is published of it, written down as slowly and plainly as can be.
// It shares nothing with the limiter that it is held against. Where not enough is published there are several, one for
// each thing that it may do.
type twin struct {
	row
	judges []func(at []limit.Time) []bool
}

var twins = []twin{
	{
		row{
			"envoy-timer-10-1s", "Envoy 1.30, local rate limit", "a twin, by its source",
			"tokens_per_fill: 10, fill_interval: 1s, max_tokens: 20", "envoy-local:10/s,burst=20", "",
		},
		one(timer(10, limit.Second, 20)),
	},
	{
		row{
			"kong-advanced-60-1m", "Kong, rate-limiting-advanced", "a twin, by its documentation",
			"limit: 60, window_size: 60, window_type: sliding", "kong:60/m,window=sliding", "",
		},
		one(sliding(60, limit.Minute, 0, 0, true)),
	},
	{
		row{
			"cloudflare-20-10s", "Cloudflare, rate limiting rules", "32 twins, by its documentation",
			"requests_per_period: 20, period: 10", "cloudflare~:20/10s", "",
		},
		cloudflare(20, 10*limit.Second),
	},
	{
		row{
			"aws-30-1m", "AWS WAF, rate-based rules", "18 twins, by its documentation",
			"Limit: 30, EvaluationWindowSec: 60", "aws~:30/1m", "",
		},
		aws(30, limit.Minute),
	},
	{
		row{
			"aws-api-gateway-10-1s", "AWS API Gateway", "4 twins, by its documentation",
			"rateLimit: 10, burstLimit: 20", "aws-api-gateway:10/s,burst=20", "",
		},
		buckets(10, limit.Second, 20),
	},
	{
		row{
			"azure-classic-20-10s", "Azure API Management", "4 twins, by its documentation",
			`rate-limit-by-key calls="20" renewal-period="10"`, "azure-api-management:20/10s", "",
		},
		azure(20, 10*limit.Second),
	},
	{
		row{
			"azure-v2-20-10s", "Azure API Management", "4 twins, by its documentation",
			`rate-limit-by-key calls="20" renewal-period="10"`, "azure-api-management:20/10s,tier=v2", "",
		},
		buckets(20, 10*limit.Second, 20),
	},
	{
		row{
			"cloud-armor-20-10s", "Google Cloud Armor", "8 twins, by its documentation",
			"count: 20, intervalSec: 10", "cloud-armor:20/10s", "",
		},
		cloudArmor(20, 10*limit.Second, 0),
	},
	{
		row{
			"cloud-armor-20-10s-ban", "Google Cloud Armor", "8 twins, by its documentation",
			"count: 20, intervalSec: 10, banDurationSec: 60", "cloud-armor:20/10s,ban=1m", "",
		},
		cloudArmor(20, 10*limit.Second, limit.Minute),
	},
	{
		row{
			"fastly-100-10s", "Fastly", "8 twins, by its documentation",
			"window 10, limit 10, ttl 2m", "fastly:100/10s,penalty=2m", "",
		},
		fastly(100, 10*limit.Second, 2*limit.Minute),
	},
	{
		row{
			"aspnet-fixed-6-30s", "ASP.NET Core", "4 twins, by its source",
			"PermitLimit: 6, Window: 30s", "aspnet-core:6/30s", "",
		},
		aspnet(fixedWindow, 6, 30*limit.Second, 1),
	},
	{
		row{
			"aspnet-sliding-20-10s", "ASP.NET Core", "4 twins, by its source",
			"PermitLimit: 20, Window: 10s, SegmentsPerWindow: 5", "aspnet-core:20/10s,limiter=sliding,segments=5", "",
		},
		aspnet(slidingWindow, 20, 10*limit.Second, 5),
	},
	{
		row{
			"aspnet-token-10-1s", "ASP.NET Core", "4 twins, by its source",
			"TokenLimit: 20, TokensPerPeriod: 10, ReplenishmentPeriod: 1s", "aspnet-core:10/s,limiter=token,burst=20", "",
		},
		aspnet(tokenBucket, 20, 100*limit.Millisecond, 1),
	},
}

func one(judge func([]limit.Time) []bool) []func([]limit.Time) []bool {
	return []func([]limit.Time) []bool{judge}
}

// timer is Envoy's onFillTimer: it adds tokens whenever it fires, here on the seconds of the clock.
func timer(fill int, every limit.Time, most int) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		tokens, next := most, start
		for _, t := range at {
			for ; next <= t; next += every {
				tokens = min(most, tokens+fill)
			}
			admitted = append(admitted, tokens > 0)
			tokens = max(0, tokens-1)
		}
		return admitted
	}
}

// between counts the times, in ascending order, from one moment on and before another.
func between(times []limit.Time, from, before limit.Time) int {
	i, _ := slices.BinarySearch(times, from)
	j, _ := slices.BinarySearch(times, before)
	return max(0, j-i)
}

// sliding adds up the requests of this window and the share of the window before that lies in the last one's length.
// Windows begin at a phase, and the counters miss what came in the time that they are late.
func sliding(most int64, window, phase, late limit.Time, all bool) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		var counted []limit.Time
		for _, t := range at {
			begin := t - (t-phase)%window
			known := t - late
			if late == 0 {
				known++ // those of this moment that came before
			}
			before := int64(between(counted, begin-window, min(begin, known)))
			now := int64(between(counted, begin, known))
			rest := int64(begin + window - t)
			ok := before*rest+(now+1)*int64(window) <= most*int64(window)
			admitted = append(admitted, ok)
			if ok || all {
				counted = append(counted, t)
			}
		}
		return admitted
	}
}

// cloudflare returns a judge for each case that its documentation leaves open: when periods begin, whether refused
// requests count, and how many seconds counters are late.
func cloudflare(most int64, period limit.Time) (all []func([]limit.Time) []bool) {
	for quarter := range limit.Time(4) {
		for late := range limit.Time(4) {
			for _, refused := range []bool{false, true} {
				all = append(all, sliding(most, period, quarter*period/4, late*limit.Second, refused))
			}
		}
	}
	return all
}

// checked refuses while the check in force has found more than there may be.
func checked(most int, window, every, phase, delay limit.Time) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		for _, t := range at {
			check := t - delay
			check -= (check - phase) % every
			admitted = append(admitted, between(at, check-window, check) <= most)
		}
		return admitted
	}
}

// aws returns a judge for each case that its documents leave open: when and how often it checks, and when a finding is
// in force.
func aws(most int, window limit.Time) (all []func([]limit.Time) []bool) {
	for _, every := range []limit.Time{10, 20, 30} {
		for _, phase := range []limit.Time{0, 5} {
			for _, delay := range []limit.Time{0, 10, 20} {
				all = append(all, checked(most, window, every*limit.Second, phase*limit.Second, delay*limit.Second))
			}
		}
	}
	return all
}

// even is a bucket that fills evenly: a whole token is there each so often.
func even(every limit.Time, most int) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		full, last := limit.Time(most)*every, limit.Time(0)
		has := full
		for _, t := range at {
			has = min(full, has+t-last)
			last = t
			ok := has >= every
			if ok {
				has -= every
			}
			admitted = append(admitted, ok)
		}
		return admitted
	}
}

// buckets returns token buckets that fill evenly, or at once after each period, a tenth of it, or the time of a token.
func buckets(fill int, period limit.Time, most int) []func([]limit.Time) []bool {
	each := period / limit.Time(fill)
	return []func([]limit.Time) []bool{
		even(each, most), timer(fill, period, most), timer(max(1, fill/10), max(each, period/10), most), timer(1, each, most),
	}
}

// rolling counts what came in the last window, the present moment included.
func rolling(most int, window limit.Time, all bool) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		var counted []limit.Time
		for _, t := range at {
			ok := between(counted, t-window+1, t+1) < most
			admitted = append(admitted, ok)
			if ok || all {
				counted = append(counted, t)
			}
		}
		return admitted
	}
}

// azure returns sliding windows, which its documentation promises: exact or from two counters, with or without what was
// refused.
func azure(most int, window limit.Time) []func([]limit.Time) []bool {
	return []func([]limit.Time) []bool{
		rolling(most, window, false), rolling(most, window, true),
		sliding(int64(most), window, 0, 0, false), sliding(int64(most), window, 0, 0, true),
	}
}

// periods counts in windows that begin at a phase, or if it is negative with a request.
func periods(most int, window, phase limit.Time) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		begin, count := limit.Time(0), 0
		for _, t := range at {
			switch {
			case phase >= 0 && begin != t-(t-phase)%window:
				begin, count = t-(t-phase)%window, 0
			case phase < 0 && t >= begin+window:
				begin, count = t, 0
			}
			count++
			admitted = append(admitted, count <= most)
		}
		return admitted
	}
}

// banned keeps all out for a while from the first refusal on. The judge sees what is kept out, too.
func banned(judge func([]limit.Time) []bool, ban func(limit.Time) limit.Time) func([]limit.Time) []bool {
	return func(at []limit.Time) []bool {
		admitted, until := judge(at), limit.Time(0)
		for i, t := range at {
			if t < until {
				admitted[i] = false
			} else if !admitted[i] {
				until = ban(t)
			}
		}
		return admitted
	}
}

// cloudArmor returns a judge for each way to count in an interval that its documentation leaves open.
func cloudArmor(most int, interval, ban limit.Time) (all []func([]limit.Time) []bool) {
	all = append(azure(most, interval), periods(most, interval, -1))
	for phase := range limit.Time(3) {
		all = append(all, periods(most, interval, phase*interval/3))
	}
	for i, judge := range all {
		all[i] = banned(judge, func(t limit.Time) limit.Time { return t + ban })
	}
	return all
}

// fastly returns judges whose buckets begin on a whole second or not, which count a tenth too little or not, and whose
// penalties end on a whole minute or not.
func fastly(most int, window, penalty limit.Time) (all []func([]limit.Time) []bool) {
	seconds := func(judge func([]limit.Time) []bool) func([]limit.Time) []bool {
		return func(at []limit.Time) []bool {
			whole := make([]limit.Time, len(at))
			for i, t := range at {
				whole[i] = t - t%limit.Second
			}
			return judge(whole)
		}
	}
	for _, n := range []int{most, most * 10 / 9} {
		for _, judge := range []func([]limit.Time) []bool{rolling(n, window, true), seconds(rolling(n, window, true))} {
			all = append(all, banned(judge, func(t limit.Time) limit.Time { return t + penalty }),
				banned(judge, func(t limit.Time) limit.Time {
					return (t + penalty + limit.Minute - 1) / limit.Minute * limit.Minute
				}))
		}
	}
	return all
}

// A replenish gives permits back at a heartbeat, if it is time.
type replenish func(p *partition, now limit.Time, most int, period limit.Time)

// A partition is the limiter of one client in ASP.NET Core.
type partition struct {
	permits  float64
	last     limit.Time // when it was replenished
	idle     limit.Time // since when all permits are there; 0 while some are not
	segments []int      // admitted in each, the present one last
}

func fixedWindow(p *partition, now limit.Time, most int, period limit.Time) {
	if now-p.last >= period {
		p.last, p.permits = now, float64(most)
	}
}

func slidingWindow(p *partition, now limit.Time, _ int, period limit.Time) {
	if segment := period / limit.Time(len(p.segments)); now-p.last >= segment {
		p.last = now
		p.permits += float64(p.segments[0])
		p.segments = append(p.segments[1:], 0)
	}
}

// tokenBucket leaves the moment alone while the bucket is full, so that it later gives what came meanwhile.
func tokenBucket(p *partition, now limit.Time, most int, period limit.Time) {
	if p.permits < float64(most) {
		p.permits = min(float64(most), p.permits+float64(now-p.last)/float64(period))
		p.last = now
	}
}

// aspnet returns partitions of a PartitionedRateLimiter, whose timer replenishes all each 100 ms, at four phases. It
// drops one that had all its permits for more than 10 s.
func aspnet(give replenish, most int, period limit.Time, segments int) (all []func([]limit.Time) []bool) {
	const beat = 100 * limit.Millisecond
	for phase := range limit.Time(4) {
		all = append(all, func(at []limit.Time) (admitted []bool) {
			var p *partition
			next := start + phase*beat/4 + 7
			for _, t := range at {
				for ; next <= t; next += beat {
					switch {
					case p == nil:
					case p.idle > 0 && next-p.idle > 10*limit.Second:
						p = nil
					default:
						before := p.permits
						give(p, next, most, period)
						if p.permits == float64(most) && before < p.permits {
							p.idle = next
						}
					}
				}
				if p == nil {
					p = &partition{permits: float64(most), last: t, idle: t, segments: make([]int, segments)}
				}
				ok := p.permits >= 1
				if ok {
					p.permits--
					p.idle = 0
					p.segments[segments-1]++
				}
				admitted = append(admitted, ok)
			}
			return admitted
		})
	}
	return all
}

// percent says how far the limit agrees with its twin; with several, with the one that it agrees with least, and most.
func (w twin) percent(t *testing.T, all []request) string {
	t.Helper()
	var least, most agreement
	for i, judge := range w.judges {
		admitted := make([]bool, len(all))
		for _, of := range byClient(all) {
			for j, is := range judge(times(all, of)) {
				admitted[of[j]] = is
			}
		}
		a, err := compare(all, w.limit, admitted)
		if err != nil {
			t.Fatal(err)
		}
		if a.refused < 25_000 || a.refused > 190_000 {
			t.Errorf("%s: %d of %d refused proves little", w.name, a.refused, a.requests)
		}
		if i == 0 || a.equal < least.equal {
			least = a
		}
		if i == 0 || a.equal > most.equal {
			most = a
		}
	}
	if len(w.judges) == 1 {
		return least.percent()
	}
	return least.percent() + " to " + most.percent()
}

// Limits whose real code cannot be run are held against their twins.
func TestTwinsOfLibraries(t *testing.T) {
	all := schedule()
	for _, w := range twins {
		t.Run(w.name, func(t *testing.T) {
			t.Logf("%s: %s %%", w.limit, w.percent(t, all))
		})
	}
}
