package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	shown "shadow/report/drill"
	"shadow/report/format"
)

// A Drill sends the worst minutes of a log to a server, and holds its answers against what a policy foresees. The
// stretch is judged by itself, from empty limiters, which is how a server begins that has not seen these clients:
//
//	log ──▶ worst minute ──▶ stretch ──▶ requests ──▶ server ──▶ statuses ─┐
//	                                        ├─▶ verdicts as planned ───────┼─▶ report
//	                                        └─▶ verdicts as really sent ───┘
type Drill struct {
	pipeline.Diff

	Target       string // http://127.0.0.1:8080
	ClientHeader string // which header tells the server who the client is
	ClientSource bool   // instead, the address that a connection comes from tells it
	Refused      []uint16
	To           string // "": requests are sent; else a tool for which they are written, one of Tools
	Methods      string // one of MethodWords
	MaxRate      int64  // requests in any second
	Minutes      int    // of the log; the worst is the last
	Mine         bool   // whether the target may be on the public internet

	server server
}

// MethodWords lists which requests are sent: those that change nothing, or all.
var MethodWords = []string{"safe", "all"}

// DefaultRefused lists the statuses of refusals.
var DefaultRefused = []uint16{429, 503}

// unwatched observes nothing.
type unwatched struct{}

// Observe implements replay.Observer.
func (unwatched) Observe(*traffic.Batch, []replay.Verdicts) error { return nil }

// Run verifies what is asked, judges the log, sends its worst minutes, and reports.
func (d *Drill) Run(ctx context.Context, logs []string) error {
	if err := d.verify(logs); err != nil {
		return err
	}
	if len(d.Limits) > 0 && len(d.Chosen) == 0 {
		d.Chosen = []string{policy.NoPolicy}
	}
	d.Derive = func(c *policy.Config, policies []policy.Policy) ([]policy.Policy, error) {
		return policies, d.apart(c, policies)
	}
	if d.To == "" {
		d.Verified = func() error { return d.server.find(ctx, d.Mine, d.ClientSource) }
	}
	result, o, unreadable := d.Judge(ctx, logs, func(*traffic.Tables) replay.Observer {
		d.Read.Lines = true
		return unwatched{}
	})
	if result == nil {
		return unreadable
	}
	defer d.Release() //nolint:errcheck // a temporary file
	p, err := d.plan(ctx, result)
	switch {
	case err != nil:
		return d.Failed(&result.Stats, err)
	case d.To != "":
		return errors.Join(d.write(p), unreadable)
	}
	return errors.Join(d.drill(ctx, p, result, o), unreadable)
}

// verify finds what is wrong before there is a log.
func (d *Drill) verify(logs []string) (err error) {
	if d.server, err = parseTarget(d.Target); err != nil {
		return err
	}
	if d.server.header = d.ClientHeader; d.ClientSource {
		d.server.header = ""
	}
	if err = d.tool(); err != nil {
		return err
	}
	if once := pipeline.ReadOnce(logs); once != "" {
		return pipeline.Usage("a drill reads the logs twice, and %s can be read only once: name files", escape.Visible(once))
	}
	if d.To != "" && d.Anonymize != "" {
		return pipeline.Usage("--to: the requests have the addresses of clients in them, which --anonymize hides; leave " +
			"out one of them")
	}
	return nil
}

// pause is the time before the first request, in which its connection is opened.
const pause = limit.Second / 2

// drill sends what is planned, and reports.
func (d *Drill) drill(ctx context.Context, p *plan, result *replay.Result, o report.Options) error {
	begin := time.Now().Add(time.Duration(pause) * time.Microsecond)
	planned := mapped.Of(p.after, func(after limit.Time) limit.Time { return limit.Time(begin.UnixMicro()) + after })
	foreseen, err := d.judge(p.batch, planned)
	if err != nil {
		return err
	}
	if foreseen.refused == 0 {
		return pipeline.Usage("%s refuses none of these %s when it starts empty, as a server does: --minutes takes more "+
			"of the log, now %d",
			d.Policies[0].Name, format.Count(int64(len(p.requests)), "request"), d.Minutes)
	}
	if !d.Quiet {
		fmt.Fprintf(d.Err, "sending %s of %s to %s, for %s; Ctrl+C ends it and reports on what was sent\n",
			format.Count(int64(len(p.requests)), "request"), format.Count(int64(p.clients), "client"), d.server.url(),
			format.Span(p.after[len(p.after)-1]+limit.Second))
	}
	d.server.timeout = patience + time.Duration(foreseen.longest)*time.Microsecond
	answers, stopped := d.server.sendAll(ctx, begin, p)
	r, err := d.compare(ctx, p, foreseen, answers, limit.Time(begin.UnixMicro()))
	switch {
	case err != nil:
		return err
	case r.answered == 0 && ctx.Err() == nil:
		return fmt.Errorf("%s has answered no request: %w", d.server.url(), r.failure)
	}
	r.Stopped, r.Interrupted = stopped, ctx.Err() != nil
	o.Findings = nil // they are on what to conclude from a log, and a drill concludes nothing from it
	report := shown.New(result, o, r.Source)
	if err := report.Write(d.Out, d.Output); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !report.Proven():
		return pipeline.Held("%s of the requests are as foreseen by the moments at which they were sent: want %d %%",
			format.Percentage(report.ByMomentsPercent), shown.Enough)
	}
	return nil
}
