package commands

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"shadow/internal/testneeds"
)

// The picture in README.md: the page of an answer, in a browser. With -update it is taken again; fonts differ from
// machine to machine, so what is tested is that the page shows what the picture is about.
func TestPictureOfReadme(t *testing.T) {
	ctx := openBrowser(t)
	page := filepath.Join(t.TempDir(), "answer.html")
	html := run(t, rootOfSamples(t), "suggest", "sample-logs/shop-combined.log", "--output", "html")
	must(t, os.WriteFile(page, html, 0o600))
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(1000, 1130), chromedp.Navigate((&url.URL{Scheme: "file", Path: page}).String())))
	limit, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("limit").value`))
	must(t, err)
	if limit != "nginx:6r/m,burst=16,nodelay" {
		t.Errorf("the slider stands at %s", limit)
	}
	picture, err := chromedp.Run(ctx, chromedp.Screenshot(chromedp.CSS("#explore")))
	must(t, err)
	const name = "../../docs/answer.png"
	if *update {
		must(t, os.WriteFile(name, picture, 0o644))
	}
	if _, err := os.Stat(name); err != nil {
		t.Errorf("README.md has no picture (-update makes it): %v", err)
	}
}

// openBrowser starts a browser without a window, in which a test may go to pages.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	browser := testneeds.Program(t, "chromium", "chromium-browser", "google-chrome")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute) // a busy machine takes minutes
	t.Cleanup(cancel)
	return ctx
}
