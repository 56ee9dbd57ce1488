package report

import (
	"fmt"
	"io"
	"strings"

	"shadow/calc"
	"shadow/limit"
	"shadow/policy"
)

// WriteExplanations explains the limits of one or more policies; those of one policy must all admit a request.
func WriteExplanations(w io.Writer, format string, policies [][]calc.Explanation, v View) error {
	if format == "json" {
		return writeIndented(w, policies)
	}
	t := v.terminal()
	for i, parts := range policies {
		if i > 0 {
			t.WriteByte('\n')
		}
		if len(parts) > 1 {
			t.paragraph(fmt.Sprintf("A request must be admitted by each of %d limits; one that any of them refuses is refused.%s", len(parts), combineText(parts[0].Combine)))
			t.WriteByte('\n')
		}
		for j, e := range parts {
			if j > 0 {
				t.WriteByte('\n')
			}
			t.explanation(e, v.Plots)
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
	return " " + sentence(how.Means()) + "."
}

func (t *terminal) explanation(e calc.Explanation, plots bool) {
	fmt.Fprintln(t, t.paint(bold, visible(e.Limit)))
	t.entry("means", e.Means, dim)
	if e.AtOnce == 0 {
		return // it does not describe itself
	}
	t.entry("at once", atOnceText(e), dim)
	sustains := rateText(e.Count, e.Per)
	if !e.Bucket {
		sustains = "on average " + sustains
	}
	t.entry("sustains", sustains, dim)
	if e.Recovers > 0 {
		t.entry("recovers", "within "+brief(roundUp(e.Recovers))+" of the last of those, it admits as many at once again", dim)
	}
	if e.Trial == nil {
		t.entry("tried out", "no: it would take too many requests, or too long", dim)
	} else {
		t.entry("refused", costText(e), dim)
	}
	for i, v := range e.Variants {
		t.entry(onlyFirst(i, "or it is"), v.Assumes+": "+variantText(v), dim)
	}
	if len(e.Clients) > 0 {
		t.WriteByte('\n')
		t.paragraph("Three clients that send a quarter more than it sustains, for " + brief(e.Clients[0].Length) + ":")
	}
	for _, c := range e.Clients {
		t.client(e, c, plots)
	}
	if len(e.Equivalents) > 0 {
		t.equivalents(e.Equivalents)
	}
}

// paragraph writes a text from the margin.
func (t *terminal) paragraph(text string) {
	for _, line := range wrap(text, t.width) {
		t.WriteString(line + "\n")
	}
}

func atOnceText(e calc.Explanation) string {
	text := count(e.AtOnce, "request")
	switch trial := e.Trial; {
	case trial == nil || trial.AtOnce == e.AtOnce:
		return text
	case trial.Endless:
		return text + ", but a client never seen was not refused one of " + thousands(trial.AtOnce)
	default:
		return text + fmt.Sprintf(", %s of a client never seen", thousands(trial.AtOnce))
	}
}

// variantText is what another assumption comes to.
func variantText(v calc.Variant) string {
	text := thousands(v.Trial.AtOnce) + " at once"
	if v.Trial.Endless {
		text += ", and none was refused"
	}
	if len(v.Refused) == 0 {
		return text
	}
	refused := make([]string, len(v.Refused))
	for i, n := range v.Refused {
		refused[i] = thousands(n)
	}
	return text + "; refuses the clients below " + strings.Join(refused, ", ")
}

// rateText writes a rate as the time between two, and per second, or per the shortest unit that has one.
func rateText(n int64, per limit.Time) string {
	rate := float64(n) / float64(per)
	unit := struct {
		name   string
		length limit.Time
	}{"second", limit.Second}
	for _, longer := range []struct {
		name   string
		length limit.Time
	}{{"minute", limit.Minute}, {"hour", limit.Hour}, {"day", limit.Day}} {
		if rate*float64(unit.length) < 1-1e-9 {
			unit = longer
		}
	}
	return fmt.Sprintf("one every %s, %s per %s", limit.Interval(n, per), amount(rate*float64(unit.length)), unit.name)
}

func costText(e calc.Explanation) string {
	switch trial := e.Trial; {
	case trial.Endless:
		return "not tried: none was refused at one moment"
	case trial.One <= 0 && trial.Many <= 0:
		return "costs nothing: the next request is admitted no later"
	default:
		return fmt.Sprintf("one puts off the next admission by %s; %s more, half-way there, by %s",
			delayText(trial.One), thousands(e.AtOnce), delayText(trial.Many))
	}
}

func delayText(d limit.Time) string {
	switch {
	case d <= 0:
		return "nothing"
	case d > limit.Never/2:
		return "more than all time"
	}
	return brief(d)
}

func (t *terminal) client(e calc.Explanation, c calc.Client, plots bool) {
	sends := "one every " + brief(c.Every)
	switch {
	case c.Burst > 0:
		sends = fmt.Sprintf("%s at once every %s", thousands(c.Burst), brief(c.Every))
	case c.Name == "random":
		sends = "as many at random moments"
	}
	t.WriteByte('\n')
	t.entry(c.Name, sends, dim)
	if plots && len(c.Levels) > 1 {
		t.plot(plot{values: c.Levels, length: c.Length, top: float64(e.AtOnce), rows: 6})
	}
	text := fmt.Sprintf("%s: %s admitted, %s refused", count(c.Requests, "request"), share(c.Admitted, c.Requests), share(c.Refused, c.Requests))
	if c.Range != nil {
		text += fmt.Sprintf("; under all assumptions %s–%s refused", thousands(c.Range[0]), thousands(c.Range[1]))
	}
	if c.Delayed > 0 {
		text += fmt.Sprintf("; %s of those admitted were delayed", thousands(c.Delayed))
	}
	t.entry("", text, dim)
}

// equivalents lists what to set on each server, a line or more each, and below it what deviates.
func (t *terminal) equivalents(all []policy.Equivalent) {
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
		label := "  " + t.paint(dim, fmt.Sprintf("%-*s", indent-2, e.Server))
		for _, text := range []string{setting, e.Deviation} {
			for _, line := range wrap(visible(text), max(t.width-indent-1, leastCurve)) {
				fmt.Fprintf(t, "%s %s\n", label, line)
				label = strings.Repeat(" ", indent)
			}
		}
	}
}
