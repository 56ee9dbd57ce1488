package report

import (
	"fmt"
	"strconv"

	"shadow/replay"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/request"
	"shadow/sample"
)

// What a sample tells of a log is never shown as if it were exact: every figure that is not has an interval. Those that a
// sample cannot tell are left out, and named.

// A Sample says of a report that its verdicts are those on a part of the clients.
type Sample struct {
	Percent         float64  `json:"percent"`          // of the units that are expected in it
	By              string   `json:"by"`               // what is in or out as a whole
	Units           int64    `json:"units"`            // with a counted request
	Judged          int64    `json:"judged"`           // of these, in the sample
	Certain         int64    `json:"certain"`          // of these, in every sample
	ClientsJudged   int64    `json:"clients_judged"`   // in the sample
	RequestsJudged  int64    `json:"requests_judged"`  // of these
	RequestsPercent float64  `json:"requests_percent"` // of all requests
	Confidence      float64  `json:"confidence"`       // of each interval by itself, in percent
	LeftOut         []string `json:"left_out"`         // figures that the sample cannot tell

	bounds sampleBounds
}

// SampleRanges are the least and the most that figures of the whole log may be.
type SampleRanges struct {
	Refused              [2]int64               `json:"refused"`
	RefusedPercent       [2]float64             `json:"refused_percent"` // of its requests
	ClientsHit           [2]int64               `json:"clients_hit"`
	ClientsHitPercent    [2]float64             `json:"clients_hit_percent"` // of its clients
	ByClass              PerClass[SampleGroups] `json:"by_class"`
	Delayed              [2]int64               `json:"delayed"`
	BytesSaved           [2]int64               `json:"bytes_saved"`
	UpstreamSecondsSaved *[2]float64            `json:"upstream_seconds_saved"` // nil when not logged
	Hit                  int64                  `json:"clients_hit_in_sample"`
}

// SampleGroups are those of all clients of one class.
type SampleGroups struct {
	Refused    [2]int64 `json:"refused"`
	ClientsHit [2]int64 `json:"clients_hit"`
}

// sampleBounds are how large figures can be: of all clients, and of each class.
type sampleBounds struct {
	requests, clients sample.Bound
	byClass           PerClass[struct{ requests, clients sample.Bound }]
	bytes, upstream   sample.Bound
}

// unsampled are the figures of whole reports that are not those of a sum over clients.
var unsampled = []string{
	"delay", "worst_minute", "requests_refused_share_of_worst_client", "top_clients_not_in_the_sample",
}

// newSample describes a sample; nil of nothing.
func newSample(res *replay.Result, who *Population) *Sample {
	if res.Sample == nil {
		return nil
	}
	d := res.Sample.Design
	s := SampleOf(d, who.Requests, unsampled)
	requests := func(id int32) int64 { return res.Clients.At(id).Requests() }
	clients := func(id int32) int64 { return min(1, requests(id)) }
	s.bounds = sampleBounds{
		requests: d.Bound(requests), clients: d.Bound(clients), bytes: d.BytesBound(), upstream: d.UpstreamBound(),
	}
	for class := range s.bounds.byClass {
		of := func(most func(int32) int64) func(int32) int64 {
			return func(id int32) int64 {
				if int(who.Class[id]) != class {
					return 0
				}
				return most(id)
			}
		}
		b := &s.bounds.byClass[class]
		b.requests, b.clients = d.Bound(of(requests)), d.Bound(of(clients))
	}
	return s
}

// SampleOf describes a sample of the clients that sent so many requests.
func SampleOf(d *sample.Design, requests int64, leftOut []string) *Sample {
	return &Sample{
		Percent: d.Share, By: d.By.String(), Units: d.Units, Judged: d.Judged, Certain: d.Certain, ClientsJudged: d.Clients,
		RequestsJudged: d.Requests, RequestsPercent: format.PercentOf(d.Requests, requests),
		Confidence: 100 * (1 - sample.Miss), LeftOut: leftOut,
	}
}

// estimate makes the figures of a policy those of the whole log. The policy has those of the sample.
func (s *Sample) estimate(p *Policy, res *replay.Result, i int, who *Population) {
	d, t, w := res.Sample.Design, &res.Policies[i], &res.Sample.Policies[i]
	r := &SampleRanges{Hit: int64(t.Hits.Len())}
	var refused, hit sample.Sum
	var byClass PerClass[struct{ refused, hit sample.Sum }]
	for h := range t.Hits.All() {
		probability, class := d.Probability(h.Client), &byClass[who.Class[h.Client]]
		refused.Add(h.Refused, probability)
		hit.Add(1, probability)
		class.refused.Add(h.Refused, probability)
		class.hit.Add(1, probability)
	}
	set := func(figure *int64, ends *[2]int64, sum *sample.Sum, b sample.Bound) {
		of := sum.Interval(b, sample.Miss)
		*figure, *ends = of.Estimate, of.Ends()
	}
	set(&p.Refused, &r.Refused, &refused, s.bounds.requests)
	set(&p.ClientsHit, &r.ClientsHit, &hit, s.bounds.clients)
	set(&p.Delayed, &r.Delayed, &w.Delayed, s.bounds.requests)
	set(&p.BytesSaved, &r.BytesSaved, &w.Bytes, s.bounds.bytes)
	p.RefusedPercent, p.ClientsHitPercent = format.PercentOf(p.Refused, p.Requests), format.PercentOf(p.ClientsHit, p.Clients)
	for end := range 2 {
		r.RefusedPercent[end] = format.PercentOf(r.Refused[end], p.Requests)
		r.ClientsHitPercent[end] = format.PercentOf(r.ClientsHit[end], p.Clients)
	}
	for class := range byClass {
		of, f, b := &byClass[class], &p.ByClass[class], &s.bounds.byClass[class]
		set(&f.Refused, &r.ByClass[class].Refused, &of.refused, b.requests)
		set(&f.ClientsHit, &r.ByClass[class].ClientsHit, &of.hit, b.clients)
	}
	if res.Stats.HasUpstream {
		of := w.Upstream.Interval(s.bounds.upstream, sample.Miss)
		seconds := float64(of.Estimate) / 1e6
		p.UpstreamSecondsSaved, r.UpstreamSecondsSaved = &seconds, &[2]float64{float64(of.Low) / 1e6, float64(of.High) / 1e6}
	}
	for j := range p.TopActions {
		a := &p.TopActions[j]
		b := s.actionBound(a, res)
		a.Range = new([2]int64)
		set(&a.Refused, a.Range, &w.Actions[a.id], b)
		a.RefusedPercent = format.PercentOf(a.Refused, a.Requests)
		a.SharePercent = format.PercentOf(a.Refused, p.Refused)
		// Both figures may be off: with half the share of misses each, their ratio has as large a share as one.
		part, all := w.Actions[a.id].Interval(b, sample.Miss/2), refused.Interval(s.bounds.requests, sample.Miss/2)
		a.ShareRange = &[2]float64{format.PercentOf(part.Low, all.High), min(100, format.PercentOf(part.High, max(1, all.Low)))}
	}
	p.WorstMinute, p.WorstClientShare, p.Delay, p.Sample = nil, nil, nil, r
}

// Text says what the sample is.
func (s *Sample) Text() string {
	return fmt.Sprintf("estimates from %s %% of the %s: %s of %s are judged, with %s of the requests. Ranges are least–most, and "+
		"each holds the truth in at least %s of 100 samples", strconv.FormatFloat(s.Percent, 'f', -1, 64), s.units(),
		format.Thousands(s.Judged), format.Thousands(s.Units), format.Percentage(s.RequestsPercent),
		strconv.FormatFloat(s.Confidence, 'f', -1, 64))
}

// units is what the units are called.
func (s *Sample) units() string {
	if s.By == "client" {
		return "clients"
	}
	return "networks (" + s.By + ")"
}

// SampleTable has a row per policy: between what and what its figures may be for the whole log.
func SampleTable(m *Model) *table.Table {
	t := rangeTable(m, "The range of each figure of the whole log", "range", func(p *Policy) ranges {
		r := p.Sample
		return ranges{
			r.Refused, r.ClientsHit, r.RefusedPercent, r.ClientsHitPercent,
			func(class request.Class) [2]int64 { return r.ByClass[class].ClientsHit },
		}
	})
	t.Head(table.Number("bytes not sent"), func(p *Policy) table.Cell {
		r := p.Sample.BytesSaved
		return table.Shown(format.Size(r[0])+"–"+format.Size(r[1]), format.Plain(r[1]))
	})
	return t.Fill(m.Policies)
}

// SampleOf are the ranges of a class; nil without a sample.
func (p *Policy) SampleOf(class request.Class) *SampleGroups {
	if p.Sample == nil {
		return nil
	}
	return &p.Sample.ByClass[class]
}

// Listed is how many clients a list of those hit may have.
func (p *Policy) Listed() int64 {
	if p.Sample != nil {
		return p.Sample.Hit
	}
	return p.ClientsHit
}

// inSample says of clients that they are those of the sample, if there is one.
func (m *Model) inSample() string {
	if m.Sample == nil {
		return ""
	}
	return " in the sample"
}

// mark stands in front of an estimate.
func (p *Policy) mark() string {
	if p.Sample == nil {
		return ""
	}
	return "~"
}

// estimated is a number in a cell, with a mark if it is an estimate.
func (p *Policy) estimated(n int64) table.Cell {
	return table.Shown(p.mark()+format.Thousands(n), format.Plain(n))
}

// about is a number in a cell with its range, if it has one.
func about(n int64, r *[2]int64) table.Cell {
	if r == nil {
		return table.Count(n)
	}
	return table.Shown("~"+format.Thousands(n)+format.Between(*r), format.Plain(n))
}

// aboutShare is that of a share.
func aboutShare(share float64, r *[2]float64) table.Cell {
	if r == nil {
		return table.Share(share)
	}
	return table.Shown("~"+format.Percent(share)+" ("+format.Percents(*r)+")", strconv.FormatFloat(share, 'g', -1, 64))
}

// compareSample makes what several policies refuse of each action estimates.
func (m *Model) compareSample(res *replay.Result) {
	if m.Sample == nil {
		return
	}
	for i := range m.actions {
		a := &m.actions[i]
		for j := range a.refused {
			of := res.Sample.Policies[j].Actions[a.of.id].Interval(m.Sample.actionBound(&a.of, res), sample.Miss)
			a.refused[j], a.ranges = of.Estimate, append(a.ranges, of.Ends())
		}
	}
}

// actionBound is how large what is refused of an action can be.
func (s *Sample) actionBound(a *Action, res *replay.Result) sample.Bound {
	return sample.Bound{Largest: s.bounds.requests.Largest, Unseen: a.Requests - res.Sample.Actions[a.id]}
}
