// Package curves reports on a sweep: what every limit of some shapes would refuse comes in; text, JSON, CSV, Markdown
// or a page goes out.
package curves

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strconv"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/history"
	"shadow/report/html"
	"shadow/report/table"
)

// A Report is the report on curves: what every limit of some shapes would refuse. Its JSON is an interface for other
// programs, as that of Model.
type Report struct {
	report.Head
	Action   string                       `json:"action"`   // whose requests the curves are about; "" for all
	Requests int64                        `json:"requests"` // that the curves are about
	Clients  int64                        `json:"clients"`  // that these are from
	ByClass  map[string]report.ClassTotal `json:"by_class"`
	Stored   *report.Stored               `json:"stored"` // nil: nowhere

	History *history.History `json:"history,omitempty"` // of a stored sweep; nil: not asked for

	ByEvidence *divided `json:"by_evidence,omitempty"` // the browsers of ByClass, divided; nil: not known

	result *sweep.Result
	of     []sweep.Subject // of the curves, where they are those of policies
}

// divided are browsers by whether what they do contradicts their claim.
type divided struct {
	Believed report.ClassTotal `json:"believed"` // people, offices and undecided
	Doubted  report.ClassTotal `json:"doubted"`
}

// New makes the report on a sweep. It keeps the curves.
func New(res *sweep.Result, o report.Options) *Report {
	who := report.NewPopulation(&res.Tallies.Clients, o.Who)
	s := &Report{
		Head: report.NewHead(&res.Stats, who, o), Action: res.Action, Requests: res.Judged, Clients: res.Clients.Sum(),
		ByClass: map[string]report.ClassTotal{}, Stored: o.Stored(), result: res,
	}
	if res.Band != nil {
		s.Input.Band = &report.BandInput{Movable: res.Band.Movable}
	}
	for class := range request.ClassCount {
		s.ByClass[class.String()] = report.ClassTotal{Requests: res.ByClass[class], Clients: res.Clients[class]}
	}
	if h := res.Hidden; h != nil {
		s.ByEvidence = &divided{
			Believed: report.ClassTotal{
				Requests: res.ByClass[request.Browser] - h.Requests, Clients: res.Clients[request.Browser] - h.Clients,
			},
			Doubted: report.ClassTotal{Requests: h.Requests, Clients: h.Clients},
		}
	}
	return s
}

// Schema implements document.Report.
func (s *Report) Schema() format.Schema { return format.SweepSchema }

// model returns what a report on curves has in common with one on policies.
func (s *Report) model() *report.Model {
	return &report.Model{Head: s.Head, Stored: s.Stored, History: s.History}
}

// NewOfPolicies makes the report on the limits of policies. res has no other curves.
func NewOfPolicies(res *sweep.Result, of []sweep.WeighedCurve, o report.Options) *Report {
	swept := *res
	s := New(&swept, o)
	for _, c := range of {
		swept.Curves, s.of = append(swept.Curves, c.Curve), append(s.of, c.Subject)
	}
	return s
}

// by returns the key that the limits of a curve count by.
func (s *Report) by(curve int) request.Key {
	if s.of != nil {
		return s.of[curve].By
	}
	return s.result.By
}

// Write writes the report in one of format.PageOutputs.
func (s *Report) Write(w io.Writer, output string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch output {
	case "html":
		return (&html.Document{Head: &s.Head, Text: s.Text, Curves: s.Curves()}).Write(w)
	case "json":
		err = s.json(out)
	case "csv":
		err = s.CSV(out)
	default:
		return document.Write(w, s, s.View, output, format.PageOutputs())
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return out.Flush()
}

// Curves returns the curves of the sweep, for a Page.
func (s *Report) Curves() *html.Curves { return &html.Curves{Result: s.result} }

// The curves for programs: as JSON, a line for each point, since there may be hundreds of thousands, written as they
// are made; and as one rectangular table with a row for each point, in which a cell is empty where it is not known what
// is refused. With a band each point has, beside its figures as logged, the least and the most that they may be.

// A group is some clients, and the figures that a point has of them.
type group struct {
	name         string // "" for all
	refused, hit func(*sweep.Point) int64
}

var all = group{"", func(p *sweep.Point) int64 { return p.Refused.Sum() }, (*sweep.Point).HitAny}

// classes are a group for each class of clients.
func classes() (groups []group) {
	for class := range request.ClassCount {
		groups = append(groups, group{
			class.String(), func(p *sweep.Point) int64 { return p.Refused[class] },
			func(p *sweep.Point) int64 { return p.Hit[class] },
		})
	}
	return groups
}

// evidence are the groups of browsers, none where it is not known who the clients are.
func (s *Report) evidence() []group {
	if s.ByEvidence == nil {
		return nil
	}
	return []group{
		{
			"believed", func(p *sweep.Point) int64 { n, _ := p.People(); return n },
			func(p *sweep.Point) int64 { _, n := p.People(); return n },
		},
		{
			"doubted", func(p *sweep.Point) int64 { return p.Hidden.Requests },
			func(p *sweep.Point) int64 { return p.Hidden.Clients },
		},
	}
}

// banded reports whether there is a band.
func (s *Report) banded() bool { return s.result.Band != nil && s.result.Band.Low != nil }

// points yields the points of a curve; with a band, every limit at which it or one of its bounds changes.
func (s *Report) points(curve int) iter.Seq[sweep.Banded] {
	return func(yield func(sweep.Banded) bool) {
		if !s.banded() {
			for _, p := range s.result.Curves[curve].Points {
				if !yield(sweep.Banded{Logged: p, Low: p, High: p}) {
					return
				}
			}
			return
		}
		for _, n := range s.result.Limits(curve) {
			if !yield(s.result.Banded(curve, n)) {
				return
			}
		}
	}
}

func (s *Report) json(w *bufio.Writer) error {
	head, err := format.JSON(s.Schema(), s)
	if err != nil {
		return err
	}
	w.Write(bytes.TrimSuffix(head, []byte("\n}\n"))) //nolint:errcheck // Flush tells
	fmt.Fprint(w, ",\n  \"curves\": [")
	var subject []byte
	orNull := func(text string) string {
		if text == "" {
			return "null"
		}
		return strconv.Quote(text)
	}
	classes, evidence := classes(), s.evidence()
	var line []byte
	for i := range s.result.Curves {
		c := &s.result.Curves[i]
		if s.of != nil {
			if subject, err = s.subjectJSON(&s.of[i]); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%s\n    "+`{%s"limit_kind": %q, "per": %s, "rate": %s, "by": %q, "points": [`,
			separator(i), subject, c.Kind, orNull(c.PerText()), orNull(c.RateText()), s.by(i))
		n := 0
		for p := range s.points(i) {
			line = append(line[:0], separator(n)+"\n      {\"limit\": "...)
			line = append(strconv.AppendInt(line, p.Logged.Limit, 10), ", "...)
			line = appendEach(appendLogged(line, &p, &all), "by_class", classes, &p, appendLogged)
			if evidence != nil {
				line = appendEach(line, "by_evidence", evidence, &p, appendLogged)
			}
			if s.banded() {
				line = appendBand(append(line, `, "band": {`...), &p, &all)
				line = append(appendEach(line, "by_class", classes, &p, appendBand), '}')
			}
			w.Write(append(line, '}')) //nolint:errcheck // Flush tells
			n++
		}
		fmt.Fprint(w, "\n    ]}")
	}
	fmt.Fprint(w, "\n  ]\n}\n")
	return nil
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// appendEach appends an object with the figures of some groups.
func appendEach(
	b []byte, key string, groups []group, p *sweep.Banded, figures func([]byte, *sweep.Banded, *group) []byte,
) []byte {
	b = append(append(append(b, `, "`...), key...), `": {`...)
	for i := range groups {
		b = append(append(append(append(b, separator(i)...), '"'), groups[i].name...), `": {`...)
		b = append(figures(b, p, &groups[i]), '}')
	}
	return append(b, '}')
}

// appendLogged appends what is refused, null if that is not known, and who is hit.
func appendLogged(b []byte, p *sweep.Banded, g *group) []byte {
	b = append(b, `"refused": `...)
	if p.Logged.Counted {
		b = strconv.AppendInt(b, g.refused(&p.Logged), 10)
	} else {
		b = append(b, "null"...)
	}
	return strconv.AppendInt(append(b, `, "clients_hit": `...), g.hit(&p.Logged), 10)
}

// appendBand appends the same from the least to the most.
func appendBand(b []byte, p *sweep.Banded, g *group) []byte {
	pair := func(r [2]int64) {
		b = strconv.AppendInt(append(b, '['), r[0], 10)
		b = append(strconv.AppendInt(append(b, ", "...), r[1], 10), ']')
	}
	b = append(b, `"refused": `...)
	if p.Counted() {
		pair(p.Range(g.refused))
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `, "clients_hit": `...)
	pair(p.Range(g.hit))
	return b
}

// CSV writes the curves for programs.
func (s *Report) CSV(out io.Writer) error {
	head := []string{"limit_kind", "per", "rate", "by", "limit"}
	if s.of != nil {
		head = append([]string{"policy"}, head...)
	}
	add := func(g *group, names ...string) {
		for _, name := range names {
			if g.name != "" {
				name = g.name + "_" + name
			}
			head = append(head, name)
		}
	}
	banded := append([]group{all}, classes()...)
	groups := append(banded[:len(banded):len(banded)], s.evidence()...)
	if !s.banded() {
		banded = nil
	}
	for i := range groups {
		add(&groups[i], "refused", "clients_hit")
	}
	for i := range banded {
		add(&banded[i], "refused_low", "refused_high", "clients_hit_low", "clients_hit_high")
	}
	countIf := func(known bool, n int64) table.Cell {
		if !known {
			return table.Cell{}
		}
		return table.Count(n)
	}
	w := table.NewCSV(out, head...)
	for i := range s.result.Curves {
		c := &s.result.Curves[i]
		for p := range s.points(i) {
			row := append(table.Texts(c.Kind.String(), c.PerText(), c.RateText(), s.by(i).String()),
				table.Count(p.Logged.Limit))
			if s.of != nil {
				row = append(table.Texts(s.of[i].Policy), row...)
			}
			for _, g := range groups {
				row = append(row, countIf(p.Logged.Counted, g.refused(&p.Logged)), table.Count(g.hit(&p.Logged)))
			}
			for _, g := range banded {
				refused, hit := p.Range(g.refused), p.Range(g.hit)
				row = append(row, countIf(p.Counted(), refused[0]), countIf(p.Counted(), refused[1]), table.Count(hit[0]),
					table.Count(hit[1]))
			}
			w.Add(row...)
		}
	}
	return w.Flush()
}
