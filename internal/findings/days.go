package findings

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"time"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// The span of a log is that of its traffic. A line of another year makes no log of years, and days without a line none of
// peaks:
//
//	2019   │        2025-03-01 ████████  ██ █ 2025-06-11        1 line is stray; 17 of 102 days have requests
//	stray  │  gap   └──────── the log ──────────┘

// A stray part of a log is so long away from the rest, and at most such a part of the requests.
const (
	strayGap  = 30 // days
	strayPart = 1000
)

// days is the looker for when requests came.
type days struct {
	*seen
	by     map[int64]*day // by the number of the day, UTC
	latest *day           // of the request before; nil: none
	number int64          // of that day
	minute limit.Time     // of that request: when it began
}

// A day is what came on it.
type day struct {
	requests    int64
	first, last limit.Time
	minutes     [(limit.Day/limit.Minute + 63) / 64]uint64 // a bit for each in which a request came
}

func (l *days) take(b *traffic.Batch, from, to int) {
	for _, at := range b.At[from:to] {
		if number := dayOf(at); l.latest == nil || number != l.number {
			l.number, l.latest = number, l.day(number, at)
		}
		if at < l.minute || at >= l.minute+limit.Minute || l.latest.requests == 0 {
			n := (at - limit.Time(l.number)*limit.Day) / limit.Minute
			l.latest.minutes[n/64] |= 1 << (n % 64)
			l.minute = limit.Time(l.number)*limit.Day + n*limit.Minute
		}
		l.latest.requests++
		l.latest.first, l.latest.last = min(l.latest.first, at), max(l.latest.last, at)
	}
}

// day returns a day, on which a request came at a moment.
func (l *days) day(number int64, at limit.Time) *day {
	if l.by == nil {
		l.by = map[int64]*day{}
	}
	if l.by[number] == nil {
		l.by[number] = &day{first: at, last: at}
	}
	return l.by[number]
}

// dayOf numbers days.
func dayOf(at limit.Time) int64 {
	number := int64(at / limit.Day)
	if at < limit.Time(number)*limit.Day {
		number--
	}
	return number
}

// A Traffic says when the requests of a log came, without those that lie apart.
type Traffic struct {
	First, Last limit.Time
	Days        int64 // with a request
	Stray       int64 // requests that lie apart
	strayAt     limit.Time
}

// traffic leaves out what lies apart.
func (l *days) traffic() (t Traffic) {
	numbers := slices.Sorted(maps.Keys(l.by))
	for len(numbers) > 0 { // from either end
		i, j := 1, len(numbers)-1
		for i < len(numbers) && numbers[i]-numbers[i-1] < strayGap {
			i++
		}
		for j > 0 && numbers[j]-numbers[j-1] < strayGap {
			j--
		}
		switch head, tail := l.sum(numbers[:i]), l.sum(numbers[j:]); {
		case i < len(numbers) && strayPart*head < l.total:
			t.Stray, t.strayAt = t.Stray+head, l.by[numbers[0]].first
			numbers = numbers[i:]
		case j > 0 && strayPart*tail < l.total:
			t.Stray, t.strayAt = t.Stray+tail, l.by[numbers[j]].first
			numbers = numbers[:j]
		default:
			t.First, t.Last, t.Days = l.by[numbers[0]].first, l.by[numbers[len(numbers)-1]].last, int64(len(numbers))
			return t
		}
	}
	return t
}

// A pause is a time of whole minutes in which no request came.
type pause struct{ begin, length limit.Time }

// Minutes without a request are a pause if so many follow each other, and so many on either side have one each.
const (
	leastPause = 10 * limit.Minute
	steady     = limit.Hour
)

// visited returns the minutes of a day in which a request came, in order: few of most days where stamps are hostile.
func (d *day) visited() iter.Seq[limit.Time] {
	return func(yield func(limit.Time) bool) {
		for i, rest := range d.minutes {
			for ; rest != 0; rest &= rest - 1 {
				if !yield(limit.Time(64*i + bits.TrailingZeros64(rest))) {
					return
				}
			}
		}
	}
}

// pauses returns those within traffic that comes in each minute, in their order.
func (l *days) pauses() (all []pause) {
	var end limit.Time    // of the minutes that have been looked at
	var before limit.Time // how long they had requests each, up to there
	var open pause        // the latest that may be one, if such a time follows
	for _, number := range slices.Sorted(maps.Keys(l.by)) {
		midnight := limit.Time(number) * limit.Day
		for n := range l.by[number].visited() {
			at := midnight + n*limit.Minute
			if gap := at - end; gap > 0 {
				open = pause{}
				if gap >= leastPause && before >= steady {
					open = pause{end, gap}
				}
				before = 0
			}
			end, before = at+limit.Minute, before+limit.Minute
			if before == steady && open.length > 0 {
				all = append(all, open)
			}
		}
	}
	return all
}

func (l *days) sum(numbers []int64) (requests int64) {
	for _, number := range numbers {
		requests += l.by[number].requests
	}
	return requests
}

// A log has holes if it spans a week or longer, and less than so many percent of its days have a request.
const (
	leastSpan = 7 // days
	fullDays  = 80
)

func (l *days) find(*ingest.Stats) (found []Finding) {
	t := l.traffic()
	if t.Stray > 0 {
		date := func(at limit.Time) string { return format.Moment(at).Format(time.DateOnly) }
		found = append(found, Finding{
			Code: "stray_lines", Severity: Warn, Share: ShareOf(t.Stray, l.total),
			Evidence: fmt.Sprintf("%s of %s far from the others: by these, the log goes from %s to %s", format.Count(t.Stray, "request"),
				date(t.strayAt), date(t.First), date(t.Last)),
		})
	}
	if spanned := dayOf(t.Last) - dayOf(t.First) + 1; spanned >= leastSpan && 100*t.Days < fullDays*spanned {
		found = append(found, Finding{
			Code: "holes", Severity: Info, Share: NoShare,
			Evidence: fmt.Sprintf("requests came on %s of %s days: figures of the whole log are about these", format.Thousands(t.Days), format.Thousands(spanned)),
		})
	}
	if pauses := l.pauses(); len(pauses) > 0 {
		longest := slices.MaxFunc(pauses, func(p, q pause) int { return cmp.Compare(p.length, q.length) })
		more := ""
		if n := int64(len(pauses) - 1); n > 0 {
			more = fmt.Sprintf(", and %s", format.Count(n, "shorter pause"))
		}
		found = append(found, Finding{
			Code: "holes", Severity: Info, Share: NoShare,
			Evidence: fmt.Sprintf("no request came for %d minutes from %s UTC%s, within traffic that has some in each minute: the server was away, or lines are missing",
				longest.length/limit.Minute, format.Moment(longest.begin).Format("2006-01-02 15:04"), more),
		})
	}
	return found
}

// Traffic returns when the requests came.
func (l *Look) Traffic() Traffic {
	for _, looker := range l.lookers {
		if d, ok := looker.(*days); ok {
			return d.traffic()
		}
	}
	return Traffic{}
}
