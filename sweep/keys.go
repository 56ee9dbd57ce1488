package sweep

import (
	"math"
	"runtime"

	"shadow/limit"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/evidence"
	"shadow/traffic/intern"
)

// Which key separates the target from the protected? Every key has its own curve over the same
// requests, and all of them count the same people, visitors (see evidence.Visitor), whatever shares a bucket:
//
//	         ┌─▶ timelines by client       ──▶ windows of 1m, 1h ──▶ histograms by visitor ─┐
//	batch ──▶├─▶ timelines by client+agent ──▶ …                                            ├─▶ curves by class
//	         └─▶ timelines by user         ──▶ …                                            ─┘

// Keys draws curves of rolling windows by several keys in one pass. It can also be told what any limits refuse.
type Keys struct {
	options  KeysOptions
	visitors evidence.Visitors
	judged   intern.PagedSlice[int64] // by visitor: requests that the curves are about
	clients  clientCounts
	sweeps   []*keySweep
	refused  []intern.PagedSlice[int64] // by limit of KeysOptions.Limits, by visitor
	now      limit.Time                 // the latest place in time that was seen
	work     func(i int)
	batch    traffic.Batch // that is being taken in, with visitors in the place of clients
	whole    *traffic.Batch
}

// KeysOptions say which keys to hold against each other.
type KeysOptions struct {
	Tables   *traffic.Tables
	Keys     []request.Key
	Periods  []limit.Time    // of windows
	Limits   int             // further limits, of which Refuse tells what they refuse
	Action   string          // only requests of this action; "" for all
	Lateness limit.Time      // a key whose time steps back by more resets
	Evidence *evidence.Rules // for batches with traces; nil: claims are believed

	// Side says as which class a visitor is counted, by that of its agent and whether its evidence contradicts that. Nil: a
	// contradicted browser is unknown, everybody else what it claims.
	Side func(claim request.Class, contradicted bool) request.Class

	Stop func() error // asked before each batch: an error ends the run; nil: never asked
}

// A keySweep is one key.
type keySweep struct {
	timelines traffic.Timelines
	filtered  *filtered // nil: all requests
	tasks     []*task
	shapes    []shaped // one for each period
}

// NewKeys returns Keys that have seen nothing.
func NewKeys(o KeysOptions) *Keys {
	k := &Keys{options: o, now: math.MinInt64, refused: make([]intern.PagedSlice[int64], o.Limits)}
	k.work = k.judge
	for _, by := range o.Keys {
		k.sweeps = append(k.sweeps, newKeySweep(by, &o))
	}
	return k
}

func newKeySweep(by request.Key, o *KeysOptions) *keySweep {
	s := &keySweep{timelines: traffic.Timelines{By: by}}
	if o.Action != "" {
		s.filtered = new(filtered)
	}
	for _, per := range o.Periods {
		needs := new(sparse) // visitors may share a key, and a visitor may have several
		w := &rolling{length: uint64(per), admitted: needs}
		task := newTask(o.Lateness, per)
		task.counters = append(task.counters, w)
		s.tasks = append(s.tasks, task)
		s.shapes = append(s.shapes, shaped{shape: Shape{Kind: Window, Per: per}, needs: needs})
	}
	return s
}

// Run takes in all requests of a source.
func (k *Keys) Run(src Source) error { return takeAll(src, k.options.Stop, k.Take) }

// Take takes in the requests of one batch.
func (k *Keys) Take(b *traffic.Batch) {
	k.visitors.Take(b, k.options.Tables)
	k.whole, k.batch = b, *b
	k.batch.Client = k.visitors.Column
	for _, p := range b.Sequence() {
		k.now = max(k.now, p)
	}
	each(runtime.GOMAXPROCS(0), len(k.sweeps), k.work)
	if !b.Warm {
		k.count(b)
	}
}

// judge has a side take in the batch.
func (k *Keys) judge(i int) {
	s := k.sweeps[i]
	s.timelines.Take(k.whole, k.options.Tables)
	if s.filtered != nil {
		s.filtered.filter(k.whole, &s.timelines, actionID(k.options.Tables, k.options.Action))
	}
	for _, task := range s.tasks {
		task.judge(&k.batch, &s.timelines, s.filtered, k.visitors.Len())
		task.forget(k.batch.Len(), k.now)
	}
}

// Refuse notes that one of the limits refuses some rows of the batch that was taken in last.
func (k *Keys) Refuse(limit int, rows []int32) {
	if k.whole.Warm {
		return
	}
	refused := &k.refused[limit]
	refused.Grow(k.visitors.Len())
	for _, row := range rows {
		*refused.At(k.visitors.Column[row])++
	}
}

// count adds the batch to what is known apart from any key.
func (k *Keys) count(b *traffic.Batch) {
	k.clients.take(b, k.options.Tables)
	k.judged.Grow(k.visitors.Len())
	action := actionID(k.options.Tables, k.options.Action)
	for row, visitor := range k.visitors.Column {
		if k.options.Action == "" || int32(b.Action[row]) == action {
			*k.judged.At(visitor)++
		}
	}
}
