package html

import (
	"fmt"
	"io"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
)

// A report that is written for people, as a page: what is worth reading first on top, then its parts in their order,
// and at the foot what was read. A page adds to a replay what a terminal has no room for: a first glance for people who
// know nothing of rate limits, charts of nights and of refusals over time, and curves.

// A Document is such a page.
type Document struct {
	Head    *report.Head
	Lede    string                 // what it is
	Text    func(*document.Writer) // writes the report
	Model   *report.Model          // of a replay; nil: the report is about something else
	Times   *OverTime              // refusals over time; nil: not known
	Untimed string                 // whose refusals over time are not known: a sentence
	Curves  *Curves                // what every limit would refuse; nil: not known
}

// WriteReport writes a report in one of format.PageOutputs, all of it or nothing. lede says what it is, unless it is
// about a replay.
func WriteReport(w io.Writer, r document.Report, head *report.Head, lede, output string) error {
	if output == "html" {
		return (&Document{Head: head, Lede: lede, Text: r.Text}).Write(w)
	}
	return document.Write(w, r, head.View, output, format.PageOutputs())
}

// NewReplay returns the page of a replay.
func NewReplay(m *report.Model) *Document {
	shown := *m
	shown.Detailed = min(m.Detailed, mostDetailed)
	return &Document{Head: &m.Head, Text: shown.Text, Model: m}
}

// add adds what a terminal has no room for.
func (d *Document) add(v *view, room room) {
	if d.Model != nil {
		v.nights(d.Model.History, room)
		d.overTime(v, room)
	}
	d.Curves.show(v, room)
}

// candidates has a card for each of the first candidates; of those in a history, first for those whose newest run refuses or
// hits more than all before.
func (d *Document) candidates() []card {
	if d.Model == nil || d.Model.Input.Requests == 0 {
		return nil
	}
	var more, others []card
	for i := range d.Model.Policies {
		p, newest, rises := &d.Model.Policies[i], "", false
		if h := d.Model.History; h != nil {
			newest, rises = h.Policies[i].Newest()
		}
		text := fmt.Sprintf("of requests refused by %s: %s of %s, of %s of %s", name(p.Policy), p.RefusedText(),
			format.Count(p.Requests, "request"), p.HitText(), format.Count(p.Clients, "client"))
		if p.Delayed > 0 {
			text += fmt.Sprintf(". %s would have had to wait, half of them for %s at most",
				format.Count(p.Delayed, "request"), format.Wait(p.Delay.P50))
		}
		if newest != "" {
			text += ". " + format.Sentence(newest)
		}
		if c := (card{format.Percentage(p.RefusedPercent), text}); rises {
			more = append(more, c)
		} else {
			others = append(others, c)
		}
	}
	all := append(more, others...)
	return all[:min(len(all), mostTold)]
}

// overTime adds refusals over time, as a chart and as a table.
func (d *Document) overTime(v *view, room room) {
	if d.Times == nil {
		return
	}
	t := d.Times.times(d.Model, room.drawn(mostBars), room)
	if t == nil {
		return
	}
	v.Island.Times = t
	v.Scripts = append(v.Scripts, "times.js")
	s := v.begin("times", "Requests and refusals over time", "Over time")
	s.add("times", true)
	if t.Requests == nil {
		s.add("note", "When all requests came is not in the database: a run of shadow tail does not keep it.")
	}
	if t.Left > 0 {
		s.add("note", format.Count(t.Left, "request")+" of another time would make the bars longer and are left out.")
	}
	s.add("note", clipped(d.Untimed))
	figures := d.Times.times(d.Model, min(rowsOfTimes, room.listed(900)), room).page()
	s.add("fold", &fold{Class: "kind", Title: "The figures of the chart", Blocks: []block{{"tables", figures}}})
}
