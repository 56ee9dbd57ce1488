package report

import (
	"cmp"
	"time"

	"shadow/limit"
	"shadow/replay"
	"shadow/report/format"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
)

// DefaultTop is how many rows a list has when Options.Top is 0.
const DefaultTop = 10

// Options are what a report needs beside the result. The zero Options give a plain report.
type Options struct {
	Top      int      // rows per list, and policies shown in detail; 0 is DefaultTop, less is none
	Sort     string   // one of Sorts; "" is the first
	Width    int      // columns of the terminal; 0 when it is none
	Color    bool     // whether escape sequences may be used
	Version  string   // of shadow
	Command  string   // as typed
	Timezone string   // of stamps that do not name theirs; "" is UTC
	Warnings []string // of whoever wired the run; those of the report follow them
	Database string   // where the run was stored; "" is nowhere
	Run      string   // its id there

	Evidence *evidence.Rules // how evidence is judged; nil: as by default
	Jury     *replay.Jury    // of a sweep: who has judged it; nil: nobody
	Harm     *replay.Harm    // what was observed of it; nil: nothing
	Apart    *Apart          // of several runs: what each of them judged by itself; nil: nothing

	Anonymize *Anonymizer // nil: clients have their own names
}

// New computes every figure of the report. It keeps neither res nor anything of it.
func New(res *replay.Result, o Options) *Model {
	o.Top = cmp.Or(o.Top, DefaultTop)
	who := Census(res.Clients)
	jury := NewJury(res, who, o)
	m := &Model{
		Version:  o.Version,
		Command:  o.Command,
		Input:    NewInput(&res.Stats, who, cmp.Or(o.Timezone, "UTC")),
		Warnings: append([]string{}, o.Warnings...),
		Policies: make([]Policy, 0, len(res.Policies)),
	}
	m.Input.Evidence = jury.All(res.Clients)
	m.Input.Band = inputBand(res.Band)
	if o.Database != "" {
		m.Stored = &Stored{Database: o.Database, Run: o.Run}
	}
	for i := range res.Policies {
		m.Policies = append(m.Policies, judge(res, &res.Policies[i], who, jury, o))
		m.Policies[i].Harm = harmOf(o.Harm, i, res.Tables.Clients, who, jury)
	}
	if text := degradedText(m.Policies); text != "" {
		m.Warnings = append(m.Warnings, text)
	}
	m.Warnings = append(m.Warnings, HeavyWarnings(res.Clients, res.Tables.Clients, who.Requests, o.Anonymize)...)
	m.View = viewOf(m, o)
	m.Anonymize(o.Anonymize)
	m.setApart(o.Apart, o.Anonymize)
	return m
}

// NewInput describes what was read.
func NewInput(s *ingest.Stats, who *Population, timezone string) Input {
	in := Input{
		Lines:             s.Lines,
		Parsed:            s.Parsed,
		Unreadable:        s.Unreadable,
		UnreadablePercent: format.PercentOf(s.Unreadable, s.Lines),
		Excluded:          s.Excluded,
		NotHTTP:           NotHTTP{s.NotHTTP.Lines(), s.JudgesNotHTTP, append(ingest.ByStatus{}, s.NotHTTP...)},
		Warm:              s.Warm,
		Late:              s.Late,
		Carried:           s.Carried,
		Held:              s.Held,
		Requests:          who.Requests,
		Clients:           who.Clients,
		AlreadyRefused:    s.Refusals,
		Bytes:             s.Bytes,
		AgentsLogged:      s.HasAgents,
		UpstreamLogged:    s.HasUpstream,
		Resolution:        resolution(s.Resolution),
		Moved:             s.Moved,
		Timezone:          timezone,
		Formats:           formatsOf(s.Inputs),
		Files:             make([]File, 0, len(s.Inputs)),
		Copies:            make([]Copy, 0, len(s.Copies.Found)),
		Faults:            make([]Fault, 0, len(s.Faults)),
	}
	if who.Requests > 0 {
		seconds := time.Duration(s.LastAt-s.FirstAt) * time.Microsecond
		in.Span = &Span{First: format.Moment(s.FirstAt), Last: format.Moment(s.LastAt), Seconds: seconds.Seconds()}
	}
	if s.Held > 0 {
		from := format.Moment(s.HeldFrom)
		in.HeldFrom = &from
	}
	for i := range s.Inputs {
		in.Files = append(in.Files, file(&s.Inputs[i]))
	}
	for _, c := range s.Copies.Found {
		in.Copies = append(in.Copies, Copy{c.Name, c.Of, string(c.How)})
	}
	for _, f := range s.Faults {
		in.Faults = append(in.Faults, Fault{f.Input, f.Line, f.Fault.Column, f.Fault.Reason, f.Text})
	}
	return in
}

func file(s *ingest.InputStats) File {
	f := File{
		Name: s.Name, Format: s.Format, Compression: s.Compression, Size: s.Size,
		Lines: s.Lines, Parsed: s.Parsed, Unreadable: s.Unreadable, Problem: s.Problem,
	}
	if s.FirstAt != 0 || s.LastAt != 0 {
		first, last := format.Moment(s.FirstAt), format.Moment(s.LastAt)
		f.First, f.Last = &first, &last
	}
	return f
}

func resolution(r limit.Time) string {
	switch {
	case r == 0:
		return "unknown"
	case r >= limit.Second:
		return "second"
	case r >= limit.Millisecond:
		return "millisecond"
	}
	return "microsecond"
}

// formatsOf folds the inputs into the formats that they came in, in the order of their first.
func formatsOf(inputs []ingest.InputStats) []Format {
	formats := []Format{}
	at := map[[2]string]int{}
	for _, f := range inputs {
		key := [2]string{f.Format, f.FormatText}
		i, seen := at[key]
		if !seen {
			i = len(formats)
			at[key] = i
			formats = append(formats, Format{Format: f.Format, Text: f.FormatText})
		}
		formats[i].Files++
		formats[i].Lines += f.Lines
	}
	return formats
}
