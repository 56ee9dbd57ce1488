// Package drill reports on whether a server refuses what was foreseen: requests with what was foreseen, what came and
// what their moments explain come in; text, JSON, CSV, Markdown or a page goes out.
package drill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
)

// A Source holds what was sent.
type Source struct {
	Target   string
	Header   string // that told the client; "": the source address did
	Stretch  Stretch
	Planned  int64
	Requests []Request // that were sent
	Statuses []uint16  // of refusals
	Top      int

	Stopped     string // why not all were sent; "": all were, or a signal came
	Interrupted bool
}

// A Stretch is the part of the log that is sent.
type Stretch struct {
	First              format.Moment `json:"first"`
	Minutes            int           `json:"minutes"`
	WorstMinute        format.Moment `json:"worst_minute"`
	WorstMinuteRefused int64         `json:"worst_minute_refused"` // in the log, where limiters were not empty
	Requests           int64         `json:"requests"`
	Spread             bool          `json:"spread"` // whole seconds: requests are taken to lie evenly in theirs
	LeftOut            LeftOut       `json:"left_out"`
}

// LeftOut counts the requests that were not sent, by why not.
type LeftOut struct {
	Methods int64 `json:"methods"` // neither GET nor HEAD
	Unfit   int64 `json:"unfit"`   // with what no request may have, or for another host
}

// String says why requests were left out, "" if none was.
func (l LeftOut) String() string {
	var texts []string
	if l.Methods > 0 {
		texts = append(texts, fmt.Sprintf("%s have another method than GET and HEAD", format.Thousands(l.Methods)))
	}
	if l.Unfit > 0 {
		texts = append(texts, fmt.Sprintf("%s have a path or client that no request can have", format.Thousands(l.Unfit)))
	}
	return strings.Join(texts, ", ")
}

// A Request is one that was sent.
type Request struct {
	After        limit.Time // since the first one, as planned
	Late         limit.Time // later than planned
	Client       string
	Method, Path string

	Foreseen  bool // refused, by the plan
	ByMoments bool // refused, by the moments at which requests were written
	Explained bool // what the server decided fits the moments at which it may have decided

	Status  int // 0: there was no answer
	Refused bool
	Failure string // why there was none
}

// A Reason says why the answer to a request is another than foreseen.
type Reason string

// The reasons.
const (
	Clock      Reason = "clock"       // the moment of sending explains it
	Stricter   Reason = "stricter"    // it was refused: another limit in front, or the server does not keep clients apart
	Looser     Reason = "looser"      // it was not, though others were
	Missing    Reason = "not limited" // nothing was refused
	Connection Reason = "no answer"
)

// A Report says which verdicts of a server are as foreseen.
type Report struct {
	report.Head
	Policy     string  `json:"policy"`
	By         string  `json:"by"`
	Target     string  `json:"target"`
	ClientIn   string  `json:"client_in"` // the header that tells the client, or source
	RefusedIs  []int   `json:"refused_is"`
	Stretch    Stretch `json:"stretch"`
	Planned    int64   `json:"planned"`
	Sent       int64   `json:"sent"`
	Foreseen   int64   `json:"foreseen_refused"`
	Refused    int64   `json:"refused"`
	Unanswered int64   `json:"unanswered"`
	LatestMS   float64 `json:"latest_ms"` // how much later than planned a request was sent, at most

	AsPredicted      int64   `json:"as_predicted"`
	ByMomentsSent    int64   `json:"by_moments_sent"`
	ByMomentsPercent float64 `json:"by_moments_percent"`

	Reasons        []ReasonCount `json:"reasons"` // the most frequent first
	Answers        []Answer      `json:"answers"`
	Differs        []Difference  `json:"differs"`
	DiffersLeftOut int64         `json:"differs_left_out"`
	Interrupted    bool          `json:"interrupted"`
	Stopped        string        `json:"stopped,omitempty"`

	all []Difference // of all requests
}

// A ReasonCount counts the requests that differ for a reason.
type ReasonCount struct {
	Reason   Reason `json:"reason"`
	Requests int64  `json:"requests"`
	Clients  int64  `json:"clients"`
}

// An Answer counts requests by their status.
type Answer struct {
	Status   int   `json:"status"` // 0: there was none
	Requests int64 `json:"requests"`
	Foreseen int64 `json:"foreseen_refused"`
}

// A Difference is a request whose answer is another than foreseen.
type Difference struct {
	After     float64 `json:"after"` // seconds since the first request
	Client    string  `json:"client"`
	Method    string  `json:"method"`
	Path      string  `json:"path"`
	Predicted string  `json:"predicted"`  // passed or refused
	ByMoments string  `json:"by_moments"` // likewise
	Got       string  `json:"got"`        // likewise, or no answer
	Status    int     `json:"status"`
	Reason    Reason  `json:"reason"` // "": as foreseen
	Failure   string  `json:"failure,omitempty"`
}

// Enough is the percentage of requests that must be as foreseen by the moments at which they were sent.
const Enough = 99

// Proven reports whether the server is as foreseen, as far as requests were sent.
func (r *Report) Proven() bool {
	return r.Sent > 0 && r.Stopped == "" && 100*r.ByMomentsSent >= Enough*r.Sent
}

// New computes the report on a drill by the policy of a result.
func New(result *replay.Result, o report.Options, s Source) *Report {
	m := report.New(result, o)
	r := &Report{
		Head: m.Head, Policy: m.Policies[0].Policy, By: m.Policies[0].By, Target: s.Target,
		ClientIn:  cmp.Or(s.Header, "source"),
		RefusedIs: []int{}, Stretch: s.Stretch, Planned: s.Planned, Sent: int64(len(s.Requests)), Interrupted: s.Interrupted,
		Stopped: s.Stopped, Reasons: []ReasonCount{}, Answers: []Answer{}, Differs: []Difference{},
	}
	r.RefusedIs = mapped.Add(r.RefusedIs, s.Statuses, func(status uint16) int { return int(status) })
	for i := range s.Requests {
		r.count(&s.Requests[i])
	}
	for i := range s.Requests {
		q := &s.Requests[i]
		if q.Explained {
			r.ByMomentsSent++
		}
		d := r.differenceOf(q)
		if r.all = append(r.all, d); d.Reason == "" {
			r.AsPredicted++
			continue
		}
		if len(r.Differs) < cmp.Or(s.Top, report.DefaultTop) {
			r.Differs = append(r.Differs, d)
		} else {
			r.DiffersLeftOut++
		}
	}
	r.ByMomentsPercent = format.PercentOf(r.ByMomentsSent, r.Sent)
	r.countReasons()
	return r
}

// count takes a request into what is counted of all.
func (r *Report) count(q *Request) {
	r.LatestMS = max(r.LatestMS, float64(q.Late)/float64(limit.Millisecond))
	i, known := slices.BinarySearchFunc(r.Answers, q.Status, func(a Answer, s int) int { return cmp.Compare(a.Status, s) })
	if !known {
		r.Answers = slices.Insert(r.Answers, i, Answer{Status: q.Status})
	}
	a := &r.Answers[i]
	a.Requests++
	if q.Foreseen {
		a.Foreseen++
		r.Foreseen++
	}
	if q.Refused {
		r.Refused++
	}
	if q.Status == 0 {
		r.Unanswered++
	}
}

// reason returns why a request differs, "" if it does not.
func (r *Report) reason(q *Request) Reason {
	switch {
	case q.Status == 0:
		return Connection
	case q.Refused == q.Foreseen:
		return ""
	case q.Explained:
		return Clock
	case q.Refused:
		return Stricter
	case r.Refused == 0:
		return Missing
	}
	return Looser
}

func (r *Report) differenceOf(q *Request) Difference {
	word := map[bool]string{false: "passed", true: "refused"}
	d := Difference{
		After: format.InSeconds(q.After), Client: q.Client, Method: q.Method, Path: q.Path, Predicted: word[q.Foreseen],
		ByMoments: word[q.ByMoments], Got: word[q.Refused], Status: q.Status, Reason: r.reason(q), Failure: q.Failure,
	}
	if q.Status == 0 {
		d.Got = "no answer"
	}
	return d
}

// countReasons counts requests and clients by reason.
func (r *Report) countReasons() {
	clients := map[Reason]map[string]bool{}
	counts := map[Reason]int64{}
	for i := range r.all {
		d := &r.all[i]
		if d.Reason == "" {
			continue
		}
		if clients[d.Reason] == nil {
			clients[d.Reason] = map[string]bool{}
		}
		clients[d.Reason][d.Client] = true
		counts[d.Reason]++
	}
	for reason, n := range counts {
		r.Reasons = append(r.Reasons, ReasonCount{reason, n, int64(len(clients[reason]))})
	}
	slices.SortFunc(r.Reasons, func(x, y ReasonCount) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Reason, y.Reason))
	})
}
