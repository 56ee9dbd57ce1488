package calibrate

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"shadow/internal/calibrate"
	"shadow/internal/mapped"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// Write writes the report in one of format.Outputs, all of it or nothing.
func (r *Report) Write(w io.Writer, output string) error {
	return document.Write(w, r, r.View, output, format.Outputs())
}

// Schema implements document.Report.
func (r *Report) Schema() format.Schema { return format.CalibrateSchema }

// Text writes the report for people.
func (r *Report) Text(w *document.Writer) {
	r.Begin(w, "Which limit the server had", r.Verdicts.facts()...)
	for i := range r.Locations {
		r.Locations[i].write(w)
	}
	if len(r.Reactions) > 0 {
		document.Section{Title: "After a refusal", Table: r.reactionTable()}.Write(w, 2)
	}
}

func (r *Report) reactionTable() *table.Table {
	t := table.New(table.Words("class"))
	t.Head(table.Numbers("clients", "refusals", "silent %", "same path %", "next: median", "next: 90 %", "honoured %")...)
	for _, c := range r.Reactions {
		honoured := table.Text("")
		if c.HonouredPercent != nil {
			honoured = table.Share(*c.HonouredPercent)
		}
		t.Add(table.Text(c.Class), table.Count(c.Clients), table.Count(c.Refusals), table.Share(c.SilentPercent), table.Share(c.SamePathPercent),
			table.Text(format.LengthOf(c.Median)), table.Text(format.LengthOf(c.P90)), honoured)
	}
	return t
}

func (v *Verdicts) facts() (f document.Facts) {
	kind := "only said, not enforced"
	if v.Enforced {
		kind = "enforced"
	}
	text := fmt.Sprintf("%s, %s: %s of %s refused", v.From, kind, format.Thousands(v.Refused), format.Count(v.Requests, "request"))
	if v.Delayed > 0 {
		text += fmt.Sprintf(", %s delayed", format.Thousands(v.Delayed))
	}
	if v.Unlimited > 0 {
		text += fmt.Sprintf("; %s more did not come as far as the limit", format.Thousands(v.Unlimited))
	}
	f.Add("verdicts", text)
	if v.Spread {
		f.Add("times", "whole seconds: requests are taken to lie evenly in theirs, in the order of the log")
	}
	return f
}

// title says which requests a location is about.
func (l *Location) title() string {
	where := "All requests"
	if len(l.Place) > 0 {
		where = "Requests for " + strings.Join(l.Place, ", ")
	}
	return fmt.Sprintf("%s, counted by %s", where, l.By)
}

func (l *Location) write(w *document.Writer) {
	w.Section(2, l.title())
	w.Facts(l.facts()...)
	if len(l.Contradictions) > 0 {
		title := "Requests that contradict it: the first of each key" + format.MoreThan(len(l.Contradictions), l.ContradictedKeys)
		document.Section{Title: title, Table: contradictionTable(l.Contradictions, l.whole)}.Write(w, 3)
	}
}

func (l *Location) facts() (f document.Facts) {
	f.Add("refused", fmt.Sprintf("%s of %s of %s", format.Share(l.Refused, l.Requests), format.Count(l.Requests, "request"), format.Count(l.Keys, "key")))
	if l.Best == nil {
		f.Add("limit", "none can be found: "+l.none())
		return f
	}
	text := l.Best.Limit
	switch {
	case l.explains():
	case l.couldBe():
		text = "could be " + text + fmt.Sprintf(": whole seconds keep the log from telling, and second by second %s of the verdicts agree",
			format.Percentage(100-format.PercentOf(l.Best.WrongBySecond, l.Requests)))
	default:
		text = "none of those tried explains the refusals; the nearest is " + text
	}
	f = append(f, document.Strong("limit", text))
	f.Add("known as", strings.Join(l.Best.Known(), ", "))
	text = fmt.Sprintf("%s of the verdicts (95 %% interval %s)", format.Percentage(l.AgreementPercent), format.Percents(l.Interval)+" %")
	if !l.alone {
		text += fmt.Sprintf("; %s where the limit was chosen by other keys", format.Percentage(l.UnseenPercent))
	}
	f.Add("agreement", text)
	if l.explains() {
		equal := l.Equal[:min(len(l.Equal), mostEqual)]
		f.Add("equal", names(equal, l.AllEqual, "agree on as many requests"))
		f.Add("as good", l.asGood(mostNamed-len(equal)))
		f.Add("trust", l.trust())
		f.Add("other limits", l.foreseen())
	}
	return f
}

func (l *Location) none() string {
	if l.Refused == 0 {
		return "the server refused nothing"
	}
	return "the server refused everything"
}

const (
	mostNamed = 12 // other limits that the text names
	mostEqual = 8  // of those: that are equal
)

// names lists limits, of so many, each by its plainest name.
func names(some []calibrate.Fit, all int, what string) string {
	if len(some) == 0 {
		return ""
	}
	texts := mapped.Of(some, func(f calibrate.Fit) string { return append(f.Known(), f.Limit)[0] })
	return format.Named(texts, int64(all)) + ": " + what
}

// asGood names some limits that may be the server's as well.
func (l *Location) asGood(most int) string {
	why := "may be the limit as well: the difference could be chance"
	if l.whole {
		why = "may be the limit as well: whole seconds hide which it is"
	}
	return names(l.AsGood[:min(most, len(l.AsGood))], l.AllAsGood, why)
}

// trust says what a prediction for another limit may be off by.
func (l *Location) trust() string {
	return fmt.Sprintf("%s of the verdicts contradict it: %s that only it refuses, %s that only the server refused; it refuses %s in all, the server %s",
		format.Percentage(100-l.AgreementPercent), format.Count(l.Best.Stricter, "request"), format.Thousands(l.Best.Looser),
		format.Thousands(l.Best.Refused), format.Thousands(l.Refused))
}

// foreseen says what was measured of predictions for other limits.
func (l *Location) foreseen() string {
	of, times := calibrate.Foreseen, "fine timestamps"
	if l.whole {
		of, times = calibrate.ForeseenWhole, "whole seconds"
	}
	return fmt.Sprintf("on %d recordings of nginx and HAProxy, in %s, the algorithm that one limit told foresaw the verdicts of another: "+
		"%s of them were wrong in the middle, %s at most; the number of refusals was off by %s at most", of.Recordings, times,
		format.Percentage(of.Median), format.Percentage(of.Worst), format.Percentage(of.Refused))
}

func contradictionTable(all []Contradiction, whole bool) *table.Table {
	t := table.New(table.Name("client"), table.Number("requests"), table.Words("first"), table.Long("file"), table.Number("line"), table.Words("server"), table.Words("limit"))
	for _, c := range all {
		at := c.Time.String()
		if whole {
			at = c.Time.Format(time.RFC3339)
		}
		t.Add(table.Text(c.Client), table.Count(c.Contradict), table.Text(at), table.Text(c.File), table.Count(c.Line), table.Text(c.Server), table.Text(c.Limit))
	}
	return t
}

var csvHead = []string{
	"place", "by", "requests", "keys", "refused", "limit", "rank", "contradict", "stricter", "looser", "limit_refused", "agreement_percent",
	"agreement_low", "agreement_high", "unseen_percent",
}

// CSV writes the report for programs: a row for each limit of each location, the best first.
func (r *Report) CSV(w io.Writer) error {
	c := table.NewCSV(w, csvHead...)
	for i := range r.Locations {
		l := &r.Locations[i]
		row := func(rank string, f *calibrate.Fit, more ...table.Cell) {
			cells := []table.Cell{
				table.Text(strings.Join(l.Place, " ")), table.Text(l.By), table.Count(l.Requests), table.Count(l.Keys), table.Count(l.Refused),
				table.Text(f.Limit), table.Text(rank), table.Count(f.Wrong), table.Count(f.Stricter), table.Count(f.Looser), table.Count(f.Refused),
			}
			if more == nil {
				more = table.Texts("", "", "", "")
			}
			c.Add(append(cells, more...)...)
		}
		if l.Best == nil {
			continue
		}
		exact := func(p float64) table.Cell { return table.Shown("", strconv.FormatFloat(p, 'f', 4, 64)) }
		row("best", l.Best, exact(l.AgreementPercent), exact(l.Interval[0]), exact(l.Interval[1]), exact(l.UnseenPercent))
		for j := range l.Equal {
			row("equal", &l.Equal[j])
		}
		for j := range l.AsGood {
			row("as good", &l.AsGood[j])
		}
	}
	return c.Flush()
}
