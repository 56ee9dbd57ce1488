package curves

import (
	"fmt"

	"shadow/escape"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/table"
	"shadow/sweep"
)

// The curves for people: for each kind a table of the limits that leave so many of the clients alone, with what they
// refuse of all requests, and one curve as a plot.

// Text writes the tables of the curves.
func (s *Report) Text(w document.Writer) {
	w.Title("Every limit at once")
	w.Facts(append(report.Facts(s.model()), document.Fact{Label: "curves", Text: s.subject()})...)
	w.Warnings(s.Warnings)
	for kind := range sweep.KindCount {
		curves := s.ofKind(kind)
		if len(curves) == 0 || s.Requests == 0 {
			continue
		}
		w.Topic(2, kind.String(), s.kindText(kind))
		w.Table(s.percentileTable(kind, curves))
		if c := s.drawn(); c != nil && c.Kind == kind {
			s.plot(w, c)
		}
	}
	s.model().WriteEnd(w)
}

// subject says what the curves are about.
func (s *Report) subject() string {
	text := fmt.Sprintf("of %s from %s, counted by %s", format.Count(s.Requests, "request"), format.Count(s.Clients, "client"), s.by)
	if s.Action != "" {
		text += ", of action " + escape.Visible(s.Action)
	}
	return text + "; below, the smallest N that leaves such a share of the clients alone, and what it refuses of all requests" + s.whoText() + s.fewText()
}

// browsers is how many there are, of which it is not known that they are disguised.
func (s *Report) browsers() int64 { return s.result.Browsers() }

// whoText says what a browser is.
func (s *Report) whoText() string {
	switch {
	case !s.byBrowsers():
		return ""
	case s.ByEvidence == nil:
		return "; browsers are clients that say so (--evidence tells the disguised apart)"
	case s.ByEvidence.Disguised.Clients == 0:
		return "; of the browsers none looks disguised"
	}
	d := s.ByEvidence.Disguised.Clients
	return fmt.Sprintf("; browsers are those that are not disguised: %s of %s", format.Thousands(s.browsers()), format.Thousands(s.browsers()+d))
}

// fewText says where the finest share is that of all clients.
func (s *Report) fewText() string {
	const enough = 1000 // of which 99.9 % are fewer than all
	switch browsers := s.browsers(); {
	case s.Clients < enough:
		return fmt.Sprintf("; 99.9%% of %s is all of them", format.Count(s.Clients, "client"))
	case s.byBrowsers() && browsers < enough:
		return fmt.Sprintf("; 99.9%% of %s is all of them", format.Count(browsers, "browser"))
	}
	return ""
}

var kindTexts = [sweep.KindCount]string{
	"rolling: at most N admitted in any span of so long",
	"at most N in each window on the epoch's grid",
	"rolling: refused while more than N came in the last so long, refused ones too",
	"a bucket of N tokens that refills at a rate",
}

// drawn is the one curve that the table has as a plot, nil if none.
func (s *Report) drawn() *sweep.Curve {
	var some []*sweep.Curve
	for kind := range sweep.KindCount {
		some = append(some, s.ofKind(kind)...)
	}
	return html.Plotted(some)
}

// kindText says what the limits of a kind mean.
func (s *Report) kindText(kind sweep.Kind) string {
	text := kindTexts[kind]
	if kind == sweep.Token && len(s.result.Uncounted()) > 0 {
		text += "; a–b: somewhere between, not counted (--exact counts it, and reads files twice)"
	}
	return text
}

func (s *Report) ofKind(kind sweep.Kind) (curves []*sweep.Curve) {
	for i := range s.curves {
		if s.curves[i].Kind == kind && len(s.curves[i].Points) > 0 {
			curves = append(curves, &s.curves[i])
		}
	}
	return curves
}

// byBrowsers reports whether browsers are worth a row of their own.
func (s *Report) byBrowsers() bool {
	n := s.browsers()
	return 0 < n && n < s.Clients
}

// percentileTable has a row or two per curve.
func (s *Report) percentileTable(kind sweep.Kind, curves []*sweep.Curve) *table.Table {
	head := "per"
	if kind == sweep.Token {
		head = "rate"
	}
	t := table.New(table.Words(head))
	t.Join(table.Words("leaves alone"))
	for _, share := range sweep.ProtectedShares() {
		t.Head(table.Number(format.ShareText(share)))
		t.Join(table.Number("refuses"))
	}
	for _, c := range curves {
		if s.byBrowsers() {
			t.Add(s.percentileRow(c, "browsers", s.browsers(), (*sweep.Point).HitBrowsers)...)
		}
		t.Add(s.percentileRow(c, "all", s.Clients, (*sweep.Point).HitAny)...)
	}
	return t
}

// percentileRow is one curve by the clients of some class.
func (s *Report) percentileRow(c *sweep.Curve, name string, clients int64, hit func(*sweep.Point) int64) []table.Cell {
	row := table.Texts(c.PerText()+c.RateText(), name)
	for _, share := range sweep.ProtectedShares() {
		p := c.Protecting(clients, share, hit)
		if p == nil {
			row = append(row, table.None, table.None)
			continue
		}
		row = append(row, table.Text(format.Thousands(p.Limit)+s.otherLimit(c, p, clients, share, hit)), table.Text(s.refusedText(c, p)))
	}
	return row
}

func (s *Report) refusedText(c *sweep.Curve, p *sweep.Point) string {
	if !p.Counted {
		return s.withinText(c, p)
	}
	return format.Percent(format.PercentOf(p.Refused.Sum(), s.Requests)) + "%" + s.otherShare(c, p)
}

// withinText is between what the limit refuses, where that was not counted.
func (s *Report) withinText(c *sweep.Curve, p *sweep.Point) string {
	least, most := c.Within(p)
	if most < 0 {
		return "≥" + format.Percent(format.PercentOf(least, s.Requests)) + "%"
	}
	return format.Percents([2]float64{format.PercentOf(least, s.Requests), format.PercentOf(most, s.Requests)}) + "%"
}
