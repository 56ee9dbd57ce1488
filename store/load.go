package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// A stored run comes back as the replay.Result that it was, so a report of it is the report that was printed. Several
// runs come back as one: clients, agents, actions and policies are the same when their names are, and what was counted adds up.
//
// What a result of several cannot know: of the percentiles of delays the longest is taken, and between what and what the
// clients lie that an approximation hits is told with a margin. The worst minute is known where events are kept.

// Loaded is what is known of one or several runs.
type Loaded struct {
	Result   *replay.Result
	Warnings []string // about reading, and about putting runs together
	Timezone string   // of stamps that do not name theirs; "": unknown
	Command  string   // of the latest run
	Version  string   // of the shadow that made it

	Apart *Apart // what several of the runs judged by themselves; nil: nothing

	same     []samePolicy // by policy of the result
	runs     []int32
	policies ids // of the runs, in the result
}

// Load reads runs. They must be in the order in which they happened: the latest agent of a client is that of the last run.
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
		l.readRuns, l.readNotHTTP, l.readInputs, l.readFaults, l.readWarnings, l.readAgents, l.readClients, l.readActions,
		l.readPolicies, l.readParts, l.readHits, l.readActionTallies, l.readFindings,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	l.sumHeld()
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
	s, last := &l.to.Result.Stats, l.order[len(l.order)-1]
	first := true
	return l.each(`SELECT run, lines, bytes, parsed, unreadable, excluded, warm, late, refusals, resolution_us, has_agents, has_upstream,
		first_at, last_at, command, version, timezone, carried, held, held_from, requests, not_http_judged, moved
		FROM runs WHERE run IN `+l.runs+` ORDER BY run`, func(b *block, row int) error {
		for i, sum := range []*int64{&s.Lines, &s.Bytes, &s.Parsed, &s.Unreadable, &s.Excluded, &s.Warm, &s.Late, &s.Refusals} {
			*sum += values[int64](b, 1+i)[row]
		}
		s.Resolution = ingest.Finer(s.Resolution, limit.Time(values[int64](b, 9)[row]))
		s.HasAgents = s.HasAgents || values[bool](b, 10)[row]
		s.HasUpstream = s.HasUpstream || values[bool](b, 11)[row]
		span := runSpan{run: values[int32](b, 0)[row], requests: values[int64](b, 20)[row], redis: strings.Contains(b.text(14, row), " --redis")}
		if !b.null(12, row) {
			from, to := values[limit.Time](b, 12)[row], values[limit.Time](b, 13)[row]
			span.first, span.last = from, to
			if first {
				s.FirstAt, s.LastAt, first = from, to, false
			}
			s.FirstAt, s.LastAt = min(s.FirstAt, from), max(s.LastAt, to)
		}
		span.chain = l.readHeld(b, row, 17)
		l.spans = append(l.spans, span)
		s.JudgesNotHTTP = s.JudgesNotHTTP || values[bool](b, 21)[row]
		s.Moved += values[int64](b, 22)[row]
		if values[int32](b, 0)[row] == last {
			l.to.Command, l.to.Version = b.text(14, row), b.text(15, row)
		}
		if l.to.Timezone == "" {
			l.to.Timezone = b.text(16, row)
		}
		return nil
	})
}

// readNotHTTP adds up the lines that are not HTTP.
func (l *loading) readNotHTTP() error {
	return l.each("SELECT status, lines FROM not_http WHERE run IN "+l.runs, func(b *block, row int) error {
		l.to.Result.Stats.NotHTTP.Add(values[int32](b, 0)[row], values[int64](b, 1)[row])
		return nil
	})
}

// A heldBack is what one of the runs has held back.
type heldBack struct {
	requests int64
	from     limit.Time
	chain    int32
}

// readHeld takes in what a run has carried and held back, of which the columns begin at one. What one of these runs has held
// back and a later one has carried is neither any more. It returns the first of the runs that carry on one another.
func (l *loading) readHeld(b *block, row, column int) (chain int32) {
	chain = values[int32](b, 0)[row]
	if carried := values[int64](b, column)[row]; carried > 0 {
		i := slices.IndexFunc(l.held, func(h heldBack) bool { return h.requests == carried })
		if i >= 0 {
			chain = l.held[i].chain
			l.held = slices.Delete(l.held, i, i+1)
		} else {
			l.to.Result.Stats.Carried += carried
		}
	}
	if n := values[int64](b, column+1)[row]; n > 0 {
		l.held = append(l.held, heldBack{n, orElse[limit.Time](b, column+2, row, 0), chain})
	}
	return chain
}

// sumHeld adds up what nobody has carried.
func (l *loading) sumHeld() {
	s := &l.to.Result.Stats
	for _, h := range l.held {
		if s.Held == 0 || h.from < s.HeldFrom {
			s.HeldFrom = h.from
		}
		s.Held += h.requests
	}
}

func (l *loading) readInputs() error {
	s := &l.to.Result.Stats
	return l.each(`SELECT name, format, format_text, compression, coalesce(size, -1), coalesce(head_hash, 0), coalesce(tail_hash, 0),
		lines, parsed, unreadable, first_at, last_at, problem, run FROM inputs WHERE run IN `+l.runs+` ORDER BY run, input`, func(b *block, row int) error {
		number := func(i int) int64 { return values[int64](b, i)[row] }
		if id := (identity{number(4), values[uint64](b, 5)[row], values[uint64](b, 6)[row]}); id.head != 0 && number(7) > 0 {
			run := slices.IndexFunc(l.spans, func(s runSpan) bool { return s.run == values[int32](b, 13)[row] })
			l.spans[run].heads = append(l.spans[run].heads, id)
		}
		s.Inputs = append(s.Inputs, ingest.InputStats{
			Name: b.text(0, row), Format: b.text(1, row), FormatText: b.text(2, row), Compression: b.text(3, row), Size: number(4),
			Head: values[uint64](b, 5)[row], Tail: values[uint64](b, 6)[row],
			Lines: number(7), Parsed: number(8), Unreadable: number(9),
			FirstAt: orElse[limit.Time](b, 10, row, 0), LastAt: orElse[limit.Time](b, 11, row, 0), Problem: b.text(12, row),
		})
		return nil
	})
}

// faultsKept is how many unreadable lines of several runs are shown, as many as a run keeps.
const faultsKept = 10

func (l *loading) readFaults() error {
	s := &l.to.Result.Stats
	return l.each(`SELECT input, coalesce(line, 0), col, reason, text FROM unreadable_lines WHERE run IN `+l.runs+` ORDER BY run, rowid`,
		func(b *block, row int) error {
			if len(s.Faults) == faultsKept {
				return nil
			}
			s.Faults = append(s.Faults, ingest.FaultAt{
				Input: b.text(0, row), Line: values[int64](b, 1)[row], Text: b.text(4, row),
				Fault: parse.Fault{Column: int(values[int32](b, 2)[row]), Reason: b.text(3, row)},
			})
			return nil
		})
}

func (l *loading) readWarnings() error {
	return l.each(`SELECT text FROM warnings WHERE run IN `+l.runs+` ORDER BY run, warning`, func(b *block, row int) error {
		if text := b.text(0, row); !slices.Contains(l.to.Warnings, text) {
			l.to.Warnings = append(l.to.Warnings, text)
		}
		return nil
	})
}

// ids tell by run what its ids are in the result; −1 stands for none. Other tools can write into the file, so an id that
// leads nowhere is an error.
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

// Who and what there was: agents, clients and actions.

func (l *loading) readAgents() error {
	agents := l.to.Result.Tables.Agents
	return l.each(`SELECT run, agent, name FROM agents WHERE run IN `+l.runs+` ORDER BY run, agent`, func(b *block, row int) error {
		return l.agents.put(values[int32](b, 0)[row], values[int32](b, 1)[row], agents.ID([]byte(b.text(2, row))))
	})
}

// readClients goes through the runs in their order, so that the last agent that it meets is the latest.
func (l *loading) readClients() error {
	for _, run := range l.order {
		if err := l.readClientsOf(run); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) readClientsOf(run int32) error {
	res := l.to.Result
	return l.each(fmt.Sprintf(`SELECT client, agent, browser, crawler, tool, monitor, unknown, name FROM clients WHERE run = %d ORDER BY client`, run),
		func(b *block, row int) error {
			id := res.Tables.Clients.ID([]byte(b.text(7, row)))
			if err := l.clients.put(run, values[int32](b, 0)[row], id); err != nil {
				return err
			}
			res.Clients.Grow(int(id) + 1)
			client := res.Clients.At(id)
			for class := range request.ClassCount {
				client.ByClass[class] += values[int64](b, 2+int(class))[row]
			}
			agent, err := l.agents.at(run, values[int32](b, 1)[row])
			client.LastAgent = agent
			return err
		})
}

func (l *loading) readActions() error {
	res := l.to.Result
	return l.each(`SELECT run, action, requests, name FROM actions WHERE run IN `+l.runs+` ORDER BY run, action`, func(b *block, row int) error {
		id := res.Tables.Actions.ID([]byte(b.text(3, row)))
		if int(id) == len(res.Actions) {
			res.Actions = append(res.Actions, 0)
		}
		res.Actions[id] += values[int64](b, 2)[row]
		return l.actions.put(values[int32](b, 0)[row], values[int32](b, 1)[row], id)
	})
}
