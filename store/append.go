package store

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"shadow/limit"
	"shadow/replay"
)

// A tail's run grows, batch by batch. The number of the last batch is changed in the transaction that stores it: whoever
// does not know whether a batch has arrived hands it over again. Batches that have waited together go in together.
//
//	batches ──▶ tables of the connection (stage.sql) ──▶ the run (append.sql)
//
// Every day (UTC, by the clock of the tail) begins a run, and so do other policies, and a run that somebody has deleted. A clock
// that is set back a little, as clocks are, does not.

//go:embed append.sql
var appendSQL string

// Append takes in batches of a tail, in their order, those of one run in one transaction. Batches that are there already
// are left out; known is how many. info says what the runs are that begin with them. After an error the first ones may be
// there; they are to be handed over again.
func (s *Store) Append(ctx context.Context, info RunInfo, batches []*replay.Addition) (known int, err error) {
	defer s.duck.interruptWith(ctx)()
	for len(batches) > 0 {
		g := &appending{store: s, info: info}
		if g.batches, g.policies, err = together(batches); err != nil {
			return known, err
		}
		batches = batches[len(g.batches):]
		if err := s.transact(ctx, g.do); err != nil {
			return known, err
		}
		known += g.known
	}
	return known, nil
}

// together are the first batches that belong to one run, and their policies as text.
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
	if a.Number == 0 || len(a.Refused) != len(a.Policies) || len(a.Saved) != len(a.Policies) ||
		a.Degraded != nil && len(a.Degraded) != len(a.Policies) {
		return errors.New("a batch without a number, or with other policies than it has tallies of")
	}
	for i := range a.Clients {
		if agent := a.Clients[i].Agent; uint(agent) >= uint(len(a.Agents)) {
			return fmt.Errorf("a client with agent %d, which the batch does not have", agent)
		}
	}
	for i := range a.Events {
		e := &a.Events[i]
		if uint(e.Policy) >= uint(len(a.Policies)) || uint(e.Client) >= uint(len(a.Clients)) || uint(e.Action) >= uint(len(a.Actions)) {
			return fmt.Errorf("an event of policy %d, client %d, action %d, which the batch does not have", e.Policy, e.Client, e.Action)
		}
		if err := checkTime(e.At); err != nil {
			return err
		}
	}
	return nil
}

// An appending is batches on their way into one run.
type appending struct {
	store    *Store
	info     RunInfo
	batches  []*replay.Addition
	policies string // of the batches, as JSON
	run      int32
	known    int
	missing  []string // batches that should have come before these, in words
}

func (g *appending) do() error {
	last, err := g.last()
	if err != nil {
		return err
	}
	for g.known < len(g.batches) && g.batches[g.known].Number <= last {
		g.known++
	}
	if g.batches = g.batches[g.known:]; len(g.batches) == 0 {
		return nil
	}
	g.miss(last)
	if g.run == 0 {
		if err := g.begin(); err != nil {
			return err
		}
	}
	if err := g.stage(); err != nil {
		return err
	}
	if err := g.warn(); err != nil {
		return err
	}
	return g.store.duck.exec(g.fill(appendSQL))
}

// last is the number of the last batch of this tail that is stored, 0 for none. It notes the run to go on with, if there is one.
func (g *appending) last() (last uint64, err error) {
	first := g.batches[0]
	err = g.store.duck.scan(`SELECT t.batch, r.run, r.started, t.policies FROM tails t LEFT JOIN runs r ON r.run = t.run AND r.started = t.started
		WHERE t.tail = `+quoted(encodeText(first.Tail), '\''), func(b *block) error {
		for row := range b.rows {
			last = max(last, uint64(values[int64](b, 0)[row]))
			started := time.UnixMicro(int64(orElse[limit.Time](b, 2, row, 0)))
			if !b.null(1, row) && sameRun(started, first.Made) && b.text(3, row) == g.policies {
				g.run = values[int32](b, 1)[row]
			}
		}
		return nil
	})
	return last, err
}

// begin begins a run, in which nothing has been counted yet.
func (g *appending) begin() error {
	var err error
	if g.run, err = g.store.nextRun(); err != nil {
		return err
	}
	zero, at := int64(0), fromClock(g.batches[0].Made)
	runs := g.store.duck.table("runs")
	runs.add(g.run, g.info.Command, g.info.Version, at, at, zero, zero, zero, zero, zero, zero, zero, zero, zero, nil, nil,
		zero, false, false, textIf(g.info.Timezone),
		zero, zero, nil, nil, zero, false, zero)
	if err := runs.done(); err != nil {
		return err
	}
	policies, parts := g.store.duck.table("policies"), g.store.duck.table("parts")
	for i, p := range g.batches[0].Policies {
		policies.add(policyRow(g.run, i, p.Name, p.By, p.Combine, &replay.PolicyTally{}, &source{events: true})...)
		for j, l := range p.Parts {
			parts.add(g.run, int32(i), int32(j), l.By, l.Algorithm, l.Count, l.Period, l.Options, l.Text, textIf(l.Match), textIf(l.Counts))
		}
	}
	return errors.Join(policies.done(), parts.done())
}

// fill puts what stands for the batches as a whole into SQL. Its two texts are ours, and quoted.
func (g *appending) fill(sql string) string {
	last := g.batches[len(g.batches)-1]
	return strings.NewReplacer(
		"$run", fmt.Sprint(g.run), "$tail", quoted(encodeText(last.Tail), '\''), "$batch", fmt.Sprint(last.Number),
		"$policies", quoted(encodeText(g.policies), '\''), "$made", moment(fromClock(last.Made)),
	).Replace(sql)
}
