package html

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shadow/internal/suggest"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// madeAnswer is an answer about clients that are hit one after the other: client i of shape s below N = 10·(i+1)+s.
func madeAnswer(texts []string) *Answer {
	const each = 60
	bound := 71.5
	text := func(i int) string { return texts[i%len(texts)] }
	p := &Answer{
		Shadow: "shadow 1.2.3", Command: "shadow suggest " + text(2), What: "9 requests of " + text(0), Verdict: "deploy", Tone: "deploy",
		Reason: "the target sends faster", Watch: "Count.", Count: "grep -c " + text(0), Log: text(1), Note: text(1), Next: []string{"shadow replay " + text(0)}, Notes: []string{text(3)},
		Facts:    []document.Fact{{Label: "limit", Text: text(0)}, {Label: "protects", Text: text(4)}},
		Paste:    []Lines{{Place: "http", Text: text(1)}, {Place: "server", Text: "limit_req zone=a burst=5;\nlimit_req_status 429;"}},
		Protects: "browsers", Targets: "tools", Bound: &bound, Percents: []string{"50", "90", "100"},
		Explored: Explored{Groups: []Group{
			{Name: "browsers", Clients: each, Requests: 5000, Protected: true},
			{Name: "tools", Clients: each, Requests: 70_000, Target: true},
			{Name: "search", Clients: 2, Requests: 30},
		}},
	}
	for i := range 2 * each {
		p.Clients = append(p.Clients, &Client{
			Name: fmt.Sprint(text(i), i), Short: "Chrome 143 / Windows", Agent: text(i + 1), Group: p.Groups[i/each].Name, Requests: int64(1000 + i),
		})
	}
	for _, alert := range texts {
		p.Alerts = append(p.Alerts, document.Alert{Level: document.Warning, Text: alert})
	}
	for i := range 4 {
		s := Shape{Kind: "Rolling window", Title: fmt.Sprintf("%dm", i+1), Keeps: []int{-1, -1, -1}}
		s.Why = [3]string{"", " requests in " + s.Title + ", the window allows ", ""}
		s.Lack = "nginx has no limit of this shape."
		if i == 0 {
			s.Kind, s.Lack = "nginx", ""
			s.Lines = []PatternLines{{Place: "server", Parts: []string{"burst=", " nodelay; # ", ""}, Adds: []int64{-1, 0}}}
		}
		needs := func(client int) int64 { return int64(10*(client%each+1) + i) }
		s.Hit, s.Refused = make([]Column, 3), make([]Column, 3)
		for n := int64(1); n <= 650; n += 24 {
			if n == 25 && i == 0 {
				s.Other = map[int][]Lines{len(s.Stops): {{Place: "server", Text: "no burst at all"}}}
			}
			s.Stops, s.Limits = append(s.Stops, n), append(s.Limits, fmt.Sprintf("window:%d/%s", n, s.Title))
			hit, refused := make([]int64, 3), make([]int64, 3)
			for c := range 2 * each {
				if needs(c) > n {
					hit[c/each]++
					refused[c/each] += needs(c) - n
				}
			}
			for g := range hit {
				s.Hit[g], s.Refused[g] = append(s.Hit[g], hit[g]), append(s.Refused[g], refused[g])
			}
		}
		for k, share := range []int64{each / 2, each / 10, 0} {
			s.Keeps[k] = slices.IndexFunc(s.Hit[0], func(hit int64) bool { return hit <= share })
		}
		for _, end := range []int{each, 2 * each} {
			for c := end - 1; c >= end-suggest.MostListed; c-- {
				l := Listed{Client: c, Need: needs(c)}
				if c == end-1 {
					l.Need = 0
				}
				for _, n := range s.Stops {
					l.Refused = append(l.Refused, max(0, needs(c)-n))
				}
				s.Listed = append(s.Listed, l)
			}
		}
		p.Shapes = append(p.Shapes, s)
	}
	p.First, p.FirstStop = 0, 12
	return p
}

var plainTexts = []string{"198.51.100.7", "203.0.113.9", "curl/8.5.0"}

// An answerReading is what the page shows of a limit.
type answerReading struct {
	N, Limit        string
	Groups, Clients [][]string
	Lines           []string
}

const readAnswer = `(() => {
	const rows = (id) => [...document.querySelectorAll("#" + id + " tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
	return {
		N: document.getElementById("number").value, Limit: document.getElementById("hit-limit").textContent,
		Groups: rows("groups"), Clients: rows("clients"),
		Lines: [...document.querySelectorAll("#lines pre, #lines .note")].map((e) => e.textContent),
	};
})()`

// reads returns what the page should show: what Go writes of that limit.
func (p *Answer) reads(shape, stop int) answerReading {
	stored := p.stored(suggest.MostListed)
	s := &stored.Shapes[shape]
	r := answerReading{
		N: format.Plain(s.Stops[stop]), Limit: s.limit(stop),
		Groups: textsOf(groupTable("identity", p.Groups, s, stop)), Clients: textsOf(clientTable("", stored.Clients, s, stop)),
	}
	for _, l := range s.Other[stop] {
		r.Lines = append(r.Lines, l.Text)
	}
	for i := range s.Lines {
		if s.Other[stop] == nil {
			r.Lines = append(r.Lines, s.Lines[i].With(s.Stops[stop]).Text)
		}
	}
	if r.Lines == nil {
		r.Lines = []string{s.Lack}
	}
	return r
}

// textsOf returns the texts of the cells of a table.
func textsOf(t *table.Page) [][]string {
	rows := [][]string{}
	for _, row := range t.Rows {
		var texts []string
		for _, cell := range row {
			texts = append(texts, cell.Text)
		}
		rows = append(rows, texts)
	}
	return rows
}

// found says how many clients there are.
const found = `document.getElementById("found").textContent`

// shows compares what the page shows with a limit.
func (b *tab) shows(p *Answer, shape, stop int) {
	b.t.Helper()
	got, want := eval[answerReading](b, readAnswer), p.reads(shape, stop)
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		b.t.Errorf("the page shows\n%q, want\n%q", got, want)
	}
}

// The keyboard moves the slider from stop to stop. The clients that it hits, its figures and its lines follow, and are those that
// Go writes.
func TestBrowserAnswerSlider(t *testing.T) {
	p := madeAnswer(plainTexts)
	b := openTab(t, p, 1280, 900)
	b.shows(p, 0, 12)
	for stop := range p.Shapes[0].Stops {
		b.slide(p.Shapes[0].Stops[stop])
		b.shows(p, 0, stop)
	}
	if !strings.Contains(fmt.Sprint(p.reads(0, 0).Clients), "more than") || eval[string](b, found) != "It hits no client." {
		t.Error("the made answer does not show what was to be tested")
	}
	set := `(() => { const f = document.getElementById("%s"); f.value = "%d"; f.dispatchEvent(new Event("%s")); return true; })()`
	eval[bool](b, set, "number", 100, "change")
	b.shows(p, 0, 4)
	eval[bool](b, set, "protect", 2, "input")
	b.shows(p, 0, p.Shapes[0].Keeps[1])
	if text := eval[string](b, `document.getElementById("protect-words").textContent`); text != "90 % of 60" {
		t.Errorf("spares %q", text)
	}
	eval[bool](b, set, "which", 3, "change") // the promise goes along
	b.shows(p, 3, p.Shapes[3].Keeps[1])
	b.do(chromedp.Click(chromedp.CSS("#back")))
	b.shows(p, 0, 12)
}

// Where no client is protected, N can be moved as well.
func TestBrowserAnswerProtectsNobody(t *testing.T) {
	p := madeAnswer(plainTexts)
	p.Percents, p.Groups[0].Protected, p.Bound = nil, false, nil
	for i := range p.Shapes {
		p.Shapes[i].Keeps = nil
	}
	b := openTab(t, p, 1280, 900)
	b.shows(p, 0, 12)
	b.slide(1)
	b.shows(p, 0, 0)
	eval[bool](b, `(() => { const f = document.getElementById("which"); f.value = "2"; f.dispatchEvent(new Event("change")); return true; })()`)
	b.shows(p, 2, 0)
	if at := eval[string](b, hash); at != "#limit=window%3A1%2F3m" {
		t.Errorf("the address is %q", at)
	}
}

// What is chosen before the browser reports the page's own change of the address stays.
func TestBrowserAnswerChosenMeanwhile(t *testing.T) {
	p := madeAnswer(plainTexts)
	b := openTab(t, p, 1280, 900)
	at := eval[string](b, `new Promise((done) => {
		const which = document.getElementById("which"), slider = document.getElementById("slider");
		navigation.addEventListener("navigate", () => queueMicrotask(() => { // before the page hears of it
			which.value = "2";
			which.dispatchEvent(new Event("change"));
			setTimeout(() => done(which.value + " " + location.hash), 1000);
		}), { once: true });
		slider.value = 0;
		slider.dispatchEvent(new Event("input"));
	})`)
	if want := "2 #limit=window%3A1%2F3m"; at != want {
		t.Errorf("the page shows %s, want %s", at, want)
	}
}

// hash is the address behind #, once it has settled.
const hash = `new Promise((done) => setTimeout(() => done(location.hash), 600))`

// The address has the state: it is restored, one can go back, and nonsense in it does nothing.
func TestBrowserAnswerAddress(t *testing.T) {
	p := madeAnswer(plainTexts)
	b := openTab(t, p, 1280, 900)
	goTo := func(to string) {
		eval[bool](b, "new Promise((done) => { location.hash = %q; setTimeout(() => done(true), 50); })", to)
	}
	goTo("#limit=window:49/3m")
	b.shows(p, 2, 2)
	goTo("#limit=window%3A49%2F2m&by=nonsense")
	b.shows(p, 1, 2)
	for _, nonsense := range []string{
		"#limit=<img src=x onerror=window.owned=1>", "#limit=__proto__", "#%E0%A4%A", "#n=3", "#map", "#limit=", "#limit=window:50/2m", "#limit=window:-5/2m",
	} {
		goTo(nonsense)
		b.shows(p, 1, 2)
	}
	b.slide(1)
	if at := eval[string](b, hash); at != "#limit=window%3A1%2F2m" {
		t.Errorf("the address is %q", at)
	}
	b.slide(25)
	if at := eval[string](b, hash); at != "#limit=window%3A25%2F2m" {
		t.Errorf("the address is %q", at)
	}
	eval[string](b, "history.back(), "+hash)
	b.shows(p, 1, 0)
	eval[string](b, "history.forward(), "+hash)
	b.shows(p, 1, 1)
	if eval[bool](b, `"owned" in window`) {
		t.Error("an address ran something")
	}
}

// A cell of the map sets the slider.
func TestBrowserAnswerMap(t *testing.T) {
	p := madeAnswer(plainTexts)
	b := openTab(t, p, 1280, 900)
	b.do(chromedp.Click(chromedp.CSS(`#map .maps > div:nth-child(2) tbody tr:nth-child(3) td:nth-child(3) a`)))
	eval[string](b, hash)
	b.shows(p, 3, p.Shapes[3].Keeps[1])
}

// The button copies the lines as they stand there.
func TestBrowserAnswerCopies(t *testing.T) {
	p := madeAnswer(plainTexts)
	b := openTab(t, p, 1280, 900)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		call(b, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
		})
	}
	for selector, want := range map[string]string{
		"#lines .copy": p.reads(0, 12).Lines[0],
		".answer-card .block:nth-child(2) .place ~ .copy": p.Paste[1].Text,
	} {
		b.do(chromedp.Click(chromedp.CSS(selector)))
		if got := eval[string](b, "new Promise((done) => setTimeout(done, 100)).then(() => navigator.clipboard.readText())"); got != want {
			t.Errorf("%s copies %q, want %q", selector, got, want)
		}
		if text := eval[string](b, "document.querySelector(%q).textContent", selector); text != "Copied" {
			t.Errorf("the button says %q", text)
		}
	}
}

// All clients that are listed can be taken away. No cell is a formula.
func TestBrowserAnswerIsTaken(t *testing.T) {
	p := madeAnswer([]string{"=1+1|cmd", "a, \"b\"", "curl/8.5.0"})
	b := openTab(t, p, 1280, 900)
	taken := func(id string) string {
		return eval[string](b, `new Promise((done) => {
			HTMLAnchorElement.prototype.click = () => {};
			URL.createObjectURL = (blob) => { blob.text().then(done); return "#"; };
			document.getElementById(%q).click();
		})`, id)
	}
	rows, err := csv.NewReader(strings.NewReader(taken("save-csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Limit string
		Hit   []struct {
			Client  string
			Refused int64
		}
	}
	if err := json.Unmarshal([]byte(taken("save-json")), &all); err != nil {
		t.Fatal(err)
	}
	limit := p.Shapes[0].Limits[12]
	hit := slices.DeleteFunc(slices.Clone(p.Shapes[0].Listed), func(l Listed) bool { return l.Refused[12] == 0 })
	if len(rows)-1 != len(hit) || len(all.Hit) != len(hit) || all.Limit != limit || len(hit) <= mostListed {
		t.Fatalf("%d rows and %d clients of %s, want %d of %s", len(rows)-1, len(all.Hit), all.Limit, len(hit), limit)
	}
	for i, l := range hit {
		row, name := rows[i+1], p.Clients[l.Client].Name
		if all.Hit[i].Client != name || all.Hit[i].Refused != l.Refused[12] || row[7] != fmt.Sprint(l.Refused[12]) || row[0] != limit {
			t.Errorf("%+v and %q, want %s with %d", all.Hit[i], row, name, l.Refused[12])
		}
		if want := strings.Replace(name, "=", "'=", 1); row[3] != want {
			t.Errorf("%q, want %q", row[3], want)
		}
	}
}

// Without scripts the answer, the clients that it hits, its lines and the map are there, and nothing that only a script could move.
func TestBrowserAnswerWithoutScripts(t *testing.T) {
	p := madeAnswer(evilTexts)
	b := openTab(t, p, 1280, 900, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	})
	shown := eval[string](b, `document.querySelector("main").innerText`)
	want := []string{p.Reason, "limit_req zone=a burst=5;", p.Shapes[0].Limits[12], table.Clip(p.Clients[59].Name, 80)}
	for _, text := range want {
		if !strings.Contains(shown, text) {
			t.Errorf("%q is not to be seen", text)
		}
	}
	if n := eval[int](b, `[...document.querySelectorAll("table")].filter((table) => table.checkVisibility()).length`); n != 4 {
		t.Errorf("%d tables, want 4", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll("input:not([name=theme]), select, button, output")].filter((e) => e.checkVisibility()).length`); n > 0 {
		t.Errorf("%d controls without use", n)
	}
}

// At no width does the page move sideways; at 1280 pixels no table does either.
func TestBrowserAnswerWidths(t *testing.T) {
	p := madeAnswer(evilTexts)
	for _, width := range []int64{1280, 390, 320} {
		b := openTab(t, p, width, 844)
		if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%d pixels of %d: %s", wide, width, eval[string](b, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d && !e.closest(".scroll *, nav *, pre *")).map((e) => e.tagName + "." + e.className + e.id).slice(0, 9).join(" ")`, width))
		}
		if cut := eval[[]string](b, `[...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute("aria-label"))`); width == 1280 && len(cut) > 0 {
			t.Errorf("columns are cut off: %q", cut)
		}
		b.shoot(fmt.Sprintf("answer-%d", width))
	}
}

func TestBrowserAnswerAccessible(t *testing.T) { accessible(t, madeAnswer(evilTexts), "answer-") }

// Texts of strangers stay texts.
func TestBrowserAnswerHostile(t *testing.T) {
	p := madeAnswer(evilTexts)
	text := pageText(t, p)
	for _, markup := range []string{"<img", "<svg onload", "<script>window", "onerror=window.owned=1>", "\u2028", "\u2029"} {
		if strings.Contains(beforeScript(text), markup) {
			t.Errorf("the page has %q", markup)
		}
	}
	b := openTab(t, p, 1280, 900)
	b.slide(1)
	if eval[bool](b, `"owned" in window`) {
		t.Error("a stranger's script ran")
	}
	for selector, want := range map[string]int{"script": 2, "style": 1, "img": 0, "[onload],[onerror],[onclick]": 0, "a:not([href^='#'])": 0, "svg svg": 0} {
		if got := eval[int](b, "document.querySelectorAll(`%s`).length", selector); got != want {
			t.Errorf("%d of %s, want %d", got, selector, want)
		}
	}
}

// However many clients, shapes and stops there are, the page is small: lists are cut, figures are not.
func TestAnswerIsSmall(t *testing.T) {
	p := madeAnswer([]string{strings.Repeat("\u202e<&\"'>Z\u0300", 600)})
	shapes := p.Shapes
	p.Shapes, p.Clients = nil, nil
	for i := range 60 {
		s := shapes[i%4]
		s.Stops, s.Limits, s.Listed, s.Hit, s.Refused = nil, nil, nil, make([]Column, 3), make([]Column, 3)
		for n := range int64(110) {
			s.Stops, s.Limits = append(s.Stops, n+1), append(s.Limits, shapes[0].Limits[0])
			for g := range s.Hit {
				many := int64(g + 1)
				s.Hit[g], s.Refused[g] = append(s.Hit[g], many*1e6-n), append(s.Refused[g], many*1e8-(121-22*many)*n)
			}
		}
		for c := range 2 * suggest.MostListed {
			group := p.Groups[c/suggest.MostListed].Name
			l := Listed{Client: len(p.Clients), Need: 1000}
			p.Clients = append(p.Clients, &Client{
				Name: fmt.Sprint(i, c, strings.Repeat("n", 90)), Agent: fmt.Sprint(i, c, strings.Repeat("a", 300)), Group: group,
			})
			for k := range s.Stops {
				l.Refused = append(l.Refused, int64(1e9)/int64(k+1))
			}
			s.Listed = append(s.Listed, l)
		}
		p.Shapes = append(p.Shapes, s)
	}
	if text := pageText(t, p); len(text) > MostBytes || strings.Count(text, `"stepped":`) != 60 {
		t.Errorf("%d bytes with %d shapes", len(text), strings.Count(text, `"stepped":`))
	}
	p.Shapes, p.Percents, p.Groups = nil, nil, nil
	if text := pageText(t, p); !strings.Contains(text, "</html>") {
		t.Error("no page without shapes")
	}
}
