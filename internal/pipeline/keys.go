package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/pipeline/heap"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/keys"
)

// Keys says what limits should count by.
type Keys struct {
	Logs
	Per     []limit.Time  // lengths of windows; nil: 1m, and longer ones where no key separates by that
	Refuse  []float64     // percents of the target's requests; none: no window is looked for
	Limits  []string      // judged under each key
	By      []request.Key // none: all that suit the log
	Target  []who.Set     // to refuse; nil: what suits the site
	Protect []who.Set     // that must not be hit; nil: likewise
	Action  string
	Details bool // whether bounds of all keys are wanted, not only of the best
	Output  string

	batch  int           // how many requests are taken in at once; 0: keysBatch
	found  []request.Key // that may be tried as well
	values valueCounts
	cut    limit.Time   // from which on they are validated
	marks  []sweep.Mark // of the batches that the usual keys took in

	advisor  suggest.Advisor // for the bounds
	question keys.Question
	options  sweep.KeysOptions
}

// keysTried lists the keys that are held against each other unless --by names some: the simpler first, as of several
// that are as good the first is called best.
var keysTried = []request.Key{
	request.ByClient, request.ByClient64, request.ByClient24, request.ByClientAgent, request.ByUser,
	request.ByClientAction, request.ByClient64Action, request.ByClient24Action, request.ByClientAgentAction,
	request.ByUserAction, request.ByAction, request.BySite,
}

// longerPeriods are tried where no key separates by a window of the default length.
var longerPeriods = []limit.Time{10 * limit.Minute, limit.Hour}

// keysBatch is the number of requests that are taken in at once: half as many as in a replay, since each key needs room
// for them.
const keysBatch = 128 << 10

// Run verifies what is asked, judges the logs by every key, and reports.
func (r *Keys) Run(ctx context.Context, logs []string) (err error) {
	r.Wanted, r.Asked = true, r.Action
	r.Memory.expect(keysClient)
	if len(r.By) == 0 && len(r.Limits) == 0 {
		r.found = foundKeys(r.findFields(logs), r.NetworkDB != nil)
	}
	if err := r.Prepare(ctx, logs, func(*policy.Config) ([]policy.Policy, error) { return r.ask() }); err != nil {
		return err
	}
	heap.CollectOftenLater()
	r.Read.Batch, r.Read.Users, r.Read.NoUsers = cmp.Or(r.batch, keysBatch), true, true // visitors are told apart by them
	if len(r.found) > 0 {
		r.values.trial = new(ingest.Trial)
		r.Read.Trial = r.values.trial
	}
	o := &r.options
	o.Side, o.Tables, o.Lateness, o.Action = r.sideOf, r.Read.Tables, r.Read.StepBack(), r.Action
	survey := sweep.NewKeys(r.options)
	r.severalPasses = true
	defer func() { err = cmp.Or(err, r.Release()) }()
	limits := &keysLimits{keys: survey, action: match.ActionIDs{-1, -1}, options: replay.Options{
		Tables: r.Read.Tables, Policies: r.Policies[:o.Limits], Lateness: r.Read.StepBack(), Stop: ctx.Err,
	}}
	take := func(b *traffic.Batch) error {
		survey.Take(b)
		if o.Limits > 0 {
			return limits.take(b, r.Action)
		}
		r.values.take(b, r.Read.Tables)
		return nil
	}
	a := &r.advisor
	a.Tables, a.Lateness = r.Read.Tables, r.Read.StepBack()
	a.Read = func(do func(*traffic.Batch) error) (ingest.Stats, error) {
		return r.read(ctx, r.Read, func(src replay.Source, _ *ingest.Reader) error {
			return each(ctx, src, func(b *traffic.Batch) error {
				if err := take(b); err != nil || b.Warm { // a suggestion starts cold
					return err
				}
				return do(b)
			})
		})
	}
	a.Who = r.who
	if err := a.Survey(); err != nil {
		return err
	}
	stats := a.Found.Stats
	meant, err := r.settle(&stats, "action", r.Action)
	if err != nil {
		return err
	}
	if err := r.chooseSides(); err != nil {
		return err
	}
	survey.Once = r.requests.Held()
	result := survey.Result(stats)
	result.Action = meant
	b := r.beginBounds(survey, result)
	if len(r.Refuse) > 0 {
		if err := r.draw(ctx, survey, result, b); err != nil {
			return err
		}
		if err := r.widen(ctx, survey, result, b); err != nil {
			return err
		}
	}
	if !r.Details {
		b.add(keys.Best(result, r.question))
	}
	if err := b.finish(ctx); err != nil {
		return err
	}
	return r.report(result, b.report())
}

// keyBounds say of some keys how much of the target any limit by them can reach. That is what a suggestion says of its
// key: for the same clients, by the same promise. Those of all keys are found beside the curves.
type keyBounds struct {
	of     *Keys
	action string
	survey *sweep.Keys
	left   [][]request.Key // that are looked at together, and are to be looked at yet
	now    *sweep.Bounds   // of the first of them; nil: none are begun
	sent   func(*sweep.Bounds)
	found  []suggest.KeyReach
}

// beginBounds begins to look for bounds, if those of all keys are wanted, once it is known who sent what.
func (r *Keys) beginBounds(survey *sweep.Keys, result *sweep.KeysResult) *keyBounds {
	b := &keyBounds{of: r, survey: survey, action: result.Action}
	b.sent = func(bounds *sweep.Bounds) {
		bounds.Sent(result.ByClient.Len(), func(client int32) int64 { return result.ByClient.At(client).Requests() })
	}
	if r.Details {
		b.add(r.present(result))
	}
	return b
}

// begin begins with the first of the keys that are left.
func (b *keyBounds) begin() {
	if b.now = nil; len(b.left) > 0 {
		b.now = b.of.advisor.Bounds(b.action, b.left[0])
		b.survey.Again(b.left[0], nil).Join(b.now)
		b.sent(b.now)
		b.next()
	}
}

// next ends a pass.
func (b *keyBounds) next() {
	if b.now.Next() {
		return
	}
	b.found = append(b.found, suggest.Reached(b.now, b.left[0])...)
	b.left = b.left[1:]
	b.begin()
}

// add has further keys looked at.
func (b *keyBounds) add(keys []request.Key) {
	if b.left = slices.AppendSeq(b.left, slices.Chunk(keys, b.survey.AtOnce())); b.now == nil {
		b.begin()
	}
}

// share has the bounds take in what a pass for the same keys does.
func (b *keyBounds) share(some []request.Key, pass *sweep.Keys) (shared bool) {
	if shared = b.now != nil && slices.Equal(some, b.left[0]); shared {
		pass.Share(b.now)
	}
	return shared
}

// finish makes the passes that are still wanted.
func (b *keyBounds) finish(ctx context.Context) error {
	for b.now != nil {
		pass := b.survey.Again(b.left[0], nil)
		pass.Share(b.now)
		if err := b.of.again(ctx, func(batch *traffic.Batch) error { pass.Take(batch); return nil }); err != nil {
			return err
		}
		b.next()
	}
	return nil
}

// report returns what the report shows of the bounds, nil if there are none.
func (b *keyBounds) report() *keys.Bounds {
	if len(b.found) == 0 {
		return nil
	}
	q := &b.of.advisor.Question
	all := &keys.Bounds{Target: q.Target.String(), Protect: []string{}, Keys: keys.NewBounds(b.found)}
	all.Protect = mapped.Add(all.Protect, q.Goals, suggest.Goal.String)
	return all
}

// present are the keys that the log has.
func (r *Keys) present(result *sweep.KeysResult) []request.Key {
	return slices.DeleteFunc(slices.Clone(r.question.By), func(key request.Key) bool {
		return keys.IsAbsent(key, &result.ClientStats)
	})
}

// draw draws the curves of the keys that the log has, now that it is known of which class visitors are. Windows that are
// longer than was asked for count one after the other, and only while some question has no answer; they are drawn together.
func (r *Keys) draw(ctx context.Context, survey *sweep.Keys, result *sweep.KeysResult, bounds *keyBounds) error {
	q := &r.question
	by := r.present(result)
	if len(by) == 0 {
		by = q.By
	}
	add := func(periods ...limit.Time) error {
		for some := range slices.Chunk(by, survey.AtOnce()) {
			again := survey.Again(some, periods)
			shared := bounds.share(some, again)
			if err := r.again(ctx, func(b *traffic.Batch) error { again.Take(b); return nil }); err != nil {
				return err
			}
			if shared {
				bounds.next()
			}
			r.marks = again.Marks()
			survey.Draw(result, again)
		}
		return nil
	}
	if r.Per != nil {
		return add(r.Per...)
	}
	first, later := []limit.Time{limit.Minute}, longerPeriods
	if r.requests.Held() { // of so few another pass would cost more
		first, later = append(first, later...), nil
	}
	if err := add(first...); err != nil {
		return err
	}
	for shorter := *result; q.Longer < len(longerPeriods); q.Longer++ {
		if shorter.Sides = result.First(1 + q.Longer); !keys.NeedsLonger(&shorter, *q) {
			result.Sides = shorter.Sides
			return nil
		}
		if len(later) > 0 {
			if err := add(later...); err != nil {
				return err
			}
			later = nil
		}
	}
	return nil
}

// ask makes the question and what it needs: windows, or the limits by each key. It returns the policies that remember
// for longest by any key: how logs are read goes by that.
func (r *Keys) ask() ([]policy.Policy, error) {
	if err := r.verifySides(); err != nil {
		return nil, err
	}
	q := &r.question
	if q.By = r.By; len(q.By) == 0 {
		q.By = slices.DeleteFunc(slices.Clone(keysTried), func(k request.Key) bool {
			return r.Action != "" && strings.HasSuffix(k.String(), "+action") // as good as without
		})
	}
	q.Refuse = r.Refuse
	periods := r.Per
	if periods == nil {
		periods = append([]limit.Time{limit.Minute}, longerPeriods...)
	}
	windows, err := longestWindow(periods, slices.Concat(q.By, r.found)...)
	if err != nil || len(r.Limits) == 0 {
		return windows, err
	}
	limits, err := r.limitsByKey()
	if len(r.Refuse) > 0 {
		limits = append(limits, windows...)
	}
	return limits, err
}

// limitsByKey are the policies of --limit, those of each limit together, in the order of the keys.
func (r *Keys) limitsByKey() (arranged []policy.Policy, err error) {
	var byKey []policy.Policy
	keys := r.question.By
	for _, key := range keys {
		policies, err := policy.ParseLimits(r.Limits, key)
		if err != nil {
			return nil, BadFlag("limit", "", err)
		}
		byKey = append(byKey, policies...)
	}
	n := len(byKey) / len(keys)
	for i := range n {
		r.question.Limits = append(r.question.Limits, byKey[i].Name)
		for j := range keys {
			arranged = append(arranged, byKey[j*n+i])
		}
	}
	r.options.Limits = len(arranged)
	return arranged, nil
}

// keysLimits judge the requests of an action by limits, and tell Keys, which have taken in the same batch, what these
// refuse.
type keysLimits struct {
	keys    *sweep.Keys
	options replay.Options
	engine  *replay.Engine
	action  match.ActionIDs // as far as they are known
	rows    []int32         // of the action, in the batch at hand; nil: all are
}

func (l *keysLimits) take(b *traffic.Batch, action string) error {
	ids := match.FindActions(l.options.Tables.Actions, action)
	if l.engine == nil || action != "" && ids.Moved(l.action) { // no request of the action came before
		l.options.Observer = l
		l.engine = replay.New(l.options)
	}
	l.action = ids
	if action == "" {
		return l.engine.Judge(b)
	}
	l.rows = l.rows[:0]
	for row, id := range b.Action {
		if ids.Has(id) {
			l.rows = append(l.rows, int32(row))
		}
	}
	if len(l.rows) == 0 {
		return nil
	}
	only := &traffic.Batch{Warm: b.Warm, Stamps: b.Stamps}
	only.Append(b, l.rows)
	return l.engine.Judge(only)
}

// Observe implements replay.Observer.
func (l *keysLimits) Observe(_ *traffic.Batch, verdicts []replay.Verdicts) error {
	for i := range verdicts {
		refused := verdicts[i].Refused
		if l.rows != nil {
			refused = slices.Clone(refused)
			for j, row := range refused {
				refused[j] = l.rows[row]
			}
		}
		l.keys.Refuse(i, refused)
	}
	return nil
}

// report prints what was found, and complains if too much could not be read.
func (r *Keys) report(result *sweep.KeysResult, bounds *keys.Bounds) error {
	s := &result.Stats
	warnings := append(r.warnings(s), r.anonymousClients()...)
	warnings = append(warnings, r.countsRequests()...)
	warnings = append(warnings, r.actionWarnings(r.Action, result.Action, result.Requests.Sum(), s)...)
	report := keys.New(result, r.question, r.reportOptions(warnings))
	report.Identify(r.everyone())
	report.Bounds = bounds
	if err := report.Write(r.Out, r.Output); err != nil {
		return err
	}
	return r.Incomplete(s)
}
