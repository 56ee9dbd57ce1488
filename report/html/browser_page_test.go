package html

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/reporttest"
	"shadow/report/table"
)

const firstColumn = `[...document.querySelector("#s-2 figure.table tbody").rows].filter((row) => !row.hidden).map((row) => row.cells[%d].textContent)`

func townPage() *Document {
	p := townReplay(reporttest.Town())
	p.Head.Input.Span = report.NewSpan(reporttest.Noon, reporttest.Noon+6*limit.Minute)
	p.Times = timesOf(reporttest.Noon, []int64{110, 600, 480, 300, 2000, 900, 40}, []int64{0, 7, 0, 0, 90, 2, 0}, []int64{0, 70, 0, 0, 900, 20, 0})
	p.Times.Requests.Add(reporttest.Noon+400*limit.Day, 3)
	return p
}

// A head sorts up and down by what stands behind the texts, and says so.
func TestBrowserSorts(t *testing.T) {
	p := townPage()
	b := openTab(t, p, 1280, 900)
	var want []string
	for _, c := range p.Model.Policies[0].TopClients {
		want = append(want, format.Thousands(c.Requests))
	}
	click := func(column int) {
		b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#s-2 figure.table thead th:nth-child(%d) button", column+1))))
	}
	click(1)
	byNumber := func(x, y string) int { return len(y) - len(x) + strings.Compare(y, x)*boolean(len(x) == len(y)) }
	slices.SortStableFunc(want, byNumber)
	if got := eval[[]string](b, firstColumn, 1); !slices.Equal(got, want) {
		t.Errorf("most requests first: %v, want %v", got, want)
	}
	click(1)
	slices.Reverse(want)
	if got := eval[[]string](b, firstColumn, 1); !slices.Equal(got, want) {
		t.Errorf("fewest requests first: %v, want %v", got, want)
	}
	if sorted := eval[[]string](b, `[...document.querySelectorAll("#s-2 figure.table:first-of-type thead")][0].querySelector("[aria-sort]").getAttribute("aria-sort").split()`); sorted[0] != "ascending" {
		t.Errorf("said to be sorted %q", sorted)
	}
	click(0)
	byName := eval[[]string](b, firstColumn, 0)
	if i := slices.Index(byName, "198.51.100.7"); len(byName) != len(want) || i < 0 || byName[i+1] != "198.51.100.8" || byName[i+2] != "203.0.113.77" {
		t.Errorf("by client: %q", byName)
	}
}

func boolean(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// The field leaves the rows that have the text somewhere, whatever its case.
func TestBrowserSearches(t *testing.T) {
	b := openTab(t, townPage(), 1280, 900)
	all := len(eval[[]string](b, firstColumn, 0))
	b.do(chromedp.SendKeys(chromedp.CSS("#s-2 input[type=search]"), "PYTHON-req"))
	if got := eval[[]string](b, firstColumn, 0); !slices.Equal(got, []string{"198.51.100.7", "198.51.100.8"}) {
		t.Errorf("found %q", got)
	}
	if told := eval[string](b, `document.querySelector("#s-2 .search .note").textContent`); told != fmt.Sprintf("2 of %d", all) {
		t.Errorf("told %q", told)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#s-2 input[type=search]"), strings.Repeat("\b", 10)))
	if got := len(eval[[]string](b, firstColumn, 0)); got != all {
		t.Errorf("%d rows without a search, want %d", got, all)
	}
}

// The switch changes the colours of the page and of its charts, also against what the system prefers.
func TestBrowserThemes(t *testing.T) {
	b := openTab(t, townPage(), 1280, 900)
	ground := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	pixels := func() string { return eval[string](b, `document.querySelector("#times-chart canvas").toDataURL()`) }
	prefer := func(theme string) {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
	}
	prefer("light")
	light, drawn := ground(), pixels()
	b.do(chromedp.Click(chromedp.CSS("label[for=theme-dark]")))
	dark, drawnDark := ground(), pixels()
	if light == dark || drawn == drawnDark {
		t.Errorf("light is %s, dark is %s; charts the same: %v", light, dark, drawn == drawnDark)
	}
	prefer("dark")
	b.do(chromedp.Click(chromedp.CSS("label[for=theme-light]")))
	if ground() != light || pixels() != drawn {
		t.Error("light is not light where the system prefers dark")
	}
	b.do(chromedp.Click(chromedp.CSS("label[for=theme-auto]")))
	if ground() != dark || pixels() != drawnDark {
		t.Error("auto is not what the system prefers")
	}
}

// Texts of strangers stay texts: nothing of them runs, and nothing becomes an element.
func TestBrowserHostile(t *testing.T) {
	b := openTab(t, evilPage(t, evilLog(40, 60), 250), 1280, 900)
	if eval[bool](b, `"owned" in window`) {
		t.Error("a stranger's script ran")
	}
	for selector, want := range map[string]int{"script": 2, "style": 1, "img": 0, "iframe": 0, "base": 0, "link": 0, "[onload],[onerror],[onclick]": 0, "a:not([href^='#'])": 0, "svg svg": 0} {
		if got := eval[int](b, "document.querySelectorAll(`%s`).length", selector); got != want {
			t.Errorf("%d of %s, want %d", got, selector, want)
		}
	}
	text := eval[string](b, `document.querySelector("main").textContent`)
	for _, evil := range evilTexts {
		if !strings.Contains(text, table.Clip(evil, table.PageLong)) {
			t.Errorf("%q is not on the page", evil)
		}
	}
}

// Without scripts all tables are there, and nothing that only a script could move.
func TestBrowserWithoutScripts(t *testing.T) {
	p := evilPage(t, evilLog(20, 30), 10)
	b := openTab(t, p, 1280, 900, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	})
	shown := eval[int](b, `[...document.querySelectorAll("table")].filter((table) => table.checkVisibility()).length`)
	controls := eval[int](b, `[...document.querySelectorAll("input[type=range], select, input[type=search], th button")].filter((e) => e.checkVisibility()).length`)
	if shown < 8 || controls > 0 {
		t.Errorf("%d tables, %d controls without use", shown, controls)
	}
}

// At no width does the page move sideways, and all charts fill it.
func TestBrowserWidths(t *testing.T) {
	p := evilPage(t, evilLog(40, 60), 250)
	for _, width := range []int64{1280, 390, 320} {
		b := openTab(t, p, width, 844)
		if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%d pixels of %d: %s", wide, width, eval[string](b, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d && !e.closest(".scroll *, nav *")).map((e) => e.tagName + "." + e.className + e.id).slice(0, 9).join(" ")`, width))
		}
		for _, chart := range []string{"chart", "times-chart"} {
			sizes := eval[[]int64](b, `(() => { const c = document.getElementById("%s"); return [c.clientWidth, c.querySelector("canvas").clientWidth]; })()`, chart)
			if sizes[0] != sizes[1] || sizes[0] < width*6/10 {
				t.Errorf("at %d the chart %s is %d pixels in a box of %d", width, chart, sizes[1], sizes[0])
			}
		}
		picture := b.shoot(fmt.Sprintf("page-%d", width))
		if len(picture) < 50_000 {
			t.Errorf("at %d the picture has %d bytes", width, len(picture))
		}
	}
}

// On paper the page is light, whatever the switch says, and has all its tables, none of them cut.
func TestBrowserPrints(t *testing.T) {
	p := evilPage(t, evilLog(40, 60), 30)
	b := openTab(t, p, 1280, 900)
	b.do(chromedp.Click(chromedp.CSS("label[for=theme-dark]")))
	if pdf := result(b, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4))); !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
		t.Errorf("%d bytes of PDF", len(pdf))
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if ground := eval[string](b, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", ground)
	}
	b.do(chromedp.EmulateViewport(720, 1000)) // A4 with margins
	if wide := eval[[]string](b, `[...document.querySelectorAll("table, canvas")].filter((e) => e.getBoundingClientRect().right > 720).map((e) => e.textContent.slice(0, 200))`); len(wide) > 0 {
		t.Errorf("cut on paper: %q", wide)
	}
	if n := eval[int](b, `[...document.querySelectorAll(".controls, .search, .theme")].filter((e) => e.checkVisibility()).length`); n > 0 {
		t.Errorf("%d controls on paper", n)
	}
}

// axe-core, an accessibility checker, finds nothing, in either theme and on a telephone.
func TestBrowserAccessible(t *testing.T) {
	accessible(t, evilPage(t, evilLog(40, 60), 250), "")
}

// accessible has axe-core look at a page.
func accessible(t *testing.T, p written, pictures string) {
	t.Helper()
	for _, width := range []int64{1280, 390} {
		b := openTab(t, p, width, 844)
		for _, theme := range []string{"light", "dark"} {
			b.do(chromedp.Click(chromedp.CSS("label[for=theme-" + theme + "]")))
			b.accessible(fmt.Sprintf("%s at %d", theme, width))
			b.shoot(fmt.Sprintf("%s%s-%d", pictures, theme, width))
		}
	}
}

// accessible reports what axe-core finds with everything unfolded.
func (b *tab) accessible(where string) {
	b.t.Helper()
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		b.t.Fatal(err)
	}
	eval[any](b, string(axe)+";1")
	eval[any](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
	type finding struct{ ID, Impact, Help, Where string }
	found := eval[[]finding](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help, Where: v.nodes.slice(0, 3).map((n) => n.target.join(" ") + ": " + n.failureSummary).join("; ")})))`)
	for _, f := range found {
		b.t.Errorf("%s: %s, %s: %s (%s)", where, f.Impact, f.ID, f.Help, f.Where)
	}
}

// Even if a stranger's text came in as markup, the page's own policy would let nothing run and nothing be loaded.
func TestBrowserPolicyHolds(t *testing.T) {
	b := openTab(t, townPage(), 1280, 900)
	broken := eval[[]string](b, `new Promise((done) => {
		const broken = new Set();
		document.addEventListener("securitypolicyviolation", (e) => broken.add(e.effectiveDirective));
		const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
		add("script", {textContent: "window.owned = 1"});
		add("div", {innerHTML: "<b onclick='1' style='color:red'></b><img src='http://127.0.0.1:9/x.png' onerror='window.owned = 1'>"});
		add("style", {textContent: "body { display: none }"});
		fetch("http://127.0.0.1:9/").catch(() => {});
		setTimeout(() => done([...broken].sort()), 500);
	})`)
	want := []string{"connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-attr", "style-src-elem"}
	if !slices.Equal(broken, want) {
		t.Errorf("stopped by %v, want %v", broken, want)
	}
	if eval[bool](b, `"owned" in window`) {
		t.Error("an injected script ran")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requested, b.complaints = b.requested[:1], nil // all of that was asked for
}

// No table loses a column at 1,280 pixels: none is wider than its frame, and all of a cell's text is in the cell.
func TestBrowserTablesFit(t *testing.T) {
	wide := townReplay(reporttest.Made())
	var counts [][]int64
	for i := range wide.Model.Policies {
		counts = append(counts, []int64{0, 7, 0, 0, 12_345_678, 2, 0})
		p := &wide.Model.Policies[i]
		p.Policy = strings.Repeat(fmt.Sprint("envoy-local:", i, "r/m"), 6)
		p.Refused, p.ClientsHit, p.BytesSaved = 123_456_789, 12_345_678, 123_456_789_000
	}
	wide.Times = timesOf(reporttest.Noon, counts[0], counts...)
	for name, p := range map[string]*Document{
		"town": townPage(), "evil": evilPage(t, evilLog(40, 60), 250), "wide": wide,
		"banded": townReplay(reporttest.BandedTown()), "swept": steepPage(),
	} {
		b := openTab(t, p, 1280, 900)
		eval[any](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
		for _, cut := range eval[[]string](b, `[...document.querySelectorAll(".scroll")].filter((s) => s.scrollWidth > s.clientWidth).map((s) => s.getAttribute("aria-label") + ": " + s.scrollWidth + " of " + s.clientWidth + ", " + s.querySelectorAll("thead th").length + " columns")`) {
			t.Errorf("%s: %s", name, cut)
		}
		for _, cut := range eval[[]string](b, `[...document.querySelectorAll(".table td, .table th")].filter((c) => c.scrollWidth > c.clientWidth + 1).map((c) => c.textContent).slice(0, 5)`) {
			t.Errorf("%s: a cell does not show all of %q", name, cut)
		}
		b.shoot("tables-" + name)
	}
}

// Lists name agents in a few words; the whole agent is a title, and is found.
func TestBrowserNamesAgents(t *testing.T) {
	b := openTab(t, townPage(), 1280, 900)
	agents := eval[[][]string](b, `[...document.querySelectorAll("main figure.table tbody td[title]")].map((c) => [c.textContent, c.title])`)
	if !slices.ContainsFunc(agents, func(a []string) bool {
		return strings.HasPrefix(a[0], "Firefox ") && strings.HasPrefix(a[1], "Mozilla/5.0 (")
	}) {
		t.Errorf("agents: %q", agents)
	}
	all := len(eval[[]string](b, firstColumn, 0))
	b.do(chromedp.SendKeys(chromedp.CSS("#s-2 input[type=search]"), "BOT.example"))
	if got := len(eval[[]string](b, firstColumn, 0)); got == 0 || got == all {
		t.Errorf("%d of %d found by the whole agent", got, all)
	}
}
