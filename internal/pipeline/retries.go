package pipeline

import (
	"slices"

	"shadow/internal/calibrate"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
	"shadow/report"
)

// mostRetried is the most requests that are kept for --retries, at some 60 bytes each and 4 for each key.
const mostRetried = 20_000_000

// A retried keeps the requests of a replay whose refused ones are to come back.
type retried struct {
	how      string
	policies []policy.Policy
	exempts  policy.Scope // all but exempt clients, whose requests no limit sees; 0: there are none
	tables   *traffic.Tables
	all      calibrate.Requests
	keys     []*traffic.Timelines // of the policies
}

// watchRetries has the requests kept for --retries, if these come back.
func (r *Replay) watchRetries() error {
	if r.Retries == "" || r.Retries == calibrate.NoRetries {
		return nil
	}
	w := &retried{how: r.Retries, policies: r.Policies, tables: r.Read.Tables, all: calibrate.Requests{Keys: make([][]int32, len(r.Policies))}}
	for i := range r.Policies {
		p := &r.Policies[i]
		exempts := p.Parts[0].Match
		plain := len(p.Keys()) == 1 && p.Combine == policy.Together && !p.Weighed() && !slices.ContainsFunc(p.Parts, func(part policy.Part) bool {
			return part.Match != exempts || part.Count != exempts
		}) && (exempts == 0 || r.Config.Scopes[exempts-1].Is(&request.Conditions{}))
		if !plain {
			return Usage("--retries: policy %q has conditions, costs, several keys or another way to combine, with which requests cannot come back; leave out one of them",
				p.Name)
		}
		w.exempts = exempts
		w.keys = append(w.keys, &traffic.Timelines{By: p.Keys()[0]})
	}
	if r.Since != "" && !r.Cold {
		return Usage("--retries begins with empty limits: with --since it takes --cold")
	}
	if r.Read.Paths = r.Read.Paths || r.logsPaths(); !r.Read.Paths && r.Retries == calibrate.Learned {
		return Usage("--retries learned: the log has no paths, by which requests are known to come again")
	}
	r.retried = w
	r.observers = append(r.observers, w)
	return nil
}

// logsPaths reports whether the first log that can be looked at has paths.
func (r *Replay) logsPaths() bool {
	_, format := r.Beginning()
	return format != nil && format.Has(parse.FieldPath)
}

// Observe implements replay.Observer.
func (w *retried) Observe(b *traffic.Batch, _ []replay.Verdicts) error {
	if b.Warm {
		return nil
	}
	r := &w.all
	if r.Len()+b.Len() > mostRetried {
		return Usage("--retries keeps requests in memory, up to %d: --since and --until take a part of the log", mostRetried)
	}
	for i, keys := range w.keys {
		keys.Fill(b, w.tables)
		for row, key := range keys.Column {
			if w.sees(b, row) {
				r.Keys[i] = append(r.Keys[i], key)
			}
		}
	}
	for row, client := range b.Client {
		if !w.sees(b, row) {
			continue
		}
		verdict, path := calibrate.Passed, int32(-1)
		if traffic.Refusal(int32(b.Status[row])) {
			verdict = calibrate.Refused
		}
		if b.Path != nil {
			path = b.Path[row]
		}
		r.At, r.Client, r.Verdict = append(r.At, b.At[row]), append(r.Client, client), append(r.Verdict, verdict)
		r.Class, r.Path = append(r.Class, w.tables.Agents.Class(int32(b.Agent[row]))), append(r.Path, path)
	}
	return nil
}

// sees reports whether limits see a request.
func (w *retried) sees(b *traffic.Batch, row int) bool {
	return w.exempts == 0 || w.exempts.Holds(b.Marks[row])
}

// loads returns what the policies have to bear. A nil retried has none.
func (w *retried) loads() ([]report.Retries, error) {
	if w == nil {
		return nil, nil
	}
	if w.how == calibrate.Learned && !slices.Contains(w.all.Verdict, calibrate.Refused) {
		return nil, Usage("--retries learned: the log has no refusals (429 or 503) to learn from; immediate and backoff need none")
	}
	if !slices.ContainsFunc(w.all.At, func(at limit.Time) bool { return at%limit.Second != 0 }) {
		w.all.Spread()
	}
	demand := w.all.Learn(w.how)
	var all []report.Retries
	for i := range w.policies {
		one := report.NewRetries(w.how, demand.Wanted(), demand.Foresee(&w.policies[i], w.all.Keys[i]))
		one.Middle = slices.ContainsFunc(w.policies[i].Parts, func(p policy.Part) bool {
			_, guessed := p.Limiter.(limit.Approximation)
			return guessed
		})
		all = append(all, one)
	}
	return all, nil
}
