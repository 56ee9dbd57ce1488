package advice

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// The answer in short fits on a screen: what the log is, what is notable about it, the verdict, the limit and what it
// does, the lines to paste, and what to try next.

const (
	briefLines = 25
	briefWidth = 100 // at most
	briefLabel = 12  // columns of a label
	briefName  = 40  // of a name that a person chose, or of a word
)

// whatText says in a line what the log is.
func (s *Report) whatText(a *Answer) string {
	in := &s.Input
	clients := format.Count(in.Clients, "client")
	if a.Key == "address" {
		clients = format.Thousands(in.Clients) + " address" + map[bool]string{false: "es"}[in.Clients == 1]
	}
	parts := []string{format.Count(in.Requests, "request"), clients}
	if in.Span != nil {
		parts = append(parts, in.SpanText())
	}
	if a.Action != "" {
		w := a.Advice.Whole
		parts = append(parts, fmt.Sprintf("%s of %s from %s", format.Thousands(w.Requests.Of(who.Everybody)),
			named(a.Action), format.Count(w.Groups.Of(who.Everybody), "client")))
	}
	if in.Resolution == "second" {
		parts = append(parts, "timestamps of 1 s")
	}
	name := format.Count(int64(len(in.Files)), "file")
	if len(in.Files) == 1 {
		name = named(path.Base(in.Files[0].Name))
	}
	return name + ": " + strings.Join(append(parts, a.Verdict.Site.Text()), ", ")
}

// briefFacts say what to know before pasting, and what the limit does, if there is one.
func (s *Answer) briefFacts(width int) (f document.Facts) {
	v := s.Verdict
	f.Add("first", cmp.Or(s.heavyText(), s.ownText(), s.lossText()))
	f.Add("better", s.betterText())
	if v.Limit == nil {
		return f
	}
	for i, line := range s.mostLines(width) {
		f.Add([]string{"refused", "most", ""}[i], line)
	}
	f.Add(s.targetLabel(), v.botsText())
	if s.Advice.Capped() && s.Advice.Answer.Of != nil {
		f.Add("", "a stricter one would refuse over half of the log: is the site for that?")
	}
	f.Add("people", s.peopleText())
	f.Add("", s.expectText())
	f.Add("attacker", s.attackerText())
	f.Add("exempt", v.Exempt.text(len(v.Paste) > 0))
	f.Add("search", v.searchText())
	if v.Best != nil {
		f.Add("of any", *v.Best+" stops at least half as much again; "+v.For+" has no such limit")
	}
	return f
}

// targetLabel says in a word which clients the limit is for.
func (s *Answer) targetLabel() string {
	switch target := s.Advice.Target; {
	case target&s.Advice.Protected() != 0:
		return "all clients"
	case target&who.Browsers != 0:
		return "target"
	case target.Has(who.Program):
		return "bots, tools"
	}
	return "bots"
}

// mostLines name the clients that the limit refuses most, in columns.
func (s *Answer) mostLines(width int) (lines []string) {
	var names, refused []string
	var most []*RefusedMost
	for i := range s.Verdict.Most {
		if c := &s.Verdict.Most[i]; c.Refused > 0 {
			most = append(most, c)
			names = append(names, named(c.Client))
			refused = append(refused, format.Thousands(c.Refused)+" of "+format.Thousands(c.Requests))
		}
	}
	widest := func(texts []string) (n int) {
		for _, text := range texts {
			n = max(n, table.ColumnsOf(text))
		}
		return n
	}
	for i, c := range most {
		columns := fmt.Sprintf("%-*s  %*s  ", widest(names), names[i], widest(refused), refused[i])
		lines = append(lines, columns+c.tells(width-table.ColumnsOf(columns)))
	}
	return lines
}

// tells says in so many columns who a client is and what shows it; then, as far as there is room, how it calls itself and
// what it asks for.
func (c *RefusedMost) tells(width int) string {
	text := c.Identity
	reason := escape.Visible(c.mainReason())
	if reason != "" && (c.Identity != who.Program.One() || strings.HasSuffix(reason, "?")) { // whose agent says all
		if text += ": " + reason; table.ColumnsOf(text) > width {
			text = reason
		}
	}
	agent := "no agent"
	if c.Agent != "-" && c.Agent != "" {
		agent = useragent.Short(c.Agent)
		if useragent.Classify([]byte(c.Agent)) == request.Browser && who.Hostile.Names(c.Identity) {
			agent = "claims " + agent
		}
	}
	for _, part := range []string{agent, named(c.Action)} {
		if part = escape.Visible(part); table.ColumnsOf(text+", "+part) <= width {
			text += ", " + part
		}
	}
	return escape.Visible(text)
}

// mainReason returns the weightiest reason for the identity: of one that is disguised, the first sign that counts against it.
func (c *RefusedMost) mainReason() string {
	for _, mark := range []string{"! ", "- "} {
		for _, reason := range c.Reasons {
			if text, marked := strings.CutPrefix(reason, mark); marked && c.Identity == who.Disguised.One() {
				return text
			}
		}
	}
	for _, reason := range c.Reasons {
		return strings.TrimLeft(reason, "+-! ")
	}
	return ""
}

// limitText returns the limit in words: nginx, 1 request a second per address, burst 72.
func (s *Answer) limitText() string {
	v, of := s.Verdict, s.Advice.Answer.Of
	if of == nil {
		return ""
	}
	if !s.Advice.Scale.One() {
		return fmt.Sprintf("%s per %s", *v.Limit, named(s.Key))
	}
	text := fmt.Sprintf("%s %s per %s", format.Count(v.AtRisk.AtOnce, "request"), inPeriod(of.Per), named(s.Key))
	switch of.Kind {
	case sweep.Token:
		text = fmt.Sprintf("%s %s per %s, %s at once", format.Count(of.Rate.Count, "request"), inPeriod(of.Rate.Per), named(s.Key),
			format.Thousands(v.AtRisk.AtOnce))
	case sweep.UnderWay:
		text = fmt.Sprintf("%s under way at once per %s", format.Count(v.AtRisk.AtOnce, "request"), named(s.Key))
	}
	if s.Server != "" {
		text = s.Server + ", " + text
	}
	return text
}

// inPeriod returns in what time a limit admits its requests: a second, a minute, 15 min.
func inPeriod(per limit.Time) string {
	switch per {
	case limit.Second:
		return "a second"
	case limit.Minute:
		return "a minute"
	case limit.Hour:
		return "an hour"
	}
	return "in " + format.Brief(per)
}

// brief writes the answer in short.
func (s *Report) brief(w *document.Writer, a *Answer) {
	width := briefWidth
	if w.Width > 0 {
		width = min(width, w.Width)
	}
	var all []notable
	if !s.Details { // which begins with them
		all = s.found(width)
	}
	found, notable := firstFound(all), 0 // lines
	for _, n := range all {
		notable += len(n.lines)
	}
	what, body, paste, next := wrapped(s.whatText(a), width, 2), a.bodyLines(w, width, 2), s.pasteLines(a, width), nextLines(a.Verdict.Next, width)
	gaps := min(found, 1) + 1 + min(len(paste.lines), 1) + min(len(next.lines), 1)
	room := func() int { return briefLines - len(what) - len(body.lines) - len(paste.lines) - len(next.lines) }
	paste.shrink(len(paste.lines) + room() - notable - gaps) // how to see more is worth less than what was found
	next.shrink(len(next.lines) + room() - found - gaps)
	body.shrink(len(body.lines) + room() - found) // a blank line is worth less
	if room() < found && len(paste.lines) > 2 {   // lines to paste are long
		what, body, paste.lines = wrapped(s.whatText(a), width, 1), a.bodyLines(w, width, 1), packed(paste.lines, width)
		if body.shrink(0); room() < found {
			next, gaps = new(screen), gaps-1
		}
	}
	left := max(gaps-max(room()-found, 0), 0) // of the gaps, the first ones
	if w.Markdown {
		left = 0 // gaps mean something there
	}
	for _, line := range what {
		w.WriteString(line + "\n")
	}
	for _, lines := range [][]string{s.shown(all, room()-gaps+left), body.lines, paste.lines, next.lines} {
		if len(lines) == 0 {
			continue
		}
		if left--; left < 0 {
			w.WriteByte('\n')
		}
		body.write(lines)
	}
}

// bodyLines returns the lines of the answer, with so many of them for a text.
func (s *Answer) bodyLines(w *document.Writer, width, most int) *screen {
	body := &screen{w: w, width: width, most: most}
	body.add(s.wording().label, whole(s.verdictText(), width-briefLabel))
	unhurt := !slices.ContainsFunc(s.Verdict.Search, func(c suggest.CrawlerHit) bool { return c.Refused > 0 })
	for _, f := range s.briefFacts(width - briefLabel) {
		before := len(body.lines)
		client := f.Label == "refused" || f.Label == "most" || f.Label == "" && strings.Contains(f.Text, "  ")
		switch {
		case client:
			body.add(f.Label, []string{table.Cut(f.Text, width-briefLabel)})
		case f.Label == "first", f.Label == "better", f.Label == "exempt": // what must be known before pasting
			body.add(f.Label, whole(f.Text, width-briefLabel))
		default:
			body.say(f.Label, f.Text)
		}
		if client && f.Label != "refused" || f.Label == "search" && unhurt || f.Label == "of any" {
			body.extra = append(body.extra, extra{before, len(body.lines)})
		}
	}
	return body
}

// pasteLines returns the lines to paste, and how to watch it.
func (s *Report) pasteLines(a *Answer, width int) *screen {
	b, v, watch := new(screen), a.Verdict, &a.Watch
	if len(v.Paste) == 0 && v.Note != "" {
		b.lines = whole("In "+a.Server+" nothing can be pasted: "+v.Note+".", briefWidth)
	}
	if len(v.Paste) == 0 {
		return b
	}
	others := ""
	if a.ByLog {
		others = " (--for names other servers)"
	}
	b.lines = append(b.lines, "In "+a.Server+others+":")
	if v.Note != "" {
		b.lines = mapped.Add(b.lines, whole(v.Note, width-2), func(line string) string { return "# " + line })
	}
	for _, block := range v.Paste {
		b.lines = append(b.lines, indented(placed(block, width))...)
	}
	if watch.Count == "" {
		b.lines = append(b.lines, whole(s.watchText(a)+".", width)...)
		return b
	}
	b.lines = append(b.lines, whole(s.watchText(a)+":", width)...)
	b.lines = append(b.lines, "    "+watch.Count)
	b.addExtra(indented(watch.Log)...)
	return b
}

// nearlyADay is the length of a log that shows the busy hours of a day.
const nearlyADay = 23 * limit.Hour

// watchText says how to watch, for how long, and how much the limit refuses of the log.
func (s *Report) watchText(a *Answer) string {
	n, span := a.Advice.Answer.Whole.Refused.Of(who.Everybody), s.Input.Span
	if e := a.Verdict.Exempt; e != nil && e.Pasted {
		n -= e.Passed
	}
	here := "here "
	if a.Watch.Partly {
		here = "here at most "
	}
	switch with := a.Watch.With; {
	case with < 0:
		here += format.Thousands(n) + " without what --exclude leaves out,"
	case with > n:
		here += fmt.Sprintf("%s with what --exclude leaves out, %s without,", format.Thousands(with), format.Thousands(n))
	default:
		here += format.Thousands(n)
	}
	switch {
	case a.Watch.Count == "":
		return a.Watch.How
	case a.Watch.Front != "":
		return fmt.Sprintf("Then %s, which lacks what %s does not pass on", a.Watch.How, a.Watch.Front)
	case span == nil || span.Length() < nearlyADay:
		return fmt.Sprintf("After a whole day, as busy hours may be missing here, %s (%s)", a.Watch.How, strings.TrimSuffix(here, ","))
	}
	after := "a week"
	if span.Length() >= 14*limit.Day {
		after = "two weeks"
	}
	unscaled := ""
	if !a.Advice.Scale.One() {
		unscaled = ", without the scale"
	}
	return fmt.Sprintf("After %s, %s (%s in %s%s)", after, a.Watch.How, here, s.Input.SpanText(), unscaled)
}

// searchNamed is the most search engines that are named.
const searchNamed = 3

// searches returns how many requests search engines sent, and how many of these are refused.
func (v *Verdict) searches() (requests, refused int64) {
	for _, c := range v.Search {
		requests, refused = requests+c.Requests, refused+c.Refused
	}
	return requests, refused
}

// searchText says what happens to search engines.
func (v *Verdict) searchText() string {
	if len(v.Search) == 0 {
		return ""
	}
	var names []string
	requests, refused := v.searches()
	for _, c := range v.Search {
		name := c.Name
		if c.Refused > 0 {
			name += fmt.Sprintf(" (%s of %s)", format.Thousands(c.Refused), format.Thousands(c.Requests))
		}
		names = append(names, name)
	}
	if refused > 0 {
		return fmt.Sprintf("%s of %s refused: %s", format.Thousands(refused), format.Count(requests, "request"),
			format.List(names, searchNamed))
	}
	return fmt.Sprintf("%s: %s, none refused", format.List(names, searchNamed), format.Count(requests, "request"))
}
