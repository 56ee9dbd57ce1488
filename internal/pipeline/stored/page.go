package stored

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"shadow/internal/store"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/report"
	"shadow/report/curves"
	"shadow/report/html"
)

// The page of a stored run shows more than its other formats: refusals over time, from the events that are kept, and
// the curves of a sweep of the same requests.

// page is a report with what there is to add.
func (f *Report) page(model *report.Model) (*html.Document, error) {
	p, timed := html.NewReplay(model), map[int]bool{}
	p.Times = html.NewOverTime(nil, len(model.Policies))
	p.Times.Requests = f.loaded.Result.OverTime
	err := f.db.OverTime(f.loaded, func(policy int, at limit.Time, refused int64) { // of those whose events are kept
		p.Times.Add(policy, at, refused)
		timed[policy] = true
	})
	if err != nil {
		return nil, err
	}
	p.Untimed = untimed(model.Policies, len(timed))
	if p.Curves, err = f.curves(); err != nil || !f.curvesOnly() {
		return p, err
	}
	swept, err := f.sweep(model)
	if swept != nil {
		p.Head, p.Text, p.Model = &swept.Head, swept.Text, nil
	}
	return p, err
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
	return fmt.Sprintf("When the others refused something is not in the database, as it does not keep their events "+
		"(--events): %d of %d candidates.", left, len(policies))
}

// curves returns the curves of the first run that has any to show, nil if none has.
func (f *Report) curves() (*html.Curves, error) {
	candidates, err := f.swept()
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		s, err := f.db.Curves(candidates[i].Run)
		if err != nil {
			return nil, err
		}
		if s != nil {
			return &html.Curves{Result: &s.Result, Changes: s.Changes, From: f.from(&candidates[i])}, nil
		}
	}
	return nil, nil
}

// swept are the runs whose curves the page may have, the best first: the run itself, those of the same requests, and
// those of the same files at the same time; of several, those that know as the report does who the clients are, and of these
// the latest.
func (f *Report) swept() (candidates []store.RunFact, err error) {
	alike, err := f.db.SweptAlike(numbersOf(f.runs))
	if err != nil {
		return nil, err
	}
	divided, err := f.db.Divided()
	unlike := func(run *store.RunFact) int {
		if slices.Contains(divided, run.Run) == (f.loaded.Result.Who != nil) {
			return 0
		}
		return 1
	}
	rank := func(run *store.RunFact) int {
		_, meanwhile := run.Span(f.span())
		switch {
		case f.itself(run):
			return 0
		case f.sameRequests(run):
			return 1
		case meanwhile && slices.Contains(alike, run.Run):
			return 2
		}
		return 3
	}
	for i := range f.all {
		if f.all[i].Curves > 0 && rank(&f.all[i]) < 3 {
			candidates = append(candidates, f.all[i])
		}
	}
	slices.SortFunc(candidates, func(a, b store.RunFact) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(unlike(&a), unlike(&b)), cmp.Compare(b.Run, a.Run))
	})
	return candidates, err
}

// itself reports whether the report is about a run and no other.
func (f *Report) itself(run *store.RunFact) bool {
	return len(f.runs) == 1 && f.runs[0].Run == run.Run
}

// sameRequests reports whether a run judged as many requests as the report is about, from the same moment to the same.
func (f *Report) sameRequests(run *store.RunFact) bool {
	var requests int64
	for i := range f.runs {
		requests += f.runs[i].Requests
	}
	from, until := f.span()
	return requests > 0 && run.Requests == requests && run.First == from && run.Last+1 == until
}

// span is from the first request that the report is about until after the last.
func (f *Report) span() (from, until limit.Time) {
	some := false
	for _, run := range f.runs {
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
func (f *Report) from(run *store.RunFact) string {
	switch {
	case f.itself(run):
		return ""
	case f.sameRequests(run):
		return fmt.Sprintf("The curves are those of run %d, a sweep of the same requests.", run.Run)
	}
	const layout = "2 January 2006 15:04"
	at := func(t limit.Time) string { return time.UnixMicro(int64(t)).UTC().Format(layout) }
	return fmt.Sprintf("The curves are those of run %d, a sweep of the same files, but of other requests: %d from %s "+
		"to %s UTC.",
		run.Run, run.Requests, at(run.First), at(run.Last))
}

// curvesOnly reports whether the report is about one run, and that a sweep. A stored sweep has curves and no policies,
// so its report is the one that shadow sweep printed.
func (f *Report) curvesOnly() bool {
	return len(f.runs) == 1 && f.runs[0].Policies == 0 && f.runs[0].Curves > 0
}

// writeSweep prints the curves of the run. Where they lack what reports need, it prints what is known of the run.
func (f *Report) writeSweep(model *report.Model) error {
	swept, err := f.sweep(model)
	switch {
	case err != nil:
		return err
	case swept == nil:
		return model.Write(f.Out, f.Output)
	}
	return swept.Write(f.Out, f.Output)
}

// sweep returns the report on the curves of the run, nil where they are of kinds that this version does not know.
func (f *Report) sweep(model *report.Model) (*curves.Report, error) {
	stored, err := f.db.Curves(f.runs[0].Run)
	if err != nil || stored == nil {
		return nil, err
	}
	res, options := f.loaded.Result, f.options
	options.Who = res.Who
	stored.Stats, stored.Tables = res.Stats, res.Tables
	stored.Tallies = &traffic.Tallies{Clients: *res.Clients, Actions: res.Actions}
	swept := curves.New(&stored.Result, options)
	swept.History = model.History
	return swept, nil
}
