package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/calc"
	"shadow/limit"
)

// A View is how figures and explanations meet their reader.
type View struct {
	Width int  // of the terminal; 0 when there is none
	Color bool // whether the terminal may be told to change colour
	Plots bool
}

func (v View) terminal() *terminal {
	return &terminal{view: view{width: cmp.Or(v.Width, plotColumns), color: v.Color}}
}

// CalcFormats are the formats of figures and explanations.
func CalcFormats() []string { return []string{"table", "json"} }

// WriteFigures writes the numbers of a bucket.
func WriteFigures(w io.Writer, format string, f calc.Figures, v View) error {
	if format == "json" {
		return writeIndented(w, f)
	}
	t := v.terminal()
	for _, fact := range figureFacts(f) {
		t.fact(fact)
	}
	if v.Plots {
		fmt.Fprintf(t, "\n%s\n", t.paint(dim, "tokens in the bucket, the fewest in each column"))
		t.plot(plot{values: f.Tokens, length: limit.Time(f.WindowSeconds * float64(limit.Second)), top: float64(f.Capacity), rows: 12})
	}
	_, err := w.Write(t.Bytes())
	return err
}

func figureFacts(f calc.Figures) []fact {
	window := lengthOf(f.WindowSeconds)
	all := []fact{
		{label: "limit", text: f.Limit},
		{label: "sustains", text: paceText(f.Sustainable)},
		{label: "full", text: fullText(f)},
		{label: "effective", text: effectiveText(f, window)},
		{label: "left", text: fmt.Sprintf("%s tokens after %s without requests", amount(f.LeftWithout), window)},
	}
	if f.Requests == 0 {
		return all
	}
	all[len(all)-1].text += ", " + amount(f.Left) + " with these:"
	requests := fmt.Sprintf("%s in %s, %s (%s", thousands(f.Requests), window, perUnit(float64(f.Requests)/f.WindowSeconds), f.Pattern)
	if f.Seed != nil {
		requests += fmt.Sprintf(", seed %d", *f.Seed)
	}
	return append(all,
		fact{label: "requests", text: requests + ")"},
		fact{label: "admitted", text: share(f.Admitted, f.Requests)},
		fact{label: "refused", text: share(f.Refused, f.Requests)})
}

func fullText(f calc.Figures) string {
	if f.SecondsToFull == 0 {
		return "from the beginning"
	}
	return "after " + lengthOf(f.SecondsToFull) + ", without requests"
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
	return amount(number) + " requests per " + unit
}

// perUnit is the same in short.
func perUnit(perSecond float64) string {
	number, unit := unitOf(perSecond)
	return amount(number) + " per " + unit
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

func share(part, whole int64) string {
	return fmt.Sprintf("%s (%s%%)", thousands(part), percent(percentOf(part, whole)))
}

// plot draws a curve with an empty line neither above nor below.
func (t *terminal) plot(p plot) {
	p.color = t.color
	for _, line := range p.draw() {
		t.WriteString(line + "\n")
	}
}

// writeIndented writes a value as JSON.
func writeIndented(w io.Writer, value any) error {
	text, err := indentedJSON(value)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
