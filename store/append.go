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
	"shadow/store/duck"
)

// A tail's run grows, batch by batch. The number of the last batch is changed in the transaction that stores it: a tail
// that does not know whether a batch has arrived sends it again. Batches that have waited together go in together.
//
//	batches ──▶ tables of the connection (stage.sql) ──▶ the run (append.sql)
//
// Every day (UTC, by the clock of the tail) begins a run, and so do other policies, and a run that somebody has
// deleted. A clock that is set back a little, as clocks are, does not.

//go:embed append.sql
var appendSQL string

// Append takes in batches of a tail, in their order, those of one run in one transaction. Batches that are there
// already are left out; known is how many. info says what the runs are that begin with them. After an error the first
// ones may be there; they are to be handed over again.
func (s *Store) Append(ctx context.Context, info RunInfo, batches []*replay.Addition) (known int, err error) {
	defer s.duck.InterruptWith(ctx)()
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
		if err := duck.CheckTime(e.At); err != nil {
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
	d := g.store.duck
	if g.run == 0 {
		if err := g.begin(); err != nil {
			return err
		}
	}
	if err := d.Exec(stageSQL); err != nil {
		return err
	}
	s := &stage{Writer: d.Writer()}
	for _, a := range g.batches {
		s.add(a)
	}
	if err := errors.Join(s.Done(), g.warnMissing(last)); err != nil {
		return err
	}
	newest := g.batches[len(g.batches)-1]
	return d.Exec(strings.NewReplacer( // its two texts are ours, and quoted
		"$majority", majority, "$run", fmt.Sprint(g.run), "$tail", quoted(duck.EncodeText(newest.Tail), '\''), "$batch", fmt.Sprint(newest.Number),
		"$policies", quoted(duck.EncodeText(g.policies), '\''), "$made", moment(fromClock(newest.Made)),
	).Replace(appendSQL))
}

// last is the number of the last batch of this tail that is stored, 0 for none. It notes the run to go on with, if
// there is one.
func (g *appending) last() (last uint64, err error) {
	type row struct {
		Batch    int64
		Run      int32
		Started  limit.Time
		Policies string
	}
	first := g.batches[0]
	err = duck.Each(g.store.duck, `SELECT t.batch, r.run, r.started, t.policies FROM tails t LEFT JOIN runs r ON r.run = t.run AND r.started = t.started
		WHERE t.tail = `+quoted(duck.EncodeText(first.Tail), '\''), func(t *row) error {
		last = max(last, uint64(t.Batch))
		if t.Run > 0 && sameRun(time.UnixMicro(int64(t.Started)), first.Made) && t.Policies == g.policies {
			g.run = t.Run
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
	w := g.store.duck.Writer(g.run)
	zero, at := int64(0), fromClock(g.batches[0].Made)
	w.Add("runs", g.info.Command, g.info.Version, at, at, zero, zero, zero, zero, zero, zero, zero, zero, zero, nil, nil,
		zero, false, false, known(g.info.Timezone, ""),
		zero, zero, nil, nil, zero, false, zero, zero)
	for i, p := range g.batches[0].Policies {
		w.Add("policies", policyRow(i, p.Name, p.By, p.Combine, &replay.PolicyTally{}, &source{events: true})...)
		for j, l := range p.Parts {
			w.Add("parts", int32(i), int32(j), l.By, l.Algorithm, l.Count, l.Period, l.Options, l.Text, known(l.Match, ""), known(l.Counts, ""))
		}
	}
	return w.Done()
}

//go:embed stage.sql
var stageSQL string

// A stage fills the tables of the connection. In them the sequence numbers of several batches are counted on.
type stage struct {
	*duck.Writer

	input, fault, agent, client, action int32 // how many there are of the batches before
}

func (s *stage) add(a *replay.Addition) {
	add := s.Writer.Add
	add("new_sums", a.Lines, a.Bytes, a.Unreadable, a.Excluded, a.Late, a.Requests, a.AlreadyRefused,
		timeIf(a.Requests > 0, a.First), timeIf(a.Requests > 0, a.Last), known(int64(a.Resolution), 0), a.NotHTTP.Lines(), a.JudgesNotHTTP, a.Moved)
	for _, n := range a.NotHTTP {
		add("new_not_http", n.Status, n.Lines)
	}
	for i := range a.Policies {
		var degraded replay.Degraded
		if a.Degraded != nil {
			degraded = a.Degraded[i]
		}
		add("new_policies", int32(i), a.Refused[i], a.Saved[i], degraded.Requests, degraded.Refused)
	}
	for i := range a.Inputs {
		in := &a.Inputs[i]
		add("new_inputs", s.input+int32(i), in.Name, in.Format, in.FormatText, in.Lines, in.Parsed, in.Unreadable)
	}
	for i := range a.Faults {
		f := &a.Faults[i]
		add("new_faults", s.fault+int32(i), f.Input, int32(f.Column), f.Reason, f.Text)
	}
	for i, agent := range a.Agents {
		add("new_agents", s.agent+int32(i), agent.Name, agent.Class)
	}
	for i := range a.Clients {
		c, n := &a.Clients[i], &a.Clients[i].ByClass
		add("new_clients", s.client+int32(i), c.Name, s.agent+c.Agent,
			n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown])
	}
	for i, act := range a.Actions {
		add("new_actions", s.action+int32(i), act.Name, act.Requests)
	}
	for i := range a.Events {
		e := &a.Events[i]
		add("new_events", e.Policy, e.At, s.client+e.Client, s.action+e.Action, int32(e.Status), int64(e.Count), e.Degraded)
	}
	s.input, s.fault = s.input+int32(len(a.Inputs)), s.fault+int32(len(a.Faults))
	s.agent, s.client, s.action = s.agent+int32(len(a.Agents)), s.client+int32(len(a.Clients)), s.action+int32(len(a.Actions))
}

// warnMissing notes in the run which batches neither are here nor come, so that their requests are missing forever.
// Batches of a tail come in the order of their numbers, without a gap: either a database went back to an older copy,
// or some were taken out of the spool. Of a tail that is not known here, none are missing.
func (g *appending) warnMissing(last uint64) error {
	var missing []string
	for _, a := range g.batches {
		switch n := a.Number - last - 1; {
		case last == 0 || n == 0:
		case n == 1:
			missing = append(missing, fmt.Sprint(last+1))
		default:
			missing = append(missing, fmt.Sprintf("%d–%d", last+1, a.Number-1))
		}
		last = a.Number
	}
	if missing == nil {
		return nil
	}
	n, err := duck.One[int64](g.store.duck, fmt.Sprintf("SELECT count(*) FROM warnings WHERE run = %d", g.run))
	if err != nil {
		return err
	}
	w := g.store.duck.Writer(g.run)
	w.Add("warnings", int32(n), fmt.Sprintf("requests are missing: of what the tail judged, batch %s never came; the database went back to an older copy, "+
		"or somebody has taken it out of the spool", strings.Join(missing, ", ")), nil)
	return w.Done()
}

// Names of clients and agents are joined and grouped, which DuckDB cannot do on disk alone: 200,000 addresses at once
// were too many for 64 MB. So it may take as much memory more as it needs for each name, with some reserve.
const (
	nameBytes  = 384 // bytes, whatever its length
	nameCopies = 3
)

// RoomFor are the options with which a database has room for some batches.
func RoomFor(batches []*replay.Addition) Options {
	bytes := 0
	add := func(name string) { bytes += nameBytes + nameCopies*len(duck.EncodeText(name)) }
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
