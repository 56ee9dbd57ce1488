package html

import (
	"fmt"

	"shadow/report/document"
	"shadow/report/table"
)

// What a page has room for. Names are cut and lists bounded before anything is written, so that no log makes the page
// large; where even that comes to too much, everything is halved again and again.

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

// roomAfter is what is left after everything has been halved so many times.
func roomAfter(halvings int) room {
	half := func(n int) int { return n >> halvings }
	some := func(n int) int { return (n + 1<<halvings - 1) >> halvings } // 1 at least
	return room{
		policies: half(300), details: some(12), rows: half(900), list: half(MostRows),
		curves: some(120), points: half(MostPoints), steps: half(1000), notes: some(40),
	}
}

// of is how many rows each of some lists may have.
func (r room) of(lists int) int { return min(r.list, r.rows/max(lists, 1)) }

const textLength = 600 // characters of a sentence

// clipped is a sentence as the page may have it.
func clipped(text string) string { return table.Clip(text, textLength) }

// name is a name as the page may have it.
func name(text string) string { return table.Clip(text, table.PageName) }

// clippedAll are some texts as the page may have them.
func clippedAll(texts []string, most int) (some []string) {
	for _, text := range texts[:min(len(texts), most)] {
		some = append(some, clipped(text))
	}
	if left := len(texts) - len(some); left > 0 {
		some = append(some, fmt.Sprintf("… and %d more", left))
	}
	return some
}

func clippedFacts(facts []document.Fact, most int) (some []document.Fact) {
	for _, f := range facts {
		some = append(some, document.Fact{Label: f.Label, Text: clipped(f.Text), Details: clippedAll(f.Details, most)})
	}
	return some
}
