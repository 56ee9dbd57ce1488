package html

import (
	"encoding/json"
	"html/template"

	"shadow/report/table"
)

// answerData is the island.
type answerData struct {
	Groups    []AnswerGroup `json:"groups"`
	Protected []int         `json:"protected"` // indices of groups
	Target    []int         `json:"target"`
	Protects  string        `json:"protects"`
	Bound     *float64      `json:"bound"`
	Percents  []string      `json:"percents"`
	First     int           `json:"first"`
	Stop      int           `json:"stop"`
	Shapes    []shapeData   `json:"shapes"`
	Clients   [][]any       `json:"clients"` // name, short agent, index of the agent, index of the group, requests
	Agents    []string      `json:"agents"`
}

// Numbers that follow each other are differences.
type shapeData struct {
	Key     string             `json:"key"`
	Why     [3]string          `json:"why"`
	Stops   []int64            `json:"stops"`
	Limits  []string           `json:"limits"`
	Scaled  []int64            `json:"scaled"` // null: the stops
	Hit     [][]int64          `json:"hit"`    // by group
	Refused [][]int64          `json:"refused"`
	Keeps   []int              `json:"keeps"`
	Listed  [][]any            `json:"listed"` // client, need, refused by stop
	Lines   [][]any            `json:"lines"`  // place, parts, adds
	Other   map[int][][]string `json:"other"`  // by stop: place and text
	Lack    string             `json:"lack"`
}

// data returns the island as JSON, with so many clients of each shape at most.
func (p *Answer) data(most int) (template.JS, error) {
	d := answerData{
		Groups: p.Groups, Protects: p.Protects, Bound: p.Bound, Percents: p.Percents, First: p.First, Stop: p.FirstStop,
		Protected: []int{}, Target: []int{}, Shapes: []shapeData{}, Clients: [][]any{}, Agents: []string{},
	}
	d.Groups, d.Percents = append([]AnswerGroup{}, d.Groups...), append([]string{}, d.Percents...)
	groups := map[string]int{}
	for i, g := range p.Groups {
		groups[g.Name] = i
		if g.Protected {
			d.Protected = append(d.Protected, i)
		}
		if g.Target {
			d.Target = append(d.Target, i)
		}
	}
	listed := answerClients{all: p.Clients, groups: groups, clients: map[int]int{}, agents: map[string]int{}, to: &d}
	for i := range p.Shapes {
		d.Shapes = append(d.Shapes, p.shape(&p.Shapes[i], most, &listed))
	}
	text, err := json.Marshal(d)
	return template.JS(text), err //nolint:gosec // JSON, without "<"
}

// answerClients adds the clients that have room to the island, each once, and their agents.
type answerClients struct {
	all     []AnswerClient
	groups  map[string]int // indices by name
	clients map[int]int    // likewise, by place in all
	agents  map[string]int
	to      *answerData
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
	h := shapeData{Key: s.Key, Why: s.Why, Keeps: s.Keeps, Lack: s.Lack}
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
