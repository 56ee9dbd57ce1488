package advice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/findings"
	"shadow/internal/mapped"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
)

// The answer as a page says what the text says, in the same words, and has what was explored beside it.

// levels are the severities of findings as a page shows them.
var levels = [...]document.Level{
	findings.Stop: document.Stop, findings.Warn: document.Warning, findings.Info: document.Note,
}

// pageWidth is the room for a fact about a client on a page, in columns.
const pageWidth = 160

// page is the page of a report with one answer, which was explored.
func (s *Report) page() *html.Answer {
	a := &s.Answers[0]
	v, advice := a.Verdict, a.Advice
	p := &html.Answer{
		Shadow: strings.TrimSpace("shadow " + s.Version), Command: s.Command, What: s.whatText(a),
		Verdict: a.wording().words, Tone: v.Verdict, Reason: v.Reason, Facts: a.briefFacts(pageWidth),
		Note: v.Note, Next: v.Next, Limit: advice.Answer.Limit, InWords: a.limitText(), WhyLooser: advice.Answer.WhyLooser(),
		Protects: advice.Protected().String(), Targets: advice.Target.String(),
	}
	for _, f := range s.Findings {
		p.Alerts = append(p.Alerts, document.Alert{Level: levels[f.Severity], Text: f.String()})
	}
	for _, text := range s.OtherWarnings() {
		p.Alerts = append(p.Alerts, document.Alert{Level: document.Warning, Text: text})
	}
	if p.Paste = linesOf(v.Paste); len(p.Paste) > 0 {
		p.Watch, p.Count, p.Log = s.watchText(a)+".", a.Watch.Count, strings.Join(a.Watch.Log, "\n")
	}
	if v.Reach != nil {
		p.Bound = &v.Reach.RequestsPercent
	}
	for _, percent := range advice.Percents() {
		p.Percents = append(p.Percents, strings.TrimSuffix(percent.String(), "%"))
	}
	e := advice.Explored
	if e == nil {
		return p
	}
	var groups []who.Identity
	for g := range who.Count {
		if advice.Whole.Groups[g] > 0 {
			groups = append(groups, g)
			p.Groups = append(p.Groups, html.Group{
				Name: g.String(), Clients: advice.Whole.Groups[g], Requests: advice.Whole.Requests[g],
				Protected: advice.Protected().Has(g), Target: advice.Target.Has(g),
			})
		}
	}
	for _, c := range e.Clients {
		p.Clients = append(p.Clients, &html.Client{
			Name: c.Name, Short: useragent.Short(c.Agent), Agent: c.Agent, Group: c.Group.String(), Requests: c.Requests,
		})
	}
	for i := range e.Shapes {
		p.Shapes = append(p.Shapes, a.pageShape(&e.Shapes[i], groups))
	}
	p.First, p.FirstStop = advice.Shown()
	p.Notes = a.pageNotes()
	return p
}

// Asked returns the page of a report with one answer whose log is held open.
func (s *Report) Asked() *html.Answer {
	a, page := s.Answers[0].Advice, s.page()
	page.Asked = &html.Asked{Start: html.Start{
		Limit: a.Answer.Limit, By: "client", Action: a.Action, Why: a.Answer.WhyLooser(),
	}}
	return page
}

// pageNotes say what the figures are, and are not.
func (s *Answer) pageNotes() []string {
	a := s.Advice
	texts := []string{
		fmt.Sprintf("Of each limit the page has the %d protected clients and the %d others that need the highest N.",
			suggest.MostListed, suggest.MostListed),
	}
	if a.Explored.Left > 0 {
		texts = append(texts, fmt.Sprintf("There is no room for %s that refuse less of the target; --details has more.",
			format.Count(int64(a.Explored.Left), "limit")))
	}
	if a.Banded() {
		texts = append(texts, "Timestamps are whole seconds. The answer keeps its promise wherever in its second each request "+
			"came; the figures of other N are those of the log as it is.")
	}
	if !a.Scale.One() {
		texts = append(texts, "Limits and lines are for clients that send "+a.Scale.String()+" times as much; N and its "+
			"figures are those of the log.")
	}
	return texts
}

// pageShape is a shape with the figures of some groups.
func (s *Answer) pageShape(of *suggest.ExploredShape, groups []who.Identity) html.Shape {
	a := s.Advice
	p := html.Shape{Keeps: of.Keeps, Title: of.Name(), Other: map[int][]html.Lines{}}
	switch kind := of.Kind; {
	case of.Own:
		p.Kind = s.Server
		p.Why = [3]string{"needs room for ", " at once, the limit has ", ""}
	case kind == sweep.Token:
		p.Kind = html.KindTitle(kind)
		p.Why = [3]string{"needs a bucket of ", ", this one holds ", ""}
	default:
		p.Kind = html.KindTitle(kind)
		p.Why = [3]string{"", " requests in " + format.Brief(of.Per) + ", the window allows ", ""}
	}
	p.Hit, p.Refused = make([]html.Column, len(groups)), make([]html.Column, len(groups))
	for i := range of.Stops {
		stop := &of.Stops[i]
		text, _ := of.Text(a.Scale, stop.N)
		p.Limits, p.Stops = append(p.Limits, text), append(p.Stops, stop.N)
		p.Scaled = append(p.Scaled, a.Scale.Up(stop.N))
		for k, g := range groups {
			p.Hit[k], p.Refused[k] = append(p.Hit[k], stop.Hit[g]), append(p.Refused[k], stop.Refused[g])
		}
	}
	for _, l := range of.Listed {
		p.Listed = append(p.Listed, html.Listed{Client: l.Client, Need: l.Need, Refused: l.Refused})
	}
	first, last := of.Stops[0].N, of.Stops[len(of.Stops)-1].N
	p.Note = fmt.Sprintf("Lines join the %s N that are shown, from %s to %s.", format.Thousands(int64(len(of.Stops))),
		format.Thousands(first), format.Thousands(last))
	s.pageLines(of, &p)
	return p
}

// aNumber stands for N in lines of which a pattern is made. No server has it in its lines by itself, and all can have it.
const aNumber = 24_681

// pageLines fills in the lines of the server: a pattern in which N is put, and for limits that it does not fit theirs.
func (s *Answer) pageLines(of *suggest.ExploredShape, p *html.Shape) {
	if s.Lines == nil {
		p.Lack = "No server is named, so there are no lines: --for nginx, haproxy, envoy, traefik, caddy or apache gives them."
		return
	}
	if text, ok := of.Text(s.Advice.Scale, aNumber); ok {
		if blocks, err := s.Lines(text); err == nil {
			for _, l := range linesOf(blocks) {
				p.Lines = append(p.Lines, patternOf(l, s.Advice.Scale.Up(aNumber)))
			}
		}
	}
	for i, limit := range p.Limits {
		blocks, err := s.Lines(limit)
		if err != nil {
			p.Lack = s.Server + " has no limit of this shape. Those that it has come first in the list."
			return
		}
		made := mapped.Of(p.Lines, func(one html.PatternLines) html.Lines { return one.With(p.Scaled[i]) })
		if lines := linesOf(blocks); !slices.Equal(lines, made) {
			p.Other[i] = lines
		}
	}
}

// patternOf cuts lines wherever n, or the number below or above it, stands.
func patternOf(l html.Lines, n int64) html.PatternLines {
	p := html.PatternLines{Place: l.Place, Adds: []int64{}}
	rest := l.Text
	for {
		at, add := -1, int64(0)
		for by := int64(-1); by <= 1; by++ {
			if i := strings.Index(rest, strconv.FormatInt(n+by, 10)); i >= 0 && (at < 0 || i < at) {
				at, add = i, by
			}
		}
		if at < 0 {
			p.Parts = append(p.Parts, rest)
			return p
		}
		p.Parts, p.Adds = append(p.Parts, rest[:at]), append(p.Adds, add)
		rest = rest[at+len(strconv.FormatInt(n+add, 10)):]
	}
}

func linesOf(blocks []servers.Block) (all []html.Lines) {
	for _, b := range blocks {
		all = append(all, html.Lines{Place: b.Place, Text: strings.Join(b.Lines, "\n")})
	}
	return all
}
