package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"shadow/internal/escape"
	"shadow/internal/store"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
	"shadow/report/format"
)

// A UsageError is a mistake in how a command was called.
type UsageError struct{ error }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.error }

// Usage makes an error one of how the command was called.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// BadFlag is an error of usage about the value of a flag, said once with the flag in front: --limit "6": has no period;
// want … Errors of the packages beneath open with what they are about, and often with the value as well; neither is
// said twice.
func BadFlag(name, value string, err error) error {
	text := err.Error()
	rest, named := strings.CutPrefix(text, name+" ")
	switch {
	case named:
		return Usage("--%s %s", name, rest)
	case strings.Contains(text, strconv.Quote(value)):
		return Usage("--%s: %s", name, text)
	}
	return Usage("--%s %q: %s", name, value, text)
}

// A HeldError says which conditions held, of --fail-if or of the command itself, a line each.
type HeldError struct{ texts []string }

func (e HeldError) Error() string { return strings.Join(e.texts, "\n") }

// Held makes an error of a condition of the command itself that held.
func Held(format string, args ...any) error { return HeldError{[]string{fmt.Sprintf(format, args...)}} }

// Ctrl-C must end the program at once, and a read from a quiet pipe ends when the pipe says something: such a read is
// not waited for. It dies with the process.

// storing is locked for reading by what ends by itself when a signal comes, however long that takes.
var storing sync.RWMutex

// begun holds the database in which nothing is stored yet, or in which a run is stored.
var begun atomic.Pointer[database]

type database struct {
	path   string
	fresh  bool   // so that nothing of it is to stay
	stored string // the run
}

// Storing says that something is stored until done is called, which a signal does not cut short. Calls do not nest.
func Storing() (done func()) {
	storing.RLock()
	begun.Store(nil)
	return storing.RUnlock
}

// Abandon waits until nothing is being stored, lets nothing be stored any more, and calls wait, which may be the end of
// the program. Then it leaves no database that holds nothing, and says what the program ends with.
func Abandon(ctx context.Context, wait func()) error {
	storing.Lock()
	wait()
	b := begun.Load()
	switch {
	case b == nil:
		return ctx.Err()
	case b.stored != "":
		return Afterwards(b.path, b.stored, ctx.Err())
	case b.fresh:
		return errors.Join(ErrInterrupted, store.Remove(b.path))
	}
	return ErrInterrupted
}

// ErrInterrupted is the error of a command that gave up because of a signal.
var ErrInterrupted = errors.New("interrupted; nothing was kept")

// interruptible does what may wait forever, and gives it up when ctx ends.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	return leftBehind(ctx, 0, ErrInterrupted, do)
}

// leftBehind does what may wait forever. A while after ctx has ended it is given up, with an error.
func leftBehind[T any](ctx context.Context, while time.Duration, late error, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(while):
		return *new(T), late
	}
}

// The program that is to read what is written may not, and may stay all the same, as a pager does that the user does
// not scroll. Then it is waited for as long as need be; but once the program is told to end, not forever.

// lastWords is the longest that one write may take once the program is told to end.
const lastWords = time.Second

var errNotRead = errors.New("what is written is not read")

// A PatientWriter writes for as long as it takes, until Ctx ends. Behind a write that is given up none is tried.
type PatientWriter struct {
	Ctx context.Context
	To  io.Writer

	gaveUp atomic.Bool
}

func (w *PatientWriter) Write(p []byte) (int, error) {
	if w.gaveUp.Load() {
		return 0, errNotRead
	}
	p = bytes.Clone(p) // a write that is left behind reads it later
	n, err := leftBehind(w.Ctx, lastWords, errNotRead, func() (int, error) { return w.To.Write(p) })
	if err == errNotRead {
		w.gaveUp.Store(true)
	}
	return n, err
}

// What an answer leaves out of the logs it is about makes the exit code 3, whatever the command: too many unreadable
// lines, what damage hides, files that are gone, and that no request was judged. How much such files lack is not known, so
// it exceeds each --max-bad below 100 %.

// An IncompleteError says what of the logs an answer leaves out, a line each.
type IncompleteError struct{ texts []string }

func (e IncompleteError) Error() string { return strings.Join(e.texts, "\n") }

// incompleteOf returns the error of these texts, nil without any.
func incompleteOf(texts ...string) error {
	if texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" }); len(texts) == 0 {
		return nil
	}
	return IncompleteError{texts}
}

// DamageOf returns the error of inputs that were not read to their ends, nil if all were.
func DamageOf(inputs []ingest.InputStats) error {
	damage := damageOf(inputs)
	for i := range damage {
		damage[i] = escape.Visible(damage[i]) + ": lines are missing, and the report may mislead"
	}
	return incompleteOf(damage...)
}

// damageOf says of inputs why they were not read to their ends.
func damageOf(inputs []ingest.InputStats) []string {
	var c collector
	for i := range inputs {
		c.addProblem(&inputs[i])
	}
	return c.all()
}

// Incomplete returns the error of what was read, nil if it is as complete as --max-bad wants it.
func (l *Logs) Incomplete(s *ingest.Stats) error {
	texts := []string{l.idle}
	if share := 100 * float64(s.Unreadable) / float64(max(s.Lines, 1)); share > l.MaxBad && l.idle == "" {
		texts = append(texts, fmt.Sprintf("%.2f %% of the lines could not be read, more than --max-bad %g%%: the report may mislead;"+
			" `shadow doctor parse FILE` shows what they lack", share, l.MaxBad))
	}
	if l.MaxBad < 100 {
		if damage := DamageOf(s.Inputs); damage != nil {
			texts = append(texts, damage.Error())
		}
		texts = append(texts, l.missing...)
	}
	return incompleteOf(texts...)
}

// Failed returns an error that has come of what was read, with what that leaves out in front: a name that no request has
// may be in the rest. Where nothing was judged, that alone is the reason.
func (l *Logs) Failed(s *ingest.Stats, err error) error {
	if incomplete := l.Incomplete(s); l.idle != "" {
		return incomplete
	} else if incomplete != nil {
		return fmt.Errorf("%w\n%w", incomplete, err)
	}
	return err
}

// nothingRead is an error if the inputs gave no line at all and damage is why: then there is nothing to report. As long
// as one gave a line, what is wrong with the others is said beside the report.
func nothingRead(s *ingest.Stats) error {
	damage := damageOf(s.Inputs)
	if s.Lines > 0 || damage == nil {
		return nil
	}
	return incompleteOf("no line could be read: " + strings.Join(damage, "; "))
}

// whyIdle says why no request counts. It is empty where some do, and where a reading may find none.
func (l *Logs) whyIdle(s *ingest.Stats) string {
	first, last := seenIn(s.Inputs)
	of, o := l.spanText(first, last), &l.Read
	switch {
	case s.Parsed == 0 && s.Lines > 0:
		return l.unsuited(s)
	case s.Judged() > 0, s.Held > 0, l.sparse:
		return ""
	case of == "":
		return "nothing was judged: the log is empty"
	case o.HasSince && last < o.Since || o.HasUntil && first >= o.Until:
		return fmt.Sprintf("no request lies in the time of %s: %s", Words(l.bounds()...), of)
	}
	var why []string
	if s.Excluded > 0 {
		why = append(why, format.Count(s.Excluded, "line")+" left out by "+Words(l.leavesOut()...))
	}
	if n := s.NotHTTP.Lines(); n > 0 && !s.JudgesNotHTTP {
		why = append(why, format.Count(n, "line")+" without a request line of HTTP")
	}
	return fmt.Sprintf("no request is left to judge (%s): %s", strings.Join(why, ", "), of)
}

// seenIn returns the earliest and the latest moment of the lines that were read or looked at, 0 and 0 of none.
func seenIn(inputs []ingest.InputStats) (first, last limit.Time) {
	for i := range inputs {
		if in := &inputs[i]; in.SeenFrom != 0 || in.SeenTo != 0 {
			if first == 0 && last == 0 {
				first, last = in.SeenFrom, in.SeenTo
			}
			first, last = min(first, in.SeenFrom), max(last, in.SeenTo)
		}
	}
	return first, last
}

// spanText says of which time the logs are, "" if no line is known.
func (l *Logs) spanText(first, last limit.Time) string {
	if first == 0 && last == 0 {
		return ""
	}
	const day, clock = "2 Jan 2006", "15:04:05"
	from, to := format.Moment(first), format.Moment(last)
	what := "the log is of "
	if len(l.found.Names) > 1 {
		what = "the logs are of "
	}
	if from.Format(day) == to.Format(day) {
		return what + from.Format(day+", "+clock) + " to " + to.Format(clock) + " UTC"
	}
	return what + from.Format(day+", "+clock) + " to " + to.Format(day+", "+clock) + " UTC"
}

// bounds are the flags that leave out what lies before and behind a time.
func (f *Reading) bounds() (flags []string) {
	if f.Since != "" {
		flags = append(flags, "--since", f.Since.String())
	}
	if f.Until != "" {
		flags = append(flags, "--until", f.Until.String())
	}
	return flags
}

// leavesOut are the flags that leave out lines.
func (f *Reading) leavesOut() []string {
	flags := f.bounds()
	for _, what := range f.Exclude {
		flags = append(flags, "--exclude", what)
	}
	for _, status := range f.ExcludeStatus {
		flags = append(flags, "--exclude-status", status)
	}
	return flags
}

// unsuited says that the format reads no line, and which one does.
func (l *Logs) unsuited(s *ingest.Stats) string {
	in := &s.Inputs[max(0, slices.IndexFunc(s.Inputs, func(in ingest.InputStats) bool { return in.Lines > 0 }))]
	advice := "`shadow doctor parse " + Words(in.Name) + "` shows what they lack"
	if name := l.suited(in.Name); name != "" {
		advice = "--format " + Words(name) + " reads them"
	}
	return fmt.Sprintf("nothing was judged: format %s reads none of %s: %s", in.Format, format.Count(s.Lines, "line"), advice)
}

// suited returns the format that reads most of the first lines of a log, as --format takes it; "" if none is found.
func (l *Logs) suited(name string) string {
	sample, err := beginningOf(name)
	if err != nil || len(sample) == 0 {
		return ""
	}
	found, err := detect.Choice{Format: "auto", Options: parse.Options{Zone: l.Timezone}}.For(sample)
	if err != nil || found.Read == 0 {
		return ""
	}
	if _, err := detect.Named(found.Format.Name, parse.Options{}); err == nil {
		return found.Format.Name
	}
	return found.Format.Text
}
