package explore

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/traffic"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/replay"
)

// A Move is what one limit does to the log.
type Move struct {
	Limit  string  `json:"limit"`
	By     string  `json:"by"`
	Groups []Group `json:"groups"` // by identity, those that sent something
	Hit    []Row   `json:"hit"`    // some of the clients hit
	Found  int     `json:"found"`  // clients hit that fit the filter

	Compared *Compared `json:"compared"` // nil: with nothing
	Times    *Times    `json:"times"`    // of the whole log, if they are wanted

	Version int         `json:"version"` // of the log, where it grows: clients have other numbers in others
	Lines   [][2]string `json:"lines"`   // for the server that was asked for: where they go, and they
	Lack    string      `json:"lack"`    // why there are none
	Command string      `json:"command"` // that replays the limit; "": none does for an action or a time alone
}

// A Compared is what another limit does to the same requests.
type Compared struct {
	Limit        string  `json:"limit"`
	Problem      string  `json:"problem"` // why it cannot be compared with; "": it is
	Groups       []Group `json:"groups"`
	NewlyHit     int     `json:"newly_hit"` // clients that the limit hits, and the other does not
	Released     int     `json:"released"`  // the other way round
	NewlyHitSome []Row   `json:"newly_hit_clients"`
	ReleasedSome []Row   `json:"released_clients"`
}

// A Group is what a limit does to the clients of one identity.
type Group struct {
	Identity  string `json:"identity"`
	Protected bool   `json:"protected"`
	Target    bool   `json:"target"`
	Clients   int64  `json:"clients"`
	Hit       int64  `json:"hit"`
	Requests  int64  `json:"requests"`
	Refused   int64  `json:"refused"`
}

// A Row is a client that is hit.
type Row struct {
	ID       int32    `json:"id"` // by which to ask for it
	Client   string   `json:"client"`
	Identity string   `json:"identity"`
	Short    string   `json:"short"` // the agent in short
	Agent    string   `json:"agent"`
	Requests int64    `json:"requests"`
	Refused  int64    `json:"refused"`
	Reasons  []string `json:"reasons"` // why it is of that identity
}

// mostRows is the most clients that a Move lists.
const mostRows = 100_000

// move replays a limit. Of a part of the time it tells what a replay of the whole log does in it.
func (s *Session) move(ctx context.Context, q *Request) (*Move, error) {
	var times *Times
	var err error
	if q.Times {
		if times, err = s.newTimes(ctx, q.Action); err != nil {
			return nil, err
		}
	}
	name, hits, err := s.hits(ctx, q, times)
	if err != nil {
		return nil, err
	}
	times.close()
	of := q.scope()
	crowd, err := s.crowd(ctx, of)
	if err != nil {
		return nil, err
	}
	m := &Move{Limit: name, By: cmp.Or(q.By, "client"), Times: times, Version: s.version, Lines: [][2]string{}}
	m.Groups = s.groups(crowd, suggest.Count(hits, s.found.Who.Identities))
	rows := s.rows(crowd, hits, nil, strings.ToLower(strings.TrimSpace(q.Filter)))
	slices.SortFunc(rows, order(q.Sort))
	if q.Reverse {
		slices.Reverse(rows)
	}
	m.Found = len(rows)
	from := min(max(0, q.From), len(rows))
	m.Hit = rows[from:min(from+min(max(0, q.Rows), mostRows), len(rows))]
	s.describe(m.Hit)
	if q.Other != "" {
		if m.Compared, err = s.compare(ctx, q, crowd, hits); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			m.Compared = &Compared{Limit: q.Other, Problem: err.Error()}
		}
	}
	if of == (scope{}) {
		m.Command = s.suggest.CommandLine("replay", "--limit", q.Limit, "--by", m.By)
	}
	s.addLines(m, q)
	return m, nil
}

// addLines adds what to paste for the limit.
func (s *Session) addLines(m *Move, q *Request) {
	answer := &s.Report.Answers[0]
	switch {
	case answer.Lines == nil:
		return
	case m.By != "client" || q.Action != answer.Advice.Action:
		m.Lack = "Lines are there for limits by client and for the requests that the answer is about: shadow export writes others."
		return
	}
	blocks, err := answer.Lines(q.Limit)
	if err != nil {
		m.Lack = answer.Server + " has no such limit."
		return
	}
	m.Lines = mapped.Of(blocks, func(b servers.Block) [2]string {
		return [2]string{b.Place, strings.Join(b.Lines, "\n")}
	})
}

// hits replays the limit of a question, and returns its name and which clients it hits. Times that are not nil count what
// is refused.
func (s *Session) hits(ctx context.Context, q *Request, times *Times) (name string, hits *replay.Hits, err error) {
	o, of := replay.Options{Bare: true}, q.scope()
	if of.partial() {
		hits = new(replay.Hits)
	}
	if hits != nil || times != nil {
		o.Observer = observer(func(b *traffic.Batch, row int32) {
			at := b.At[row]
			if times != nil {
				times.refuse(at)
			}
			if hits != nil && of.has(at) {
				hits.Add(b.Client[row], 1, at, at)
			}
		})
	}
	result, err := s.judge(ctx, q, o, s.each)
	if err != nil {
		return "", nil, err
	}
	tally := &result.Policies[0]
	if hits == nil {
		hits = &tally.Hits
	}
	return tally.Policy.Name, hits, nil
}

// mostCompared is the most clients that a comparison lists on each side.
const mostCompared = 20

// compare replays the other limit of a question.
func (s *Session) compare(ctx context.Context, q *Request, c *crowd, hits *replay.Hits) (*Compared, error) {
	other := *q
	other.Limit = q.Other
	name, others, err := s.hits(ctx, &other, nil)
	if err != nil {
		return nil, err
	}
	d := &Compared{Limit: name}
	d.Groups = s.groups(c, suggest.Count(others, s.found.Who.Identities))
	d.NewlyHitSome, d.NewlyHit = s.some(c, hits, others)
	d.ReleasedSome, d.Released = s.some(c, others, hits)
	return d, nil
}

// some returns the clients hit that others spare, the most refused first, and how many there are.
func (s *Session) some(c *crowd, hits, others *replay.Hits) (rows []Row, n int) {
	rows = s.rows(c, hits, others, "")
	slices.SortFunc(rows, order(""))
	n = len(rows)
	rows = rows[:min(n, mostCompared)]
	s.describe(rows)
	return rows, n
}

// groups returns the figures of each identity.
func (s *Session) groups(c *crowd, f suggest.Figures) (groups []Group) {
	question := &s.Report.Answers[0].Advice.Question
	groups = []Group{}
	for is := range who.Count {
		if c.Clients[is] == 0 {
			continue
		}
		groups = append(groups, Group{
			Identity: is.String(), Protected: question.Protected().Has(is), Target: question.Target.Has(is),
			Clients: c.Clients[is], Hit: f.Hit[is], Requests: c.Requests[is], Refused: f.Refused[is],
		})
	}
	return groups
}

// rows returns the clients hit that fit a filter and are not among others, nil for none, with what they are sorted by.
func (s *Session) rows(c *crowd, hits, others *replay.Hits, filter string) (rows []Row) {
	t := s.tables()
	rows = make([]Row, 0, hits.Len())
	network, _ := netip.ParsePrefix(filter)
	for hit := range hits.All() {
		if others != nil {
			if _, both := others.Find(hit.Client); both {
				continue
			}
		}
		row := Row{
			ID: hit.Client, Client: t.ShownClient(hit.Client), Identity: s.found.Who.Of(hit.Client).One(),
			Requests: c.sent[hit.Client], Refused: hit.Refused,
		}
		if filter == "" || within(network, row.Client) ||
			strings.Contains(strings.ToLower(row.Client), filter) || strings.Contains(row.Identity, filter) ||
			strings.Contains(s.found.Who.Of(hit.Client).String(), filter) ||
			strings.Contains(strings.ToLower(t.ShownAgent(s.agent(hit.Client))), filter) {
			rows = append(rows, row)
		}
	}
	return rows
}

// within reports whether a client is an address of a network.
func within(network netip.Prefix, client string) bool {
	address, err := netip.ParseAddr(client)
	return err == nil && network.Contains(address)
}

// describe adds to rows what nothing is sorted by.
func (s *Session) describe(rows []Row) {
	for i := range rows {
		row := &rows[i]
		row.Agent = s.tables().ShownAgent(s.agent(row.ID))
		row.Short = useragent.Short(row.Agent)
		row.Reasons = append([]string{}, s.found.Who.Reasons(row.ID)...)
	}
}

// agent returns the agent that most requests of a client have.
func (s *Session) agent(client int32) int32 {
	if s.found.Who.Agent != nil {
		return s.found.Who.Agent(client)
	}
	return s.found.Clients.At(client).LastAgent
}

// order compares rows by a column, of two that are alike by the name.
func order(column string) func(x, y Row) int {
	return func(x, y Row) int {
		by := 0
		switch column {
		case "client":
		case "requests":
			by = cmp.Compare(y.Requests, x.Requests)
		case "identity":
			by = cmp.Compare(x.Identity, y.Identity)
		case "share":
			by = cmp.Compare(float64(y.Refused)/float64(y.Requests), float64(x.Refused)/float64(x.Requests))
		default:
			by = cmp.Compare(y.Refused, x.Refused)
		}
		return cmp.Or(by, strings.Compare(x.Client, y.Client))
	}
}
