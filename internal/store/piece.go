package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/limit"
	"shadow/replay"
)

// A part is what batches add to a run: the rows of a piece.
type part struct {
	*replay.Addition
	info  RunInfo
	from  time.Time // when the first batch of the run was made, by the clock
	until time.Time // when the last one of these was
	first bool      // whether the run begins with it

	inputs, agents, clients, actions idsOf
	sets, faults, warnings           int32 // how many the run has before
}

// idsOf are the ids of names in a run, by their places in an Addition.
type idsOf struct {
	ids  []int32
	next int32 // ids from here on are new
	all  int32 // how many there are now
}

// lookUp finds the ids that the run has given to names, and gives the others the next ones. files are those of the run.
func lookUp(d *duck.Conn, table, id string, files []string, n int, name func(int) string) (of idsOf, err error) {
	rows := tableOf(table).read(files)
	if of.next, err = duck.One[int32](d, "SELECT coalesce(max("+id+") + 1, 0)::INTEGER FROM "+rows); err != nil {
		return of, err
	}
	of.ids = make([]int32, n)
	for i := range of.ids {
		of.ids[i] = -1
	}
	if of.next > 0 {
		if err := d.Exec("CREATE OR REPLACE TEMP TABLE asked (place INTEGER, name VARCHAR)"); err != nil {
			return of, err
		}
		w := d.Writer()
		for i := range n {
			w.Add("asked", int32(i), name(i))
		}
		if err := w.Done(); err != nil {
			return of, err
		}
		question := "SELECT a.place, any_value(t." + id + ") FROM asked a JOIN " + rows + " t ON t.name = a.name GROUP BY a.place"
		err = duck.Each(d, question, func(r *[2]int32) error {
			of.ids[r[0]] = r[1]
			return nil
		})
	}
	of.all = of.next
	for i, id := range of.ids {
		if id < 0 {
			of.ids[i] = of.all
			of.all++
		}
	}
	return of, err
}

// number finds the ids of all names of the part in a run.
func (p *part) number(d *duck.Conn, run runFolder) error {
	var errs [7]error
	for i, of := range []struct {
		to        *idsOf
		table, id string
		n         int
		name      func(i int) string
	}{
		{&p.inputs, "inputs", "input", len(p.Inputs), func(i int) string { return p.Inputs[i].Name }},
		{&p.agents, "agents", "agent", len(p.Agents), func(i int) string { return p.Agents[i].Name }},
		{&p.clients, "clients", "client", len(p.Clients), func(i int) string { return p.Clients[i].Name }},
		{&p.actions, "actions", "action", len(p.Actions), func(i int) string { return p.Actions[i].Name }},
	} {
		*of.to, errs[i] = lookUp(d, of.table, of.id, run.files(of.table), of.n, of.name)
	}
	for i, count := range []struct {
		to    *int32
		table string
		id    string
	}{{&p.sets, "policy_sets", "policy_set"}, {&p.faults, "unreadable_lines", "fault"}, {&p.warnings, "warnings", "warning"}} {
		*count.to, errs[4+i] = duck.One[int32](d,
			"SELECT coalesce(max("+count.id+") + 1, 0)::INTEGER FROM "+tableOf(count.table).read(run.files(count.table)))
	}
	return errors.Join(errs[:]...)
}

// write adds the rows of the part to the tables of a writer.
func (p *part) write(w *duck.Writer, warnings []string) {
	p.writeRead(w)
	for i, text := range warnings {
		w.Add("warnings", p.warnings+int32(i), text, nil)
	}
	tallies := p.tallies()
	p.writePolicies(w, tallies)
	p.writeNames(w)
	for i := range p.Events {
		e := &p.Events[i]
		w.Add("refusals", e.At, p.clients.ids[e.Client], p.actions.ids[e.Action], e.Status, e.Count, p.sets+e.Set)
	}
	p.writeTallies(w, tallies)
}

// faultsOf bounds the unreadable lines that a run tells of.
const faultsOf = 10

func (p *part) writeRead(w *duck.Writer) {
	zero := int64(0)
	hasAgents := false
	for _, agent := range p.Agents {
		hasAgents = hasAgents || agent.Name != "" && agent.Name != "-"
	}
	w.Add("runs", p.info.Command, p.info.Version, fromClock(p.from), fromClock(p.until),
		p.Lines, p.Bytes, p.Parsed, p.Unreadable, p.Excluded, zero, p.Requests, p.Late, p.AlreadyRefused, timeIf(p.Requests > 0, p.First), timeIf(p.Requests > 0, p.Last), int64(p.Resolution),
		hasAgents, false, known(p.info.Timezone, ""), zero, zero, nil, p.Tail, p.NotHTTP.Lines(), p.JudgesNotHTTP, p.Moved, zero,
		int64(p.clients.all))
	for _, n := range p.NotHTTP {
		w.Add("not_http", n.Status, n.Lines)
	}
	for i := range p.Inputs {
		in := &p.Inputs[i]
		w.Add("inputs", p.inputs.ids[i], in.Name, in.Format, in.FormatText, nil, nil, nil, nil,
			in.Lines, in.Parsed, in.Unreadable, nil, nil, nil)
	}
	for i, f := range p.Faults[:min(len(p.Faults), int(max(0, faultsOf-p.faults)))] {
		w.Add("unreadable_lines", p.faults+int32(i), f.Input, nil, int32(f.Column), f.Reason, f.Text)
	}
}

func (p *part) writePolicies(w *duck.Writer, tallies []replay.PolicyTally) {
	for i, t := range p.Policies {
		w.Add("policies", policyRow(i, t.Name, t.By, t.Combine, &tallies[i], &source{events: true})...)
		if !p.first {
			continue
		}
		for j, l := range t.Parts {
			w.Add("parts", int32(i), int32(j), l.By, l.Algorithm, l.Count, l.Period, l.Options, l.Text,
				known(l.Match, ""), known(l.Counts, ""))
		}
	}
	addSets(w, p.sets, p.Sets)
}

// tallies returns what each policy did. Clients and actions are places in the Addition; events come by time.
func (p *part) tallies() []replay.PolicyTally {
	all := make([]replay.PolicyTally, len(p.Policies))
	for i := range all {
		all[i] = replay.PolicyTally{PolicyCounts: p.Did[i], ByAction: make([]int64, len(p.Actions))}
		all[i].Requests = p.Requests
	}
	var minute limit.Time
	now := make([]int64, len(all)) // refused in it, by policy
	for i := range p.Events {
		e := &p.Events[i]
		if start := replay.FloorTo(e.At, limit.Minute); start != minute {
			minute = start
			clear(now)
		}
		for _, r := range p.Sets[e.Set] {
			t, n := &all[r.Policy], int64(e.Count)
			t.Hits.Add(e.Client, n, e.At, e.At)
			t.ByAction[e.Action] += n
			if now[r.Policy] += n; now[r.Policy] > t.WorstMinuteRefused {
				t.WorstMinute, t.WorstMinuteRefused = minute, now[r.Policy]
			}
		}
	}
	return all
}

func (p *part) writeNames(w *duck.Writer) {
	for i, agent := range p.Agents {
		if id := p.agents.ids[i]; id >= p.agents.next {
			w.Add("agents", id, agent.Name, agent.Class)
		}
	}
	for i := range p.Clients {
		c := replay.ClientTally{ByClass: p.Clients[i].ByClass}
		n := &c.ByClass
		w.Add("clients", p.clients.ids[i], p.Clients[i].Name, c.Class().String(), p.agents.ids[p.Clients[i].Agent], c.Requests(),
			n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown])
	}
	for i, act := range p.Actions {
		w.Add("actions", p.actions.ids[i], act.Name, act.Requests)
	}
}

func (p *part) writeTallies(w *duck.Writer, tallies []replay.PolicyTally) {
	for policy := range tallies {
		for h := range tallies[policy].Hits.All() {
			w.Add("client_tallies", int32(policy), p.clients.ids[h.Client], h.Refused, h.First, h.Last)
		}
		for action, n := range tallies[policy].ByAction {
			if n > 0 {
				w.Add("action_tallies", int32(policy), p.actions.ids[action], n)
			}
		}
	}
}

// missing says which batches neither are here nor come, so that their requests are missing forever. Batches of a tail
// come in the order of their numbers, without a gap: either a database went back to an older copy, or some were taken
// out of the spool. Of a tail that is not known here, none are missing.
func missing(last uint64, batches []*replay.Addition) (warnings []string) {
	var numbers []string
	for _, a := range batches {
		switch n := a.Number - last - 1; {
		case last == 0 || n == 0:
		case n == 1:
			numbers = append(numbers, fmt.Sprint(last+1))
		default:
			numbers = append(numbers, fmt.Sprintf("%d–%d", last+1, a.Number-1))
		}
		last = a.Number
	}
	if numbers == nil {
		return nil
	}
	return []string{fmt.Sprintf("requests are missing: of what the tail judged, batch %s never came; "+
		"the database went back to an older copy, or it was taken out of the spool", strings.Join(numbers, ", "))}
}
