//go:build !js

package main_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"shadow/internal/testneeds"
	"shadow/report/format"
)

// A served is a site on a server that notes what it is asked for.
type served struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// under is where on its host a site is.
const under = "/some/folder/"

// serve serves a site. Encoded, it says of compressed files that they are, as some servers do.
func serve(tb testing.TB, folder string, encoded bool) *served {
	s, files := new(served), http.StripPrefix(under, http.FileServer(http.Dir(folder)))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		if encoded && strings.HasSuffix(r.URL.Path, ".gz") {
			w.Header().Set("Content-Encoding", "gzip")
		}
		files.ServeHTTP(w, r)
	}))
	tb.Cleanup(s.Close)
	return s
}

// since returns what was asked for, but for the first n.
func (s *served) since(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked[n:])
}

// openBrowser opens an address in Chromium without a window.
func openBrowser(tb testing.TB, address string) context.Context {
	path := testneeds.Program(tb, "chromium", "chromium-browser", "google-chrome")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(tb.Context(), options...)
	tb.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	tb.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute) // a busy machine takes minutes
	tb.Cleanup(cancel)
	must(tb, chromedp.Do(ctx, chromedp.Navigate(address)))
	return ctx
}

// value returns the value of an expression.
func value[T any](tb testing.TB, ctx context.Context, expression string) T {
	tb.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	must(tb, err)
	return v
}

// frameOf returns the page of the answer, which is in a frame of its own process, once what the page around says begins so.
func frameOf(tb testing.TB, ctx context.Context, said string) context.Context {
	tb.Helper()
	state := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if state = value[string](tb, ctx, `document.getElementById("state").textContent`); !strings.HasPrefix(state, said) {
			continue
		}
		targets, err := chromedp.Targets(ctx)
		must(tb, err)
		for _, info := range targets {
			if info.Type == "iframe" {
				frame, _ := chromedp.NewContext(ctx, chromedp.WithTargetID(info.TargetID)) // it ends with the page
				return frame
			}
		}
	}
	tb.Fatalf("no answer; the page says %q, want %q", state, said)
	return nil
}

// until waits until an expression is not "", and returns it.
func until(tb testing.TB, ctx context.Context, expression string) (text string) {
	tb.Helper()
	for deadline := time.Now().Add(2 * time.Minute); text == ""; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("never %s", expression)
		}
		text = value[string](tb, ctx, expression)
	}
	return text
}

// Logs that are chosen or dropped, and the sample, get the answers of the command, and nothing leaves the page.
func TestBrowserAnswers(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	site := serve(t, buildSite(t), false)
	ctx := openBrowser(t, site.URL+under)
	until(t, ctx, isKept)
	parts := site.since(0)
	logs := t.TempDir()
	must(t, os.CopyFS(logs, os.DirFS("../../sample-logs")))
	compress(t, logs, "gzip", "nginx-timed.log")
	compress(t, logs, "zstd", "vhosts.log")

	same := func(names ...string) {
		t.Helper()
		text, _ := byCommand(t, logs, &question{Files: names})
		var want struct {
			Input  struct{ Requests, Clients int64 }
			Answer struct{ Limit string }
		}
		must(t, json.Unmarshal(text, &want))
		frame := frameOf(t, ctx, fmt.Sprintf("%s requests by %s clients", format.Thousands(want.Input.Requests), format.Thousands(want.Input.Clients)))
		limit := until(t, frame, `document.querySelector("#groups .sum") ? document.getElementById("hit-limit").textContent : ""`)
		if limit != cmp.Or(want.Answer.Limit, "window:60/1m") {
			t.Errorf("%q: the page begins with %s, want %s", names, limit, want.Answer.Limit)
		}
		must(t, chromedp.Do(frame, chromedp.Evaluate[chromedp.Void](`document.getElementById("limit").value = "window:6/30s"; document.getElementById("limit").dispatchEvent(new Event("change"))`)))
		refused := until(t, frame, `document.getElementById("hit-limit").textContent === "window:6/30s" ? document.querySelector("#groups .sum td:nth-child(7)").textContent : ""`)
		if want := refusedBy(t, logs, names); strings.ReplaceAll(refused, ",", "") != want {
			t.Errorf("%q: window:6/30s refuses %s on the page, want %s", names, refused, want)
		}
	}
	must(t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#sample"))))
	same("shop-combined.log")
	several := []string{"nginx-timed.log.gz", "vhosts.log.zst"}
	must(t, chromedp.Do(ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{
		filepath.Join(logs, several[0]), filepath.Join(logs, several[1]),
	})))
	same(several...)
	drop(t, ctx, filepath.Join(logs, "rotated"))
	same("rotated")

	if more := site.since(len(parts)); len(more) > 0 {
		t.Errorf("with a log at hand the page asks for %q", more)
	}
	for what, expression := range map[string]string{
		"the page": `fetch("page.js").then(() => "connects", () => "does not")`,
		"a worker as that of logs": `new Promise((resolve) => {
			const script = "fetch('" + location + "page.js').then(() => postMessage('connects'), () => postMessage('does not'))";
			new Worker(URL.createObjectURL(new Blob([script]))).onmessage = ({ data }) => resolve(data);
		})`,
	} {
		if did := value[string](t, ctx, expression); did != "does not" {
			t.Errorf("%s %s", what, did)
		}
	}
	if more := site.since(len(parts)); len(more) > 0 {
		t.Errorf("beyond its rules the page asks for %q", more)
	}
}

// Clients can be taken away, though the page of the answer stands in a frame that can do little.
func TestBrowserSavesClients(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	ctx := openBrowser(t, serve(t, buildSite(t), false).URL+under)
	until(t, ctx, isKept)
	must(t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#sample"))))
	frame := frameOf(t, ctx, "1,381 requests")
	limit := until(t, frame, `document.querySelector("#groups .sum") ? document.getElementById("hit-limit").textContent : ""`)
	folder := t.TempDir()
	_, err := chromedp.Call(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
	})
	must(t, err)
	value[bool](t, frame, `document.getElementById("save-csv").click(), true`)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(folder, "shadow-clients.csv"))
		if err != nil || len(text) == 0 {
			continue
		}
		if want := strconv.Quote(limit) + ",client,,203.0.113."; strings.Count(string(text), want) != 3 {
			t.Errorf("no three clients of %q in\n%s", want, text)
		}
		return
	}
	t.Error("nothing was saved")
}

// The two hundred hostile lines stay texts, whatever is pressed, and nothing leaves the page.
func TestBrowserHostileLog(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	log := filepath.Join(t.TempDir(), "<img src=x onerror=alert(1)>.log")
	must(t, os.WriteFile(log, testneeds.HostileLog(testneeds.Rand(t, 3, 7), 200), 0o600))
	site := serve(t, buildSite(t), false)
	ctx := openBrowser(t, site.URL+under)
	until(t, ctx, isKept)
	parts := site.since(0)
	drop(t, ctx, log)
	frame := frameOf(t, ctx, "192 requests by 99 clients")
	value[bool](t, frame, `document.getElementById("limit").value = "window:1/1h", document.getElementById("limit").dispatchEvent(new Event("change"))`)
	until(t, frame, `document.querySelectorAll("#clients tbody .open").length > 12 ? "all" : ""`)
	value[bool](t, frame, `document.querySelectorAll("button, summary, th, a").forEach((e) => e.click()), true`)
	until(t, frame, `document.getElementById("one-title").textContent.includes(":") && document.querySelector("#one-chart canvas") ? "one" : ""`)
	for _, page := range []context.Context{ctx, frame} {
		if found := value[string](t, page, testneeds.HostileTrace); found != "" {
			t.Error(found)
		}
	}
	if more := site.since(len(parts)); len(more) > 0 {
		t.Errorf("the page asks for %q", more)
	}
}

// What is chosen holds for the log that is open, and what is said of the answer is what was chosen.
func TestBrowserOptions(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	ctx := openBrowser(t, serve(t, buildSite(t), false).URL+under)
	shop, err := filepath.Abs("../../sample-logs/shop-combined.log")
	must(t, err)
	chosen := map[string][]string{}
	for i, step := range []struct{ name, value, said string }{
		{"for", "traefik", "traefik, protects 99.9 % of browsers, forgives within 15m"},
		{"recover", "1m", "traefik, protects 99.9 % of browsers, forgives within 1m"},
		{"protect", "users=99%", "traefik, protects 99 % of users, forgives within 1m"},
		{"for", "any", "any server, protects 99 % of users, forgives within 1m"},
	} {
		chosen[step.name] = []string{step.value}
		must(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
			const field = document.getElementById("options").elements[%q];
			field.value = %q;
			field.dispatchEvent(new Event("change", { bubbles: true }));
		}`, step.name, step.value))))
		if i == 0 {
			must(t, chromedp.Do(ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{shop})))
		}
		frame := frameOf(t, ctx, "1,381 requests by 66 clients; for "+step.said)
		limit := until(t, frame, `document.querySelector("#groups .sum") ? document.getElementById("hit-limit").textContent : ""`)
		text, _ := byCommand(t, filepath.Dir(shop), &question{Files: []string{"shop-combined.log"}, Options: chosen})
		var want struct{ Answer struct{ Limit string } }
		must(t, json.Unmarshal(text, &want))
		if limit != want.Answer.Limit {
			t.Errorf("%v: the page begins with %s, want %s", chosen, limit, want.Answer.Limit)
		}
	}
}

// Logs that would take more memory than there is are read only if the visitor wants it.
func TestBrowserTellsMemory(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	ctx := openBrowser(t, serve(t, buildSite(t), false).URL+under)
	until(t, ctx, `engine.then(() => "ready")`)
	for _, log := range []struct{ name, size, said string }{
		{"access.log", "4e9", "About 3.7 GB"},
		{"access.log.gz", "4e8", "About 3.7 GB"},
	} {
		must(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			`open([{ name: %q, file: Object.defineProperty(sample, "size", { value: %s, configurable: true }) }])`, log.name, log.size))))
		if said := value[string](t, ctx, `document.getElementById("state").textContent`); !strings.Contains(said, log.said) {
			t.Fatalf("%s: the page says %q, want %q", log.name, said, log.said)
		}
	}
	must(t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#anyway"))))
	frameOf(t, ctx, "1,381 requests by 66 clients")
}

// isKept tells of a page when the browser has kept its site.
const isKept = `document.getElementById("kept").hidden ? "" : "kept"`

// A site opens and answers once its server is gone, and a new one takes its place at the next visit.
func TestBrowserKeepsSite(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	folder := t.TempDir()
	must(t, os.CopyFS(folder, os.DirFS(buildSite(t))))
	site := serve(t, folder, true)
	ctx := openBrowser(t, site.URL+under)
	until(t, ctx, isKept)
	old := value[string](t, ctx, `caches.keys().then(String)`)

	style, worker := filepath.Join(folder, "style.css"), filepath.Join(folder, "sw.js")
	before, err := os.ReadFile(style)
	must(t, err)
	after := append(slices.Clone(before), "h1 { color: rgb(1, 2, 3); }\n"...)
	must(t, os.WriteFile(style, after, 0o600))
	hashes, err := os.ReadFile(worker)
	must(t, err)
	must(t, os.WriteFile(worker, bytes.Replace(hashes, []byte(hashOf(before)), []byte(hashOf(after)), 1), 0o600))
	must(t, chromedp.Do(ctx, chromedp.Reload()))
	until(t, ctx, fmt.Sprintf(`caches.keys().then((names) => names.length === 1 && String(names) !== %q ? "new" : "")`, old))

	site.CloseClientConnections()
	site.Close()
	must(t, chromedp.Do(ctx, chromedp.Navigate(site.URL+under+"index.html?again")))
	if color := value[string](t, ctx, `getComputedStyle(document.querySelector("h1")).color`); color != "rgb(1, 2, 3)" {
		t.Errorf("the title is %s, so it is that of the site before", color)
	}
	until(t, ctx, `engine.then(() => "ready")`)
	log, err := filepath.Abs("../../sample-logs/api.json")
	must(t, err)
	drop(t, ctx, log)
	frameOf(t, ctx, "668 requests by 27 clients")
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// refusedBy returns how many requests window:6/30s refuses by a replay.
func refusedBy(t *testing.T, dir string, names []string) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Args = append([]string{"shadow", "replay", "--limit", "window:6/30s", "--no-store", "--output", "json"}, names...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asCommand+"=1", "XDG_CONFIG_HOME="+t.TempDir())
	text, err := cmd.Output()
	must(t, err)
	var report struct{ Policies []struct{ Refused int64 } }
	must(t, json.Unmarshal(text, &report))
	return strconv.FormatInt(report.Policies[0].Refused, 10)
}

// drop drops files and folders on the page.
func drop(tb testing.TB, ctx context.Context, paths ...string) {
	tb.Helper()
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		_, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: 50, Y: 5, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
		})
		must(tb, err)
	}
}

// The parts of a site are few, and small enough for a page.
func TestSiteIsSmall(t *testing.T) {
	const most = 8 << 20
	folder := buildSite(t)
	files, err := os.ReadDir(folder)
	must(t, err)
	var names []string
	size := int64(0)
	for _, file := range files {
		info, err := file.Info()
		must(t, err)
		names, size = append(names, file.Name()), size+info.Size()
	}
	want := []string{
		"engine.js", "index.html", "licenses.txt", "loader.js", "page.js", "sample.log.gz", "shadow.wasm.gz", "style.css",
		"sw.js",
	}
	if !slices.Equal(names, want) || size > most {
		t.Errorf("%d bytes in %q, want at most %d in %q", size, names, most, want)
	}
}

// The site has the licences of what it consists of.
func TestSiteHasLicences(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(buildSite(t), "licenses.txt"))
	must(t, err)
	for _, name := range []string{"go/LICENSE", "embedded/uplot", "github.com/klauspost/compress/LICENSE"} {
		if !strings.Contains(string(text), "\n=== "+name+" ===\n") {
			t.Errorf("%s is missing", name)
		}
	}
}
