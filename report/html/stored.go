package html

import (
	"encoding/json"
	"fmt"
	"html/template"

	"shadow/report/format"
	"shadow/report/table"
)

// Any limit: what explorer.js needs to show one, and what stored.js needs to say what it does where the log is not there.

// An explorerView is what the templates write of it. Groups and clients are those of the first limit, for readers without
// a script.
type explorerView struct {
	About    string
	Asked    *Asked       // nil: the limits of Kinds are on the page
	Kinds    []curveGroup // to choose from
	Percents []string     // of protected clients that the least N for them is known of
	Limit    string
	Grouped  string // what clients are grouped by
	Listed   bool   // whether clients are listed
	Answered bool   // whether Limit is an answer
	Groups   []groupRow
	Hit      []hitRow
}

type groupRow struct{ Name, Role, Clients, Hit, HitPercent, Requests, Refused, RefusedPercent string }

type hitRow struct{ Client, Short, Agent, Group, Requests, Refused, Percent, Why string }

// A Group is a group of clients.
type Group struct {
	Name      string `json:"identity"`
	Clients   int64  `json:"clients"`
	Requests  int64  `json:"requests"`
	Protected bool   `json:"protected"`
	Target    bool   `json:"target"`
}

// Role says in words what the group is.
func (g *Group) Role() string {
	switch {
	case g.Protected && g.Target:
		return "protected, target"
	case g.Protected:
		return "protected"
	case g.Target:
		return "target"
	}
	return ""
}

// groupRows returns what a limit does to groups, and to all of them.
func groupRows(groups []Group, hit, refused []int64) (rows []groupRow) {
	all := Group{Name: "all"}
	var allHit, allRefused int64
	add := func(g Group, role string, hit, refused int64) {
		rows = append(rows, groupRow{
			g.Name, role, format.Thousands(g.Clients), format.Thousands(hit), format.Percent(format.PercentOf(hit, g.Clients)),
			format.Thousands(g.Requests), format.Thousands(refused), format.Percent(format.PercentOf(refused, g.Requests)),
		})
	}
	for i, g := range groups {
		add(g, g.Role(), hit[i], refused[i])
		all.Clients, all.Requests = all.Clients+g.Clients, all.Requests+g.Requests
		allHit, allRefused = allHit+hit[i], allRefused+refused[i]
	}
	add(all, "", allHit, allRefused)
	return rows
}

// An island is what the scripts of a page need, as JSON without "<", as encoding/json writes "<". Numbers that come one after
// the other are written as their differences: most are short.
type island struct {
	Answer   start    `json:"answer"`
	Bound    *float64 `json:"bound"`    // percent of the target requests that any limit could refuse; null: unknown
	Protects string   `json:"protects"` // which clients
	Percents []string `json:"percents"`
	Stored   *stored  `json:"stored"` // null: what is asked is computed
	Times    *times   `json:"times"`  // null: there are none
	State    any      `json:"state"`  // of a log that grows; null: it does not
}

func (i *island) text() (template.JS, error) {
	text, err := json.Marshal(i)
	return template.JS(text), err //nolint:gosec // JSON, without "<"
}

// A start is the limit that is shown first.
type start struct {
	Limit  string `json:"limit"`
	By     string `json:"by"`
	Action string `json:"action"`
	Shape  string `json:"shape"`
	N      int64  `json:"n"`
	Why    string `json:"why"` // it may be looser than the least that hits no protected client
}

// stored holds what the limits of some shapes do.
type stored struct {
	Groups   []Group     `json:"groups"`
	Requests int64       `json:"requests"` // of all groups, where it is not known which sent how many
	Shapes   []shapeData `json:"shapes"`
	Clients  [][]any     `json:"clients"` // name, short agent, index of the agent, index of the group, requests
	Agents   []string    `json:"agents"`
}

// shapeData are limits that differ in their N only.
type shapeData struct {
	Shape   string             `json:"shape"`
	Before  string             `json:"before"` // the text of a limit before and after N
	After   string             `json:"after"`
	Limits  []string           `json:"limits"` // or all of it; null: N is put in
	Stops   []int64            `json:"stops"`
	Scaled  []int64            `json:"scaled"`  // N in lines; null: the stops
	Stepped bool               `json:"stepped"` // what a limit does holds up to the next stop
	Counted []int              `json:"counted"` // indices of stops whose Refused is known; null: all
	Hit     [][]int64          `json:"hit"`     // by group, then by stop; null: 0
	Refused [][]int64          `json:"refused"` // by group, then by stop or by Counted; null: 0
	Keeps   []int64            `json:"keeps"`   // the least N that keeps each of the percents; 0: none
	Why     [3]string          `json:"why"`
	Listed  [][]any            `json:"listed"` // client, need, refused by stop
	Lines   [][]any            `json:"lines"`  // place, parts, adds
	Other   map[int][][]string `json:"other"`  // by stop: place and text
	Lack    string             `json:"lack"`
	Note    string             `json:"note"` // what the curve is
}

// stored returns what the limits of the answer do, with so many clients of each shape at most.
func (p *Answer) stored(most int) *stored {
	d := &stored{Groups: p.Groups, Shapes: []shapeData{}, Clients: [][]any{}, Agents: []string{}}
	groups := map[string]int{}
	for i, g := range p.Groups {
		groups[g.Name] = i
	}
	listed := answerClients{all: p.Clients, groups: groups, clients: map[int]int{}, agents: map[string]int{}, to: d}
	for i := range p.Shapes {
		d.Shapes = append(d.Shapes, p.shape(&p.Shapes[i], most, &listed))
	}
	return d
}

// answerClients adds the clients that have room to the island, each once, and their agents.
type answerClients struct {
	all     []AnswerClient
	groups  map[string]int // indices by name
	clients map[int]int    // likewise, by place in all
	agents  map[string]int
	to      *stored
}

// index returns the index of a client.
func (a *answerClients) index(client int) int {
	i, known := a.clients[client]
	if known {
		return i
	}
	c := &a.all[client]
	agent := table.Clip(c.Agent, table.PageLong)
	if _, known := a.agents[agent]; !known {
		a.agents[agent] = len(a.to.Agents)
		a.to.Agents = append(a.to.Agents, agent)
	}
	i = len(a.to.Clients)
	a.clients[client] = i
	row := []any{name(c.Name), name(c.Short), a.agents[agent], a.groups[c.Group], c.Requests}
	a.to.Clients = append(a.to.Clients, row)
	return i
}

// shape returns the data of a shape, with so many clients at most.
func (p *Answer) shape(s *AnswerShape, most int, clients *answerClients) shapeData {
	h := shapeData{Shape: s.name(), Why: s.Why, Keeps: []int64{}, Lack: s.Lack, Note: s.note()}
	for _, at := range s.Keeps {
		n := int64(0)
		if at >= 0 {
			n = s.Stops[at].N
		}
		h.Keeps = append(h.Keeps, n)
	}
	h.addStops(s.Stops)
	for g := range p.Groups {
		h.Hit = append(h.Hit, s.column(func(stop *AnswerStop) int64 { return stop.Hit[g] }))
		h.Refused = append(h.Refused, s.column(func(stop *AnswerStop) int64 { return stop.Refused[g] }))
	}
	for _, l := range p.listed(s, most) {
		refused := append([]int64{}, l.Refused...)
		for len(refused) > 0 && refused[len(refused)-1] == 0 {
			refused = refused[:len(refused)-1]
		}
		differences(refused)
		h.Listed = append(h.Listed, []any{clients.index(l.Client), l.Need, refused})
	}
	for _, l := range s.Lines {
		h.Lines = append(h.Lines, []any{l.Place, l.Parts, append([]int64{}, l.Adds...)})
	}
	return h
}

// note says what the lines of the curve are.
func (s *AnswerShape) note() string {
	first, last := s.Stops[0].N, s.Stops[len(s.Stops)-1].N
	return fmt.Sprintf("Lines join the %s N that are shown, from %s to %s.", format.Thousands(int64(len(s.Stops))), format.Thousands(first),
		format.Thousands(last))
}

// addStops adds the stops of the slider: their limits, and the lines of those that have others.
func (h *shapeData) addStops(stops []AnswerStop) {
	same := true
	for k := range stops {
		stop := &stops[k]
		h.Limits = append(h.Limits, stop.Limit)
		h.Stops, h.Scaled = append(h.Stops, stop.N), append(h.Scaled, stop.Scaled)
		same = same && stop.N == stop.Scaled
		if stop.Lines != nil && h.Other == nil {
			h.Other = map[int][][]string{}
		}
		for _, l := range stop.Lines {
			h.Other[k] = append(h.Other[k], []string{l.Place, l.Text})
		}
	}
	differences(h.Stops)
	differences(h.Scaled)
	if same {
		h.Scaled = nil
	}
}

// column returns the differences of a figure of the stops.
func (s *AnswerShape) column(figure func(*AnswerStop) int64) (column []int64) {
	for i := range s.Stops {
		column = append(column, figure(&s.Stops[i]))
	}
	differences(column)
	return column
}
