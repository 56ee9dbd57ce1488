//go:build !js

package main_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"shadow/internal/testneeds"
)

// A served is a site on a server that notes what it is asked for.
type served struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T, folder string) *served {
	s, files := new(served), http.FileServer(http.Dir(folder))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// since returns what was asked for, but for the first n.
func (s *served) since(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked[n:])
}

// openBrowser opens an address in Chromium without a window.
func openBrowser(t *testing.T, address string) context.Context {
	path := testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute) // a busy machine takes minutes
	t.Cleanup(cancel)
	must(t, chromedp.Do(ctx, chromedp.Navigate(address)))
	return ctx
}

// value returns the value of an expression.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	must(t, err)
	return v
}

// answered waits for the answer of the page.
func answered(t *testing.T, ctx context.Context) (verdict, limit string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); value[bool](t, ctx, `document.getElementById("answer").hidden`); {
		if time.Now().After(deadline) {
			t.Fatal("no answer; the page says ", value[string](t, ctx, `document.getElementById("state").textContent`))
		}
		time.Sleep(100 * time.Millisecond)
	}
	return value[string](t, ctx, `document.getElementById("verdict").textContent`),
		value[string](t, ctx, `document.getElementById("limit").textContent`)
}

// A log that is chosen or dropped gets the answer of the command, and nothing leaves the page.
func TestBrowserAnswers(t *testing.T) {
	testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	site := serve(t, buildSite(t))
	ctx := openBrowser(t, site.URL)
	for value[string](t, ctx, `engine.then(() => "ready", String)`) != "ready" {
		t.Fatal("the engine does not start: ", value[string](t, ctx, `engine.then(() => "ready", String)`))
	}
	parts := site.since(0)
	logs, err := filepath.Abs("../../sample-logs")
	must(t, err)

	same := func(name string) {
		t.Helper()
		verdict, limit := answered(t, ctx)
		text, _ := byCommand(t, logs, &question{Files: []string{name}})
		var want struct {
			Answer struct{ Verdict, Limit string }
		}
		must(t, json.Unmarshal(text, &want))
		if verdict != want.Answer.Verdict || limit != want.Answer.Limit {
			t.Errorf("%s: the page says %s, %s, want %+v", name, verdict, limit, want.Answer)
		}
	}
	shop := []string{filepath.Join(logs, "shop-combined.log")}
	must(t, chromedp.Do(ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), shop)))
	same("shop-combined.log")
	must(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`document.getElementById("answer").hidden = true`)))
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

// drop drops files and folders on the page.
func drop(t *testing.T, ctx context.Context, paths ...string) {
	t.Helper()
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		_, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: 50, Y: 50, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
		})
		must(t, err)
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
	want := []string{"engine.js", "index.html", "loader.js", "page.js", "shadow.wasm.gz", "style.css"}
	if !slices.Equal(names, want) || size > most {
		t.Errorf("%d bytes in %q, want at most %d in %q", size, names, most, want)
	}
}
