package html

import (
	"fmt"
	"strings"

	"shadow/report/document"
	"shadow/report/table"
)

// What a page has room for. Names are cut and lists bounded before anything is written, so that no log makes the page
// large; where even that comes to too much, everything is halved.

// room is how much of everything a page shows.
type room struct {
	policies int // rows of the table of candidates
	details  int // policies with lists of their own
	rows     int // of clients, or of actions, in all lists of the page together
	list     int // in one list
	curves   int
	points   int // of one curve
	steps    int // of one policy's refusals over time
	notes    int // warnings, and sentences of a section
}

// MostPoints is how many points of a curve a page has at most.
const MostPoints = 2000

// MostRows is how many rows a list of clients or actions has on a page at most.
const MostRows = 250

var fullRoom = room{
	policies: 300, details: 12, rows: 900, list: MostRows, curves: 120, points: MostPoints, steps: 1000, notes: 40,
}

func (r room) halved() room {
	return room{
		policies: r.policies / 2, details: (r.details + 1) / 2, rows: r.rows / 2, list: r.list / 2, curves: (r.curves + 1) / 2,
		points: r.points / 2, steps: r.steps / 2, notes: (r.notes + 1) / 2,
	}
}

// none tells that there is nothing left to leave out.
func (r room) none() bool { return r.points < 2 }

// of is how many rows each of some lists may have.
func (r room) of(lists int) int { return min(r.list, r.rows/max(lists, 1)) }

const textLength = 600 // characters of a sentence

// slug is a text as part of an id.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
}

// clippedAll are some texts as the page may have them.
func clippedAll(texts []string, most int) (some []string) {
	for _, text := range texts[:min(len(texts), most)] {
		some = append(some, table.Clip(text, textLength))
	}
	if left := len(texts) - len(some); left > 0 {
		some = append(some, fmt.Sprintf("… and %d more", left))
	}
	return some
}

func clippedFacts(facts []document.Fact, most int) (some []document.Fact) {
	for _, f := range facts {
		some = append(some, document.Fact{Label: f.Label, Text: table.Clip(f.Text, textLength), Details: clippedAll(f.Details, most)})
	}
	return some
}
