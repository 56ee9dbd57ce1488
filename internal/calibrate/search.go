package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/limit"
)

// The search goes from coarse to fine. For each rate, and each period of each kind of window, one pass finds the size
// (see needs). The best are written as limits of every algorithm that has such, in numbers that people write, and judged
// exactly.

// An Options says how to search.
type Options struct {
	Delays bool   // the verdicts tell which requests were kept waiting
	Whole  bool   // stamps are whole seconds, see Requests.Spread
	Prefer string // the algorithm that is meant where others explain as much; "": the simplest
	Only   bool   // the log says that it is that one
}

const (
	mostSampled  = 60_000 // requests that the search goes by
	mostScanned  = 12_000 // of those, that it begins with
	explained    = 100    // one in so many requests may contradict a rate in usual numbers before others are tried
	mostExplored = 48     // limits that are judged on all requests
	mostBlurred  = 480    // in whole seconds
)

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
	s := explore(all, o)
	return s.picked(s.ranked())
}

// explore tries limits on a sample of the requests.
func explore(all []timeline, o Options) *search {
	s := &search{Options: o, all: sampled(all, mostSampled), few: sampled(all, mostScanned), wrong: map[string]int64{}}
	s.span = span(s.all)
	rates := s.rates()
	s.buckets(rates)
	s.windows()
	s.throttles()
	if len(rates) > 0 {
		s.steps(rates[0])
	}
	s.bans()
	s.windowsOfLibraries()
	s.polish()
	if best := s.ranked(); !o.Whole && len(best) > 0 && s.wrong[best[0]] > s.requests()/explained {
		single := s.wrong[best[0]]
		s.pairs()
		maps.DeleteFunc(s.wrong, func(text string, wrong int64) bool { return strings.Contains(text, "+") && betterBy*wrong > single })
	}
	return s
}

func (s *search) requests() (n int64) {
	for i := range s.all {
		n += int64(len(s.all[i].at))
	}
	return n
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

// sizes returns the sizes to try: all that explain as much, where they are few.
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
	if whole := hold * int64(r.per); whole%r.n == 0 && slices.Contains(ratePeriods, limit.Time(whole/r.n)) {
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

// try judges a limit, unless it has been, there is no such, or it is none of the server's.
func (s *search) try(text string) {
	if _, known := s.wrong[text]; known || !s.may(text) {
		return
	}
	if j, err := newJudge(text, s.Delays); err == nil {
		s.wrong[text] = fit(s.all, j, s.Delays).Wrong
	}
}

// may reports whether a limit may be the server's, by the algorithm that its text begins with.
func (s *search) may(text string) bool { return !s.Only || strings.HasPrefix(text, s.Prefer+":") }

// ranked are the limits judged so far, the best first.
func (s *search) ranked() []string {
	return slices.SortedFunc(maps.Keys(s.wrong), func(x, y string) int {
		return cmp.Or(cmp.Compare(s.wrong[x], s.wrong[y]), s.likelier(x, y))
	})
}

// polish tries what lies beside the best limits of each algorithm.
func (s *search) polish() {
	kept, rounds := 2, 6
	if s.Whole {
		kept = 8 // sizes that seem best lie farther from what the server has
	}
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
		if i < mostExplored || !of[name] || s.Whole && i < mostBlurred {
			some = append(some, text)
		}
		of[name] = true
	}
	return some
}
