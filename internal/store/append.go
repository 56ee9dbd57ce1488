package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"shadow/internal/store/duck"
	"shadow/limit"
	"shadow/replay"
)

// A tail's run grows, piece by piece: each has what one batch, or several that have waited together, add to it. The
// number of the last batch lands with it: a tail that does not know whether a batch has arrived sends it again.
//
//	batches ──▶ names that the run knows keep their ids ──▶ run=7/0000000018
//
// Every sixteen pieces are put together, and every sixteen of those, and all of a run when the next one begins.
//
// Every day (UTC, by the clock of the tail) begins a run, and so do other policies, and a run that was deleted. A clock
// that is set back a little, as clocks are, does not.

// Append takes in batches of a tail, in their order, those of one run in one step. Batches that are there already are
// left out; known is how many. info says what the runs are that begin with them. After an error the first ones may be
// there; they are to be handed over again.
func (s *Store) Append(ctx context.Context, info RunInfo, batches []*replay.Addition) (known int, err error) {
	for len(batches) > 0 {
		g := &appending{store: s, ctx: ctx, info: info}
		if g.batches, g.policies, err = together(batches); err != nil {
			return known, err
		}
		batches = batches[len(g.batches):]
		if err := g.do(); err != nil {
			return known, s.wrap(full(err))
		}
		known += g.known
	}
	return known, nil
}

// together returns the first batches that belong to one run, and their policies as text.
func together(batches []*replay.Addition) (some []*replay.Addition, policies string, err error) {
	for i, a := range batches {
		if err := checkAddition(a); err != nil {
			return nil, "", err
		}
		text, err := json.Marshal(a.Policies)
		if err != nil {
			return nil, "", err
		}
		if i == 0 {
			policies = string(text)
		} else if a.Tail != batches[0].Tail || string(text) != policies || !dayOf(a.Made).Equal(dayOf(batches[0].Made)) {
			return batches[:i], policies, nil
		}
	}
	return batches, policies, nil
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// setBack is by how much a clock may be set back without another run.
const setBack = time.Hour

// sameRun reports whether a batch goes into a run that was begun at a moment.
func sameRun(started, made time.Time) bool {
	back := started.Sub(made)
	return dayOf(started).Equal(dayOf(made)) || 0 < back && back < setBack
}

// checkAddition refuses a batch that does not fit together.
func checkAddition(a *replay.Addition) error {
	if a.Number == 0 || len(a.Did) != len(a.Policies) {
		return errors.New("a batch without a number, or with other policies than it has tallies of")
	}
	for i := range a.Clients {
		if agent := a.Clients[i].Agent; uint(agent) >= uint(len(a.Agents)) {
			return fmt.Errorf("a client with agent %d, which the batch does not have", agent)
		}
	}
	for _, of := range a.Sets {
		if slices.ContainsFunc(of, func(r replay.Refuser) bool { return uint(r.Policy) >= uint(len(a.Policies)) }) {
			return fmt.Errorf("events of policies %v, of which the batch does not have all", of)
		}
	}
	for i := range a.Events {
		e := &a.Events[i]
		if uint(e.Set) >= uint(len(a.Sets)) || uint(e.Client) >= uint(len(a.Clients)) ||
			uint(e.Action) >= uint(len(a.Actions)) {
			return fmt.Errorf("an event of policies %d, client %d, action %d, which the batch does not have",
				e.Set, e.Client, e.Action)
		}
		if err := duck.CheckTime(e.At); err != nil {
			return err
		}
	}
	return nil
}

// An appending is batches on their way into one run.
type appending struct {
	store    *Store
	ctx      context.Context
	info     RunInfo
	batches  []*replay.Addition
	policies string // of the batches, as JSON
	run      int32  // 0: a new one
	started  time.Time
	before   int32  // the run of the tail until now; 0: none
	last     uint64 // the last batch that is there
	known    int
}

func (g *appending) do() error {
	if err := g.store.create(); err != nil {
		return err
	}
	all, err := g.store.list()
	if err != nil {
		return err
	}
	d, err := g.store.openTable(g.ctx)
	if err != nil {
		return err
	}
	defer d.InterruptWith(g.ctx)()
	if err := g.find(d, all); err != nil {
		return err
	}
	for g.known < len(g.batches) && g.batches[g.known].Number <= g.last {
		g.known++
	}
	if g.batches = g.batches[g.known:]; len(g.batches) == 0 {
		return nil
	}
	run := runFolder{run: g.run}
	if i := slices.IndexFunc(all, func(r runFolder) bool { return r.run == g.run }); i >= 0 {
		run = all[i]
	}
	p := &part{Addition: replay.Sum(g.batches), info: g.info, first: g.run == 0, from: g.batches[0].Made}
	if !p.first {
		p.from = g.started
	}
	for _, a := range g.batches {
		if p.until.Before(a.Made) {
			p.until = a.Made
		}
	}
	if err := p.number(d, run); err != nil {
		return err
	}
	return g.write(d, p, run)
}

// find finds the last batch of this tail that is stored, and the run to go on with, if there is one.
func (g *appending) find(d *duck.Conn, all []runFolder) error {
	var tails, runs []string
	for _, r := range all {
		if files := r.files("tails"); files != nil {
			tails, runs = append(tails, files...), append(runs, r.files("runs")...)
		}
	}
	type row struct {
		Batch    int64
		Run      int32
		Started  limit.Time
		Policies string
	}
	first := g.batches[0]
	g.last = g.store.notedBatch(all, first.Tail)
	return duck.Each(d, `SELECT max(t.batch), t.run, min(r.started), any_value(t.policies)
		FROM `+tableOf("tails").read(tails)+` t
		JOIN `+tableOf("runs").read(runs)+` r ON r.run = t.run WHERE t.tail = `+literal(duck.EncodeText(first.Tail))+`
		GROUP BY t.run ORDER BY t.run`,
		func(t *row) error {
			g.last, g.before, g.run = max(g.last, uint64(t.Batch)), t.Run, 0 // the latest run counts
			if sameRun(time.UnixMicro(int64(t.Started)), first.Made) && t.Policies == g.policies {
				g.run, g.started = t.Run, time.UnixMicro(int64(t.Started))
			}
			return nil
		})
}

// write writes a piece, lands it, and puts pieces together where there are many.
func (g *appending) write(d *duck.Conn, p *part, run runFolder) (err error) {
	number := int64(1)
	if len(run.pieces) > 0 {
		number = run.pieces[len(run.pieces)-1].last + 1
	}
	name := nameOfPiece(number, number)
	w, err := g.store.work(g.ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.leave()) }()
	dir, err := w.dir(name)
	if err != nil {
		return err
	}
	rows := d.Writer()
	p.write(rows, missing(g.last, g.batches))
	rows.Add("tails", p.Tail, int64(p.Number), g.policies)
	err = errors.Join(rows.Done(), writeTables(d, dir), emptyTables(d))
	if err == nil {
		err = w.finish(g.ctx)
	}
	switch {
	case err != nil:
		return err
	case g.run == 0:
		if _, err := w.landRun(g.ctx, d, nil); err != nil || g.before == 0 {
			return err
		}
		return g.store.gather(g.ctx, d, g.before, true)
	}
	if err := w.landPiece(g.ctx, d, g.run, name, run.pieces); err != nil {
		return err
	}
	return g.store.gather(g.ctx, d, g.run, false)
}

// pieceGroup counts the pieces that are put together at a time.
const pieceGroup = 16

// gather puts the last pieces of a run together where there are as many of one size as make a group; or all of its
// pieces, if the run is over.
func (s *Store) gather(ctx context.Context, d *duck.Conn, run int32, over bool) error {
	r := runFolder{run: run}
	if err := s.listRun(&r, nil); err != nil {
		return err
	}
	some := r.pieces
	if !over {
		if some = r.pieces[max(0, len(r.pieces)-pieceGroup):]; len(some) < pieceGroup || !sameSize(some) {
			return nil
		}
	}
	if len(some) < 2 {
		return nil
	}
	if err := s.join(ctx, d, run, some); err != nil || over {
		return err
	}
	return s.gather(ctx, d, run, false) // the next size may be complete now
}

// sameSize reports whether pieces are of as many batches each.
func sameSize(pieces []piece) bool {
	size := func(p piece) int64 { return p.last - p.first }
	return !slices.ContainsFunc(pieces, func(p piece) bool { return size(p) != size(pieces[0]) })
}

// join puts pieces of a run together.
func (s *Store) join(ctx context.Context, d *duck.Conn, run int32, pieces []piece) (err error) {
	name := nameOfPiece(pieces[0].first, pieces[len(pieces)-1].last)
	w, err := s.work(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.leave()) }()
	dir, err := w.dir(name)
	if err != nil {
		return err
	}
	some := selection{{run: run, pieces: pieces}}
	for _, t := range tableDefs() {
		if some[0].files(t.name) == nil {
			continue
		}
		rows := "(SELECT * EXCLUDE (run) FROM (" + some.sums(t) + "))"
		if err := writeFile(d, rows, filepath.Join(dir, t.name+".parquet")); err != nil {
			return err
		}
	}
	if err := w.finish(ctx); err != nil {
		return err
	}
	return w.landPiece(ctx, d, run, name, pieces)
}
