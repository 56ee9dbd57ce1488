package commands

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"shadow/internal/testneeds"
)

// The page of an answer is short on paper.
func TestAnswerOnPaper(t *testing.T) {
	ctx := openBrowser(t)
	file := filepath.Join(t.TempDir(), "answer.html")
	html := run(t, rootOfSamples(t), "suggest", "sample-logs/shop-combined.log", "--output", "html")
	must(t, os.WriteFile(file, html, 0o600))
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(1000, 1130), chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String())))
	limit, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("limit").value`))
	must(t, err)
	if limit != "nginx:6r/m,burst=16,nodelay" {
		t.Errorf("the slider stands at %s", limit)
	}
	printed, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{})
	must(t, err)
	if sheets := bytes.Count(printed.Data, []byte("/Type /Page\n")); sheets == 0 || sheets > 3 {
		t.Errorf("it takes %d sheets of paper, want 3 at most", sheets)
	}
}

// The recording in README.md of the page of shadow explore, which -update makes: the answer, N dragged in the chart, a part of the time,
// one client.
func TestRecordingOfExplore(t *testing.T) {
	const name = "../../docs/explore.gif"
	if !*update {
		text, err := os.ReadFile(name)
		must(t, err)
		film, err := gif.DecodeAll(bytes.NewReader(text))
		must(t, err)
		length := 0
		for _, delay := range film.Delay {
			length += delay
		}
		if len(text) > 2<<20 || length < 1500 || length > 2500 || len(film.Image) < 30 {
			t.Errorf("%d bytes, %d frames, %d hundredths of a second", len(text), len(film.Image), length)
		}
		return
	}
	v := visitPage(t, serve(t, rootOfSamples(t), "sample-logs/shop-combined.log"), 1000)
	must(t, chromedp.Do(v.ctx, chromedp.EmulateViewport(960, 760)))
	v.until(`document.querySelectorAll("#chart canvas, #time-chart canvas").length === 2`)
	r := &recording{v: v}
	v.do(`{
		const arrow = document.createElement("div");
		arrow.style.cssText = "position: fixed; z-index: 99; width: 16px; height: 20px; background: #000; pointer-events: none; "
			+ "clip-path: polygon(0 0, 0 90%, 30% 68%, 55% 100%, 72% 92%, 48% 62%, 85% 60%)";
		addEventListener("pointermove", (e) => { arrow.style.left = e.clientX + "px"; arrow.style.top = e.clientY + "px"; });
		document.body.append(arrow);
	}`)
	r.take(250)
	r.show("#explore")
	r.take(100)
	r.drag("#chart .u-over", 0.45, 0.2, 0.55, 0.3)
	r.take(150)
	r.show("#time")
	r.take(50)
	r.drag("#time-chart .u-over", 0.4, 0.5)
	r.take(200)
	r.show("#hit")
	r.take(100)
	r.press("#clients tbody .open")
	v.until(`document.getElementById("one-title").textContent.includes(":") && document.querySelector("#one-chart canvas") !== null`)
	r.show("#one")
	r.take(400)
	r.write(name)
}

// A recording is of a page: what is seen, and for how long.
type recording struct {
	v      *visit
	frames []image.Image
	delays []int // in hundredths of a second
}

// take adds what is seen now. If it is what was seen before, that lasts longer.
func (r *recording) take(delay int) {
	r.v.t.Helper()
	time.Sleep(100 * time.Millisecond) // the page draws
	shot, err := chromedp.Run(r.v.ctx, chromedp.CaptureScreenshot())
	must(r.v.t, err)
	frame, err := png.Decode(bytes.NewReader(shot))
	must(r.v.t, err)
	r.frames, r.delays = append(r.frames, frame), append(r.delays, delay)
}

// show scrolls to an element, in a few steps.
func (r *recording) show(selector string) {
	r.v.t.Helper()
	for range 5 {
		r.v.do(fmt.Sprintf(`{
			const to = document.querySelector(%q).getBoundingClientRect().top - 60;
			scrollBy({top: Math.abs(to) < 40 ? to : to * 0.6, behavior: "instant"});
		}`, selector))
		r.take(7)
	}
}

// mouse moves the pointer to a place in an element, or presses or releases it there.
func (r *recording) mouse(kind input.DispatchMouseEventType, selector string, x float64) {
	r.v.t.Helper()
	box, err := chromedp.Run(r.v.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(
		`(({left, top, width, height}) => [left, top + height / 2, width])(document.querySelector(%q).getBoundingClientRect())`, selector)))
	must(r.v.t, err)
	must(r.v.t, chromedp.Do(r.v.ctx, chromedp.MouseEvent(kind, box[0]+x*box[2], box[1], chromedp.ButtonLeft)))
}

// drag presses the pointer at the first place of a chart, and takes it to the others.
func (r *recording) drag(selector string, at float64, to ...float64) {
	r.v.t.Helper()
	r.mouse(input.DispatchMouseEventTypeMouseMoved, selector, at)
	r.take(50)
	r.mouse(input.DispatchMouseEventTypeMousePressed, selector, at)
	for _, to := range to {
		const steps = 14
		for i := range steps {
			r.mouse(input.DispatchMouseEventTypeMouseMoved, selector, at+(to-at)*float64(i+1)/steps)
			r.take(9)
		}
		at = to
	}
	r.mouse(input.DispatchMouseEventTypeMouseReleased, selector, at)
}

// press points at an element, and presses it.
func (r *recording) press(selector string) {
	r.v.t.Helper()
	r.mouse(input.DispatchMouseEventTypeMouseMoved, selector, 0.5)
	r.take(80)
	r.v.do(fmt.Sprintf(`document.querySelector(%q).click()`, selector))
}

// write writes the recording as a GIF, with the colours that most of it has. Each frame has the rectangle of what is new.
func (r *recording) write(name string) {
	r.v.t.Helper()
	often := map[color.Color]int{}
	for _, frame := range r.frames {
		for y := range frame.Bounds().Dy() {
			for x := range frame.Bounds().Dx() {
				often[frame.At(x, y)]++
			}
		}
	}
	colors := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int { return often[b] - often[a] })
	palette := append(color.Palette{color.Transparent}, colors[:min(len(colors), 255)]...)
	index := map[color.Color]uint8{}
	for _, c := range colors {
		index[c] = uint8(palette[1:].Index(c) + 1)
	}
	film, length := new(gif.GIF), 0
	for i, frame := range r.frames {
		length += r.delays[i]
		all := image.NewPaletted(frame.Bounds(), palette)
		var changed image.Rectangle
		for y := range frame.Bounds().Dy() {
			for x := range frame.Bounds().Dx() {
				if i == 0 || frame.At(x, y) != r.frames[i-1].At(x, y) {
					all.SetColorIndex(x, y, index[frame.At(x, y)])
					changed = changed.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		if changed.Empty() {
			film.Delay[len(film.Delay)-1] += r.delays[i]
			continue
		}
		film.Image = append(film.Image, all.SubImage(changed).(*image.Paletted))
		film.Delay = append(film.Delay, r.delays[i])
	}
	var text bytes.Buffer
	must(r.v.t, gif.EncodeAll(&text, film))
	r.v.t.Logf("%s: %d bytes, %d frames, %d.%02d s", name, text.Len(), len(film.Image), length/100, length%100)
	if text.Len() > 2<<20 {
		r.v.t.Errorf("%s has %d bytes, want at most 2 MB", name, text.Len())
	}
	must(r.v.t, os.WriteFile(name, text.Bytes(), 0o644))
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

// harmlessPage complains about what hostile texts left on a page.
func harmlessPage(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](testneeds.HostileTrace))
	must(t, err)
	if found != "" {
		t.Errorf("%s: %s", name, found)
	}
}
