package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/calc"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/plot"
)

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
		return format.WriteJSON(w, f)
	}
	t := v.terminal()
	t.Facts(figureFacts(f)...)
	if v.Plots {
		length := limit.Time(f.WindowSeconds * float64(limit.Second))
		t.Plot("tokens in the bucket, the fewest in each column", plot.Curve{Values: f.Tokens, Length: length, Top: float64(f.Capacity), Rows: 12})
	}
	_, err := w.Write(t.Bytes())
	return err
}

func figureFacts(f calc.Figures) []document.Fact {
	window := format.LengthOf(f.WindowSeconds)
	all := []document.Fact{
		{Label: "limit", Text: f.Limit},
		{Label: "sustains", Text: paceText(f.Sustainable)},
		{Label: "full", Text: fullText(f)},
		{Label: "effective", Text: effectiveText(f, window)},
		{Label: "left", Text: fmt.Sprintf("%s tokens after %s without requests", format.Amount(f.LeftWithout), window)},
	}
	if f.Requests == 0 {
		return all
	}
	all[len(all)-1].Text += ", " + format.Amount(f.Left) + " with these:"
	requests := fmt.Sprintf("%s in %s, %s (%s", format.Thousands(f.Requests), window, perUnit(float64(f.Requests)/f.WindowSeconds), f.Pattern)
	if f.Seed != nil {
		requests += fmt.Sprintf(", seed %d", *f.Seed)
	}
	return append(all,
		document.Fact{Label: "requests", Text: requests + ")"},
		document.Fact{Label: "admitted", Text: format.Share(f.Admitted, f.Requests)},
		document.Fact{Label: "refused", Text: format.Share(f.Refused, f.Requests)})
}

func fullText(f calc.Figures) string {
	if f.SecondsToFull == 0 {
		return "from the beginning"
	}
	return "after " + format.LengthOf(f.SecondsToFull) + ", without requests"
}

func effectiveText(f calc.Figures, window string) string {
	text := fmt.Sprintf("%s over %s from a full bucket", paceText(f.EffectiveFromFull), window)
	if f.Initial < f.Capacity {
		initial := perUnit(f.EffectiveFromInitial)
		_, unit := unitOf(f.EffectiveFromFull)
		text += ", " + strings.TrimSuffix(initial, " per "+unit) + " from the initial filling"
	}
	return text
}

// paceText writes a rate so that people can count along.
func paceText(perSecond float64) string {
	number, unit := unitOf(perSecond)
	return format.Amount(number) + " requests per " + unit
}

// perUnit is the same in short.
func perUnit(perSecond float64) string {
	number, unit := unitOf(perSecond)
	return format.Amount(number) + " per " + unit
}

// unitOf is a rate by the shortest of some units in which it is one or more: 0.0833 per second are 5 per minute.
func unitOf(perSecond float64) (number float64, unit string) {
	number, unit = perSecond, "second"
	for _, longer := range []struct {
		seconds float64
		name    string
	}{{60, "minute"}, {3600, "hour"}, {86400, "day"}} {
		if number >= 1 || number == 0 {
			break
		}
		number, unit = perSecond*longer.seconds, longer.name
	}
	return number, unit
}
