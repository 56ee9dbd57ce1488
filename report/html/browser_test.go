package html

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"shadow/internal/testneeds"
)

// The page is tested in a real browser: Chromium without a window, as Debian has it.

// A tab is a page in a browser. When its test ends, nothing may have left the page, run that should not, or been
// complained about.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	requested  []string // addresses
	complaints []string // of the browser: exceptions, broken rules, dialogs
}

// A written page is a Page or an Answer.
type written interface{ Write(w io.Writer) error }

// openTab opens a page in a window of so many pixels.
func openTab(t *testing.T, p written, width, height int64, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	path := testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute) // a tab that hangs; a busy machine takes minutes
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	b.do(chromedp.EmulateViewport(width, height))
	b.do(before...)
	file := writePage(t, p)
	b.do(chromedp.Navigate(file))
	t.Cleanup(func() { b.quiet(file) })
	return b
}

// call sends a command to the browser.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// writePage writes the page to a file and returns its address.
func writePage(t *testing.T, p written) string {
	t.Helper()
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requested = append(b.requested, e.Request.URL)
	case *network.EventWebSocketCreated:
		b.requested = append(b.requested, e.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text+" "+fmt.Sprint(e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		b.complaints = append(b.complaints, "dialog: "+e.Message)
	}
}

// quiet checks that the browser asked for nothing but the page, and had nothing to complain about.
func (b *tab) quiet(file string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, address := range b.requested {
		if address != file {
			b.t.Errorf("the page asks for %s", address)
		}
	}
	if len(b.requested) == 0 {
		b.t.Error("the browser did not even ask for the page: nothing was watched")
	}
	for _, text := range b.complaints {
		b.t.Errorf("the browser complains: %s", text)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// result returns the result of an action.
func result[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// eval is the value of an expression.
func eval[T any](b *tab, expression string, arguments ...any) T {
	b.t.Helper()
	if len(arguments) > 0 {
		expression = fmt.Sprintf(expression, arguments...)
	}
	return result(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// slide moves the slider of N by the keyboard, key by key, until N is as wanted. A browser that is short of time may show what a
// key did only later, or drop a key.
func (b *tab) slide(to int64) {
	b.t.Helper()
	at := func() int64 { return eval[int64](b, `Number(document.getElementById("number").value)`) }
	for range 100 {
		from, key := at(), kb.ArrowRight
		switch {
		case from == to:
			return
		case to == 1:
			key = kb.Home
		case from > to:
			key = kb.ArrowLeft
		}
		b.do(chromedp.Focus(chromedp.CSS("#slider")), chromedp.KeyEvent(key))
		for deadline := time.Now().Add(2 * time.Second); at() == from && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
	}
	b.t.Fatalf("N is %d and does not come to %d", at(), to)
}

// shoot takes a picture of the whole page. SHADOW_SCREENSHOTS names a folder to keep it in.
func (b *tab) shoot(name string) []byte {
	b.t.Helper()
	picture := result(b, chromedp.FullScreenshot(100))
	if folder := os.Getenv("SHADOW_SCREENSHOTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return picture
}
