package main

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"shadow/traffic"
)

// A progress is a bar on standard error. A nil progress shows nothing.
type progress struct {
	bars *mpb.Progress
	bar  *mpb.Bar
	end  chan struct{}
	over chan struct{}
}

// startProgress shows how much of the inputs has been read, if somebody is there to see it.
func (r *replayRun) startProgress(reader *traffic.Reader) *progress {
	if r.quiet || !isTerminal(r.cmd.ErrOrStderr()) {
		return nil
	}
	p := &progress{end: make(chan struct{}), over: make(chan struct{})}
	p.bars = mpb.New(mpb.WithOutput(r.cmd.ErrOrStderr()), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
	_, size := reader.Progress()
	after := []decor.Decorator{decor.AverageSpeed(decor.SizeB1000(0), "% .0f")}
	if size > 0 {
		after = append(after, decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO))
	}
	p.bar = p.bars.AddBar(size, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("reading "), decor.CountersKiloByte("% .0f / % .0f")),
		mpb.AppendDecorators(after...))
	go p.follow(reader)
	return p
}

// follow moves the bar until stop is called.
func (p *progress) follow(reader *traffic.Reader) {
	defer close(p.over)
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			done, _ := reader.Progress()
			p.bar.SetCurrent(done)
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
	p.bar.Abort(true)
	p.bars.Wait()
}
