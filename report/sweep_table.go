package report

import (
	"bufio"
	"fmt"
	"math"
	"strings"

	"shadow/sweep"
)

// The curves for people: for each kind a table of the limits that leave so many of the clients alone, with what they refuse
// of all requests, and one curve as a plot.

func (s *Sweep) table(out *bufio.Writer) {
	t := &terminal{view: s.view}
	for _, f := range facts(s.model()) {
		t.fact(f)
	}
	t.fact(fact{label: "curves", text: s.subject()})
	for _, w := range s.Warnings {
		t.entry("warning", w, yellow)
	}
	if s.Requests > 0 {
		for kind := range sweep.KindCount {
			s.kindTable(t, kind)
		}
	}
	if s.History != nil {
		t.history(s.model())
	}
	if s.Stored != nil {
		t.WriteByte('\n')
		t.entry("stored", storedText(s.Stored), dim)
	}
	out.Write(t.Bytes()) //nolint:errcheck // Flush tells
}

// subject says what the curves are about.
func (s *Sweep) subject() string {
	text := fmt.Sprintf("of %s from %s, counted by %s", count(s.Requests, "request"), count(s.Clients, "client"), s.by)
	if s.Action != "" {
		text += ", of action " + visible(s.Action)
	}
	return text + "; below, the smallest N that leaves such a share of the clients alone, and what it refuses of all requests" + s.whoText() + s.fewText()
}

// browsers is how many there are, of which it is not known that they are disguised.
func (s *Sweep) browsers() int64 { return s.result.Browsers() }

// whoText says what a browser is.
func (s *Sweep) whoText() string {
	switch {
	case !s.byBrowsers():
		return ""
	case s.ByEvidence == nil:
		return "; browsers are clients that say so (--evidence tells the disguised apart)"
	case s.ByEvidence.Disguised.Clients == 0:
		return "; of the browsers none looks disguised"
	}
	d := s.ByEvidence.Disguised.Clients
	return fmt.Sprintf("; browsers are those that are not disguised: %s of %s", thousands(s.browsers()), thousands(s.browsers()+d))
}

// fewText says where the finest share is that of all clients.
func (s *Sweep) fewText() string {
	const enough = 1000 // of which 99.9 % are fewer than all
	switch browsers := s.browsers(); {
	case s.Clients < enough:
		return fmt.Sprintf("; 99.9%% of %s is all of them", count(s.Clients, "client"))
	case s.byBrowsers() && browsers < enough:
		return fmt.Sprintf("; 99.9%% of %s is all of them", count(browsers, "browser"))
	}
	return ""
}

var kindTexts = [sweep.KindCount]string{
	"rolling: at most N admitted in any span of so long",
	"at most N in each window on the epoch's grid",
	"rolling: refused while more than N came in the last so long, refused ones too",
	"a bucket of N tokens that refills at a rate",
}

func (s *Sweep) kindTable(t *terminal, kind sweep.Kind) {
	curves := s.ofKind(kind)
	if len(curves) == 0 {
		return
	}
	t.WriteByte('\n')
	t.heading(kind.String()+":", s.kindText(kind))
	t.grid(s.percentileGrid(kind, curves))
	if c := s.drawn(); c != nil && c.Kind == kind {
		s.plot(t, c)
	}
}

// drawn is the one curve that the table has as a plot, nil if none.
func (s *Sweep) drawn() *sweep.Curve {
	var some []*sweep.Curve
	for kind := range sweep.KindCount {
		some = append(some, s.ofKind(kind)...)
	}
	return plotted(some)
}

// kindText says what the limits of a kind mean.
func (s *Sweep) kindText(kind sweep.Kind) string {
	text := kindTexts[kind]
	if kind == sweep.Token && len(s.result.Uncounted()) > 0 {
		text += "; a–b: somewhere between, not counted (--exact counts it, and reads files twice)"
	}
	return text
}

func (s *Sweep) ofKind(kind sweep.Kind) (curves []*sweep.Curve) {
	for i := range s.curves {
		if s.curves[i].Kind == kind && len(s.curves[i].Points) > 0 {
			curves = append(curves, &s.curves[i])
		}
	}
	return curves
}

// byBrowsers tells whether browsers are worth a row of their own.
func (s *Sweep) byBrowsers() bool {
	n := s.browsers()
	return 0 < n && n < s.Clients
}

// percentileGrid has a row or two per curve.
func (s *Sweep) percentileGrid(kind sweep.Kind, curves []*sweep.Curve) *grid {
	head := "per"
	if kind == sweep.Token {
		head = "rate"
	}
	g := &grid{columns: append([]column{text(head)}, with(text("leaves alone"))...)}
	for _, share := range sweep.Shares() {
		g.columns = append(g.columns, number(shareText(share)))
		g.columns = append(g.columns, with(number("refuses"))...)
	}
	for _, c := range curves {
		if s.byBrowsers() {
			g.rows = append(g.rows, s.percentileRow(c, "browsers", (*sweep.Point).HitBrowsers))
		}
		g.rows = append(g.rows, s.percentileRow(c, "all", (*sweep.Point).HitAny))
	}
	return g
}

func shareText(thousandths int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", thousandths/10, thousandths%10), ".0") + "%"
}

// percentileRow is one curve by the clients of some class.
func (s *Sweep) percentileRow(c *sweep.Curve, name string, hit func(*sweep.Point) int64) []string {
	row := []string{perText(&c.Shape) + rateOf(&c.Shape), name}
	clients := s.Clients
	if name != "all" {
		clients = s.browsers()
	}
	for _, share := range sweep.Shares() {
		p := c.Sparing(clients, share, hit)
		if p == nil {
			row = append(row, "–", "–")
			continue
		}
		row = append(row, thousands(p.Limit)+s.otherLimit(c, p, clients, share, hit), s.refusedText(c, p))
	}
	return row
}

func (s *Sweep) refusedText(c *sweep.Curve, p *sweep.Point) string {
	if !p.Counted {
		return s.withinText(c, p)
	}
	return percent(percentOf(p.Refused.Sum(), s.Requests)) + "%" + s.otherShare(c, p)
}

// withinText is between what the limit refuses, where that was not counted.
func (s *Sweep) withinText(c *sweep.Curve, p *sweep.Point) string {
	least, most := c.Within(p)
	if most < 0 {
		return "≥" + percent(percentOf(least, s.Requests)) + "%"
	}
	return percents([2]float64{percentOf(least, s.Requests), percentOf(most, s.Requests)}) + "%"
}

// plotted is the one of some curves that is drawn: that of the first kind, and of the window nearest to a minute; none of
// token buckets, of which it is not known what every burst refuses.
func plotted(curves []*sweep.Curve) (nearest *sweep.Curve) {
	far := func(c *sweep.Curve) float64 { return math.Abs(math.Log(float64(c.Per) / 60e6)) }
	for _, c := range curves {
		if c.Kind == curves[0].Kind && c.Kind != sweep.Token && (nearest == nil || far(c) < far(nearest)) {
			nearest = c
		}
	}
	return nearest
}
