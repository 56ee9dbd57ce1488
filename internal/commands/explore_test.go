package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"shadow/internal/testneeds"
)

// serve has the program hold a log open, and returns the address of the page. It must end by itself at the first signal,
// and soon.
func serve(t *testing.T, dir string, args ...string) (address string) {
	t.Helper()
	cmd := command(t, dir, append([]string{"explore", "--no-open"}, args...)...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	var errs safeBuffer
	cmd.Stderr = &errs
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, cmd.Process.Signal(syscall.SIGINT))
		late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("shadow explore ends with %v\n%s", err, errs.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("shadow explore: %v\n%s", err, errs.String())
	}
	return strings.TrimSpace(line)
}

// A visit is a page of shadow explore in a browser. When its test ends, nothing may have been asked of any other address,
// or been complained about.
type visit struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	said []string
}

func visitPage(t *testing.T, address string, width int64) *visit {
	t.Helper()
	v := &visit{t: t, ctx: openBrowser(t)}
	must(t, chromedp.Listen(v.ctx, func(event any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, address) {
				v.said = append(v.said, "the page asks for "+e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			v.said = append(v.said, e.ExceptionDetails.Text+" "+fmt.Sprint(e.ExceptionDetails.Exception))
		case *log.EventEntryAdded:
			v.said = append(v.said, e.Entry.Text)
		}
	}))
	_, err := chromedp.Call(v.ctx, network.Enable, network.EnableParams{})
	must(t, err)
	_, err = chromedp.Call(v.ctx, log.Enable, cdp.Empty{})
	must(t, err)
	must(t, chromedp.Do(v.ctx, chromedp.EmulateViewport(width, 1200), chromedp.Navigate(address)))
	t.Cleanup(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, text := range v.said {
			t.Error(text)
		}
	})
	return v
}

// until waits until an expression is true.
func (v *visit) until(expression string) {
	v.t.Helper()
	for range 600 {
		if is, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](expression)); err == nil && is {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	state, err := chromedp.Run(v.ctx, chromedp.Evaluate[string](`document.getElementById("state").textContent`))
	v.t.Fatalf("never %s (the page says %q, %v)", expression, state, err)
}

func (v *visit) text(selector string) string {
	v.t.Helper()
	text, err := chromedp.Run(v.ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q)?.textContent ?? "nothing"`, selector)))
	must(v.t, err)
	return text
}

func (v *visit) do(script string) {
	v.t.Helper()
	_, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](script+"; true"))
	must(v.t, err)
}

// The page shows what suggest says, then what a replay says of the limit that is chosen, by whatever means; a client that is
// pressed is the one that explain knows.
func TestExplorePage(t *testing.T) {
	dir := rootOfSamples(t)
	const shop = "sample-logs/shop-combined.log"
	v := visitPage(t, serve(t, dir, shop), 1200)
	limit := func(text string) {
		v.do(fmt.Sprintf(`document.getElementById("limit").value = %q; document.getElementById("limit").dispatchEvent(new Event("change"))`, text))
		v.until(fmt.Sprintf(`document.getElementById("hit-limit").textContent === %q`, text))
	}
	v.until(`document.querySelectorAll("#clients tbody tr").length > 0`)
	var suggested struct {
		Answer struct{ Limit string }
	}
	must(t, json.Unmarshal(run(t, dir, "suggest", shop, "--output", "json"), &suggested))
	if got := v.text("#hit-limit"); got != suggested.Answer.Limit {
		t.Errorf("the page begins with %s, the answer is %s", got, suggested.Answer.Limit)
	}
	for _, text := range []string{"token:10/1m,burst=20", "window:6/30s", "fixed:20/1m", "nginx:30r/m,burst=5,nodelay", "leaky:5/10s"} {
		limit(text)
		var replayed struct {
			Policies []struct {
				Refused    int64
				ClientsHit int64 `json:"clients_hit"`
			}
		}
		must(t, json.Unmarshal(run(t, dir, "replay", shop, "--limit", text, "--no-store", "--output", "json"), &replayed))
		sum := v.text("#groups .sum td:nth-child(7)") + " of " + v.text("#groups .sum td:nth-child(4)")
		want := fmt.Sprintf("%d of %d", replayed.Policies[0].Refused, replayed.Policies[0].ClientsHit)
		if strings.ReplaceAll(sum, ",", "") != want {
			t.Errorf("%s refuses %s on the page, %s by a replay", text, sum, want)
		}
	}

	v.do(`document.getElementById("keep").click()`)
	limit("window:6/30s")
	v.until(`document.getElementById("compare-words").textContent.startsWith("window:6/30s hits ")`)
	if words := string(run(t, dir, "diff", shop, "--limit", "leaky:5/10s", "--limit", "window:6/30s")); !strings.Contains(v.text("#compare-words"), "clients that leaky:5/10s spares") {
		t.Errorf("the page compares %q, and diff says\n%s", v.text("#compare-words"), words)
	}
	v.until(`document.querySelector("#time-chart canvas") !== null`)
	whole := v.text("#groups .sum td:nth-child(6)")
	v.do(`document.getElementById("worst").click()`)
	v.until(`document.querySelector("#groups .sum td:nth-child(6)").textContent !== ` + strconv.Quote(whole))
	var worst struct {
		Policies []struct {
			Worst struct{ Refused int64 } `json:"worst_minute"`
		}
	}
	must(t, json.Unmarshal(run(t, dir, "replay", shop, "--limit", "window:6/30s", "--no-store", "--output", "json"), &worst))
	if got := v.text("#groups .sum td:nth-child(7)"); got != strconv.FormatInt(worst.Policies[0].Worst.Refused, 10) {
		t.Errorf("the worst minute refuses %s on the page, %+v by a replay", got, worst)
	}
	v.do(`document.getElementById("whole").click()`)
	v.until(`document.querySelector("#groups .sum td:nth-child(6)").textContent === ` + strconv.Quote(whole))
	v.until(`document.querySelector("#chart canvas") !== null`)
	v.do(`document.getElementById("slider").value = 9; document.getElementById("slider").dispatchEvent(new Event("input"))`)
	v.until(`/^window:(?!6\/)\d+\/30s$/.test(document.getElementById("hit-limit").textContent)`)
	limit("window:6/30s")
	v.do(`document.querySelector("#clients thead th button").click()`)
	v.until(`document.querySelector("#clients thead th").getAttribute("aria-sort") === "ascending"`)
	v.do(`document.getElementById("filter").value = "people"; document.getElementById("filter").dispatchEvent(new Event("input"))`)
	v.do(`document.getElementById("filter").value = "person"; document.getElementById("filter").dispatchEvent(new Event("input"))`)
	v.until(`[...document.querySelectorAll("#clients tbody tr")].every((tr) => tr.cells[1].textContent === "person") && document.querySelectorAll("#clients tbody tr").length > 3`)
	name := v.text("#clients tbody .open")
	refused := v.text("#clients tbody tr td:nth-child(5)")
	v.do(`document.querySelector("#clients tbody .open").click()`)
	v.until(`document.getElementById("one-title").textContent.includes(` + strconv.Quote(name) + `)`)
	account := string(run(t, dir, "explain", name, shop, "--limit", "window:6/30s"))
	if words := v.text("#one-words"); !strings.Contains(words, " "+refused+" refused") || !strings.Contains(account, refused) {
		t.Errorf("%s: %q on the page, and explain says\n%s", name, words, account)
	}
	if *update {
		picture, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(90))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(t.TempDir(), "explore.png"), picture, 0o600))
	}
}

// As the log grows, the page shows all of it, and what was chosen stays.
func TestExploreFollows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(rootOfSamples(t), "sample-logs/shop-combined.log"))
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "access.log"))
	must(t, err)
	defer file.Close()
	grow := func(lines []string) {
		_, err := file.WriteString(strings.Join(lines, ""))
		must(t, err)
	}
	grow(lines[:800])
	v := visitPage(t, serve(t, dir, "access.log", "--follow"), 1280)
	v.until(`document.getElementById("limit") !== null`)
	v.do(`document.getElementById("limit").value = "window:2/30s"; document.getElementById("limit").dispatchEvent(new Event("change"))`)
	v.do(`document.getElementById("filter").value = "person"; document.getElementById("filter").dispatchEvent(new Event("input"))`)
	v.until(`document.getElementById("hit-limit").textContent === "window:2/30s" && document.querySelectorAll("#clients tbody tr").length > 0`)
	sum := `document.querySelector("#groups .sum td:nth-child(6)").textContent.replaceAll(",", "")`
	v.until(sum + ` === "800"`)
	if said := v.text("#following"); strings.TrimSpace(said) != "" {
		t.Errorf("before anything has come, it says %q", said)
	}
	grow(lines[800:])
	v.until(sum + " === " + strconv.Quote(strconv.Itoa(len(lines)-1)))
	v.until(fmt.Sprintf(`document.getElementById("following").textContent.startsWith("%d more requests have come; as of ")`, len(lines)-1-800))
	if at := v.text("#filter") + v.text("#hit-limit"); at != "window:2/30s" {
		t.Errorf("it is about %q", at)
	}
	v.until(`document.getElementById("filter").value === "person" && [...document.querySelectorAll("#clients tbody tr")].every((tr) => tr.cells[1].textContent === "person")`)
	v.until(`document.getElementById("following").textContent.includes("The answer is another one.")`)
	v.do(`document.querySelector("#following button").click()`)
	v.until(`document.querySelector("#following")?.textContent === "" && document.getElementById("hit-limit").textContent === "window:2/30s"`)
	var answer struct {
		Answer struct{ Limit string }
	}
	must(t, json.Unmarshal(run(t, dir, "suggest", "access.log", "--output", "json"), &answer))
	if said := v.text("#summary"); !strings.Contains(said, answer.Answer.Limit) {
		t.Errorf("the new answer is %s, and the page says %s", answer.Answer.Limit, said)
	}
	must(t, file.Truncate(1000))
	v.until(`document.getElementById("following").textContent.includes("access.log is gone or shorter than before")`)
}

// No other machine, page or user gets at the log.
func TestExploreIsPrivate(t *testing.T) {
	address := serve(t, rootOfSamples(t), "sample-logs/shop-combined.log")
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("the address is %s", address)
	}
	root := address[:strings.Index(address[len("http://"):], "/")+len("http://")]
	const move = `{"ask":"move","limit":"window:6/30s"}`
	for _, c := range []struct {
		method, address, host, origin, body string
		want                                int
	}{
		{"GET", address, "", "", "", 200},
		{"POST", address + "ask", "", root, move, 200},
		{"POST", address + "ask", "", "", `{"ask":"move","limit":"6/30x"}`, 400},
		{"POST", address + "ask", "", "", strings.Repeat(" ", 20<<10) + move, 400},
		{"POST", address + "ask", "", "", `nothing`, 400},
		{"GET", address + "ask", "", "", "", 404},
		{"GET", address + "../", "", "", "", 404},
		{"GET", root + "/", "", "", "", 404},
		{"GET", address[:len(address)-2] + "/", "", "", "", 404},
		{"POST", root + "/ask", "", "", move, 404},
		{"GET", address, "attacker.example", "", "", 403},
		{"GET", address, "localhost:8017", "", "", 200}, // by ssh -L
		{"GET", address, "localhost.attacker.example:8017", "", "", 403},
		{"POST", address + "ask", "localhost:8017", "http://127.0.0.1:8018", move, 403},
		{"POST", address + "ask", "", "http://attacker.example", move, 403},
		{"POST", address + "ask", "", "null", move, 403},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, c.address, strings.NewReader(c.body))
		must(t, err)
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		reply, err := http.DefaultClient.Do(r)
		must(t, err)
		text, err := io.ReadAll(reply.Body)
		must(t, err)
		must(t, reply.Body.Close())
		if reply.StatusCode != c.want || c.want > 299 && strings.Contains(string(text), "203.0.113") {
			t.Errorf("%s %s of %q from %q: %s, want %d\n%.200s", c.method, c.address, c.host, c.origin, reply.Status, c.want, text)
		}
		if reply.Header.Get("Referrer-Policy") != "no-referrer" || reply.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %v", c.method, c.address, reply.Header)
		}
	}
}

// What is in the two hundred hostile lines stays text, whatever is pressed.
func TestExploreHostileLog(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "evil.log"), testneeds.HostileLog(testneeds.Rand(t, 3, 7), 200), 0o600))
	v := visitPage(t, serve(t, dir, "evil.log", "--format", "combined", "--client", "user", "--max-bad", "50%"), 390)
	v.do(`document.getElementById("limit").value = "window:1/1h"; document.getElementById("limit").dispatchEvent(new Event("change"))`)
	v.until(`document.querySelectorAll("#clients tbody .open").length > 12`)
	v.do(`for (const e of document.querySelectorAll("button, summary, th, a")) e.click()`)
	v.until(`[...document.querySelectorAll("#clients tbody .open")].some((e) => /<(img|svg|iframe)/.test(e.textContent) && (e.click(), true))`)
	v.until(`document.getElementById("one-words").textContent.includes("Each dot")`)
	harmlessPage(t, v.ctx, "explore")
	wide, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`))
	must(t, err)
	if wide {
		t.Error("at 390 pixels the page moves sideways")
	}
}

// The page is readable for those who see little, in both themes, from a phone to a wall, and moves by the keyboard alone.
func TestExploreAccessible(t *testing.T) {
	axe, err := os.ReadFile("../../report/html/testdata/axe/axe.min.js")
	must(t, err)
	address := serve(t, rootOfSamples(t), "sample-logs/shop-combined.log")
	v := visitPage(t, address, 1280)
	v.until(`document.querySelectorAll("#clients tbody .open").length > 0`)
	v.do(`document.querySelector("#clients tbody .open").click(); document.getElementById("keep").click(); document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
	v.until(`!document.getElementById("both").hidden && document.getElementById("one-title").textContent.includes(":")`)
	v.do(string(axe))
	for _, width := range []int64{390, 1280, 1920} {
		must(t, chromedp.Do(v.ctx, chromedp.EmulateViewport(width, 900)))
		for _, theme := range []string{"light", "dark"} {
			must(t, chromedp.Do(v.ctx, chromedp.Click(chromedp.CSS("label[for=theme-"+theme+"]"))))
			found, err := chromedp.Run(v.ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.help + ": " + v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + n.failureSummary).join("; ")))`, chromedp.EvalAwaitPromise))
			must(t, err)
			for _, text := range found {
				t.Errorf("%s at %d: %s", theme, width, text)
			}
		}
		wide, err := chromedp.Run(v.ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
		must(t, err)
		if wide > width {
			t.Errorf("at %d pixels the page is %d wide", width, wide)
		}
	}
	before := v.text("#hit-limit")
	v.do(`document.querySelector("#chart .u-over").scrollIntoView({block: "center", behavior: "instant"})`)
	box, err := chromedp.Run(v.ctx, chromedp.Evaluate[[]float64](`(({left, top, width, height}) => [left, top + height / 2, width])(document.querySelector("#chart .u-over").getBoundingClientRect())`))
	must(t, err)
	mouse := func(kind input.DispatchMouseEventType, x float64) {
		err := chromedp.Do(v.ctx, chromedp.MouseEvent(kind, box[0]+x*box[2], box[1], chromedp.ButtonLeft))
		must(t, err)
	}
	mouse(input.DispatchMouseEventTypeMousePressed, 0.5)
	for _, x := range []float64{0.6, 0.7, 0.8} { // the handle follows all the way
		mouse(input.DispatchMouseEventTypeMouseMoved, x)
		v.until(`document.getElementById("hit-limit").textContent !== ` + strconv.Quote(before))
		before = v.text("#hit-limit")
	}
	mouse(input.DispatchMouseEventTypeMouseReleased, 0.8)
	v.do(`document.getElementById("slider").focus()`)
	for _, key := range []string{kb.ArrowRight, kb.ArrowLeft, kb.ArrowLeft, kb.End} { // each is another N
		must(t, chromedp.Do(v.ctx, chromedp.KeyEvent(key)))
		v.until(`document.getElementById("hit-limit").textContent !== ` + strconv.Quote(before))
		before = v.text("#hit-limit")
	}
}
