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
	"shadow/traffic"
)

// A tail's run grows, batch by batch. Each batch is one transaction, and its number is part of it: whoever does not know
// whether a batch has arrived hands it over again. What is new goes into tables that last as long as the connection
// (stage.sql); from there SQL brings it into the run (append.sql).

//go:embed stage.sql
var stageSQL string

//go:embed append.sql
var appendSQL string

// Append takes in a batch, unless it is there already. info says what the run is that begins with it, should one begin: the
// first of a tail, of a day, or of other policies.
func (s *Store) Append(ctx context.Context, info RunInfo, a *replay.Addition) error {
	policies, err := json.Marshal(a.Policies)
	if err != nil {
		return err
	}
	g := &appending{store: s, info: info, to: a, policies: encodeText(string(policies))}
	defer s.duck.interruptWith(ctx)()
	if err := s.transact(ctx, g.do); err != nil {
		return fmt.Errorf("a batch is not stored: %w", err)
	}
	s.version = schemaVersion
	return nil
}

// An appending is a batch on its way into the database.
type appending struct {
	store    *Store
	info     RunInfo
	to       *replay.Addition
	policies string
	run      int32
}

func (g *appending) do() error {
	if err := g.check(); err != nil {
		return err
	}
	if err := g.store.bringUpToDate(); err != nil {
		return err
	}
	last, err := g.last()
	if err != nil || last >= int64(g.to.Number) {
		return err
	}
	if g.run == 0 {
		if err := g.begin(); err != nil {
			return err
		}
	}
	if err := g.stage(); err != nil {
		return err
	}
	return g.store.duck.exec(g.fill(appendSQL))
}

// check refuses what does not fit together.
func (g *appending) check() error {
	a := g.to
	if a.Number == 0 || len(a.Refused) != len(a.Policies) || len(a.Saved) != len(a.Policies) {
		return errors.New("a batch without a number, or with other policies than it has tallies of")
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

// last is the number of the last batch of this tail that is stored, 0 for none. It notes the run to go on with, if there is
// one: of the same day and the same policies, and nobody has deleted it.
func (g *appending) last() (last int64, err error) {
	day := func(t limit.Time) time.Time { return time.UnixMicro(int64(t)).UTC().Truncate(24 * time.Hour) }
	err = g.store.duck.scan(`SELECT t.batch, r.run, r.started, t.policies FROM tails t LEFT JOIN runs r ON r.run = t.run AND r.started = t.started
		WHERE t.tail = `+quoted(encodeText(g.to.Tail), '\''), func(b *block) error {
		for row := range b.rows {
			last = max(last, values[int64](b, 0)[row])
			if !b.null(1, row) && day(values[limit.Time](b, 2)[row]).Equal(day(fromClock(g.to.Made))) && b.text(3, row) == decodeText(g.policies) {
				g.run = values[int32](b, 1)[row]
			}
		}
		return nil
	})
	return last, err
}

// begin begins a run, in which nothing has been counted yet.
func (g *appending) begin() error {
	last, err := g.store.duck.number("SELECT coalesce(max(run), 0)::BIGINT FROM runs")
	if err != nil {
		return err
	}
	if last >= maxRun {
		return errNoNumbers
	}
	g.run = int32(last) + 1
	zero, at := int64(0), fromClock(g.to.Made)
	runs := g.store.duck.table("runs")
	runs.add(g.run, g.info.Command, g.info.Version, at, at, zero, zero, zero, zero, zero, zero, zero, zero, zero, nil, nil,
		int64(limit.Microsecond), true, false, textIf(g.info.Timezone))
	if err := runs.done(); err != nil {
		return err
	}
	policies, parts := g.store.duck.table("policies"), g.store.duck.table("parts")
	for i, p := range g.to.Policies {
		policies.add(append([]any{g.run, int32(i), p.Name, p.By, zero, zero, zero, nil, zero, zero, nil, true}, make([]any, 8)...)...)
		for j, l := range p.Parts {
			parts.add(g.run, int32(i), int32(j), l.By, l.Algorithm, l.Count, l.Period, l.Options, l.Text, textIf(l.Match), textIf(l.Counts))
		}
	}
	return errors.Join(policies.done(), parts.done())
}

// fill puts the numbers of this batch into SQL, and its two texts, which are ours and quoted.
func (g *appending) fill(sql string) string {
	a := g.to
	return strings.NewReplacer(
		"$run", fmt.Sprint(g.run), "$tail", quoted(encodeText(a.Tail), '\''), "$policies", quoted(g.policies, '\''),
		"$batch", fmt.Sprint(a.Number), "$made", moment(fromClock(a.Made)),
		"$lines", fmt.Sprint(a.Lines), "$unreadable", fmt.Sprint(a.Unreadable), "$excluded", fmt.Sprint(a.Excluded),
		"$late", fmt.Sprint(a.Late), "$requests", fmt.Sprint(a.Requests),
		"$first", momentIf(a.Requests > 0, a.First), "$last", momentIf(a.Requests > 0, a.Last),
	).Replace(sql)
}

func momentIf(ok bool, t limit.Time) string {
	if !ok {
		return "NULL::TIMESTAMP"
	}
	return moment(t)
}

// stage puts the batch into tables of the connection.
func (g *appending) stage() error {
	d, a := g.store.duck, g.to
	if err := d.exec(stageSQL); err != nil {
		return err
	}
	clients := d.table("new_clients")
	for i := range a.Clients {
		c := &a.Clients[i]
		n := &c.ByClass
		clients.add(int32(i), c.Name, c.Agent, c.AgentClass,
			n[traffic.Browser], n[traffic.Crawler], n[traffic.Tool], n[traffic.Monitor], n[traffic.Unknown])
	}
	actions := d.table("new_actions")
	for i, act := range a.Actions {
		actions.add(int32(i), act.Name, act.Requests)
	}
	policies := d.table("new_policies")
	for i := range a.Policies {
		policies.add(int32(i), a.Refused[i], a.Saved[i])
	}
	events := d.table("new_events")
	for i := range a.Events {
		e := &a.Events[i]
		events.add(e.Policy, e.At, e.Client, e.Action, int32(e.Status), int64(e.Count))
	}
	return errors.Join(clients.done(), actions.done(), policies.done(), events.done())
}
