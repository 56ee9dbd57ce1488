package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/internal/findings"
	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
)

// A stored run comes back as the replay.Result that it was, so a report of it is the report that was printed. Several
// runs come back as one: clients, agents, actions and policies are the same when their names are, and what was
// counted adds up.
//
// What a result of several cannot know: of the percentiles of delays the longest is taken, and between what and what
// the clients lie that an approximation hits is given with a margin. The worst minute is known where events are kept.

// Loaded holds what is known of one or several runs.
type Loaded struct {
	Result   *replay.Result
	Warnings []string // about reading, and about merging runs
	Findings []findings.Finding
	Timezone string // of stamps that do not name theirs; "": unknown
	Command  string // of the latest run
	Version  string // of the shadow that made it

	Apart *Apart // what several of the runs judged by themselves; nil: nothing

	same     []samePolicy // by policy of the result
	runs     []int32
	policies ids // of the runs, in the result
}

// Load reads runs. They must be in the order in which they happened: the latest agent of a client is that of the last
// run.
func (r *Reader) Load(runs []int32) (*Loaded, error) {
	l := &loading{
		Reader: r, runs: idList(runs), order: runs,
		agents: ids{}, clients: ids{}, actions: ids{}, policies: ids{},
		to: &Loaded{Result: &replay.Result{Tables: traffic.NewTables(), Clients: new(replay.Paged[replay.ClientTally])}},
	}
	if len(runs) == 0 {
		return nil, errors.New("store: Load of no run")
	}
	steps := []func() error{
		l.readRuns, l.readInputs, l.readNotes, l.readAgents, l.readClients, l.readActions,
		l.readPolicies, l.readParts, l.readTallies, l.readIdentities, l.readTimes,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	s := &l.to.Result.Stats
	for _, h := range l.held { // what no later run has carried
		if s.Held == 0 || h.from < s.HeldFrom {
			s.HeldFrom = h.from
		}
		s.Held += h.requests
	}
	l.to.runs, l.to.policies = runs, l.policies
	return l.to, l.judgeTogether()
}

// A loading is a Load under way.
type loading struct {
	*Reader
	runs  string  // for SQL
	order []int32 // the same
	to    *Loaded

	held  []heldBack
	spans []runSpan

	agents, clients, actions, policies ids
}

// readRuns adds up what was read.
func (l *loading) readRuns() error {
	type row struct {
		Run                        int32
		Sums                       [9]int64
		Resolution                 limit.Time
		HasAgents, HasUpstream     bool
		First, Last                limit.Time
		Command, Version, Timezone string
		Carried, Held              int64
		HeldFrom                   limit.Time
		Requests                   int64
		JudgesNotHTTP              bool
		Days                       int64
	}
	s, last := &l.to.Result.Stats, l.order[len(l.order)-1]
	first := true
	return duck.Each(l.duck, `SELECT run, lines, bytes, parsed, unreadable, excluded, warm, late, refusals, moved, resolution_us, has_agents, has_upstream,
		first_at, last_at, command, version, timezone, carried, held, held_from, requests, not_http_judged, days
		FROM runs WHERE run IN `+l.runs+` ORDER BY run`, func(r *row) error {
		for i, sum := range []*int64{&s.Lines, &s.Bytes, &s.Parsed, &s.Unreadable, &s.Excluded, &s.Warm, &s.Late, &s.Refusals, &s.Moved} {
			*sum += r.Sums[i]
		}
		s.Resolution = ingest.Finer(s.Resolution, r.Resolution)
		s.HasAgents, s.HasUpstream, s.JudgesNotHTTP = s.HasAgents || r.HasAgents, s.HasUpstream || r.HasUpstream, s.JudgesNotHTTP || r.JudgesNotHTTP
		if r.Requests > 0 && first {
			s.FirstAt, s.LastAt, first = r.First, r.Last, false
		}
		if r.Requests > 0 {
			s.FirstAt, s.LastAt = min(s.FirstAt, r.First), max(s.LastAt, r.Last)
		}
		l.spans = append(l.spans, runSpan{
			run: r.Run, chain: l.carry(r.Carried, heldBack{r.Held, r.HeldFrom, r.Run}), redis: strings.Contains(r.Command, " --redis"),
			requests: r.Requests, first: r.First, last: r.Last,
		})
		if len(l.order) == 1 {
			s.Days = r.Days // several runs may have some in common
		}
		if r.Run == last {
			l.to.Command, l.to.Version = r.Command, r.Version
		}
		l.to.Timezone = cmp.Or(l.to.Timezone, r.Timezone)
		return nil
	})
}

// A heldBack is what one of the runs has held back.
type heldBack struct {
	requests int64
	from     limit.Time
	chain    int32
}

// carry takes in what a run has carried and held back. What one of these runs has held back and a later one has
// carried is neither any more. It returns the first of the runs that carry on one another.
func (l *loading) carry(carried int64, held heldBack) (chain int32) {
	if carried > 0 {
		i := slices.IndexFunc(l.held, func(h heldBack) bool { return h.requests == carried })
		if i >= 0 {
			held.chain = l.held[i].chain
			l.held = slices.Delete(l.held, i, i+1)
		} else {
			l.to.Result.Stats.Carried += carried
		}
	}
	if held.requests > 0 {
		l.held = append(l.held, held)
	}
	return held.chain
}

func (l *loading) readInputs() error {
	type row struct {
		Run                                            int32
		Name, Format, FormatText, Compression, Problem string
		identity
		Lines, Parsed, Unreadable int64
		FirstAt, LastAt           limit.Time
	}
	s := &l.to.Result.Stats
	return duck.Each(l.duck, `SELECT run, name, format, format_text, compression, problem, coalesce(size, -1), head_hash, tail_hash,
		lines, parsed, unreadable, first_at, last_at FROM inputs WHERE run IN `+l.runs+` ORDER BY run, input`, func(r *row) error {
		if r.head != 0 && r.Lines > 0 {
			run := slices.IndexFunc(l.spans, func(s runSpan) bool { return s.run == r.Run })
			l.spans[run].heads = append(l.spans[run].heads, r.identity)
		}
		s.Inputs = append(s.Inputs, ingest.InputStats{
			Name: r.Name, Format: r.Format, FormatText: r.FormatText, Compression: r.Compression, Size: r.size, Head: r.head, Tail: r.tail,
			Lines: r.Lines, Parsed: r.Parsed, Unreadable: r.Unreadable, FirstAt: r.FirstAt, LastAt: r.LastAt, Problem: r.Problem,
		})
		return nil
	})
}

// readTimes reads when requests came, if that is known of all runs.
func (l *loading) readTimes() error {
	type row struct {
		Run          int32
		Time, Length limit.Time
		Requests     int64
	}
	left := map[int32]bool{} // runs
	for _, s := range l.spans {
		left[s.run] = s.requests > 0
	}
	var times replay.Stretches
	err := duck.Each(l.duck, "SELECT run, time, length_us, requests FROM request_times WHERE run IN "+l.runs+" ORDER BY time", func(t *row) error {
		times.AddStretch(t.Time, t.Length, t.Requests)
		left[t.Run] = false
		return nil
	})
	if !slices.Contains(slices.Collect(maps.Values(left)), true) {
		l.to.Result.OverTime = &times
	}
	return err
}

// faultsKept bounds the unreadable lines of several runs that are shown: as many as a run keeps.
const faultsKept = 10

// readNotes reads what there is to say of reading: lines that are not HTTP, or unreadable, and warnings.
func (l *loading) readNotes() error {
	type notHTTP struct {
		Status int32
		Lines  int64
	}
	s := &l.to.Result.Stats
	err := duck.Each(l.duck, "SELECT status, lines FROM not_http WHERE run IN "+l.runs, func(n *notHTTP) error {
		s.NotHTTP.Add(n.Status, n.Lines)
		return nil
	})
	if err != nil {
		return err
	}
	type fault struct {
		Input  string
		Line   int64
		Column int32
		Reason string
		Text   string
	}
	err = duck.Each(l.duck, fmt.Sprintf(`SELECT input, line, col, reason, text FROM unreadable_lines WHERE run IN %s ORDER BY run, fault LIMIT %d`, l.runs, faultsKept),
		func(f *fault) error {
			s.Faults = append(s.Faults, ingest.FaultAt{
				Input: f.Input, Line: f.Line, Text: f.Text, Fault: parse.Fault{Column: int(f.Column), Reason: f.Reason},
			})
			return nil
		})
	if err != nil {
		return err
	}
	return l.readWarnings()
}

// readWarnings reads findings and warnings, each once: runs of several nights are often told the same.
func (l *loading) readWarnings() error {
	type finding struct {
		Code, Severity   string
		Share            float64
		Evidence, Remedy string
	}
	to := &l.to.Findings
	err := duck.Each(l.duck, fmt.Sprintf(`SELECT code, severity, coalesce(share, %g), evidence, remedy FROM findings WHERE run IN %s ORDER BY run, finding`,
		float64(findings.NoShare), l.runs), func(f *finding) error {
		read := findings.Finding{Code: f.Code, Share: findings.Share(f.Share), Evidence: f.Evidence, Remedy: f.Remedy}
		if !slices.ContainsFunc(*to, func(g findings.Finding) bool { return g.Code == read.Code && g.Evidence == read.Evidence }) {
			*to = append(*to, read)
		}
		return (*to)[len(*to)-1].Severity.UnmarshalText([]byte(f.Severity))
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(*to, findings.ByEffect)
	type warning struct{ Text, Finding string }
	return duck.Each(l.duck, `SELECT text, coalesce(finding, '') FROM warnings WHERE run IN `+l.runs+` ORDER BY run, warning`, func(w *warning) error {
		if !slices.Contains(l.to.Warnings, w.Text) {
			l.to.Warnings = append(l.to.Warnings, w.Text)
		}
		for i := range *to {
			if (*to)[i].Code == w.Finding {
				(*to)[i].Covers = append((*to)[i].Covers, w.Text)
			}
		}
		return nil
	})
}

// ids map the ids of each run to those of the result; −1 stands for none. Other tools can write into the file, so an
// id that leads nowhere is an error.
type ids map[int32][]int32

func (m ids) at(run, id int32) (int32, error) {
	if of := m[run]; id >= 0 && int(id) < len(of) && of[id] >= 0 {
		return of[id], nil
	}
	return 0, fmt.Errorf("run %d speaks of an id, %d, that it does not tell the name of", run, id)
}

// mostIDs is far more than any run has.
const mostIDs = 1 << 28

func (m ids) put(run, id, to int32) error {
	if id < 0 || id > mostIDs {
		return fmt.Errorf("run %d has an impossible id, %d", run, id)
	}
	of := m[run]
	for int(id) >= len(of) {
		of = append(of, -1)
	}
	of[id] = to
	m[run] = of
	return nil
}

// readAgents, readClients and readActions read who and what there was.
func (l *loading) readAgents() error {
	type row struct {
		Run, Agent int32
		Name       string
	}
	agents := l.to.Result.Tables.Agents
	return duck.Each(l.duck, `SELECT run, agent, name FROM agents WHERE run IN `+l.runs+` ORDER BY run, agent`, func(a *row) error {
		return l.agents.put(a.Run, a.Agent, agents.ID([]byte(a.Name)))
	})
}

// readClients goes through the runs in their order, so that the last agent that it meets is the latest.
func (l *loading) readClients() error {
	type row struct {
		Client, Agent int32
		ByClass       [request.ClassCount]int64
		Name          string
	}
	res := l.to.Result
	for _, run := range l.order {
		err := duck.Each(l.duck, fmt.Sprintf(`SELECT client, agent, browser, crawler, tool, monitor, unknown, name FROM clients WHERE run = %d ORDER BY client`, run),
			func(c *row) error {
				id := res.Tables.Clients.ID([]byte(c.Name))
				if err := l.clients.put(run, c.Client, id); err != nil {
					return err
				}
				res.Clients.Grow(int(id) + 1)
				client := res.Clients.At(id)
				for class, n := range c.ByClass {
					client.ByClass[class] += n
				}
				agent, err := l.agents.at(run, c.Agent)
				client.LastAgent = agent
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) readActions() error {
	type row struct {
		Run, Action int32
		Requests    int64
		Name        string
	}
	res := l.to.Result
	return duck.Each(l.duck, `SELECT run, action, requests, name FROM actions WHERE run IN `+l.runs+` ORDER BY run, action`, func(a *row) error {
		id := res.Tables.Actions.ID([]byte(a.Name))
		if int(id) == len(res.Actions) {
			res.Actions = append(res.Actions, 0)
		}
		res.Actions[id] += a.Requests
		return l.actions.put(a.Run, a.Action, id)
	})
}
