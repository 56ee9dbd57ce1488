package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"shadow/limit"
	"shadow/report"
	"shadow/report/html"
	"shadow/store"
)

// The page of a stored run shows more than its other formats: refusals over time, from the events that are kept, and the curves of a
// sweep of the same requests.

// A pageMaker adds to a page what the database knows of some runs.
type pageMaker struct {
	db         *store.Reader
	anonymizer *report.Anonymizer // nil: clients have their own names
	loaded     *store.Loaded
	all        []store.RunFact
	runs       []store.RunFact // that the report is about

	options report.Options // of the report
}

// page is a report with what there is to add.
func (m *pageMaker) page(model *report.Model) (*html.Page, error) {
	p := html.NewPage(model)
	var err error
	if p.Times, err = m.times(model.Policies); err != nil {
		return nil, err
	}
	p.Untimed = untimed(model.Policies, len(p.Times))
	p.Curves, err = m.curves()
	return p, err
}

// times are refusals over time, of the policies whose events are kept.
func (m *pageMaker) times(policies []report.Policy) ([]html.Times, error) {
	o := newOverTime(nil, 0, len(policies))
	err := m.db.OverTime(m.loaded, func(policy int, minute limit.Time, refused int64) { o.counts[policy].add(minute, refused) })
	return o.times(policies), err
}

// untimed tells of policies that refused something at times that are not known.
func untimed(policies []report.Policy, timed int) string {
	left := -timed
	for i := range policies {
		if policies[i].Refused > 0 {
			left++
		}
	}
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("When the others refused something is not in the database, as it does not keep their events (--events): %d of %d candidates.", left, len(policies))
}

// curves are those of the first run that has any to show, nil if none has.
func (m *pageMaker) curves() (*html.Curves, error) {
	candidates, err := m.swept()
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		s, err := m.db.Curves(candidates[i].Run)
		if err != nil {
			return nil, err
		}
		if s != nil {
			return &html.Curves{
				By: s.By, Action: s.Action, Judged: s.Judged, Requests: s.Requests, Clients: s.Clients,
				Curves: s.Curves, Changes: s.Changes, From: m.from(&candidates[i]),
				Hidden: s.Hidden,
			}, nil
		}
	}
	return nil, nil
}

// swept are the runs whose curves the page may have, the best first: the run itself, those of the same requests, and those of the
// same files at the same time; of several, those that gathered evidence as the report did, and of these the latest.
func (m *pageMaker) swept() (candidates []store.RunFact, err error) {
	alike, err := m.db.SweptAlike(numbersOf(m.runs))
	if err != nil {
		return nil, err
	}
	divided, err := m.db.Divided()
	unlike := func(run *store.RunFact) int {
		if slices.Contains(divided, run.Run) == (m.options.Jury != nil) {
			return 0
		}
		return 1
	}
	rank := func(run *store.RunFact) int {
		_, meanwhile := run.Span(m.span())
		switch {
		case m.itself(run):
			return 0
		case m.sameRequests(run):
			return 1
		case meanwhile && slices.Contains(alike, run.Run):
			return 2
		}
		return 3
	}
	for i := range m.all {
		if m.all[i].Curves > 0 && rank(&m.all[i]) < 3 {
			candidates = append(candidates, m.all[i])
		}
	}
	slices.SortFunc(candidates, func(a, b store.RunFact) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(unlike(&a), unlike(&b)), cmp.Compare(b.Run, a.Run))
	})
	return candidates, err
}

// itself reports whether the report is about a run and no other.
func (m *pageMaker) itself(run *store.RunFact) bool {
	return len(m.runs) == 1 && m.runs[0].Run == run.Run
}

// sameRequests reports whether a run judged as many requests as the report is about, from the same moment to the same.
func (m *pageMaker) sameRequests(run *store.RunFact) bool {
	var requests int64
	for i := range m.runs {
		requests += m.runs[i].Requests
	}
	from, until := m.span()
	return requests > 0 && run.Requests == requests && run.First == from && run.Last+1 == until
}

// span is from the first request that the report is about until after the last.
func (m *pageMaker) span() (from, until limit.Time) {
	some := false
	for _, run := range m.runs {
		switch {
		case run.Requests == 0:
		case !some:
			from, until, some = run.First, run.Last+1, true
		default:
			from, until = min(from, run.First), max(until, run.Last+1)
		}
	}
	return from, until
}

// from says which run curves come from.
func (m *pageMaker) from(run *store.RunFact) string {
	switch {
	case m.itself(run):
		return ""
	case m.sameRequests(run):
		return fmt.Sprintf("The curves are those of run %d, a sweep of the same requests.", run.Run)
	}
	const layout = "2 January 2006 15:04"
	at := func(t limit.Time) string { return time.UnixMicro(int64(t)).UTC().Format(layout) }
	return fmt.Sprintf("The curves are those of run %d, a sweep of the same files, but of other requests: %d from %s to %s UTC.",
		run.Run, run.Requests, at(run.First), at(run.Last))
}
