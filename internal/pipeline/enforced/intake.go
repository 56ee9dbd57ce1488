package enforced

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/calibrate"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	shown "shadow/report/calibrate"
)

// defaultMost requests are kept in memory: some 80 bytes each. Of a log with more, one client in two is, or one in four …
const defaultMost = 8 << 20

// noVerdict stands for a request without the field: it did not come as far as the limit.
const noVerdict calibrate.Verdict = 0xff

// An intake takes in the requests of a log with what the server decided.
type intake struct {
	*Calibrate
	names []string // of the log's fields

	verdict, segment, retry, state request.Part

	columns []*traffic.Timelines // of the keys
	all     calibrate.Requests
	status  []uint16
	fields  bool // whether some request has the field
	words   map[int32]calibrate.Verdict
	retries map[int32]limit.Time
	nginx   bool // whether a word is one of nginx
	own     int  // refusals that HAProxy calls its own, less those of servers behind it
	most    int  // requests that are kept
	halved  uint // how often every other client was left out
}

// keys are policies that have the columns read which are needed: those to count by first.
func (t *intake) keys() ([]policy.Policy, error) {
	t.verdict = request.Part{Kind: request.PartField, Name: t.Verdict.Field}
	t.segment = request.Part{Kind: request.PartSegment, N: 1}
	t.retry = request.Part{Kind: request.PartField, Name: retryAfter}
	keys := slices.Clone(t.By)
	t.state = request.Part{Kind: request.PartField, Name: "termination"}
	for _, p := range []request.Part{t.verdict, t.segment, t.retry, t.state} {
		key, err := request.ParseKey(p.String())
		if err != nil {
			return nil, pipeline.Usage("--verdict: %w", err)
		}
		keys = append(keys, key)
	}
	var all []policy.Policy
	for _, key := range keys {
		p, err := policy.New(limit.Spec{Algorithm: "window", Count: 1, Period: limit.Second}, key)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	t.columns = mapped.Of(t.By, func(key request.Key) *traffic.Timelines { return &traffic.Timelines{By: key} })
	t.all.Keys, t.all.Places = make([][]int32, len(t.By)), make([][]int32, places)
	t.words, t.retries = map[int32]calibrate.Verdict{}, map[int32]limit.Time{}
	return all, nil
}

// The ways to divide requests.
const (
	byHost = iota
	bySegment
	places
)

// take takes in the requests of a batch.
func (t *intake) take(b *traffic.Batch) error {
	if b.Warm {
		return nil
	}
	tables := t.Read.Tables
	for _, column := range t.columns {
		column.Fill(b, tables)
	}
	verdicts, segments, retries := tables.ValuesOf(b, t.verdict), tables.ValuesOf(b, t.segment), tables.ValuesOf(b, t.retry)
	states := tables.ValuesOf(b, t.state)
	for row, client := range b.Client {
		if t.halved > 0 && hash(client)>>(32-t.halved) != 0 {
			continue
		}
		r := &t.all
		r.At, r.Client = append(r.At, b.At[row]), append(r.Client, client)
		r.Class = append(r.Class, tables.Agents.Class(int32(b.Agent[row])))
		r.Verdict = append(r.Verdict, t.decided(verdicts[row]))
		r.Retry = append(r.Retry, t.asked(retries[row]))
		if state := of(states, row, traffic.NoValue); state != traffic.NoValue {
			t.ended(b.Status[row], tables.Values.Name(state))
		}
		r.Line, t.status = append(r.Line, b.Line[row]), append(t.status, b.Status[row])
		r.Input, r.Path = append(r.Input, of(b.Source, row, 0)), append(r.Path, of(b.Path, row, -1))
		for i, column := range t.columns {
			r.Keys[i] = append(r.Keys[i], column.Column[row])
		}
		r.Places[byHost] = append(r.Places[byHost], of(b.Host, row, 0))
		r.Places[bySegment] = append(r.Places[bySegment], segments[row])
	}
	for t.all.Len() > t.most {
		if err := t.halve(); err != nil {
			return err
		}
	}
	return nil
}

// of returns the value of a row in a column, or what stands for it where there is no column.
func of[T any](column []T, row int, missing T) T {
	if column == nil {
		return missing
	}
	return column[row]
}

// hash spreads clients over 32 bits.
func hash(client int32) uint32 { return bits.Reverse32(uint32(client) * 0x9e3779b1) }

// halve leaves out every other client.
func (t *intake) halve() error {
	for _, key := range t.By {
		if p := key.Parts()[0]; p.Kind != request.PartClient {
			return pipeline.Usage("the log has more than %d requests, of which a limit by %s needs all: --since and --until take a part of it",
				t.most, key)
		}
	}
	t.halved++
	t.keep(func(row int) bool { return hash(t.all.Client[row])>>(32-t.halved) == 0 })
	return nil
}

// keep leaves out the rows that do not belong.
func (t *intake) keep(belongs func(row int) bool) {
	var rows []int
	for row := range t.all.At {
		if belongs(row) {
			rows = append(rows, row)
		}
	}
	r := &t.all
	pick(&r.At, rows)
	pick(&r.Verdict, rows)
	pick(&r.Client, rows)
	pick(&r.Class, rows)
	pick(&r.Path, rows)
	pick(&r.Input, rows)
	pick(&r.Line, rows)
	pick(&r.Retry, rows)
	pick(&t.status, rows)
	for i := range r.Keys {
		pick(&r.Keys[i], rows)
	}
	for i := range r.Places {
		pick(&r.Places[i], rows)
	}
}

func pick[T any](column *[]T, rows []int) {
	for i, row := range rows {
		(*column)[i] = (*column)[row]
	}
	*column = (*column)[:len(rows)]
}

// decided returns the verdict that a value of the field stands for.
func (t *intake) decided(value int32) calibrate.Verdict {
	if value == traffic.NoValue {
		return noVerdict
	}
	v, known := t.words[value]
	if !known {
		word := t.Read.Tables.Values.Name(value)
		v = t.Verdict.of(word)
		t.words[value] = v
		t.nginx = t.nginx || word == "PASSED" || strings.HasPrefix(word, "REJECTED")
	}
	t.fields = true
	return v
}

// asked is for how long the header Retry-After asks clients to stay away: seconds, or 0.
func (t *intake) asked(value int32) limit.Time {
	if value == traffic.NoValue {
		return 0
	}
	wait, known := t.retries[value]
	if !known {
		if d, err := limit.ParsePeriod(t.Read.Tables.Values.Name(value) + "s"); err == nil {
			wait = d
		}
		t.retries[value] = wait
	}
	return wait
}

// found holds what was taken in, and where the verdicts come from.
type found struct {
	shown.Source
	options calibrate.Options
	Status  uint16 // by which refusals are known; 0: by the field
}

const fallbackStatus = 503

// wanted are the statuses of refusals, the first that the log has.
func (t *intake) wanted() []uint16 {
	if t.Statuses != nil {
		return t.Statuses
	}
	return []uint16{429, fallbackStatus}
}

// requests returns the requests that came as far as the limit.
func (t *intake) requests(s *ingest.Stats) (*found, error) {
	f := &found{Source: shown.Source{Requests: &t.all, Read: int64(t.all.Len()), Sampled: 1 << t.halved, Place: t.place}}
	if s.Resolution >= second {
		f.Whole = true
		t.all.Spread()
	}
	if t.fields {
		f.From = "the field $" + t.Verdict.Field
		f.Enforced = t.enforced()
		if t.Statuses != nil {
			f.From += ", and status " + join(t.Statuses) + " without it"
			t.byStatus(t.Statuses, func(row int) bool { return t.all.Verdict[row] == noVerdict })
		}
		t.keep(func(row int) bool { return t.all.Verdict[row] != noVerdict })
		f.options.Delays = t.nginx
	} else {
		statuses := t.Statuses
		for _, status := range t.wanted() {
			if statuses == nil && slices.Contains(t.status, status) {
				statuses, f.Status = []uint16{status}, status
			}
		}
		t.byStatus(statuses, func(int) bool { return true })
		f.From, f.Enforced = "status "+join(statuses), true
	}
	f.options.Prefer = t.prefer(s)
	f.options.Only = t.nginx || f.options.Prefer == "haproxy" && t.own > 0
	if t.explicit() && !t.fields || !slices.Contains(t.all.Verdict, calibrate.Refused) && !t.fields {
		return nil, t.missing()
	}
	return f, nil
}

// byStatus has some requests go by their statuses: refused are those with one of some.
func (t *intake) byStatus(statuses []uint16, these func(row int) bool) {
	for row, status := range t.status {
		switch {
		case !these(row):
		case slices.Contains(statuses, status):
			t.all.Verdict[row] = calibrate.Refused
		default:
			t.all.Verdict[row] = calibrate.Passed
		}
	}
}

// join lists statuses.
func join(statuses []uint16) string {
	return strings.Join(mapped.Of(statuses, func(s uint16) string { return strconv.Itoa(int(s)) }), " or ")
}

// place returns the name of a place.
func (t *intake) place(way int, id int32) string {
	switch {
	case way == byHost:
		return t.Anonymizer.Text(t.Read.Tables.Hosts.Name(id))
	case id == traffic.NoValue:
		return "/"
	}
	return t.Anonymizer.Text("/" + t.Read.Tables.Values.Name(id))
}
