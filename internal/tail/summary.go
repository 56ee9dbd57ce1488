package tail

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"shadow/internal/escape"
	"shadow/internal/traffic/ingest"
	"shadow/report/format"
)

// A summary is what is told now and then of what came since.
type summary struct {
	at     time.Time // when the last one was told
	before Tally     // as it was then
	faults []fault   // the first lines that could not be read since
}

// A fault is a line that could not be read.
type fault struct {
	log string
	ingest.FaultAt
}

// faultsTold is the most that are told in a summary.
const faultsTold = 3

// say tells what is unusual. It names files, whose names strangers may have chosen.
func (t *Tail) say(format string, args ...any) {
	fmt.Fprintf(t.options.Err, "shadow: %s\n", escape.Lines(fmt.Sprintf(format, args...)))
}

// A Summary is what a line of JSON tells: all that was counted so far, with what a checkpoint has kept.
type Summary struct {
	Time       format.Moment   `json:"time"`
	Lines      int64           `json:"lines"`
	Bytes      int64           `json:"bytes"`    // of these lines, after decompression
	Requests   int64           `json:"requests"` // judged
	Waiting    int64           `json:"waiting"`  // for older requests
	Late       int64           `json:"late"`     // too late for their place
	Unreadable int64           `json:"unreadable"`
	Excluded   int64           `json:"excluded"`
	NotHTTP    int64           `json:"not_http"`
	Truncated  int64           `json:"truncated"` // times that a log was
	Lost       int64           `json:"lost"`      // files of which the rest was never read
	LagBytes   int64           `json:"lag_bytes"` // not read yet
	Policies   []PolicySummary `json:"policies"`
}

// A PolicySummary is what a policy would have done.
type PolicySummary struct {
	Policy   string `json:"policy"`
	Refused  int64  `json:"refused"`
	Delayed  int64  `json:"delayed"`
	Degraded int64  `json:"degraded"` // judged while the hosts that share the limit might have decided otherwise
}

// writeJSON writes a summary as a line of JSON. It stands between would-blocks where these go to the same place.
func (t *Tail) writeJSON(now time.Time) error {
	is := t.tally
	s := Summary{
		Time: format.Moment(now.UnixMicro()), Lines: is.Lines, Bytes: is.Bytes, Requests: is.Requests, Waiting: int64(t.stream.Waiting()),
		Late: is.Late, Unreadable: is.Unreadable, Excluded: is.Excluded, NotHTTP: is.NotHTTP.Lines(), Truncated: is.Truncated, Lost: is.Lost,
	}
	s.LagBytes, _ = t.Lag(now)
	for i := range is.Policies {
		p := &is.Policies[i]
		s.Policies = append(s.Policies, PolicySummary{p.Name, p.Refused, p.Delayed, p.Degraded})
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	to := t.out
	if t.options.Events != "" {
		to = &output{to: t.options.Out}
	}
	to.write(slices.Concat([]byte("{"+format.TailSchema.Key()), escape.JSON(text[1:]), []byte("\n")))
	return to.flush()
}

// summarize writes a summary of what came since the last one.
func (t *Tail) summarize() error {
	now := t.options.Now()
	if t.options.JSON {
		t.summary.at = now
		return t.writeJSON(now)
	}
	was, is, err := &t.summary.before, t.tally, t.options.Err
	seconds := max(now.Sub(t.summary.at).Seconds(), 0.001)
	requests := is.Requests - was.Requests
	fmt.Fprintf(err, "%s  %d requests in %.0f s (%.0f/s), %d waiting, %d late, %d unreadable, %d not HTTP, %d clients refused; %s\n",
		now.UTC().Format(time.RFC3339), requests, seconds, float64(requests)/seconds, t.stream.Waiting(),
		is.Late-was.Late, is.Unreadable-was.Unreadable, is.NotHTTP.Lines()-was.NotHTTP.Lines(), len(t.events.busy), t.lagText(now))
	if waits := t.spool.backlog(); waits.Full || waits.told {
		fmt.Fprintf(err, "  %s\n", waits)
	}
	if t.out.err != nil {
		fmt.Fprintf(err, "  would-blocks cannot be written, so nothing is read: %v\n", t.out.err)
	}
	if n := is.Truncated - was.Truncated; n > 0 {
		fmt.Fprintf(err, "  logs were truncated %d times; what was written to them between copying and truncating is lost\n", n)
	}
	if n := is.Lost - was.Lost; n > 0 {
		fmt.Fprintf(err, "  of %d files the rest was not found, and is lost\n", n)
	}
	for i, p := range is.Policies {
		n := p.Refused - was.Policies[i].Refused
		fmt.Fprintf(err, "  %-30s %d refused (%.2f %%), %d in all\n", p.Name, n, 100*float64(n)/float64(max(requests, 1)), p.Refused)
	}
	for _, f := range t.summary.faults { // each with where and why, and then the line itself
		fmt.Fprintf(err, "  %s, column %d: %s\n    %s\n", f.log, f.Fault.Column, f.Fault.Reason, t.options.Visible(f.Text))
	}
	t.summary = summary{at: now, before: is.copy()}
	clear(t.events.busy)
	return nil
}

// lagText says by how much reading is behind.
func (t *Tail) lagText(now time.Time) string {
	bytes, behind := t.Lag(now)
	if bytes == 0 {
		return "up to date"
	}
	return fmt.Sprintf("%d bytes and %.1f s behind", bytes, behind.Seconds())
}

// Lag returns how many bytes of the logs have not been read, and how long ago all of them had been.
func (t *Tail) Lag(now time.Time) (bytes int64, behind time.Duration) {
	for _, l := range t.logs {
		bytes += l.Unread()
	}
	return bytes, now.Sub(t.progress.readAll)
}
