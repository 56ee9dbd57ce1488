package tail

import (
	"fmt"
	"time"
)

// due does what is due.
func (t *Tail) due() {
	now := t.options.Now()
	t.show(now)
	t.glance(now)
	if t.options.State != "" && t.out.odd == nil && t.mustSave(now) {
		t.tryToSave(now)
	}
	t.sayStored()
	if t.options.Every > 0 && now.Sub(t.told) >= t.options.Every {
		t.tell()
	}
}

// mustSave reports whether a checkpoint is due. Writing them takes at most a twentieth of the time, unless what is held for the
// database becomes too much.
func (t *Tail) mustSave(now time.Time) bool {
	every := t.options.Save
	if t.joined { // were one of them rotated while no tail runs, nothing of it would be found
		every = tick
	}
	passed := now.Sub(t.tried)
	return passed >= max(every, 20*t.saving) || passed >= tick && t.spool.heavy()
}

// tryToSave writes a checkpoint. Should the disk be full, the old one holds: after a crash more is judged again.
func (t *Tail) tryToSave(now time.Time) {
	t.tried = now
	if err := t.save(); err != nil {
		t.sayOnce(unsaved(err))
		return
	}
	t.saved, t.joined = now, false
	t.sayOnce("")
}

// unsaved says that there is no checkpoint.
func unsaved(err error) string {
	if isFull(err) {
		return "the checkpoint cannot be written, as the disk is full; it is written as soon as there is room: " + err.Error()
	}
	return "the checkpoint cannot be written: " + err.Error()
}

// sayOnce tells what is odd unless it was told last.
func (t *Tail) sayOnce(text string) {
	if text != t.odd && text != "" {
		t.say("%s", text)
	}
	t.odd = text
}

// shortly is for how long batches may wait for the database before it is told: somebody may be asking it something.
const shortly = 30 * time.Second

// sayStored tells when batches have begun to wait for the database, and when they no longer have to.
func (t *Tail) sayStored() {
	if t.spool == nil {
		return
	}
	switch odd := t.spool.odd.Load(); { // nil: nothing is in the way
	case odd != nil && !t.waits && time.Since(odd.since) >= shortly:
		t.say("%s; %s", odd.text, t.spool.backlog())
		t.waits = true
	case odd == nil && t.waits:
		t.say("the batches that waited are stored")
		t.waits = false
	}
}

// sayLeft tells at the end what the database has not taken.
func (t *Tail) sayLeft() {
	if odd := t.spool.odd.Load(); odd != nil {
		t.say("%s; %s in %s", odd.text, t.spool.backlog(), t.spool.dir)
	}
}

// say tells what is odd.
func (t *Tail) say(format string, args ...any) {
	fmt.Fprintf(t.options.Err, "shadow: "+format+"\n", args...)
}

// tell writes a summary of what came since the last one.
func (t *Tail) tell() {
	now := t.options.Now()
	was, is := &t.before, t.tally
	seconds := max(now.Sub(t.told).Seconds(), 0.001)
	requests := is.Requests - was.Requests
	fmt.Fprintf(t.options.Err, "%s  %d requests in %.0f s (%.0f/s), %d waiting, %d late, %d unreadable, %d not HTTP, %d clients refused; %s\n",
		now.UTC().Format(time.RFC3339), requests, seconds, float64(requests)/seconds, t.stream.Waiting(),
		is.Late-was.Late, is.Unreadable-was.Unreadable, is.NotHTTP.Lines()-was.NotHTTP.Lines(), len(t.events.busy), t.lagText(now))
	if waits := t.spool.backlog(); waits.Full || t.waits {
		fmt.Fprintf(t.options.Err, "  %s\n", waits)
	}
	if t.out.odd != nil {
		fmt.Fprintf(t.options.Err, "  would-blocks cannot be written, so nothing is read: %v\n", t.out.odd)
	}
	if n := is.Truncated - was.Truncated; n > 0 {
		fmt.Fprintf(t.options.Err, "  logs were truncated %d times; what was written to them between copying and truncating is lost\n", n)
	}
	if n := is.Lost - was.Lost; n > 0 {
		fmt.Fprintf(t.options.Err, "  of %d files the rest was not found, and is lost\n", n)
	}
	for i := range is.Policies {
		n := is.Policies[i].Refused - was.Policies[i].Refused
		fmt.Fprintf(t.options.Err, "  %-30s %d refused (%.2f %%), %d in all\n", is.Policies[i].Name, n, 100*float64(n)/float64(max(requests, 1)), is.Policies[i].Refused)
	}
	t.tellFaults()
	t.told, t.before = now, is.copy()
	clear(t.events.busy)
}

// lagText says by how much reading is behind.
func (t *Tail) lagText(now time.Time) string {
	bytes, behind := t.Lag(now)
	if bytes == 0 {
		return "up to date"
	}
	return fmt.Sprintf("%d bytes and %.1f s behind", bytes, behind.Seconds())
}

// Lag is how many bytes of the logs have not been read, and how long ago all of them had been.
func (t *Tail) Lag(now time.Time) (bytes int64, behind time.Duration) {
	for _, l := range t.logs {
		bytes += l.Unread()
	}
	return bytes, now.Sub(t.readAll)
}
