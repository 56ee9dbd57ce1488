package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
)

// The search goes from coarse to fine. For each rate, and each period of each kind of window, one pass finds the size
// (see needs). The best are written as limits of every algorithm that has such, in numbers that people write, and judged
// exactly.

// An Options says how to search.
type Options struct {
	Delays bool   // the verdicts tell which requests were kept waiting
	Whole  bool   // stamps are whole seconds, see Requests.Spread
	Prefer string // the algorithm that is meant where others explain as much; "": the simplest
}

const (
	mostSampled  = 60_000 // requests that the search goes by
	mostScanned  = 12_000 // of those, that it begins with
	explained    = 100    // one in so many requests may contradict a rate in usual numbers before others are tried
	mostExplored = 48     // limits that are judged on all requests
)

// A rate is a number of requests per length of time as a limit has it.
type rate struct {
	n         int64
	per       limit.Time
	perSecond float64 // as the limiter keeps it
	nginx     bool
	size
}

// ratePeriods are the lengths by which rates are written, the usual ones first.
var ratePeriods = []limit.Time{
	limit.Second, limit.Minute, limit.Hour, limit.Day, 10 * limit.Second, 30 * limit.Second, 5 * limit.Minute, 15 * limit.Minute,
	10 * limit.Minute, 2 * limit.Second, 5 * limit.Second, 20 * limit.Second, 2 * limit.Minute, 30 * limit.Minute,
}

const usualPeriods = 4

// windowPeriods are those of windows.
var windowPeriods = func() (all []limit.Time) {
	for _, n := range []limit.Time{100, 200, 250, 500, 1500, 2500} {
		all = append(all, n*limit.Millisecond)
	}
	for _, n := range []limit.Time{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 45, 50} {
		all = append(all, n*limit.Second)
	}
	for _, n := range []limit.Time{60, 75, 90, 120, 150, 180, 240, 300, 360, 420, 480, 600, 720, 900, 1200, 1500, 1800, 2700} {
		all = append(all, n*limit.Second)
	}
	for _, n := range []limit.Time{1, 2, 3, 4, 6, 8, 12, 24} {
		all = append(all, n*limit.Hour)
	}
	return all
}()

// A windowKind is a kind of windows: its limits by how they are written, and whether it counts in whole requests.
type windowKind struct {
	algorithm, options string
	down               bool
}

var windowKinds = []windowKind{
	{"window", "", false},
	{"window", "charge=all", false},
	{"fixed", "", false},
	{"fixed", "align=first", false},
	{"counter", "", false},
	{"counter", "charge=all", false},
	{"counter", "round=nearest", false},
	{"symfony-sliding", "", false},
	{"token", "refill=interval", false},
	{"haproxy", "", true},
	{"haproxy", "charge=admitted", true},
	{"aws~", "", true},
}

func (k windowKind) spec(n int64, per limit.Time) limit.Spec {
	return limit.Spec{Algorithm: k.algorithm, Count: n, Period: per, Options: k.options}
}

// boundless is the size of a window that refuses nobody: as many as one may have.
const boundless = limit.MaxRing

// A search finds limits.
type search struct {
	Options
	all   []timeline
	few   []timeline
	span  limit.Time
	wrong map[string]int64 // by limit, of those judged exactly
}

// candidates are the limits that explain a sample of the requests best, the best first.
func candidates(all []timeline, o Options) []string {
	s := &search{Options: o, all: sampled(all, mostSampled), few: sampled(all, mostScanned), wrong: map[string]int64{}}
	first, last := limit.Time(math.MaxInt64), limit.Time(math.MinInt64)
	for _, t := range s.all {
		first, last = min(first, t.at[0]), max(last, t.at[len(t.at)-1])
	}
	s.span = max(last-first, limit.Second)
	rates := s.rates()
	s.buckets(rates)
	s.windows()
	s.polish()
	if best := s.ranked(); !o.Whole && len(best) > 0 && s.wrong[best[0]] > s.requests()/explained {
		single := s.wrong[best[0]]
		s.pairs()
		maps.DeleteFunc(s.wrong, func(text string, wrong int64) bool { return strings.Contains(text, "+") && betterBy*wrong > single })
	}
	return s.picked(s.ranked())
}

func (s *search) requests() (n int64) {
	for i := range s.all {
		n += int64(len(s.all[i].at))
	}
	return n
}

// rates are those of buckets that are contradicted least: of numbers that people write, which all are tried, and of those
// near the best rate of all.
func (s *search) rates() (kept []rate) {
	const odd = 6
	scanned, each := 6, 2 // of each period
	if s.Whole {
		scanned, each = 20, 6
	}
	least, most := 0.5/seconds(s.span), 5000.0
	all := sized(simpleRates(least, most), s.few)
	if len(all) == 0 {
		return nil
	}
	all = sized(ofEach(all, scanned), s.all)
	kept = ofEach(all, each)
	if s.Whole || all[0].wrong <= s.requests()/explained {
		return kept // whole seconds are too coarse for numbers that nobody writes
	}
	try := func(perSecond float64) int64 { n := bucketNeeds(s.few, perSecond); return n.best().wrong }
	best, wrong := all[0].perSecond, try(all[0].perSecond)
	for r := least; r < most; r *= 1.03 {
		if got := try(r); got < wrong {
			best, wrong = r, got
		}
	}
	for step := 0.02; step > 0.0005; step /= 2 {
		for _, r := range []float64{best * (1 - step), best * (1 + step)} {
			if got := try(r); got < wrong {
				best, wrong = r, got
			}
		}
	}
	near := sized(ratesNear(best, 0.02), s.all)
	return append(kept, near[:min(odd, len(near))]...)
}

// sized finds the size for each rate. The best come first.
func sized(all []rate, by []timeline) []rate {
	for i := range all {
		n := bucketNeeds(by, all[i].perSecond)
		all[i].size = n.best()
	}
	slices.SortStableFunc(all, func(x, y rate) int { return cmp.Compare(x.wrong, y.wrong) })
	return all
}

// ofEach are the first so many rates of each period. A rate by the day is near any other, so it would crowd those out.
func ofEach(all []rate, n int) (some []rate) {
	of := map[limit.Time]int{}
	for _, r := range all {
		if of[r.per]++; of[r.per] <= n {
			some = append(some, r)
		}
	}
	return some
}

// rateList collects rates, each once: the first way in which it is written.
type rateList struct {
	all         []rate
	seen        map[float64]bool
	least, most float64
}

func (l *rateList) add(n int64, per limit.Time) {
	list := func(r rate) {
		if r.perSecond >= l.least && r.perSecond <= l.most && !l.seen[r.perSecond] {
			l.seen[r.perSecond] = true
			l.all = append(l.all, r)
		}
	}
	if n < 1 {
		return
	}
	list(rate{n: n, per: per, perSecond: float64(n) / seconds(per)})
	if per == limit.Second || per == limit.Minute { // as nginx keeps it
		list(rate{n: n, per: per, perSecond: float64(n*1000/int64(per/limit.Second)) / 1000, nginx: true})
	}
}

// simpleRates are those with few digits.
func simpleRates(least, most float64) []rate {
	l := &rateList{seen: map[float64]bool{}, least: least, most: most}
	for i, per := range ratePeriods {
		upTo := int64(30)
		if i < usualPeriods {
			upTo = 120
		}
		for n := int64(1); n <= upTo; n++ {
			l.add(n, per)
		}
		if i >= usualPeriods {
			continue
		}
		for _, tens := range []int64{10, 100, 1000} {
			for n := int64(10); n < 100; n++ {
				l.add(n*tens, per)
			}
		}
	}
	return l.all
}

// ratesNear are the rates that lie near one.
func ratesNear(perSecond, near float64) []rate {
	l := &rateList{seen: map[float64]bool{}, least: perSecond * (1 - near), most: perSecond * (1 + near)}
	const each = 3 // numbers above and below
	for _, per := range ratePeriods {
		middle := int64(perSecond * seconds(per))
		for n := middle - each; n <= middle+each+1; n++ {
			l.add(n, per)
		}
	}
	return l.all
}

// buckets judges the buckets of some rates.
func (s *search) buckets(rates []rate) {
	for _, r := range rates {
		for _, hold := range r.sizes() {
			for _, spec := range s.bucketsOf(r, hold) {
				s.try(spec)
			}
		}
	}
}

// sizes are those to try: all that explain as much, where they are few.
func (s size) sizes() (all []int64) {
	const few = 4
	if s.high-s.low <= few {
		for n := s.low; n <= s.high; n++ {
			all = append(all, n)
		}
		return all
	}
	return []int64{s.low, s.low + 1, (s.low + s.high) / 2, s.high - 1, s.high}
}

// bucketsOf are the limits that are buckets of a rate and a size.
func (s *search) bucketsOf(r rate, hold int64) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	per := limit.FormatPeriod(r.per)
	if r.per == limit.Second || r.per == limit.Minute {
		n := fmt.Sprintf("nginx:%dr/%s", r.n, per[len(per)-1:])
		if hold > 1 {
			n += fmt.Sprintf(",burst=%d", hold-1)
		}
		add("%s", n)
		if hold > 1 {
			add("%s,nodelay", n)
			if s.Delays {
				need := delayNeeds(s.all, r.perSecond)
				for delay := need.best().low - 2; delay <= need.best().low; delay++ {
					if delay > 0 && delay < hold-1 {
						add("%s,delay=%d", n, delay)
					}
				}
			}
		}
	}
	if r.nginx {
		return all
	}
	// A rate of 12/m is written 6/30s where 6 is what the bucket holds.
	if whole := hold * int64(r.per); whole%r.n == 0 && usual(limit.Time(whole/r.n)) {
		add("token:%d/%s", hold, limit.FormatPeriod(limit.Time(whole/r.n)))
	} else {
		add("token:%d/%s,burst=%d", r.n, per, hold)
	}
	add("gcra:%d/%s,burst=%d", r.n, per, hold-1)
	add("traefik:%d/%s,burst=%d", r.n, per, hold)
	add("envoy-local:%d/%s,burst=%d", r.n, per, hold)
	if whole := hold * int64(r.per); whole%r.n == 0 {
		add("leaky:%d/%s", hold, limit.FormatPeriod(limit.Time(whole/r.n)))
	}
	return all
}

// seconds is a length in seconds.
func seconds(t limit.Time) float64 { return float64(t) / float64(limit.Second) }

// usual reports whether people would write a rate by a period.
func usual(per limit.Time) bool { return slices.Contains(ratePeriods, per) }

// windows judges the windows that are contradicted least, of each kind those of the best periods.
func (s *search) windows() {
	const scanned, kept = 6, 3
	for _, kind := range windowKinds {
		type found struct {
			per limit.Time
			size
		}
		var all []found
		try := func(per limit.Time, by []timeline) (f found, ok bool) {
			l, err := kind.limiter(boundless, per)
			if err != nil {
				return f, false
			}
			n := windowNeeds(by, l, kind.down)
			f = found{per, n.best()}
			all = append(all, f)
			return f, true
		}
		rank := func(all []found) {
			slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(x.wrong, y.wrong) })
		}
		for _, per := range windowPeriods {
			if per > 2*s.span && per > limit.Minute {
				break
			}
			if !s.Whole || per%limit.Second == 0 {
				try(per, s.few)
			}
		}
		rank(all)
		likely := all[:min(scanned, len(all))]
		if all = nil; len(likely) == 0 {
			continue
		}
		for _, f := range likely {
			try(f.per, s.all)
		}
		rank(all)
		best := all[0]
		for step := 0.1; !s.Whole && step > 0.002 && best.wrong > s.requests()/500; step /= 3 {
			for _, factor := range []float64{1 - step, 1 + step} {
				per := limit.Time(float64(best.per)*factor) / limit.Millisecond * limit.Millisecond
				if f, ok := try(per, s.all); ok && f.wrong < best.wrong {
					best = f
				}
			}
		}
		rank(all)
		for _, f := range all[:min(kept, len(all))] {
			for _, n := range f.sizes() {
				s.try(kind.spec(n, f.per).String())
			}
		}
	}
}

func (k windowKind) limiter(n int64, per limit.Time) (limit.Limiter, error) {
	p, err := policy.New(k.spec(n, per), request.ByClient)
	if err != nil {
		return nil, err
	}
	return p.Parts[0].Limiter, nil
}

// try judges a limit, unless it has been or there is no such.
func (s *search) try(text string) {
	if _, known := s.wrong[text]; known {
		return
	}
	if j, err := newJudge(text, s.Delays); err == nil {
		s.wrong[text] = fit(s.all, j, s.Delays).Wrong
	}
}

// ranked are the limits judged so far, the best first.
func (s *search) ranked() []string {
	all := make([]string, 0, len(s.wrong))
	for text := range s.wrong {
		all = append(all, text)
	}
	slices.SortFunc(all, func(x, y string) int {
		return cmp.Or(cmp.Compare(s.wrong[x], s.wrong[y]), s.likelier(x, y))
	})
	return all
}

// likelier orders limits that explain as much: by algorithm, then by how usual their numbers are.
func (s *search) likelier(x, y string) int {
	return cmp.Or(cmp.Compare(s.order(x), s.order(y)), cmp.Compare(odd(x), odd(y)), cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}

// odd is how unusual the numbers of a limit are: the digits of its count, and how rare its period is.
func odd(text string) int {
	spec, err := limit.Parse(text)
	if err != nil {
		return 0
	}
	rare := slices.Index(ratePeriods, spec.Period)
	if rare < 0 {
		rare = len(ratePeriods)
	}
	return rare + 4*len(strings.TrimRight(strconv.FormatInt(spec.Count, 10), "0"))
}

// order is the place of a limit's algorithm among others that explain as much.
func (s *search) order(text string) int {
	name, _ := limit.CutAlgorithm(text)
	if name == s.Prefer {
		return -1
	}
	return slices.IndexFunc(policy.Algorithms, func(a policy.Algorithm) bool { return a.Name == name })
}

// polish tries what lies beside the best limits of each algorithm.
func (s *search) polish() {
	const kept, rounds = 2, 6
	for range rounds {
		before := len(s.wrong)
		of := map[string]int{}
		for _, text := range s.ranked() {
			name, _ := limit.CutAlgorithm(text)
			if of[name]++; of[name] <= kept {
				s.beside(text)
			}
		}
		if len(s.wrong) == before {
			return
		}
	}
}

// beside tries the limits beside one: by one more or less of its size, and what other algorithms call the same.
func (s *search) beside(text string) {
	spec, err := limit.Parse(text)
	if err != nil {
		return
	}
	for _, by := range []int64{-1, 1} {
		if at := strings.Index(spec.Options, "burst="); at >= 0 {
			var burst int64
			fmt.Sscanf(spec.Options[at:], "burst=%d", &burst) //nolint:errcheck // 0 then
			if next := spec; burst+by > 0 {
				next.Options = strings.Replace(spec.Options, fmt.Sprintf("burst=%d", burst), fmt.Sprintf("burst=%d", burst+by), 1)
				s.try(next.String())
			}
		} else if next := spec; next.Count+by > 0 && spec.Algorithm != "nginx" {
			next.Count += by
			s.try(next.String())
		}
	}
	twins := map[string][]string{"window": {"caddy"}, "fixed": {"envoy"}, "counter": {"cloudflare~"}, "token": {"vsthrottle"}}
	if spec.Options == "" {
		for _, name := range twins[spec.Algorithm] {
			next := spec
			next.Algorithm = name
			s.try(next.String())
		}
	}
}

// picked are the limits to judge on all requests: the best, of each algorithm at least one.
func (s *search) picked(ranked []string) (some []string) {
	of := map[string]bool{}
	for i, text := range ranked {
		name, _ := limit.CutAlgorithm(text)
		if i < mostExplored || !of[name] || s.Whole && i < blurred*blurred*mostExplored {
			some = append(some, text)
		}
		of[name] = true
	}
	return some
}
