// Package explain writes what limits mean and what a bucket sustains: results of package calc come in; text or JSON
// goes out.
package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/internal/calc"
	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// Write explains the limits of one or more policies; those of one policy must all admit a request.
func Write(w io.Writer, output string, policies [][]calc.Explanation, v View) error {
	if output == "json" {
		return format.WriteJSON(w, format.LimitsExplainSchema, struct {
			Policies [][]calc.Explanation `json:"policies"` // each with its limits
		}{policies})
	}
	t := v.terminal()
	for i, parts := range policies {
		if i > 0 {
			t.WriteByte('\n')
		}
		if len(parts) > 1 {
			t.Paragraph(fmt.Sprintf("A request must be admitted by each of %d limits; one that any of them refuses is "+
				"refused.%s", len(parts), combineText(parts[0].Combine)))
			t.WriteByte('\n')
		}
		for j, e := range parts {
			if j > 0 {
				t.WriteByte('\n')
			}
			writeExplanation(t, e, v.Plots)
		}
	}
	_, err := w.Write(t.Bytes())
	return err
}

// combineText says how limits combine, in a sentence behind another, unless as most do.
func combineText(name string) string {
	how, err := policy.ParseCombine(name)
	if err != nil || how == policy.Together {
		return ""
	}
	return " " + format.Sentence(how.Means()) + "."
}

func writeExplanation(t *document.Writer, e calc.Explanation, plots bool) {
	fmt.Fprintln(t, t.Paint(document.Bold, escape.Visible(e.Limit)))
	t.Facts(explanationFacts(e)...)
	if e.AtOnce == 0 {
		return // it does not describe itself
	}
	if len(e.Clients) > 0 {
		t.Space()
		t.Paragraph("Three clients that send a quarter more than it sustains, for " + format.Brief(e.Clients[0].Length) + ":")
	}
	for _, c := range e.Clients {
		writeClient(t, e, c, plots)
	}
	if len(e.Equivalents) > 0 {
		writeEquivalents(t, e.Equivalents)
	}
}

func explanationFacts(e calc.Explanation) []document.Fact {
	all := []document.Fact{{Label: "means", Text: e.Means}}
	if e.AtOnce == 0 {
		return all
	}
	sustains := rateText(e.Count, e.Per)
	if !e.Bucket {
		sustains = "on average " + sustains
	}
	all = append(all, document.Fact{Label: "at once", Text: atOnceText(e)},
		document.Fact{Label: "sustains", Text: sustains})
	if e.Recovers > 0 {
		text := "within " + format.Brief(format.RoundUp(e.Recovers)) +
			" of the last of those, it admits as many at once again"
		all = append(all, document.Fact{Label: "recovers", Text: text})
	}
	if e.Trial != nil {
		all = append(all, document.Fact{Label: "refused", Text: costText(e)})
	}
	if len(e.Clients) == 0 {
		all = append(all, document.Fact{Label: "tried out", Text: "no: it would take too many requests, or too long"})
	}
	for _, v := range e.Variants {
		all = append(all, document.Fact{Label: "or it is", Text: v.Assumes + ": " + variantText(v)})
	}
	return all
}

func atOnceText(e calc.Explanation) string {
	text := format.Count(e.AtOnce, "request")
	switch trial := e.Trial; {
	case trial == nil || trial.AtOnce == e.AtOnce:
		return text
	case trial.Endless:
		return text + ", but a client never seen was not refused one of " + format.Thousands(trial.AtOnce)
	default:
		return text + fmt.Sprintf(", %s of a client never seen", format.Thousands(trial.AtOnce))
	}
}

// variantText formats the result of another assumption.
func variantText(v calc.Variant) string {
	text := format.Thousands(v.Trial.AtOnce) + " at once"
	if v.Trial.Endless {
		text += ", and none was refused"
	}
	if len(v.Refused) == 0 {
		return text
	}
	refused := mapped.Of(v.Refused, format.Thousands)
	return text + "; refuses the clients below " + strings.Join(refused, ", ")
}

// rateText writes a rate as the time between two, and per second, or per the shortest unit that has one.
func rateText(n int64, per limit.Time) string {
	number, unit := unitOf(float64(n) / format.InSeconds(per))
	return fmt.Sprintf("one every %s, %s per %s", limit.Interval(n, per), format.Amount(number), unit)
}

func costText(e calc.Explanation) string {
	switch trial := e.Trial; {
	case trial.Endless:
		return "not tried: none was refused at one moment"
	case trial.One <= 0 && trial.Many <= 0:
		return "costs nothing: the next request is admitted no later"
	default:
		return fmt.Sprintf("one puts off the next admission by %s; %s more, half-way there, by %s",
			delayText(trial.One), format.Thousands(e.AtOnce), delayText(trial.Many))
	}
}

func delayText(d limit.Time) string {
	switch {
	case d <= 0:
		return "nothing"
	case d > limit.Never/2:
		return "more than all time"
	}
	return format.Brief(d)
}

func writeClient(t *document.Writer, e calc.Explanation, c calc.Client, plots bool) {
	sends := "one every " + format.Brief(c.Every)
	switch {
	case c.Burst > 0:
		sends = fmt.Sprintf("%s at once every %s", format.Thousands(c.Burst), format.Brief(c.Every))
	case c.Name == "random":
		sends = "as many at random moments"
	}
	t.WriteByte('\n')
	t.Facts(document.Fact{Label: c.Name, Text: sends})
	if plots && len(c.Levels) > 1 {
		t.Plot("", plot.Curve{Values: c.Levels, Length: c.Length, Top: float64(e.AtOnce), Rows: 6})
	}
	text := fmt.Sprintf("%s: %s admitted, %s refused", format.Count(c.Requests, "request"),
		format.Share(c.Admitted, c.Requests), format.Share(c.Refused, c.Requests))
	if c.Range != nil {
		text += fmt.Sprintf("; under all assumptions %s–%s refused", format.Thousands(c.Range[0]),
			format.Thousands(c.Range[1]))
	}
	if c.Delayed > 0 {
		text += fmt.Sprintf("; %s of those admitted were delayed", format.Thousands(c.Delayed))
	}
	t.Facts(document.Fact{Text: text})
}

// equivalents lists what to set on each server, a line or more each, and below it what deviates.
func writeEquivalents(t *document.Writer, all []policy.Equivalent) {
	const indent = 25
	t.WriteString("\nThe nearest on each server:\n")
	for _, e := range all {
		setting := e.Setting
		switch {
		case setting == "":
			setting = "none"
		case e.Closest:
			setting = "none (closest: " + setting + ")"
		}
		label := "  " + t.Paint(document.Dim, fmt.Sprintf("%-*s", indent-2, e.Server))
		for _, text := range []string{setting, e.Deviation} {
			for _, line := range table.Wrap(escape.Visible(text), max(t.Width-indent-1, plot.LeastCurve)) {
				fmt.Fprintf(t, "%s %s\n", label, line)
				label = strings.Repeat(" ", indent)
			}
		}
	}
}

// A View is how figures and explanations meet their reader.
type View struct {
	Width int  // of the terminal; 0 when there is none
	Color bool // whether the terminal may be told to change colour
	Plots bool
}

func (v View) terminal() *document.Writer {
	return &document.Writer{View: document.View{Width: cmp.Or(v.Width, plot.Columns), Color: v.Color}}
}

// CalcFormats are the formats of figures and explanations.
func CalcFormats() []string { return []string{"table", "json"} }

// WriteFigures writes the numbers of a bucket.
func WriteFigures(w io.Writer, output string, f calc.Figures, v View) error {
	if output == "json" {
		return format.WriteJSON(w, format.CalcSchema, f)
	}
	t := v.terminal()
	t.Facts(figureFacts(f)...)
	if v.Plots {
		length := limit.Time(f.WindowSeconds * float64(limit.Second))
		t.Plot("tokens in the bucket, the fewest in each column", plot.Curve{
			Values: f.Tokens, Length: length,
			Top: float64(f.Capacity), Rows: 12,
		})
	}
	_, err := w.Write(t.Bytes())
	return err
}

func figureFacts(f calc.Figures) []document.Fact {
	window := format.LengthOf(f.WindowSeconds)
	full := "from the beginning"
	if f.SecondsToFull > 0 {
		full = "after " + format.LengthOf(f.SecondsToFull) + ", without requests"
	}
	effective := fmt.Sprintf("%s over %s from a full bucket", perUnit(f.EffectiveFromFull, " requests"), window)
	if f.Initial < f.Capacity {
		_, unit := unitOf(f.EffectiveFromFull)
		effective += ", " + strings.TrimSuffix(perUnit(f.EffectiveFromInitial, ""), " per "+unit) +
			" from the initial filling"
	}
	all := []document.Fact{
		{Label: "limit", Text: f.Limit},
		{Label: "sustains", Text: perUnit(f.Sustainable, " requests")},
		{Label: "full", Text: full},
		{Label: "effective", Text: effective},
		{Label: "left", Text: fmt.Sprintf("%s tokens after %s without requests", format.Amount(f.LeftWithout), window)},
	}
	if f.Requests == 0 {
		return all
	}
	all[len(all)-1].Text += ", " + format.Amount(f.Left) + " with these:"
	requests := fmt.Sprintf("%s in %s, %s (%s", format.Thousands(f.Requests), window,
		perUnit(float64(f.Requests)/f.WindowSeconds, ""), f.Pattern)
	if f.Seed != nil {
		requests += fmt.Sprintf(", seed %d", *f.Seed)
	}
	return append(all,
		document.Fact{Label: "requests", Text: requests + ")"},
		document.Fact{Label: "admitted", Text: format.Share(f.Admitted, f.Requests)},
		document.Fact{Label: "refused", Text: format.Share(f.Refused, f.Requests)})
}

// perUnit writes a rate so that people can count along.
func perUnit(perSecond float64, what string) string {
	number, unit := unitOf(perSecond)
	return format.Amount(number) + what + " per " + unit
}

// unitOf is a rate by the shortest of some units in which it is one or more: 0.0833 per second are 5 per minute.
func unitOf(perSecond float64) (number float64, unit string) {
	number, unit = perSecond, "second"
	for _, longer := range []struct {
		seconds float64
		name    string
	}{{60, "minute"}, {3600, "hour"}, {86400, "day"}} {
		if number >= 1-1e-9 || number == 0 { // what was divided may be a little less
			break
		}
		number, unit = perSecond*longer.seconds, longer.name
	}
	return number, unit
}
