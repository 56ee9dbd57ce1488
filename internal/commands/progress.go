package commands

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"shadow/internal/pipeline"
)

const (
	barAfter = 400 * time.Millisecond // what is done sooner needs no bar
	barTick  = 150 * time.Millisecond
	barWidth = 40 // columns, where the terminal has them
)

// A progress is a bar on standard error while a pass over the requests takes a while. A nil progress shows nothing.
type progress struct {
	pass  pipeline.Pass
	begin time.Time
	end   chan struct{} // closed to take the bar away
	over  chan struct{} // closed when it is away
}

// startProgress shows how far a pass has come, on a terminal.
func startProgress(w io.Writer, pass pipeline.Pass) *progress {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	p := &progress{pass: pass, begin: time.Now(), end: make(chan struct{}), over: make(chan struct{})}
	go p.run(w)
	return p
}

// run shows the bar from barAfter on until stop is called.
func (p *progress) run(w io.Writer) {
	defer close(p.over)
	select {
	case <-p.end:
		return
	case <-time.After(barAfter):
	}
	bars := mpb.New(mpb.WithOutput(w), mpb.WithWidth(barWidth), mpb.WithRefreshRate(barTick))
	bar := p.newBar(bars)
	p.follow(bar)
	bar.Abort(true)
	bars.Wait()
}

func (p *progress) newBar(bars *mpb.Progress) *mpb.Bar {
	_, size := p.pass.At()
	title := decor.Name(p.pass.String() + " ")
	speed := decor.NewAverageSpeed(decor.SizeB1000(0), "% .0f", p.begin)
	if size == 0 { // a pipe, whose end is not known
		return bars.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(title, decor.CurrentKiloByte("% .0f"), decor.Name("  ")),
			mpb.AppendDecorators(speed))
	}
	return bars.AddBar(size, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(title, decor.Any(func(s decor.Statistics) string { return bytesOf(s.Current, s.Total) })),
		mpb.AppendDecorators(speed, decor.Name("  "), decor.NewAverageETA(decor.ET_STYLE_GO, p.begin, nil)))
}

// bytesOf says how many bytes there are of how many, both in the unit of the latter: 0.2 / 3.4 GB.
func bytesOf(n, all int64) string {
	unit, size := "kB", 1e3
	for _, larger := range []string{"MB", "GB", "TB"} {
		if float64(all) < 1e3*size {
			break
		}
		unit, size = larger, 1e3*size
	}
	return fmt.Sprintf("%.1f / %.1f %s", float64(n)/size, float64(all)/size, unit)
}

// follow moves the bar.
func (p *progress) follow(bar *mpb.Bar) {
	tick := time.NewTicker(barTick)
	defer tick.Stop()
	for {
		done, _ := p.pass.At()
		bar.SetCurrent(done)
		select {
		case <-tick.C:
		case <-p.end:
			return
		}
	}
}

// stop takes the bar away.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.end)
	<-p.over
}
