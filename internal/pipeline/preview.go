package pipeline

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"shadow/internal/escape"
	"shadow/internal/logfile"
	"shadow/internal/traffic/intern"
	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
	"shadow/report/format"
)

// A Preview shows how the first lines of logs are read, field by field.
type Preview struct {
	Caller
	LineFormat
	Anonymity
	Lines  uint     // of each log
	Show   []string // further fields, by their names in the format
	Output string   // "json", or else text
}

// Previewed holds what is shown, for programs.
type Previewed struct {
	Logs []*PreviewedLog `json:"logs"`
}

// A PreviewedLog is the beginning of a log.
type PreviewedLog struct {
	Name       string            `json:"name"`
	Format     string            `json:"format"` // "": there are no lines
	Text       string            `json:"text"`   // the format as a server's configuration would write it
	Sampled    int               `json:"lines"`  // at which was looked to find the format
	Read       int               `json:"parsed"` // of these
	Empty      int               `json:"empty"`  // lines beside them
	Warnings   []string          `json:"warnings"`
	Records    []PreviewedRecord `json:"records"`
	Unreadable []PreviewedFault  `json:"faults"`
	Problem    string            `json:"problem"` // why it could not be shown; "": it is
}

// A PreviewedRecord is a line that can be read. What is null is not logged.
type PreviewedRecord struct {
	Line            int64             `json:"line"`
	Time            format.Moment     `json:"time"`
	Start           format.Moment     `json:"start"` // the time less the request time
	Client          *string           `json:"client"`
	Forwarded       *string           `json:"forwarded"`
	Route           *string           `json:"route"`
	Identity        *string           `json:"identity"`
	User            *string           `json:"user"`
	Host            *string           `json:"host"`
	Method          *string           `json:"method"`
	Path            *string           `json:"path"`
	Status          int32             `json:"status"` // 0: none logged
	Bytes           int64             `json:"bytes"`
	Referer         *string           `json:"referer"`
	Agent           *string           `json:"agent"`
	RequestSeconds  *float64          `json:"request_seconds"`
	UpstreamSeconds *float64          `json:"upstream_seconds"`
	Extra           map[string]string `json:"extra"` // of --show
}

// A PreviewedFault is a line that cannot be read.
type PreviewedFault struct {
	Line   int64  `json:"line"`
	Column int    `json:"column"` // byte, from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // its beginning
}

// Run shows every log, whatever is wrong with the others.
func (f *Preview) Run(ctx context.Context, logs []string) error {
	choice, err := f.choice(f.Show)
	if err = cmp.Or(err, f.VerifyAnonymity()); err != nil {
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
	all := Previewed{Logs: []*PreviewedLog{}}
	var failed error
	for i, name := range found.Names {
		log := &PreviewedLog{Name: name, Warnings: []string{}, Records: []PreviewedRecord{}, Unreadable: []PreviewedFault{}}
		shown, err := interruptible(ctx, func() ([]byte, error) { return f.show(log, choice) })
		if ctx.Err() != nil {
			return err
		}
		all.Logs = append(all.Logs, log)
		if f.Output != "json" {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if _, lost := w.Write(shown); lost != nil {
				return lost
			}
		}
		if err != nil {
			log.Problem = err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	if f.Output == "json" {
		failed = errors.Join(format.WriteJSON(w, format.ParseSchema, all), failed)
	}
	return errors.Join(w.Flush(), failed)
}

// show describes the beginning of one log, as far as it can be read.
func (f *Preview) show(log *PreviewedLog, choice detect.Choice) ([]byte, error) {
	input, err := logfile.OpenInput(log.Name, f.In)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	sample, err := input.Peek()
	if err != nil {
		return nil, err
	}
	damage := incompleteOf(input.Problem())
	if damage != nil && len(sample) == 0 {
		return nil, damage
	}
	var w bytes.Buffer
	err = f.describe(&w, log, sample, choice)
	return w.Bytes(), cmp.Or(err, damage)
}

func (f *Preview) describe(w *bytes.Buffer, log *PreviewedLog, sample []byte, choice detect.Choice) error {
	fmt.Fprintf(w, "%s\n", escape.Visible(log.Name))
	if len(sample) == 0 {
		fmt.Fprintln(w, "  empty")
		return nil
	}
	found, err := choice.For(sample)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  format %s: %s\n", found.Format.Name, escape.Visible(found.Format.Text))
	log.Format, log.Text, log.Sampled, log.Read = found.Format.Name, found.Format.Text, found.Lines, found.Read
	aside := "" // by empty lines no format is judged
	for line := range bytes.Lines(sample) {
		if len(bytes.TrimSpace(line)) == 0 {
			log.Empty++
			aside = fmt.Sprintf(", %d empty ones aside", log.Empty)
		}
	}
	fmt.Fprintf(w, "  %d of the first %d lines can be read%s\n", found.Read, found.Lines, aside)
	log.Warnings = append(log.Warnings, found.Warnings...)
	for i, field := range f.Show {
		if !found.Format.HasExtra(i) {
			log.Warnings = append(log.Warnings, fmt.Sprintf("this format has no field %s, which --show asks for", field))
		}
	}
	for _, warning := range log.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", escape.Visible(warning))
	}
	f.showLines(w, log, sample, found.Format)
	return nil
}

// showLines prints the first lines, and the first few that cannot be read, wherever they stand in the sample.
func (f *Preview) showLines(w *bytes.Buffer, log *PreviewedLog, sample []byte, in *parse.Format) {
	parser := in.NewParser()
	var record parse.Record
	var number, bad uint
	for line := range bytes.Lines(sample) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		text := f.Anonymizer.Line(string(line)) // parsing undoes escapes in place
		fault := parse.Empty
		if len(line) > 0 {
			fault = parser.Parse(line, &record)
		}
		switch {
		case fault == parse.Comment:
		case !fault.OK() && bad < f.Lines:
			bad++
			log.Unreadable = append(log.Unreadable, PreviewedFault{int64(number), fault.Column, fault.Reason, cut(text, 200)})
			fmt.Fprintf(w, "\nline %d cannot be read: column %d: %s\n  %s\n",
				number, fault.Column, fault.Reason, escape.Visible(cut(text, 200)))
		case fault.OK() && number <= f.Lines:
			fmt.Fprintf(w, "\nline %d\n", number)
			log.Records = append(log.Records, f.showRecord(w, int64(number), &record))
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

// showRecord describes a record, and returns it.
func (f *Preview) showRecord(w *bytes.Buffer, line int64, r *parse.Record) PreviewedRecord {
	shown := PreviewedRecord{
		Line: line, Time: format.Moment(r.Stamp), Start: format.Moment(r.Start), Status: r.Status, Bytes: r.Bytes, Extra: map[string]string{},
	}
	field := func(to **string, name string, value []byte, rename func(string) string) {
		if value != nil {
			text := cut(rename(string(value)), 1000)
			*to = &text
			fmt.Fprintf(w, "  %-14s %s\n", name, escape.Visible(text))
		}
	}
	hide := f.Anonymizer
	if users := intern.NewDict(); len(r.User) > 0 { // texts may have the user's name as well
		users.ID(r.User)
		hide.Know(users)
	}
	moment := func(name string, t limit.Time) {
		fmt.Fprintf(w, "  %-14s %s\n", name, time.UnixMicro(int64(t)).UTC().Format("2006-01-02T15:04:05.999999Z"))
	}
	took := func(to **float64, name string, t limit.Time) {
		if t != parse.NotLogged {
			seconds := format.InSeconds(t)
			*to = &seconds
			fmt.Fprintf(w, "  %-14s %s\n", name, time.Duration(t)*time.Microsecond)
		}
	}
	moment("time", r.Stamp)
	if r.Start != r.Stamp {
		moment("start", r.Start)
	}
	field(&shown.Client, "client", r.Client, hide.Name)
	field(&shown.Forwarded, "forwarded", r.Forwarded, hide.Text)
	field(&shown.Route, "route", r.Route, hide.Text)
	field(&shown.Identity, "identity", r.Identity, hide.Text)
	field(&shown.User, "user", r.User, hide.Name)
	field(&shown.Host, "host", r.Host, hide.Text)
	field(&shown.Method, "method", r.Method, hide.Text)
	field(&shown.Path, "path", r.Path, hide.Text)
	fmt.Fprintf(w, "  %-14s %d\n  %-14s %d\n", "status", r.Status, "bytes", r.Bytes)
	field(&shown.Referer, "referer", r.Referer, hide.Text)
	field(&shown.Agent, "agent", r.Agent, hide.Text)
	took(&shown.RequestSeconds, "request time", r.RequestTime)
	took(&shown.UpstreamSeconds, "upstream time", r.UpstreamTime)
	for i, name := range f.Show {
		var value *string
		if field(&value, name, r.Extra[i], hide.Name); value != nil {
			shown.Extra[name] = *value
		}
	}
	return shown
}
