package tail

import (
	"cmp"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/format"
)

// A would-block is told as a line of JSON, one for each policy and request that it would have refused:
//
//	{"schema":"shadow.would-block/1","time":"2026-11-21T07:00:00.250000Z","client":"192.0.2.7","action":"GET /login","class":"tool","policy":"token:6/30s","retry_after":4.75}
//
// retry_after is in seconds, as it stands after the refusal; it is null when the policy would never admit the client again.
// "degraded":true stands behind it where the hosts that share a limit might have decided otherwise together.

// An events writer is the Observer of the tail: it counts and tells what was refused.
type events struct {
	out      *output
	spool    *spool // nil: nothing goes to a database
	tables   *traffic.Tables
	policies []policy.Policy
	names    [][]byte // of the policies, as JSON
	tally    *Tally
	refusals []refusal
	line     []byte
	clock    format.Clock
	busy     map[int32]struct{} // clients refused since the last summary
	feed     *feedCounts        // nil: no screen watches
}

type refusal struct {
	row    int32
	policy int32
	place  limit.Time
	retry  replay.Retry

	degraded bool
}

func newEvents(out *output, policies []policy.Policy, tally *Tally) *events {
	e := &events{out: out, policies: policies, tally: tally, busy: map[int32]struct{}{}}
	for _, p := range policies {
		e.names = append(e.names, format.AppendText(nil, p.Name))
	}
	return e
}

// Observe implements replay.Observer.
func (e *events) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	e.tally.Requests += int64(b.Len())
	e.gather(b, verdicts)
	e.feed.remember(b, e.refusals)
	if e.spool != nil {
		e.spool.observe(b, verdicts, e.refusals, e.tables)
	}
	for _, r := range e.refusals {
		class := e.tables.Agents.Class(int32(b.Agent[r.row]))
		e.tally.Policies[r.policy].count(b.Action[r.row], class, e.tables)
		e.busy[b.Client[r.row]] = struct{}{}
		e.feed.add(r.policy, b.Client[r.row], b.Action[r.row], class, e.tables)
		e.out.write(e.format(b, r, class))
	}
	return nil
}

// gather puts what was refused in the order of time, request by request and policy by policy.
func (e *events) gather(b *traffic.Batch, verdicts []replay.Verdicts) {
	e.refusals = e.refusals[:0]
	places := b.Sequence()
	for i := range verdicts {
		v := &verdicts[i]
		e.tally.Policies[i].Delayed += int64(len(v.Delayed))
		if e.tally.Policies[i].IsDegraded = v.Degraded; v.Degraded {
			e.tally.Policies[i].Degraded += int64(b.Len())
		}
		for j, row := range v.Refused {
			e.refusals = append(e.refusals, refusal{row, int32(i), places[row], v.Retry[j], v.Degraded})
		}
	}
	slices.SortFunc(e.refusals, func(x, y refusal) int {
		switch {
		case x.place != y.place:
			return cmp.Compare(x.place, y.place)
		case x.row == y.row:
			return cmp.Compare(x.policy, y.policy)
		case b.Before(x.row, y.row):
			return -1
		}
		return 1
	})
}

// wouldBlock begins a line.
var wouldBlock = "{" + format.WouldBlockSchema.Key() + `"time":"`

// format is the line of one refusal, valid until the next call.
func (e *events) format(b *traffic.Batch, r refusal, class request.Class) []byte {
	line := append(e.line[:0], wouldBlock...)
	line = e.clock.Append(line, b.At[r.row])
	line = append(line, `","client":`...)
	line = format.AppendText(line, e.tables.ShownClient(b.Client[r.row]))
	line = append(line, `,"action":`...)
	line = format.AppendText(line, e.tables.ShownAction(int32(b.Action[r.row])))
	line = append(line, `,"class":"`...)
	line = append(line, class.String()...)
	line = append(line, `","policy":`...)
	line = append(line, e.names[r.policy]...)
	line = append(line, `,"retry_after":`...)
	line = format.AppendSeconds(line, r.retry.After)
	if r.degraded {
		line = append(line, `,"degraded":true`...)
	}
	e.line = append(line, "}\n"...)
	return e.line
}
