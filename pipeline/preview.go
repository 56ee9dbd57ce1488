package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"shadow/escape"
	"shadow/limit"
	"shadow/logfile"
	"shadow/parse"
	"shadow/parse/detect"
)

// A Preview shows how the first lines of logs are read, field by field.
type Preview struct {
	Caller
	LineFormat
	Lines uint     // of each log
	Show  []string // further fields, by their names in the format
}

// Run shows every log, whatever is wrong with the others.
func (f *Preview) Run(ctx context.Context, logs []string) error {
	choice, err := f.choice(f.Show)
	if err != nil {
		return err
	}
	found, err := logfile.Expand(logs)
	if err != nil {
		return err
	}
	for _, text := range passedByName(found.Passed) {
		fmt.Fprintln(f.Err, escape.Visible(text))
	}
	w := bufio.NewWriter(f.Out)
	var failed error
	for i, name := range found.Names {
		if i > 0 {
			fmt.Fprintln(w)
		}
		shown, err := interruptible(ctx, func() ([]byte, error) { return f.show(name, choice) })
		if ctx.Err() != nil {
			return err
		}
		if _, lost := w.Write(shown); lost != nil {
			return lost
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(w.Flush(), failed)
}

// show describes the beginning of one log, as far as it can be read.
func (f *Preview) show(name string, choice detect.Choice) ([]byte, error) {
	input, err := logfile.OpenInput(name, f.In)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	sample, err := input.Peek()
	if err != nil {
		return nil, err
	}
	if problem := input.Problem(); problem != "" && len(sample) == 0 {
		return nil, errors.New(problem)
	}
	var w bytes.Buffer
	err = f.describe(&w, name, sample, choice)
	return w.Bytes(), err
}

func (f *Preview) describe(w *bytes.Buffer, name string, sample []byte, choice detect.Choice) error {
	fmt.Fprintf(w, "%s\n", escape.Visible(name))
	if len(sample) == 0 {
		fmt.Fprintln(w, "  empty")
		return nil
	}
	found, err := choice.For(sample)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  format %s: %s\n", found.Format.Name, escape.Visible(found.Format.Text))
	empty, aside := 0, "" // by empty lines no format is judged
	for line := range bytes.Lines(sample) {
		if len(bytes.TrimSpace(line)) == 0 {
			empty++
			aside = fmt.Sprintf(", %d empty ones aside", empty)
		}
	}
	fmt.Fprintf(w, "  %d of the first %d lines can be read%s\n", found.Read, found.Lines, aside)
	for _, warning := range found.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", escape.Visible(warning))
	}
	for i, field := range f.Show {
		if !found.Format.HasExtra(i) {
			fmt.Fprintf(w, "  warning: this format has no field %s, which --show asks for\n", escape.Visible(field))
		}
	}
	f.showLines(w, sample, found.Format)
	return nil
}

// showLines prints the first lines, and the first few that cannot be read, wherever they stand in the sample.
func (f *Preview) showLines(w *bytes.Buffer, sample []byte, format *parse.Format) {
	parser := format.NewParser()
	var record parse.Record
	var number, bad uint
	for line := range bytes.Lines(sample) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		text := string(line) // parsing undoes escapes in place
		fault := parse.Empty
		if len(line) > 0 {
			fault = parser.Parse(line, &record)
		}
		switch {
		case fault == parse.Comment:
		case !fault.OK() && bad < f.Lines:
			bad++
			fmt.Fprintf(w, "\nline %d cannot be read: column %d: %s\n  %s\n",
				number, fault.Column, fault.Reason, escape.Visible(cut(text, 200)))
		case fault.OK() && number <= f.Lines:
			fmt.Fprintf(w, "\nline %d\n", number)
			f.showRecord(w, &record)
		}
	}
}

// cut shortens a text to n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + "…"
}

func (f *Preview) showRecord(w *bytes.Buffer, r *parse.Record) {
	field := func(name string, value []byte) {
		if value != nil {
			fmt.Fprintf(w, "  %-14s %s\n", name, escape.Visible(cut(string(value), 1000)))
		}
	}
	moment := func(name string, t limit.Time) {
		fmt.Fprintf(w, "  %-14s %s\n", name, time.UnixMicro(int64(t)).UTC().Format("2006-01-02T15:04:05.999999Z"))
	}
	took := func(name string, t limit.Time) {
		if t != parse.NotLogged {
			fmt.Fprintf(w, "  %-14s %s\n", name, time.Duration(t)*time.Microsecond)
		}
	}
	moment("time", r.Stamp)
	if r.Start != r.Stamp {
		moment("start", r.Start)
	}
	field("client", r.Client)
	field("forwarded", r.Forwarded)
	field("route", r.Route)
	field("user", r.User)
	field("host", r.Host)
	field("method", r.Method)
	field("path", r.Path)
	fmt.Fprintf(w, "  %-14s %d\n  %-14s %d\n", "status", r.Status, "bytes", r.Bytes)
	field("referer", r.Referer)
	field("agent", r.Agent)
	took("request time", r.RequestTime)
	took("upstream time", r.UpstreamTime)
	for i, name := range f.Show {
		field(name, r.Extra[i])
	}
}
