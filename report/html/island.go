package html

import (
	"cmp"
	"fmt"
	"slices"

	"shadow/report/format"
	"shadow/report/table"
)

// An island is what the scripts of a page need, as JSON. Numbers that come one after the other are written as their
// differences: most are short.
type island struct {
	Answer   start    `json:"answer"`
	Bound    *float64 `json:"bound"`    // percent of the target requests that any limit could refuse; null: unknown
	Protects string   `json:"protects"` // which clients
	Percents []string `json:"percents"`
	Stored   *stored  `json:"stored"` // null: what is asked is computed
	Times    *Times   `json:"times"`  // null: there are none
	State    any      `json:"state"`  // of a log that grows; null: it does not
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
	Clients  [][]any     `json:"clients"` // name, agent in short, agent, group, requests; null: no shape lists it
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

// stored returns what the limits do, with so many clients of each shape at most.
func (e *Explored) stored(most int) *stored {
	d := &stored{
		Groups: slices.Concat([]Group{}, e.Groups), Requests: e.Requests, Shapes: []shapeData{}, Clients: make([][]any, len(e.Clients)),
	}
	for i := range e.Shapes {
		s := &e.Shapes[i]
		h := s.data(len(e.Groups))
		for _, l := range e.listed(s, most) {
			c := &e.Clients[l.Client]
			d.Clients[l.Client] = []any{
				name(c.Name), name(c.Short), table.Clip(c.Agent, table.PageLong), c.Group, c.Requests,
			}
			refused := slices.Clone(l.Refused)
			for len(refused) > 0 && refused[len(refused)-1] == 0 {
				refused = refused[:len(refused)-1]
			}
			h.Listed = append(h.Listed, []any{l.Client, l.Need, differences(refused)})
		}
		d.Shapes = append(d.Shapes, h)
	}
	return d
}

// data returns the shape as the island has it, with what it does to so many groups.
func (s *Shape) data(groups int) shapeData {
	h := shapeData{
		Shape: s.name(), Before: s.Before, After: s.After, Stepped: s.Stepped, Keeps: []int64{}, Why: s.Why, Lack: s.Lack,
		Note: cmp.Or(s.Note, s.joined()),
	}
	for _, at := range s.Keeps {
		n := int64(0)
		if at >= 0 {
			n = s.Stops[at].N
		}
		h.Keeps = append(h.Keeps, n)
	}
	var counted []Stop
	for k, stop := range s.Stops {
		if s.Before+s.After == "" {
			h.Limits = append(h.Limits, stop.Limit)
		}
		h.Stops, h.Scaled = append(h.Stops, stop.N), append(h.Scaled, stop.Scaled)
		if stop.Refused != nil {
			counted, h.Counted = append(counted, stop), append(h.Counted, k)
		}
		for _, l := range stop.Lines {
			if h.Other == nil {
				h.Other = map[int][][]string{}
			}
			h.Other[k] = append(h.Other[k], []string{l.Place, l.Text})
		}
	}
	if slices.Equal(h.Stops, h.Scaled) {
		h.Scaled = nil
	}
	if len(counted) == len(s.Stops) {
		h.Counted = nil
	}
	differences(h.Stops)
	differences(h.Scaled)
	for g := range groups {
		h.Hit = append(h.Hit, columnOf(s.Stops, func(stop *Stop) int64 { return stop.Hit[g] }))
		h.Refused = append(h.Refused, columnOf(counted, func(stop *Stop) int64 { return stop.Refused[g] }))
	}
	for _, l := range s.Lines {
		h.Lines = append(h.Lines, []any{l.Place, l.Parts, append([]int64{}, l.Adds...)})
	}
	return h
}

// joined says what the lines of the curve join.
func (s *Shape) joined() string {
	first, last := s.Stops[0].N, s.Stops[len(s.Stops)-1].N
	return fmt.Sprintf("Lines join the %s N that are shown, from %s to %s.", format.Thousands(int64(len(s.Stops))),
		format.Thousands(first), format.Thousands(last))
}

// columnOf returns the differences of a figure of stops, nil if it is 0 throughout.
func columnOf(stops []Stop, figure func(*Stop) int64) (column []int64) {
	some := false
	for i := range stops {
		column = append(column, figure(&stops[i]))
		some = some || column[i] != 0
	}
	if !some {
		return nil
	}
	return differences(column)
}

// differences replaces each number but the first by its difference from the one before.
func differences(numbers []int64) []int64 {
	for i := len(numbers) - 1; i > 0; i-- {
		numbers[i] -= numbers[i-1]
	}
	return numbers
}
