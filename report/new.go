package report

import (
	"cmp"

	"shadow/internal/findings"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/document"
	"shadow/report/format"
)

// DefaultTop is the number of rows of a list when Options.Top is 0.
const DefaultTop = 10

const fewDetails = 3 // policies in detail when there are more than --top

// Options holds what a report needs beside the result. The zero Options give a plain report.
type Options struct {
	Top      int      // rows per list, and policies shown in detail; 0 is DefaultTop, less shows none
	Sort     string   // one of Sorts; "" is the first
	Width    int      // columns of the terminal; 0 without one
	Color    bool     // whether escape sequences may be used
	Version  string   // of shadow
	Command  string   // as typed
	Timezone string   // of stamps that do not name theirs; "" is UTC
	Warnings []string // of the command; those of the report follow them
	Findings []findings.Finding
	Database string // where the run was stored; "" is nowhere
	Run      string // its id there

	Identities bool          // whether people read who the clients are, and why
	Who        *who.Register // who they are, of reports without a replay.Result; nil: not known
	Harm       *replay.Harm  // what was observed of it; nil: nothing
	Retries    []Retries     // of the policies; nil: not wanted
	Apart      *Apart        // of several runs: what each of them judged by itself; nil: nothing

	Known     network.Known // what files of the user tell of addresses
	Anonymize *Anonymizer   // nil: clients have their own names
}

// New computes every figure of the report. It keeps neither res nor anything of it.
func New(res *replay.Result, o Options) *Model {
	o.Top = cmp.Or(o.Top, DefaultTop)
	who := NewPopulation(res.Clients, res.Who)
	m := &Model{Head: NewHead(&res.Stats, who, o), Policies: []Policy{}, Stored: o.Stored()}
	if res.Band != nil {
		m.Input.Band = &BandInput{Movable: res.Band.Movable}
	}
	for i := range res.Policies {
		m.Policies = append(m.Policies, judge(res, &res.Policies[i], who, o))
		if o.Retries != nil {
			m.Policies[i].Retries = &o.Retries[i]
		}
		m.Policies[i].Harm = harmOf(o.Harm, i, res.Tables, who)
		m.Policies[i].anonymize(o.Anonymize)
	}
	if text := degradedText(m.Policies); text != "" {
		m.Warnings = append(m.Warnings, text)
	}
	if m.Detailed = len(m.Policies); m.Detailed > o.Top {
		m.Detailed = max(0, min(fewDetails, o.Top))
	}
	m.compare(res, o.Sort)
	m.setApart(o.Apart, o.Anonymize)
	return m
}

// NewHead returns what every kind of report begins with.
func NewHead(s *ingest.Stats, who *Population, o Options) Head {
	h := Head{
		Version: o.Version, Command: o.Command, Input: NewInput(s, who, cmp.Or(o.Timezone, "UTC")),
		Warnings: append([]string{}, o.Warnings...), Findings: append([]findings.Finding{}, o.Findings...),
		View: document.View{Width: o.Width, Color: o.Color}, identities: o.Identities && who.ByIdentity != nil,
	}
	h.anonymize(o.Anonymize)
	return h
}

// Stored returns where the run was stored, nil if nowhere.
func (o Options) Stored() *Stored {
	if o.Database == "" {
		return nil
	}
	return &Stored{Database: o.Database, Run: o.Run}
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
		Identities:        who.totals(),
		AlreadyRefused:    s.Refusals,
		Bytes:             s.Bytes,
		AgentsLogged:      s.HasAgents,
		UpstreamLogged:    s.HasUpstream,
		Resolution:        "microsecond",
		Moved:             s.Moved,
		Timezone:          timezone,
		Formats:           formatsOf(s.Inputs),
		Files:             []File{},
		Copies:            []Copy{},
		Faults:            []Fault{},
	}
	switch {
	case s.Resolution == 0:
		in.Resolution = "unknown"
	case s.Resolution >= limit.Second:
		in.Resolution = "second"
	case s.Resolution >= limit.Millisecond:
		in.Resolution = "millisecond"
	}
	if who.Requests > 0 {
		in.Span, in.Days = NewSpan(s.FirstAt, s.LastAt), s.Days
	}
	if s.Held > 0 {
		from := format.Moment(s.HeldFrom)
		in.HeldFrom = &from
	}
	for _, i := range s.Inputs {
		f := File{
			Name: i.Name, Format: i.Format, Compression: i.Compression, Size: i.Size,
			Lines: i.Lines, Parsed: i.Parsed, Unreadable: i.Unreadable, Problem: i.Problem,
		}
		if i.FirstAt != 0 || i.LastAt != 0 {
			first, last := format.Moment(i.FirstAt), format.Moment(i.LastAt)
			f.First, f.Last = &first, &last
		}
		in.Files = append(in.Files, f)
	}
	for _, c := range s.Copies.Found {
		in.Copies = append(in.Copies, Copy{c.Name, c.Of, string(c.How)})
	}
	for _, f := range s.Faults {
		in.Faults = append(in.Faults, Fault{f.Input, f.Line, f.Fault.Column, f.Fault.Reason, f.Text})
	}
	return in
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
