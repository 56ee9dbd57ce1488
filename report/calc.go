package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

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
		{label: "sustains", text: amount(f.Sustainable) + " requests per second"},
		{label: "full", text: fullText(f)},
		{label: "effective", text: effectiveText(f, window)},
		{label: "left", text: fmt.Sprintf("%s tokens after %s without requests", amount(f.LeftWithout), window)},
	}
	if f.Requests == 0 {
		return all
	}
	all[len(all)-1].text += ", " + amount(f.Left) + " with these:"
	requests := fmt.Sprintf("%s in %s, %s per second (%s", thousands(f.Requests), window, amount(float64(f.Requests)/f.WindowSeconds), f.Pattern)
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
	text := fmt.Sprintf("%s requests per second over %s from a full bucket", amount(f.EffectiveFromFull), window)
	if f.Initial < f.Capacity {
		text += fmt.Sprintf(", %s from the initial filling", amount(f.EffectiveFromInitial))
	}
	return text
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
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(escapeJSON(text), '\n'))
	return err
}
