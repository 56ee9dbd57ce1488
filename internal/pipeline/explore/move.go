package explore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"shadow/internal/suggest"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/replay"
)

// A Move is what one limit does to the log.
type Move struct {
	Limit  string  `json:"limit"`
	By     string  `json:"by"`
	Action string  `json:"action"` // "" for all
	All    Group   `json:"all"`
	Groups []Group `json:"groups"` // by identity, those that sent something
	Hit    []Row   `json:"hit"`    // some of the clients hit
	Found  int     `json:"found"`  // clients hit that fit the filter

	Command string `json:"command"` // that replays the limit; "": none does for one action alone
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
	First    int64    `json:"first_refused"` // microseconds since 1970, UTC
	Last     int64    `json:"last_refused"`
	Reasons  []string `json:"reasons"` // why it is of that identity
}

// mostRows is the most clients that a Move lists.
const mostRows = 200

// move replays a limit.
func (s *Session) move(ctx context.Context, q *Request) (*Move, error) {
	result, err := s.judge(ctx, q, replay.Options{Bare: true})
	if err != nil {
		return nil, err
	}
	crowd, err := s.crowd(q.Action)
	if err != nil {
		return nil, err
	}
	tally := &result.Policies[0]
	m := &Move{Limit: tally.Policy.Name, By: cmp.Or(q.By, "client"), Action: q.Action, All: Group{Identity: "all"}}
	m.Groups = s.groups(crowd, suggest.Count(&tally.Hits, s.found.Who.Identities), &m.All)
	rows := s.rows(crowd, &tally.Hits, strings.ToLower(strings.TrimSpace(q.Filter)))
	slices.SortFunc(rows, order(q.Sort))
	m.Found = len(rows)
	from := min(max(0, q.From), len(rows))
	m.Hit = rows[from:min(from+min(max(0, q.Rows), mostRows), len(rows))]
	for i := range m.Hit {
		s.describe(&m.Hit[i], &tally.Hits)
	}
	if q.Action == "" {
		m.Command = s.suggest.CommandLine("replay", "--limit", q.Limit, "--by", m.By)
	}
	return m, nil
}

// groups returns the figures of each identity, and adds them up.
func (s *Session) groups(c *crowd, f suggest.Figures, all *Group) (groups []Group) {
	question := &s.Report.Answers[0].Advice.Question
	for is := range who.Count {
		if c.Clients[is] == 0 {
			continue
		}
		g := Group{
			Identity: is.String(), Protected: question.Protected().Has(is), Target: question.Target.Has(is),
			Clients: c.Clients[is], Hit: f.Hit[is], Requests: c.Requests[is], Refused: f.Refused[is],
		}
		all.Clients, all.Hit = all.Clients+g.Clients, all.Hit+g.Hit
		all.Requests, all.Refused = all.Requests+g.Requests, all.Refused+g.Refused
		groups = append(groups, g)
	}
	return groups
}

// rows returns the clients hit that fit a filter, with what they are sorted by.
func (s *Session) rows(c *crowd, hits *replay.Hits, filter string) (rows []Row) {
	t := s.tables()
	rows = make([]Row, 0, hits.Len())
	for hit := range hits.All() {
		row := Row{
			ID: hit.Client, Client: t.ShownClient(hit.Client), Identity: s.found.Who.Of(hit.Client).One(),
			Requests: c.sent[hit.Client], Refused: hit.Refused,
		}
		if filter == "" || strings.Contains(strings.ToLower(row.Client), filter) || strings.Contains(row.Identity, filter) ||
			strings.Contains(strings.ToLower(t.ShownAgent(s.agent(hit.Client))), filter) {
			rows = append(rows, row)
		}
	}
	return rows
}

// describe adds to a row what nothing is sorted by.
func (s *Session) describe(row *Row, hits *replay.Hits) {
	hit, _ := hits.Find(row.ID)
	row.Agent = s.tables().ShownAgent(s.agent(row.ID))
	row.Short = useragent.Short(row.Agent)
	row.First, row.Last = int64(hit.First), int64(hit.Last)
	row.Reasons = append([]string{}, s.found.Who.Reasons(row.ID)...)
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
