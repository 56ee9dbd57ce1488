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
	clients, agents := map[int]int{}, map[string]int{}
	listed := func(client int) int { // the clients that have room
		i, known := clients[client]
		if known {
			return i
		}
		c := &p.Clients[client]
		agent := table.Clip(c.Agent, table.PageLong)
		if _, known := agents[agent]; !known {
			agents[agent] = len(d.Agents)
			d.Agents = append(d.Agents, agent)
		}
		i = len(d.Clients)
		clients[client] = i
		d.Clients = append(d.Clients, []any{name(c.Name), name(c.Short), agents[agent], groups[c.Group], c.Requests})
		return i
	}
	for i := range p.Shapes {
		s := &p.Shapes[i]
		h := shapeData{Key: s.Key, Why: s.Why, Keeps: s.Keeps, Lack: s.Lack}
		same := true
		for k := range s.Stops {
			stop := &s.Stops[k]
			h.Limits = append(h.Limits, stop.Limit)
			h.Stops, h.Scaled = append(h.Stops, stop.N), append(h.Scaled, stop.Scaled)
			same = same && stop.N == stop.Scaled
			if stop.Lines != nil {
				if h.Other == nil {
					h.Other = map[int][][]string{}
				}
				for _, l := range stop.Lines {
					h.Other[k] = append(h.Other[k], []string{l.Place, l.Text})
				}
			}
		}
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
			h.Listed = append(h.Listed, []any{listed(l.Client), l.Need, refused})
		}
		for _, l := range s.Lines {
			h.Lines = append(h.Lines, []any{l.Place, l.Parts, append([]int64{}, l.Adds...)})
		}
		differences(h.Stops)
		differences(h.Scaled)
		if same {
			h.Scaled = nil
		}
		d.Shapes = append(d.Shapes, h)
	}
	text, err := json.Marshal(d)
	return template.JS(text), err //nolint:gosec // JSON, without "<"
}

// column are the differences of a figure of the stops.
func (s *AnswerShape) column(figure func(*AnswerStop) int64) (column []int64) {
	for i := range s.Stops {
		column = append(column, figure(&s.Stops[i]))
	}
	differences(column)
	return column
}
