package html

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shadow/limit"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/plot"
	"shadow/report/reporttest"
	"shadow/report/table"
)

// evilDocument has a text of a stranger in every place of a report.
func evilDocument(t testing.TB) *Document {
	t.Helper()
	head := evilPage(t, evilLog(20, 30), 10).Head
	return &Document{Head: head, Lede: evilTexts[0], Text: func(w *document.Writer) {
		head.Begin(w, evilTexts[1], document.Fact{Label: evilTexts[2], Text: evilTexts[3], Details: evilTexts, Prose: true})
		w.Facts(document.Strong(evilTexts[0], evilTexts[1]))
		rows := table.New(table.Name(evilTexts[0]), table.Long(evilTexts[1]), table.Number("refused"))
		for i, text := range evilTexts {
			rows.Add(table.Text(text), table.Brief(text, text), table.Count(int64(i)))
		}
		w.Table(rows)
		w.Heading(2, evilTexts[2], evilTexts[3])
		for _, text := range evilTexts {
			w.Remark(text)
			w.Note(text)
			w.Name(text)
		}
		w.Table(rows)
		w.Lines(evilTexts)
		values := []float64{1, 2, 1500, 3, 0, 0.5}
		w.Plot(evilTexts[7], plot.Curve{Values: values, Length: limit.Hour, Rows: 6, Clock: true, Start: 1}, evilTexts...)
		w.Section(2, evilTexts[8])
		w.Alert(document.Stop, evilTexts[5])
	}}
}

// townDocument has parts as those of a comparison.
func townDocument(text func(w *document.Writer)) *Document {
	m := report.New(reporttest.Town(), townOptions)
	return &Document{Head: &m.Head, Text: text}
}

// What is worth reading first stands above the parts, what was read below them, and a table without a title is a part that is
// called as its rows are.
func TestDocumentHasItsParts(t *testing.T) {
	rows := table.New(table.Words("requests refused by"))
	rows.Add(table.Text("both"))
	page := pageText(t, townDocument(func(w *document.Writer) {
		w.Title("Two limits")
		w.Input(document.Fact{Label: "read", Text: "one file"})
		w.Facts(document.Fact{Label: "site", Text: "of people"})
		w.Table(rows)
		w.Table(rows)
		w.Section(2, "Clients")
		w.Facts(document.Fact{Label: "a", Text: "A"})
		w.Facts(document.Fact{Label: "b", Text: "B"}, document.Strong("best", "by client"))
		w.Lines([]string{"paste", "me"})
	}))
	at := 0
	for _, want := range []string{
		"<h1 id=\"summary-title\">Two limits</h1>", "No client was blocked", "<dt>best</dt><dd>by client</dd>", "<dt>site</dt>",
		"<h2 id=\"s-1-title\">Requests refused by</h2>", "<h2 id=\"s-2-title\">Requests refused by</h2>", "<h2 id=\"s-3-title\">Clients</h2>",
		"<dl>\n  <dt>a</dt><dd>A</dd>\n  <dt>b</dt><dd>B</dd>\n</dl>", "<code>paste\nme\n</code>", "<h2 id=\"read-title\">What was read</h2>", "<dt>read</dt><dd>one file</dd>",
	} {
		n := strings.Index(page[at:], want)
		if n < 0 {
			t.Fatalf("no %q behind\n%s", want, page[max(0, at-500):min(at+1500, len(page))])
		}
		at += n
	}
}

// A page is small, whatever is written.
func TestDocumentIsSmall(t *testing.T) {
	long := strings.Repeat("\u202e<&\"'>Z\u0300\u0301", 200)
	rows := table.New(table.Name(long), table.Long(long))
	for range 1000 {
		rows.Add(table.Text(long), table.Text(long))
	}
	page := pageText(t, townDocument(func(w *document.Writer) {
		for range 100 {
			w.Alert(document.Note, long)
			w.Section(2, long)
			w.Facts(document.Fact{Label: long, Text: long, Details: slices.Repeat([]string{long}, 500)})
			w.Table(rows)
			w.Lines(slices.Repeat([]string{long}, 5000))
		}
	}))
	if len(page) > MostBytes || !strings.Contains(page, "The page has room for the first ") || strings.Count(page, "<tr>") < 60 {
		t.Errorf("%d bytes, %d rows", len(page), strings.Count(page, "<tr>"))
	}
}

func TestBrowserDocument(t *testing.T) {
	d := evilDocument(t)
	for _, width := range []int64{390, 1920} {
		b := openTab(t, d, width, 900)
		if eval[bool](b, `"owned" in window`) {
			t.Error("a stranger's script ran")
		}
		for selector, want := range map[string]int{"script": 2, "style": 1, "img": 0, "iframe": 0, "[onload],[onerror],[onclick]": 0, "svg svg": 0, ".copy": 1, "th button": 6} {
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
		b.inside(width)
		b.shoot(fmt.Sprintf("document-%d", width))
		for _, theme := range []string{"light", "dark"} {
			b.do(chromedp.Click(chromedp.CSS("label[for=theme-" + theme + "]")))
			b.accessible(fmt.Sprintf("%s at %d", theme, width))
		}
	}
	b := openTab(t, d, 1280, 900, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	})
	got := eval[[]int](b, `["table", ".plot rect", "pre", "button, input[type=search]"].map((s) => [...document.querySelectorAll(s)].filter((e) => e.checkVisibility()).length)`)
	if want := []int{2, 6, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("without scripts: tables, columns, lines and controls %v, want %v", got, want)
	}
}

// inside reports what stands out of the page, and texts of charts that do.
func (b *tab) inside(width int64) {
	b.t.Helper()
	if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > width {
		b.t.Errorf("%d pixels of %d", wide, width)
	}
	cut := eval[[]string](b, `[...document.querySelectorAll(".plot")].flatMap((p) => {
		const all = p.closest("section").getBoundingClientRect();
		const texts = [...p.querySelectorAll("span")].filter((e) => e.checkVisibility()).map((e) => [e.textContent, e.getBoundingClientRect()]);
		const out = texts.filter(([, r]) => r.left < all.left || r.right > all.right || r.bottom > all.bottom);
		const over = texts.filter(([, r], i) => texts.some(([, s], j) => j < i && r.left < s.right && s.left < r.right && r.top < s.bottom && s.top < r.bottom));
		return [...out, ...over].map(([text]) => text);
	})`)
	if len(cut) > 0 {
		b.t.Errorf("at %d texts of charts are cut, or lie on others: %q", width, cut)
	}
}
