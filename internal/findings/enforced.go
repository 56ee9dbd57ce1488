package findings

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// A server that already has a limit hides demand: who is refused a page does not ask for its pictures, and comes back
// later or not at all. 429 and 503 say so themselves. Other statuses do when they come as a limit's refusals come:
//
//	requests of one client   200 200 200 200 … 200 │ 403 403 403 403 403 … │ 200
//	                         a peak, all admitted   │ a burst, all refused
//
// while other clients, and the same actions, get other answers. So a directory that is forbidden is no limit, and
// neither is a server that is down: a limit admits some requests in each minute, an outage none.

const (
	leastPeak     = 10   // requests admitted to a client in this minute of the clock and the one before
	leastBurst    = 5    // refused ones behind them, with one status
	leastBursts   = 2    // of a status, with mostBursts requests in all; or
	leastInBursts = 20   //
	longBurst     = 50   // one as long as that
	smallShare    = .001 // of all requests: less is a note
	leastDown     = 5    // answers of 503, to several clients, in a minute of an outage
	mostlyDown    = 80   // percent of all of 503 in such minutes: they are none of a limit
)

// answer says what a status may mean.
type answer uint8

const (
	admitted answer = iota
	maybe           // a refusal, if it comes in bursts
	refusal
)

// answers holds the answer of each status. Statuses that a client brings about by what it asks for, those of a business
// (402, a card is declined; 409, a seat is taken), and those of gateways whose server is down, are admitted ones.
var answers = func() (all [1000]answer) {
	for status := 403; status < 1000; status++ {
		all[status] = maybe
	}
	for _, status := range []int{
		404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 425, 426, 428, 431, 451, 499,
		501, 502, 504, 505, 506, 507, 508, 510, 511, 521, 522, 523, 524, 525, 526,
	} {
		all[status] = admitted
	}
	for status := range all {
		if traffic.Refusal(int32(status)) {
			all[status] = refusal
		}
	}
	return all
}()

// enforced looks for what the server itself has refused.
type enforced struct {
	*seen
	open     map[int32]*burst // by client
	admitted []int64          // requests by action
	ok       int64            // of all
	statuses [1000]*refused
	outage   outage
	gateway  int64           // answers of gateways whose server is down or slow: 502, 504
	shown    [1 << 10]uint64 // a set of the pages that were
}

// An outage counts the answers of 503 in minutes of the clock in which no request was admitted.
type outage struct {
	minute   limit.Time // the one at hand
	n        int64      // of 503 in it
	client   int32      // the first that got one
	several  bool       // whether another one did
	up       bool       // whether a request was admitted in it
	admitted limit.Time // when the last one was
	down     int64      // of 503 in such minutes
}

// end takes in the minute at hand, which is over.
func (o *outage) end() {
	if o.several && !o.up && o.n >= leastDown {
		o.down += o.n
	}
	o.n, o.several = 0, false
}

// answer takes in a request that was admitted.
func (o *outage) answer(at limit.Time) {
	if o.admitted = at; o.n == 0 {
		return
	}
	if at/limit.Minute == o.minute {
		o.up = true
	} else {
		o.end()
	}
}

// refuse takes in an answer of 503.
func (o *outage) refuse(at limit.Time, client int32) {
	if minute := at / limit.Minute; o.n == 0 || minute != o.minute {
		o.end()
		o.minute, o.client, o.up = minute, client, o.admitted/limit.Minute == minute
	}
	o.n++
	o.several = o.several || o.client != client
}

// A peak is what was admitted to a client of late.
type peak struct {
	minute      int32
	now, before uint16 // in that minute of the clock, and in the one before
	open        bool   // whether enforced.open has it
	refused     bool   // whether some request was refused, by a status that always says so
	gone        bool   // whether the last one was
}

// A burst is a series of answers to one client, all with one status.
type burst struct {
	status   uint16
	at       limit.Time
	n        int64
	actions  map[uint16]int64
	ok, same int64 // admitted to all clients, and answered with the status, before it began
	usual    int64 // requests for pages that were shown before, less those for others
}

// refused holds what is known of a status.
type refused struct {
	n       int64
	at      limit.Time // the first
	bursts  int64
	inside  map[uint16]int64 // requests in bursts, by action
	longest int64
	begins  limit.Time // the first burst
}

func (l *enforced) take(b *traffic.Batch, from, to int) {
	l.learn()
	for i := from; i < to; i++ {
		at, client, status := b.At[i], b.Client[i], b.Status[i]
		p := &l.all.At(client).peak
		if int(status) >= len(answers) || answers[status] == admitted {
			if p.open {
				l.close(client, p)
			}
			if status == http.StatusBadGateway || status == http.StatusGatewayTimeout {
				l.gateway++
			}
			if l.admitted[b.Action[i]]++; b.Clues != nil && status/100 == 2 {
				l.shown[b.Clues[i].Page/64] |= 1 << (b.Clues[i].Page % 64)
			}
			l.ok++
			l.outage.answer(at)
			p.admit(at)
			p.gone = false
			continue
		}
		l.refuse(client, p, status, at, b.Action[i])
		if p.open && b.Clues != nil && b.Clues[i].Page != 0 {
			if page := b.Clues[i].Page; l.shown[page/64]>>(page%64)&1 > 0 {
				l.open[client].usual++
			} else {
				l.open[client].usual--
			}
		}
	}
}

// learn makes room for all actions that the tables know.
func (l *enforced) learn() {
	l.admitted = append(l.admitted, make([]int64, max(0, l.Read.Tables.Actions.Len()-len(l.admitted)))...)
}

// admit counts a request.
func (p *peak) admit(at limit.Time) {
	p.turn(at)
	if p.now++; p.now == 0 {
		p.now--
	}
}

// turn begins another minute, unless at lies in the same. It is written without a branch that could be predicted wrongly.
func (p *peak) turn(at limit.Time) {
	minute := int32(at / limit.Minute)
	last, before, now := p.now, p.before, p.now
	if minute != p.minute+1 {
		last = 0
	}
	if minute != p.minute {
		before = last
	}
	if minute != p.minute {
		now = 0
	}
	p.minute, p.before, p.now = minute, before, now
}

// refuse counts a request that may have been refused.
func (l *enforced) refuse(client int32, p *peak, status uint16, at limit.Time, action uint16) {
	if p.gone = answers[status] == refusal; status == http.StatusServiceUnavailable {
		l.outage.refuse(at, client)
	}
	p.refused = p.refused || p.gone
	r := l.refused(status, at)
	r.n++
	r.at = min(r.at, at)
	if p.open && l.open[client].status != status {
		l.close(client, p)
	}
	if !p.open {
		p.turn(at)
		if int(p.now)+int(p.before) < leastPeak {
			return
		}
		if l.open == nil {
			l.open = map[int32]*burst{}
		}
		p.open, l.open[client] = true, &burst{status: status, at: at, actions: map[uint16]int64{}, ok: l.ok, same: r.n - 1}
	}
	s := l.open[client]
	s.n++
	s.actions[action]++
}

// refused returns what is known of a status, which first came at a moment.
func (l *enforced) refused(status uint16, at limit.Time) *refused {
	if l.statuses[status] == nil {
		l.statuses[status] = &refused{at: at, inside: map[uint16]int64{}, begins: traffic.MaxTime}
	}
	return l.statuses[status]
}

// closeAll ends all bursts: no request comes any more.
func (l *enforced) closeAll() {
	for client := range l.open {
		l.close(client, &l.all.At(client).peak)
	}
	l.outage.end()
}

// close ends the burst of a client, and takes it down if it is a refusal of this client alone.
func (l *enforced) close(client int32, p *peak) {
	s := l.open[client]
	r := l.statuses[s.status]
	delete(l.open, client)
	p.open, p.now, p.before = false, 0, 0
	others, same := l.ok-s.ok, r.n-s.same-s.n
	down := others < same || others == 0 && s.status >= 500
	if s.n < leastBurst || down || s.usual < 0 { // a firewall refuses what no page asks for
		return
	}
	r.bursts++
	r.longest, r.begins = max(r.longest, s.n), min(r.begins, s.at)
	for action, n := range s.actions {
		if l.admitted[action] >= leastPeak { // what was forbidden until then is not limited
			r.inside[action] += n
		}
	}
}

// bursty returns how many requests of a status are refusals by their bursts; 0: it comes in none, or by chance.
func (l *enforced) bursty(r *refused) (n int64) {
	for _, inside := range r.inside {
		n += inside
	}
	if n >= leastInBursts && r.bursts >= leastBursts || n >= longBurst && r.longest >= longBurst {
		return n
	}
	return 0
}

func (l *enforced) find(s *ingest.Stats) []Finding {
	l.learn()
	l.closeAll()
	type told struct {
		status int
		n      int64
		text   string
	}
	var all []told
	var sum int64
	since, severity, certain := traffic.MaxTime, Info, false
	for status, r := range l.statuses {
		if r == nil {
			continue
		}
		one := told{status: status, n: l.bursty(r)}
		one.text = fmt.Sprintf("%s with %d", format.Thousands(one.n), status)
		sure, begins := one.n > 0, r.begins
		if one.n > 0 {
			one.text += fmt.Sprintf(" (in %s of one client behind its peak)", format.Count(r.bursts, "burst"))
		}
		if status == http.StatusServiceUnavailable && 100*l.outage.down >= mostlyDown*r.n {
			continue
		}
		if answers[status] == refusal {
			sure, begins = sure || status == 429, r.at
			one.n, one.text = r.n, fmt.Sprintf("%s with %d", format.Thousands(r.n), status)
		}
		if one.n == 0 {
			continue
		}
		all, sum, since, certain = append(all, one), sum+one.n, min(since, begins), certain || sure
		if sure && float64(ShareOf(one.n, l.total)) >= smallShare {
			severity = Warn
		}
	}
	if all == nil {
		return nil
	}
	slices.SortStableFunc(all, func(a, b told) int { return cmp.Compare(b.n, a.n) })
	var texts, statuses []string
	for _, one := range all {
		texts, statuses = append(texts, one.text), append(statuses, fmt.Sprint(one.status))
	}
	f := Finding{
		Code: "enforced", Severity: severity, Share: ShareOf(sum, l.total), Remedy: "--exclude-status " + strings.Join(statuses, ","),
		Evidence: fmt.Sprintf("the server has refused %s already, from %s UTC on: %s",
			format.Count(sum, "request"), format.Moment(since).Format(time.DateTime), strings.Join(texts, ", ")) + l.hidden(),
	}
	if !certain || len(all) == 1 && all[0].status == http.StatusServiceUnavailable && l.gateway >= all[0].n {
		f.Evidence = fmt.Sprintf("the server has answered %s with 503, from %s UTC on: a limit may have refused them, or it was overloaded",
			format.Count(sum, "request"), format.Moment(since).Format(time.DateTime)) + l.hidden()
	}
	if severity == Warn && since > s.FirstAt+(s.LastAt-s.FirstAt)/4 {
		f.Remedy = "--until " + format.Moment(since).Format("2006-01-02T15:04:05Z")
	}
	return []Finding{f}
}

// hidden says what is known of the requests that enforcement has kept clients from.
func (l *enforced) hidden() string {
	var refused, gone int64
	for id := range int32(l.all.Len()) {
		if p := &l.all.At(id).peak; p.refused {
			if refused++; p.gone {
				gone++
			}
		}
	}
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("; %s got 429 or 503, and %s of them sent nothing after the last one", format.Count(refused, "client"), format.Thousands(gone))
}
