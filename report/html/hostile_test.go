package html

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/report"
	"shadow/report/history"
	"shadow/report/reporttest"
)

// Whatever strangers write into a log stays text: in the markup by html/template, in the island by JSON.
func TestHTMLHasNoMarkupOfStrangers(t *testing.T) {
	text := pageText(t, evilPage(t, evilLog(30, 40), 250))
	for _, markup := range []string{"<img", "<svg onload", "<script>window", "<b>access", "onerror=window.owned=1>", "\u2028", "\u2029"} {
		if strings.Contains(beforeScript(text), markup) {
			t.Errorf("the page has %q", markup)
		}
	}
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("%d scripts end, want 2", n)
	}
	if !strings.Contains(text, "&lt;script&gt;window.owned=1&lt;/script&gt;") {
		t.Error("the hostile texts are not there at all: nothing was tested")
	}
}

// beforeScript returns a page without its own script, which is the last.
func beforeScript(text string) string { return text[:strings.LastIndex(text, "<script>")] }

func pageText(t testing.TB, p written) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page is small, whatever the log: of 10,000 clients with names and agents of 8 KB, a candidate for each of a
// thousand numbers, and curves that change at a hundred thousand limits.
func TestHTMLIsSmall(t *testing.T) {
	p := evilPage(t, evilLog(10_000, 3), 10_000)
	long := strings.Repeat("\u202e<&\"'>Z\u0300\u0301\u0302\u0303", 600)
	for i := range p.Model.Policies {
		for j := range p.Model.Policies[i].TopClients {
			c := &p.Model.Policies[i].TopClients[j]
			c.Client, c.Agent = long, long
		}
		for range 5000 {
			p.Model.Policies[i].TopActions = append(p.Model.Policies[i].TopActions, report.Action{Action: long, Refused: 1})
		}
	}
	m, h := p.Model, p.Model.History
	for i := range limit.Time(5000) {
		p.Times.Requests.Add(limit.Time(m.Input.Span.First)+i*limit.Minute, math.MaxInt32)
	}
	h.Policies[0].Trend = make([]history.Trend, 2000)
	for len(m.Policies) < 1000 {
		m.Policies, h.Policies = append(m.Policies, m.Policies[0]), append(h.Policies, h.Policies[0])
		p.Times.counts = append(p.Times.counts, *p.Times.Requests)
		m.Warnings = append(m.Warnings, long)
	}
	m.Detailed = len(m.Policies)
	curves, times := p.Curves, p.Times
	p = NewReplay(m)
	p.Curves, p.Times = curves, times
	p.Curves.Curves = nil
	random := testneeds.Rand(t, 1, 2)
	curve := wildCurve(random, 100_000)
	for range 400 {
		p.Curves.Curves = append(p.Curves.Curves, curve)
	}
	begin := time.Now()
	text := pageText(t, p)
	t.Logf("%d bytes, %d rows in %v", len(text), strings.Count(text, "<tr>"), time.Since(begin))
	if len(text) > MostBytes {
		t.Errorf("%d bytes, want at most %d", len(text), MostBytes)
	}
	_, main, _ := strings.Cut(text, "<main>")
	main, _, _ = strings.Cut(main, "</main>")
	for piece := range strings.SplitSeq(main, "<") {
		if len(piece) > 5*textLength {
			t.Errorf("a text of %d bytes: %.60s…", len(piece), piece)
			break
		}
	}
	if rows := strings.Count(text, "<tr>"); rows < 400 {
		t.Errorf("only %d rows are left", rows)
	}
	if !strings.Contains(text, "of 1,000") && !strings.Contains(text, "of 1000") {
		t.Error("the page does not say what is left out")
	}
}

// wildCurve falls at so many limits, by different amounts in each class.
func wildCurve(random *rand.Rand, points int) sweep.Curve {
	c := sweep.Curve{Shape: sweep.Shape{Kind: sweep.Window, Per: limit.Minute}, Points: make([]sweep.Point, points)}
	n := int64(1)
	for i := range c.Points {
		c.Points[i].Limit, c.Points[i].Counted = n, true
		n += 1 + random.Int64N(4)
	}
	for i := points - 2; i >= 0; i-- {
		p := &c.Points[i]
		p.Refused, p.Hit = c.Points[i+1].Refused, c.Points[i+1].Hit
		for class := range request.ClassCount {
			if random.IntN(3) == 0 {
				p.Refused[class] += random.Int64N(1 << random.IntN(30))
				p.Hit[class] += random.Int64N(3)
			}
		}
	}
	return c
}

// A page without anything still is one.
func TestHTMLOfNothing(t *testing.T) {
	for name, m := range map[string]*report.Model{"empty": report.New(reporttest.Empty(), report.Options{}), "nobody": report.New(reporttest.Nobody(), report.Options{}), "peaceful": report.New(reporttest.Peaceful(), report.Options{}), "made": report.New(reporttest.Made(), townOptions)} {
		if text := pageText(t, NewReplay(m)); !strings.Contains(text, "</html>") {
			t.Errorf("%s: no page", name)
		}
	}
	r := reporttest.SweptTown(0)
	r.Curves[0].Points, r.Curves[1].Points = nil, nil
	if text := pageText(t, sweptPage(r)); !strings.Contains(text, "</html>") {
		t.Error("no page of no curves")
	}
}
