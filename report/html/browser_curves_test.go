package html

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report/format"
	"shadow/report/reporttest"
)

// The slider: wherever it is dragged to, the page shows the figures of a point of the curve, exactly.

// A reading is what the page says of a limit.
type reading struct {
	N     string     // in the field
	Limit string     // as --limit takes it
	Words string     // of the slider, for those who cannot see it
	Rows  [][]string // class, is, clients, hit, %, requests, refused, %
}

const readPage = `({
	N: document.getElementById("number").value,
	Limit: document.getElementById("hit-limit").textContent,
	Words: document.getElementById("slider").getAttribute("aria-valuetext"),
	Rows: [...document.querySelectorAll("#groups tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)),
})`

// expected returns what the page should say of a limit.
func (c *Curves) expected(curve *sweep.Curve, n int64) reading {
	p := curve.At(n)
	row := func(name string, refused, requests, hit, clients int64) []string {
		is := map[bool]string{true: "protected"}[name == "browser"]
		cells := []string{
			name, is, format.Thousands(clients), format.Thousands(hit), format.Percent(format.PercentOf(hit, clients)), format.Thousands(requests), "–", "–",
		}
		if p.Counted {
			cells[6], cells[7] = format.Thousands(refused), format.Percent(format.PercentOf(refused, requests))
		}
		return cells
	}
	r := reading{N: fmt.Sprint(n), Limit: curve.Limit(n)}
	for class := range request.ClassCount {
		if c.Clients[class] > 0 {
			r.Rows = append(r.Rows, row(class.String(), p.Refused[class], c.ByClass[class], p.Hit[class], c.Clients[class]))
		}
	}
	r.Rows = append(r.Rows, row("all", p.Refused.Sum(), c.ByClass.Sum(), p.Hit.Sum(), c.Clients.Sum()))
	return r
}

// same compares what the page says with the curve.
func (b *tab) same(c *Curves, curve *sweep.Curve) int64 {
	b.t.Helper()
	got := eval[reading](b, readPage)
	var n int64
	if _, err := fmt.Sscan(got.N, &n); err != nil {
		b.t.Fatal(err)
	}
	want := c.expected(curve, n)
	if !slices.ContainsFunc(curve.Points, func(p sweep.Point) bool { return p.Limit == n }) {
		b.t.Errorf("%d is no point of the curve", n)
	}
	if got.Limit != want.Limit || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) || !strings.HasPrefix(got.Words, want.Limit+": ") {
		b.t.Errorf("at %d the page says\n%v, want\n%v", n, got, want)
	}
	return n
}

// steepPage has a long curve, which is thinned, and a bucket that is known in part.
func steepPage() *Document {
	r := reporttest.SweptTown(0)
	r.ByClass, r.Clients = sweep.Classes{request.Browser: 90_000, request.Tool: 60_000}, sweep.Classes{request.Browser: 30_000, request.Tool: 9}
	r.Judged = r.ByClass.Sum()
	for n := int64(1); n <= 30_000; n++ {
		left := 30_000 - n
		r.Curves[0].Points = append(r.Curves[0].Points, sweep.Point{
			Limit: n, Counted: true, Refused: sweep.Classes{request.Browser: 3 * left, request.Tool: 2 * left}, Hit: sweep.Classes{request.Browser: left, request.Tool: min(left, 9)},
		})
	}
	r.Curves[1].Points = []sweep.Point{
		{Limit: 1, Hit: sweep.Classes{20, 0, 2}},
		{Limit: 5, Counted: true, Refused: sweep.Classes{70, 0, 7}, Hit: sweep.Classes{12, 0, 1}},
		{Limit: 8, Hit: sweep.Classes{3}},
		{Limit: 12, Counted: true},
	}
	return sweptPage(r)
}

func TestBrowserSlider(t *testing.T) {
	p := steepPage()
	b := openTab(t, p, 1280, 900)
	long := &p.Curves.Curves[0]
	seen := map[int64]bool{b.same(p.Curves, long): true}
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#slider")))
	box := eval[[]float64](b, `(() => { const r = document.getElementById("slider").getBoundingClientRect(); return [r.left, r.top + r.height / 2, r.width]; })()`)
	b.do(chromedp.MouseEvent(chromedp.MousePressed, box[0]+box[2]/2, box[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	for _, part := range []float64{0.5, 0.1, 0.101, 0.33, 0.77, 0.9, 1, 0} {
		b.do(chromedp.MouseEvent(chromedp.MouseMoved, box[0]+box[2]*part, box[1], chromedp.ButtonLeft))
		seen[b.same(p.Curves, long)] = true
	}
	b.do(chromedp.MouseEvent(chromedp.MouseReleased, box[0], box[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	if len(seen) < 6 || !seen[1] || !seen[30_000] {
		t.Errorf("the slider went to %v only", seen)
	}
}

// The keyboard moves from point to point, a number goes to the point at or below it, and so does a press on the chart.
func TestBrowserOtherWaysToMove(t *testing.T) {
	p := steepPage()
	b := openTab(t, p, 1280, 900)
	long := &p.Curves.Curves[0]
	b.slide(1)
	if n := b.same(p.Curves, long); n != 1 {
		t.Errorf("Home goes to %d", n)
	}
	b.slide(3)
	if n := b.same(p.Curves, long); n != 3 {
		t.Errorf("two arrows go to %d", n)
	}
	kept := p.Curves.shape(long, nil, MostPoints).Stops
	for _, typed := range []int64{17, 12_345, 29_999, 99_999, 0} {
		eval[bool](b, `(() => { const f = document.getElementById("number"); f.value = "%d"; f.dispatchEvent(new Event("change")); return true; })()`, typed)
		want := kept[0]
		for _, k := range kept {
			if k <= typed {
				want = k
			}
		}
		if n := b.same(p.Curves, long); n != want {
			t.Errorf("%d typed goes to %d, want %d", typed, n, want)
		}
	}
	people, hit, _ := p.Curves.protected()
	for i, share := range sweep.ProtectedShares() {
		eval[bool](b, `(() => { const f = document.getElementById("protect"); f.value = "%d"; f.dispatchEvent(new Event("input")); return true; })()`, i+1)
		want := long.Protecting(people, share, hit)
		if n := b.same(p.Curves, long); n != want.Limit {
			t.Errorf("to spare %d of 1,000 it goes to %d, want %d", share, n, want.Limit)
		}
		cell := eval[string](b, `document.querySelector("#map tbody tr").cells[%d].textContent`, i+1)
		percent := format.Percentage(format.PercentOf(want.Refused.Sum(), p.Curves.Judged))
		if told := format.Thousands(want.Limit) + " " + percent; cell != told {
			t.Errorf("the map says %q, want %q", cell, told)
		}
	}
	eval[string](b, `document.querySelector("#map tbody tr").cells[1].firstChild.click(), `+hash)
	if n := b.same(p.Curves, long); n != long.Protecting(people, 500, hit).Limit {
		t.Errorf("a cell of the map goes to %d", n)
	}
	b.slide(1)
	b.pressChart(p.Curves, long)
}

// pressChart presses somewhere on the chart: the point is where the pointer is.
func (b *tab) pressChart(c *Curves, curve *sweep.Curve) {
	b.t.Helper()
	eval[bool](b, `document.getElementById("chart").scrollIntoView({ block: "center", behavior: "instant" }), true`)
	box := eval[[]float64](b, `(() => { const r = document.querySelector("#chart .u-over").getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
	b.do(chromedp.MouseClickXY(box[0]+box[2]/2, box[1]+box[3]/2))
	for deadline := time.Now().Add(10 * time.Second); eval[string](b, `document.getElementById("number").value`) == "1" && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond) // a busy machine
	}
	middle := math.Sqrt(float64(curve.Points[len(curve.Points)-1].Limit)) // of a logarithmic axis
	if n := b.same(c, curve); math.Abs(float64(n)-middle) > middle/20 {
		b.t.Errorf("the middle of the chart is %d, want about %.0f", n, middle)
	}
}

// Another curve has its own points; of a bucket it says what is not known.
func TestBrowserChoosesACurve(t *testing.T) {
	p := steepPage()
	b := openTab(t, p, 1280, 900)
	told := eval[string](b, `document.getElementById("chart-words").textContent`)
	if !strings.Contains(told, "of the 30,000 limits") {
		t.Errorf("the reader is not told of thinning: %q", told)
	}
	p.Curves.Changes = []int64{50_000}
	if text := pageText(t, p); !strings.Contains(text, `This curve changes at 50,000 limits; the database keeps a selection.`) {
		t.Error("the page does not know of points that the database has not kept")
	}
	token := &p.Curves.Curves[1]
	eval[bool](b, `(() => { const f = document.getElementById("which"); f.value = "1"; f.dispatchEvent(new Event("change")); return true; })()`)
	for i := range token.Points {
		b.slide(token.Points[i].Limit)
		if n := b.same(p.Curves, token); n != token.Points[i].Limit {
			t.Errorf("point %d is at %d", i, n)
		}
	}
	b.slide(1)
	if !eval[bool](b, `document.getElementById("uncounted").checkVisibility()`) {
		t.Error("of a burst that was not counted the page says nothing")
	}
}

// The chart draws: with a line switched off there is less colour on it, and zooming changes the picture.
func TestBrowserChart(t *testing.T) {
	b := openTab(t, sweptPage(reporttest.SweptTown(400)), 1280, 900)
	inked := `(() => { const c = document.querySelector("#chart canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] > 150 && d[i + 1] < 80 && d[i + 3] > 200; return n; })()`
	red := eval[int](b, inked)
	b.do(chromedp.Click(chromedp.CSS("#legend label:first-child")))
	if without := eval[int](b, inked); red < 300 || without > red/10 {
		t.Errorf("%d red pixels with the line, %d without", red, without)
	}
}

// Behind the bars of refusals stand those of all requests, on a scale of their own where the refusals would be too low;
// the text beside the chart tells of both.
func TestBrowserOverTime(t *testing.T) {
	b := openTab(t, townPage(), 1280, 900)
	inked := func() []int {
		return eval[[]int](b, `(() => { const c = document.querySelector("#times-chart canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; const of = (r, g, b) => { let n = 0; for (let i = 0; i < d.length; i += 4) n += Math.abs(d[i] - r) + Math.abs(d[i + 1] - g) + Math.abs(d[i + 2] - b) < 6; return n; }; return [of(0xc4, 0x26, 0x2f), of(0xcf, 0xd6, 0xe4)]; })()`)
	}
	b.do(chromedp.Click(chromedp.CSS("label[for=theme-light]")))
	words := func() string { return eval[string](b, `document.getElementById("times-words").textContent`) }
	for i, want := range []string{
		"Each bar is 1 min, the pale ones of all requests (scale on the right). The most: 90 of 2,000 requests refused in the 1 min from ",
		"Each bar is 1 min, the pale ones of all requests. The most: 900 of 2,000 requests refused in the 1 min from ",
	} {
		eval[any](b, `(() => { const s = document.getElementById("times-which"); s.value = "%d"; s.dispatchEvent(new Event("change")); })()`, i)
		if ink := inked(); ink[0] < 500 || ink[1] < 5000 {
			t.Errorf("candidate %d: %d pixels of refusals, %d of requests", i, ink[0], ink[1])
		}
		if got := words(); !strings.HasPrefix(got, want) {
			t.Errorf("candidate %d: %q", i, got)
		}
	}
	if text := eval[string](b, `document.getElementById("times").textContent`); !strings.Contains(text, "3 requests of another time would make the bars longer") {
		t.Errorf("the page does not say what is left out: %q", text)
	}
}
