package pipeline

import (
	"context"
	"slices"
	"sync"

	"shadow/internal/lazy"
	"shadow/internal/logfile"
	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/parse"
	"shadow/report/keys"
)

// Where none of the usual keys separates, those are tried that this log has beside them: wider and narrower networks,
// agents, segments of the path, fields whose names are those of identifiers, and these within a network. Of many tried
// some look good by chance. So they are chosen on the first part of the log's time and validated on the rest:
//
//	sample of the first 70 %   curves by every key ──▶ the likely ones
//	first 70 %                 curves by these     ──▶ for each question the best key and its limit
//	rest                       what that limit does there
//	whole log                  curves by the best few, for the tables

// identifier fits the names of fields that say who a client is.
var identifier = lazy.Regexp(`(?i)(^|[._-])(ja[34][a-z0-9_]*|.*fingerprint|.*api[._-]?key|.*session([._-]?id)?|.*account([._-]?id)?|sid|.*tenant([._-]?id)?|.*device[._-]?id|.*client[._-]?id)$`)

const (
	mostFields   = 4  // that are tried
	lastSegment  = 3  // of a path that is tried
	chosenOn     = 70 // percent of the log's time that keys are chosen on
	sampledOf    = 10 // percent of the requests in that time that all are tried on at first
	mostLikely   = 4  // that are tried on all of it, for each question and window
	shownOfFound = 2  // of the keys found that separate, for each question
	mostValues   = 250_000
)

// mostPeeked is the most files that are looked at for one that is a log: a directory may begin with others.
const mostPeeked = 10

// findFields are the fields of the first log that are to be tried. What is wrong with a log others will say.
func (r *Keys) findFields(logs []string) []request.Key {
	found, err := logfile.Expand(logs)
	if err != nil {
		return nil
	}
	for _, name := range found.Names[:min(mostPeeked, len(found.Names))] {
		if fields, err := r.fieldsOf(name); err == nil && fields != nil {
			return fields
		}
	}
	return nil
}

// fieldsOf are the fields of a file that are to be tried.
func (r *Keys) fieldsOf(name string) (fields []request.Key, err error) {
	if !logfile.CanBeReadAgain(name) {
		return nil, nil
	}
	sample, err := beginningOf(name)
	if err != nil {
		return nil, err
	}
	choice, err := r.choice(nil)
	if err != nil {
		return nil, err
	}
	detected, err := choice.For(sample)
	if err != nil {
		return nil, err
	}
	for _, field := range ingest.FieldsOf(sample, detected.Format) {
		if key, err := request.ParseKey("field:" + field); err == nil && identifier().MatchString(field) && len(fields) < mostFields {
			fields = append(fields, key)
		}
	}
	if detected.Format.Has(parse.FieldPath) {
		for n := range lastSegment {
			fields = append(fields, request.Key(request.Part{Kind: request.PartSegment, N: n + 1}.String()))
		}
	}
	return fields, nil
}

// foundKeys are the keys to be tried, the simpler first. owners says whether it is known whose networks addresses are in.
func foundKeys(fields []request.Key, owners bool) []request.Key {
	all := []request.Key{
		"agent", "client/28", "client/20", "client/16", "client/12", "client/8", "client/56", "client/48", "client/40", "client/32/32",
	}
	if owners {
		all = append(all, "asn", "country")
	}
	all = append(all, fields...)
	for _, part := range append([]request.Key{"agent"}, fields...) {
		if key, err := request.ParseKey("client/24+" + part.String()); err == nil {
			all = append(all, key)
		}
	}
	return all
}

// valueCounts count the values of each column of Batch.Values, and the requests that have one. Of a column with more
// than mostValues no more are kept: a log whose paths all differ must not take more memory for keys that no flag asked
// for.
type valueCounts struct {
	trial            *ingest.Trial // nil: none is only tried
	requests, values [traffic.MaxValues]int64
	seen             [traffic.MaxValues][]bool // by id
}

func (c *valueCounts) take(b *traffic.Batch, t *traffic.Tables) {
	for i, column := range b.Values {
		c.seen[i] = append(c.seen[i], make([]bool, max(0, t.Values.Len()-len(c.seen[i])))...)
		for _, id := range column {
			if id == traffic.NoValue {
				continue
			}
			if c.requests[i]++; !c.seen[i][id] {
				c.seen[i][id] = true
				c.values[i]++
			}
		}
		if c.trial != nil && c.values[i] > mostValues {
			c.trial.GiveUp(i)
		}
	}
}

// tell reports whether the values of a key can tell groups of requests: there are several and not too many, each of two
// requests or more on average.
func (c *valueCounts) tell(key request.Key, t *traffic.Tables) bool {
	for _, p := range key.Parts() {
		if i := slices.Index(t.Parts, p); p.IsValue() && (i < 0 || c.values[i] < 2 || c.values[i] > mostValues || 2*c.values[i] >= c.requests[i]) {
			return false
		}
	}
	return true
}

// widen tries the keys found where no usual one separates.
func (r *Keys) widen(ctx context.Context, survey *sweep.Keys, result *sweep.KeysResult, bounds *keyBounds) error {
	q, stats := &r.question, &result.Stats
	found := slices.DeleteFunc(slices.Clone(r.found), func(key request.Key) bool {
		return keys.IsAbsent(key, &result.ClientStats) || !r.values.tell(key, r.Read.Tables)
	})
	r.cut = stats.FirstAt + (stats.LastAt-stats.FirstAt)/100*chosenOn
	if len(found) == 0 || r.cut <= stats.FirstAt || !keys.NeedsLonger(result, *q) {
		return nil
	}
	periods := r.Per
	if periods == nil {
		periods = append([]limit.Time{limit.Minute}, longerPeriods[:q.Longer]...)
	}
	split := &keys.Split{Found: found, Percent: chosenOn}
	likely, err := r.likely(ctx, survey, result, found, periods)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(likely, survey.AtOnce()) {
		first := survey.Again(some, periods)
		if err := r.again(ctx, func(b *traffic.Batch) error { first.Take(r.part(b, true)); return nil }); err != nil {
			return err
		}
		split.First = survey.Part(result, split.First, first)
	}
	if split.First == nil {
		q.Split = split
		return nil
	}
	picked := keys.Pick(split.First, *q, found, shownOfFound)
	for some := range slices.Chunk(picked, max(1, survey.AtOnce()/2)) {
		whole, rest := survey.Again(some, periods), survey.Again(some, periods)
		if r.Details {
			bounds.add(some)
		}
		shared := bounds.share(some, whole)
		if err := r.again(ctx, func(b *traffic.Batch) error {
			var judging sync.WaitGroup
			survey.Look(b) // for both
			judging.Go(func() { rest.Take(r.part(b, false)) })
			whole.Take(b)
			judging.Wait()
			return nil
		}); err != nil {
			return err
		}
		if shared {
			bounds.next()
		}
		survey.Draw(result, whole)
		split.Rest = survey.Part(result, split.Rest, rest)
	}
	q.By, q.Split = append(slices.Clone(q.By), picked...), split
	return nil
}

// likely returns the keys found that may be best on the first part, by a sample of it. So few requests that they are one
// batch are no sample.
func (r *Keys) likely(
	ctx context.Context, survey *sweep.Keys, result *sweep.KeysResult, found []request.Key, periods []limit.Time,
) ([]request.Key, error) {
	if r.requests.Held() {
		return found, nil
	}
	var sample *sweep.KeysResult
	from, to := r.densest()
	for some := range slices.Chunk(found, survey.AtOnce()) {
		sampled, i := survey.Again(some, periods), 0
		if err := r.again(ctx, func(b *traffic.Batch) error {
			if b.Warm {
				return nil
			}
			if i++; from < i && i <= to {
				sampled.Take(r.part(b, true))
			}
			return nil
		}); err != nil {
			return nil, err
		}
		sample = survey.Part(result, sample, sampled)
	}
	return keys.Likely(sample, r.question, found, mostLikely), nil
}

// densest returns which batches to sample: next to each other and enough of the first part, those with most of the target.
// An attack need not last all day. Where the first batch goes beyond that part, it is sampled.
func (r *Keys) densest() (from, to int) {
	marks := []sweep.Mark{{}}
	for _, m := range r.marks {
		if len(marks) == 1 || m.At < r.cut {
			marks = append(marks, m)
		}
	}
	last, most := len(marks)-1, int64(-1)
	enough := max(1, marks[last].Requests.Sum()*sampledOf/100)
	for i, j := 0, 1; j <= last; j++ {
		for marks[j].Requests.Sum()-marks[i+1].Requests.Sum() >= enough {
			i++
		}
		target := marks[j].Requests.Of(r.question.Target) - marks[i].Requests.Of(r.question.Target)
		if target > most && marks[j].Requests.Sum()-marks[i].Requests.Sum() >= enough {
			from, to, most = i, j, target
		}
	}
	return from, to
}

// part are the requests of a batch before the cut, or those from it on.
func (r *Keys) part(b *traffic.Batch, first bool) *traffic.Batch {
	seq := b.Sequence()
	wanted := func(at limit.Time) bool { return (at < r.cut) == first }
	i := max(0, slices.IndexFunc(seq, wanted))
	j := i + max(0, slices.IndexFunc(seq[i:], func(at limit.Time) bool { return !wanted(at) }))
	if j == i && len(seq) > 0 && wanted(seq[i]) {
		j = len(seq)
	}
	switch {
	case j-i == len(seq):
		return b
	case !slices.ContainsFunc(seq[j:], wanted):
		part := b.Rows(i, j)
		part.DropSeq()
		return part
	}
	from := *b // no key goes by the following
	from.Bytes, from.Upstream, from.Took, from.Marks = nil, nil, nil, nil
	from.Clues, from.Origin, from.Leftmost, from.Line = nil, nil, nil, nil
	part := &traffic.Batch{Warm: b.Warm, Stamps: b.Stamps}
	part.Append(&from, mapped.Rows(seq, wanted))
	part.DropSeq()
	return part
}
