package moves

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/suggest"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/diff"
	"shadow/report/moves"
)

// A Migrate takes the limits of a server's configuration to another server: the nearest ones there, what changes for which
// clients, and the smallest correction that keeps a promise.
type Migrate struct {
	Export
	Protect []suggest.Goal // the share of which clients must not be newly hit; nil: no browser
	labels  who.Identities
	groups  who.Groups // how many clients there are
}

// DefaultPromise says that no client that behaves as a person is newly hit.
var DefaultPromise, _ = suggest.ParseGoal("browsers=100%")

// Run migrates each policy of the configuration, one after the other, unless some are chosen. What fails on one does not
// keep the others from being written. JSON and CSV have room for one.
func (m *Migrate) Run(ctx context.Context, logs []string) error {
	fresh := *m
	err := m.run(ctx, logs)
	var several severalError
	if !errors.As(err, &several) || len(several) < 2 || len(m.Chosen) > 0 || m.Output == "json" || m.Output == "csv" {
		return err
	}
	err = nil
	for i, name := range several {
		fmt.Fprintf(m.Out, "%s %d of %d: %s\n\n", map[bool]string{true: "# Policy", false: "Policy"}[m.Output == "markdown"],
			i+1, len(several), escape.Visible(name))
		each := fresh
		each.Chosen = []string{name}
		err = errors.Join(err, each.run(ctx, logs))
		fmt.Fprintln(m.Out)
	}
	if !m.Quiet {
		fmt.Fprintln(m.Err, "note: the lines of each policy have the same names: give them others before you paste them together")
	}
	return err
}

// run verifies what is asked, replays, corrects, and reports.
func (m *Migrate) run(ctx context.Context, logs []string) (err error) {
	if err := m.aim(); err != nil {
		return err
	}
	if m.Protect == nil {
		m.Protect = []suggest.Goal{DefaultPromise}
	}
	var comparison *replay.Comparison
	result, o, unreadable := m.Judge(ctx, logs, func(t *traffic.Tables) replay.Observer {
		comparison = replay.NewComparison(t)
		return whole{comparison}
	})
	if result == nil {
		return unreadable
	}
	defer m.Release() //nolint:errcheck // a temporary file
	var report *moves.Report
	var held error
	if len(m.Policies) < 2 {
		report = moves.New(m.written, nil)
	} else {
		m.label(result)
		correction, best, err := m.correct(ctx, comparison)
		if err != nil {
			return err
		}
		if best != nil { // all that follows is about the limits that are written
			comparison, result.Policies[1] = best.comparison, best.tally
		}
		changes := diff.New(result, comparison, o)
		report, held = moves.New(m.written, changes), m.Held(changes.Changed())
		correction.Judged = slices.ContainsFunc(m.Policies[0].Parts, func(p policy.Part) bool { return p.Match.Holds(result.Stats.Marked) })
		report.Correction = correction
	}
	if err := report.Write(m.Out, m.Output); err != nil {
		return err
	}
	notes, lost := m.Imported()
	for _, text := range notes {
		fmt.Fprintf(m.Err, "warning: %s\n", escape.Visible(text))
	}
	err = m.finish(ctx, m.Output == "json")
	if err == nil && lost > 0 {
		err = pipeline.NotUnderstoodError(lost)
	}
	return errors.Join(held, cmp.Or(err, unreadable))
}

// label says who the clients are.
func (m *Migrate) label(result *replay.Result) {
	m.labels = result.Who.Identities
	for id := range int32(result.Clients.Len()) {
		if result.Clients.At(id).Requests() > 0 {
			m.groups[m.labels.Of(id)]++
		}
	}
}

// keeps reports whether a move keeps the promise, and which clients it newly hits and releases.
func (m *Migrate) keeps(c *replay.Comparison) (kept bool, hit, released who.Groups) {
	for id := range int32(c.Clients.Len()) {
		switch s := c.Clients.At(id); {
		case s.A() == 0 && s.B() > 0:
			hit[m.labels.Of(id)]++
		case s.A() > 0 && s.B() == 0:
			released[m.labels.Of(id)]++
		}
	}
	kept = !slices.ContainsFunc(m.Protect, func(g suggest.Goal) bool { return hit.Of(g.Who) > g.MayHit(m.groups.Of(g.Who)) })
	return kept, hit, released
}

// A trial is a correction: limits with larger numbers.
type trial struct {
	number     int64 // of the first limit; those of others grow alike
	texts      []string
	policy     policy.Policy
	comparison *replay.Comparison
	tally      replay.PolicyTally
}

// Observe implements replay.Observer, for several trials behind the first policy.
type trials []*trial

// Observe compares the first policy with each of the others.
func (all trials) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	for i, t := range all {
		if err := t.comparison.Observe(b, []replay.Verdicts{verdicts[0], verdicts[i+1]}); err != nil {
			return err
		}
	}
	return nil
}

// mostTrials is the most corrections that are judged at a time.
const mostTrials = 12

// correct looks for the smallest correction on the target's grid that keeps the promise. What comes out is verified by a
// replay; that no smaller one does is known of those that were tried, between the largest that fails and the one found.
func (m *Migrate) correct(ctx context.Context, as *replay.Comparison) (*moves.Correction, *trial, error) {
	c := &moves.Correction{Limits: []string{}}
	c.Promise = mapped.Add(c.Promise, m.Protect, suggest.Goal.String)
	kept, hit, released := m.keeps(as)
	if c.Before.Take(&hit, &released); kept {
		c.Kept, c.Found, c.After = true, true, c.Before
		return c, nil, nil
	}
	best, err := m.smallest(ctx, as.Requests)
	if err != nil {
		return nil, nil, err
	}
	if best == nil {
		return c, nil, nil
	}
	c.Found = true
	c.Limits = best.texts
	_, hit, released = m.keeps(best.comparison)
	c.After.Take(&hit, &released)
	m.written = m.target.ExportAs(m.wanted, best.texts, m.where)
	for i := range m.written.Limits {
		m.written.Limits[i].Deviation = "corrected, so that the promise is kept"
	}
	best.tally.Policy.Name = m.Policies[1].Name
	return c, best, nil
}

// A bracket holds the largest number that is known to fail, and the smallest correction that is known to keep the
// promise.
type bracket struct {
	low  int64
	best *trial
}

// smallest finds the smallest correction that keeps the promise: first among distances that double, then in the
// bracket. It returns nil if none does.
func (m *Migrate) smallest(ctx context.Context, requests int64) (*trial, error) {
	_, first := m.Policies[1].Parts[0].Number()
	b := &bracket{low: first}
	numbers := doubling(first, requests)
	for len(numbers) > 0 {
		if err := m.narrow(ctx, b, numbers); err != nil || b.best == nil {
			return nil, err
		}
		numbers = b.between()
		if len(m.trials(numbers, b)) == 0 { // nothing of the grid lies between
			break
		}
	}
	return b.best, nil
}

// doubling returns numbers above the first one, each twice as far away as the one before, until all requests fit.
func doubling(first, requests int64) (numbers []int64) {
	high := first // the largest that is tried
	for high-first <= requests && high < 1<<40 {
		high = high*2 + 1
	}
	for step := int64(1); first+step <= high; step *= 2 {
		numbers = append(numbers, first+step)
	}
	return numbers
}

// between returns numbers inside the bracket, evenly apart.
func (b *bracket) between() (numbers []int64) {
	step := max(1, (b.best.number-b.low)/(mostTrials+1))
	for n := b.low + step; n < b.best.number && len(numbers) < mostTrials; n += step {
		numbers = append(numbers, n)
	}
	return numbers
}

// narrow judges the corrections with ascending numbers, until some of them keep the promise.
func (m *Migrate) narrow(ctx context.Context, b *bracket, numbers []int64) error {
	for batch := range slices.Chunk(numbers, mostTrials) {
		all := m.trials(batch, b)
		if err := m.try(ctx, all); err != nil {
			return err
		}
		for _, t := range all {
			if kept, _, _ := m.keeps(t.comparison); kept && (b.best == nil || t.number < b.best.number) {
				b.best = t
			}
		}
		for _, t := range all {
			if b.best == nil || t.number < b.best.number {
				b.low = max(b.low, t.number)
			}
		}
		if b.best != nil {
			break
		}
	}
	return nil
}

// trials returns the corrections with numbers that lie inside the bracket, each set of limits once.
func (m *Migrate) trials(numbers []int64, b *bracket) (all trials) {
	seen := map[string]bool{}
	for _, n := range numbers {
		t, ok := m.trial(n)
		key := fmt.Sprint(t.texts)
		if !ok || t.number <= b.low || b.best != nil && t.number >= b.best.number || seen[key] {
			continue
		}
		seen[key] = true
		all = append(all, t)
	}
	return all
}

// trial is the correction with a number of the first limit; false if the target does not have it.
func (m *Migrate) trial(number int64) (*trial, bool) {
	b := m.Policies[1]
	t := &trial{comparison: replay.NewComparison(m.Read.Tables), policy: b}
	t.policy.Name = fmt.Sprintf("%s %d", b.Name, number)
	t.policy.Parts = nil
	_, first := b.Parts[0].Number()
	t.texts = make([]string, len(m.written.Limits))
	at := 0
	for i, x := range m.written.Limits {
		if x.Set == "" {
			continue
		}
		part := b.Parts[at]
		_, own := part.Number()
		n := number
		if at > 0 {
			n = limit.CeilDiv(own*number, max(1, first))
		}
		n = m.target.Up(part.Spec, n)
		if at == 0 {
			t.number = n
		}
		larger, err := part.WithNumber(n)
		if err != nil {
			return t, false
		}
		t.policy.Parts, t.texts[i] = append(t.policy.Parts, larger), larger.Spec.String()
		at++
	}
	return t, true
}

// try judges corrections beside the first policy.
func (m *Migrate) try(ctx context.Context, all trials) error {
	if len(all) == 0 {
		return nil
	}
	policies := []policy.Policy{m.Policies[0]}
	policies = mapped.Add(policies, all, func(t *trial) policy.Policy { return t.policy })
	tallies, err := m.Again(ctx, policies, all)
	if err != nil {
		return err
	}
	for i, t := range all {
		t.tally = tallies[i+1]
	}
	return nil
}
