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
	"shadow/request"
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
		"$majority", majority, "$run", fmt.Sprint(g.run), "$tail", quoted(encodeText(last.Tail), '\''), "$batch", fmt.Sprint(last.Number),
		"$policies", quoted(encodeText(g.policies), '\''), "$made", moment(fromClock(last.Made)),
	).Replace(sql)
}

//go:embed stage.sql
var stageSQL string

// A stage is the tables of the connection. In them the places of several batches are counted on.
type stage struct {
	sums, notHTTP, policies, inputs, faults, agents, clients, actions, events *table

	input, fault, agent, client, action int32 // how many there are of the batches before
}

// stage puts the batches into tables of the connection.
func (g *appending) stage() error {
	d := g.store.duck
	if err := d.exec(stageSQL); err != nil {
		return err
	}
	s := &stage{
		sums: d.table("new_sums"), notHTTP: d.table("new_not_http"), policies: d.table("new_policies"), inputs: d.table("new_inputs"), faults: d.table("new_faults"),
		agents:  d.table("new_agents"),
		clients: d.table("new_clients"), actions: d.table("new_actions"), events: d.table("new_events"),
	}
	for _, a := range g.batches {
		s.add(a)
	}
	return errors.Join(s.sums.done(), s.notHTTP.done(), s.policies.done(), s.inputs.done(), s.faults.done(), s.agents.done(), s.clients.done(), s.actions.done(), s.events.done())
}

func (s *stage) add(a *replay.Addition) {
	s.sums.add(a.Lines, a.Bytes, a.Unreadable, a.Excluded, a.Late, a.Requests, a.AlreadyRefused,
		timeIf(a.Requests > 0, a.First), timeIf(a.Requests > 0, a.Last), known(int64(a.Resolution), 0), a.NotHTTP.Lines(), a.JudgesNotHTTP, a.Moved)
	for _, n := range a.NotHTTP {
		s.notHTTP.add(n.Status, n.Lines)
	}
	for i := range a.Policies {
		var degraded replay.Degraded
		if a.Degraded != nil {
			degraded = a.Degraded[i]
		}
		s.policies.add(int32(i), a.Refused[i], a.Saved[i], degraded.Requests, degraded.Refused)
	}
	s.addRead(a)
	for i, agent := range a.Agents {
		s.agents.add(s.agent+int32(i), agent.Name, agent.Class)
	}
	for i := range a.Clients {
		c, n := &a.Clients[i], &a.Clients[i].ByClass
		s.clients.add(s.client+int32(i), c.Name, s.agent+c.Agent,
			n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown])
	}
	for i, act := range a.Actions {
		s.actions.add(s.action+int32(i), act.Name, act.Requests)
	}
	for i := range a.Events {
		e := &a.Events[i]
		s.events.add(e.Policy, e.At, s.client+e.Client, s.action+e.Action, int32(e.Status), int64(e.Count), e.Degraded)
	}
	s.agent, s.client, s.action = s.agent+int32(len(a.Agents)), s.client+int32(len(a.Clients)), s.action+int32(len(a.Actions))
}

// addRead adds what was read.
func (s *stage) addRead(a *replay.Addition) {
	for i := range a.Inputs {
		in := &a.Inputs[i]
		s.inputs.add(s.input+int32(i), in.Name, in.Format, in.FormatText, in.Lines, in.Parsed, in.Unreadable)
	}
	for i := range a.Faults {
		f := &a.Faults[i]
		s.faults.add(s.fault+int32(i), f.Input, int32(f.Column), f.Reason, f.Text)
	}
	s.input, s.fault = s.input+int32(len(a.Inputs)), s.fault+int32(len(a.Faults))
}

// Batches of a tail come in the order of their numbers, without a gap. Where there is one, requests are missing forever, and
// the run says so.

// miss finds batches that are neither here nor come: a database in which some were went back to an older copy, or they were
// taken out of the spool. Of a tail that is not known here, nothing was to come before.
func (g *appending) miss(last uint64) {
	for _, a := range g.batches {
		switch n := a.Number - last - 1; {
		case last == 0 || n == 0:
		case n == 1:
			g.missing = append(g.missing, fmt.Sprint(last+1))
		default:
			g.missing = append(g.missing, fmt.Sprintf("%d–%d", last+1, a.Number-1))
		}
		last = a.Number
	}
}

// warn keeps with the run that batches are missing.
func (g *appending) warn() error {
	if g.missing == nil {
		return nil
	}
	n, err := g.store.duck.number(fmt.Sprintf("SELECT count(*) FROM warnings WHERE run = %d", g.run))
	if err != nil {
		return err
	}
	warnings := g.store.duck.table("warnings")
	warnings.add(g.run, int32(n), fmt.Sprintf("requests are missing: of what the tail judged, batch %s never came; the database went back to an older copy, "+
		"or somebody has taken it out of the spool", strings.Join(g.missing, ", ")))
	return warnings.done()
}

// Names of clients and agents are joined and grouped, which DuckDB cannot do on disk alone: 200,000 addresses at once were too
// many for 64 MB. So it may take as much memory more as it needs for each name, with some reserve.
const (
	nameBytes  = 384 // bytes, whatever its length
	nameCopies = 3
)

// RoomFor are the options with which a database has room for some batches.
func RoomFor(batches []*replay.Addition) Options {
	bytes := 0
	add := func(name string) { bytes += nameBytes + nameCopies*len(encodeText(name)) }
	for _, a := range batches {
		for i := range a.Clients {
			add(a.Clients[i].Name)
		}
		for i := range a.Agents {
			add(a.Agents[i].Name)
		}
	}
	return Options{MemoryMB: defaultMemoryMB + bytes>>20}
}
