package advice

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"shadow/escape"
	"shadow/findings"
	"shadow/lazy"
	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/sweep"
	"shadow/traffic/match"
	"shadow/traffic/useragent"
	"shadow/traffic/who"
)

// The answer in short fits on a screen: what the log is, what is notable about it, the verdict, the limit and what it
// does, the lines to paste, and what to try next.

const (
	briefLines = 25
	briefWidth = 100 // at most
	briefLabel = 11  // columns of a label
	briefName  = 40  // of a name that somebody chose, or of a word
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
	if d := s.Sample; d != nil {
		parts = append(parts, fmt.Sprintf("a sample: limits were tried on %s of these", format.Count(d.ClientsJudged, "client")))
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

// named is a name that somebody chose, cut in its middle where it is long.
func named(name string) string { return table.CutMiddle(escape.Visible(name), briefName) }

// wrapped returns a text as so many lines at most, long words cut in their middle.
func wrapped(text string, width, most int) []string {
	lines := whole(text, width)
	if len(lines) > most {
		lines[most-1] = table.Cut(lines[most-1]+" …", width)
		lines = lines[:most]
	}
	return lines
}

// whole returns a text as lines, long words cut in their middle.
func whole(text string, width int) []string {
	words := strings.Fields(escape.Visible(text))
	for i, word := range words {
		words[i] = table.CutMiddle(word, briefName)
	}
	return table.Wrap(strings.Join(words, " "), width)
}

// A screen is the lines of the answer in short.
type screen struct {
	w     *document.Writer
	lines []string
	width int     // columns
	most  int     // lines of one text
	extra []extra // what may be left out where there is no room: from the last on
}

// An extra is some lines, from the first on up to the last.
type extra struct{ from, to int }

// say adds a text with a label, which is wrapped, and cut where it is long.
func (b *screen) say(label, text string) {
	if text != "" {
		b.add(label, wrapped(text, b.width-briefLabel, b.most))
	}
}

// add adds lines with a label.
func (b *screen) add(label string, lines []string) {
	for i, line := range lines {
		shown := fmt.Sprintf("%-*s", briefLabel, label)
		if i > 0 {
			shown = strings.Repeat(" ", briefLabel)
		} else if b.w.Color && !b.w.Markdown {
			shown = b.w.Paint(document.Bold, label) + strings.Repeat(" ", max(briefLabel-len(label), 0))
		}
		b.lines = append(b.lines, shown+line)
	}
}

// addExtra adds lines that may be left out.
func (b *screen) addExtra(lines ...string) {
	b.extra = append(b.extra, extra{len(b.lines), len(b.lines) + len(lines)})
	b.lines = append(b.lines, lines...)
}

// shrink leaves lines out until so many are left, as far as it may.
func (b *screen) shrink(most int) {
	for len(b.lines) > most && len(b.extra) > 0 {
		last := len(b.extra) - 1
		if i := b.extra[last].from; b.most > 0 && i < b.extra[last].to && strings.HasPrefix(b.lines[i], " ") { // of a text that goes on
			b.lines[i-1] = table.Cut(b.lines[i-1]+" …", b.width)
		}
		b.lines = slices.Delete(b.lines, b.extra[last].from, b.extra[last].to)
		b.extra = b.extra[:last]
	}
}

// write writes lines; in Markdown as they are.
func (b *screen) write(lines []string) {
	for _, line := range lines {
		if b.w.Markdown {
			line = "    " + line
		}
		b.w.WriteString(line + "\n")
	}
}

// briefFacts say what the limit does; none without one.
func (s *Answer) briefFacts() (f document.Facts) {
	v := s.Verdict
	if v.Limit == nil {
		return nil
	}
	for i, line := range s.mostLines() {
		f.Add([]string{"refused", "most", ""}[i], line)
	}
	f.Add("bots", v.botsText())
	f.Add("people", s.peopleText())
	f.Add("", v.expectText())
	f = append(f, v.Sample.facts()...)
	f.Add("attacker", v.allowsText(match.IsLogin(s.Action)))
	f.Add("exempt", v.Exempt.text())
	f.Add("search", v.searchText())
	if v.Best != nil {
		f.Add("of any", *v.Best+" stops at least half as much again; "+v.For+" has no such limit")
	}
	return f
}

// mostLines name the clients that the limit refuses most, with what they do and how they call themselves, in columns.
func (s *Answer) mostLines() (lines []string) {
	var names, refused []string
	for _, c := range s.Verdict.Most {
		if c.Refused > 0 {
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
	for i := range names {
		c := &s.Verdict.Most[i]
		does := named(c.Action) + ", "
		switch is := c.Identity; {
		case c.Agent == "-" || c.Agent == "":
			does += "no agent"
		case is == who.Disguised.One() || is == who.Attacker.One():
			does += "claims " + useragent.Short(c.Agent)
		default:
			does += useragent.Short(c.Agent)
		}
		if len(c.Reasons) > 0 {
			does += "; " + c.Identity + ": " + strings.TrimLeft(c.Reasons[0], "+-! ")
		}
		lines = append(lines, fmt.Sprintf("%-*s  %*s  %s", widest(names), names[i], widest(refused), refused[i], escape.Visible(does)))
	}
	return lines
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
	if of.Kind == sweep.Token {
		text = fmt.Sprintf("%s %s per %s, %s at once", format.Count(of.Rate.Count, "request"), inPeriod(of.Rate.Per), named(s.Key),
			format.Thousands(v.AtRisk.AtOnce))
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
	all := s.found(width)
	found, notable := firstFound(all), len(slices.Concat(all...)) // lines
	what, body, paste, next := wrapped(s.whatText(a), width, 2), a.bodyLines(w, width, 2), s.pasteLines(a, width), nextLines(a.Verdict.Next, width)
	gaps := found + 1 + min(len(paste.lines), 1) + min(len(next.lines), 1)
	room := func() int { return briefLines - len(what) - len(body.lines) - len(paste.lines) - len(next.lines) }
	paste.shrink(len(paste.lines) + room() - notable - gaps) // how to see more is worth less than what was found
	next.shrink(len(next.lines) + room() - found - gaps)
	body.shrink(len(body.lines) + room() - found - gaps)
	if room() < found && len(paste.lines) > 2 { // lines to paste are long
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

// bodyLines are what is answered, with so many lines for a text.
func (s *Answer) bodyLines(w *document.Writer, width, most int) *screen {
	body := &screen{w: w, width: width, most: most}
	body.add(labels[s.Verdict.Verdict], whole(s.Verdict.text(s.limitText()), width-briefLabel))
	if text := s.Verdict.heavyText(); text != "" {
		body.add("first", whole(text, width-briefLabel))
	}
	for _, f := range s.briefFacts() {
		before := len(body.lines)
		if f.Label == "refused" || f.Label == "most" || f.Label == "" && strings.Contains(f.Text, "  ") {
			body.add(f.Label, []string{table.Cut(f.Text, width-briefLabel)})
		} else {
			body.say(f.Label, f.Text)
		}
		switch f.Label {
		case "search":
			if !slices.ContainsFunc(s.Verdict.Search, func(c Crawler) bool { return c.Refused > 0 }) {
				body.extra = append(body.extra, extra{before, len(body.lines)})
			}
		case "of any":
			body.extra = append(body.extra, extra{before, len(body.lines)})
		case "exempt": // its first line stays
			body.extra = append(body.extra, extra{min(before+1, len(body.lines)), len(body.lines)})
		}
	}
	return body
}

// packed are lines, several in one: a note of one line behind the head, and directives of nginx that end with a semicolon.
func packed(lines []string, width int) (all []string) {
	if more := lines[0] + "   " + lines[1]; strings.HasPrefix(lines[1], "# ") && !strings.HasPrefix(lines[2], "# ") && table.ColumnsOf(more) <= width {
		lines = append([]string{more}, lines[2:]...)
	}
	for _, line := range lines {
		if last := len(all) - 1; last >= 0 && strings.HasPrefix(line, "    ") && strings.HasSuffix(line, ";") {
			code, comment, _ := strings.Cut(all[last], "   # ")
			if comment != "" {
				comment = "   # " + comment
			}
			more := code + " " + strings.TrimSpace(line) + comment
			if strings.HasSuffix(code, ";") && table.ColumnsOf(more) <= width {
				all[last] = more
				continue
			}
		}
		all = append(all, line)
	}
	return all
}

// nextLines are commands. Those behind the first are left out where there is no room.
func nextLines(commands []string, width int) *screen {
	b := new(screen)
	for i, command := range commands {
		lines := continued(escape.Visible(command), width-briefLabel)
		for k, line := range lines {
			label := ""
			if i+k == 0 {
				label = "next"
			}
			lines[k] = fmt.Sprintf("%-*s%s", briefLabel, label, line)
		}
		if i == 0 {
			b.lines = lines
		} else {
			b.addExtra(lines...)
		}
	}
	return b
}

// aWord is a word of a command, in quotes or not, or a flag with its value.
var aWord = lazy.Regexp(`(?:--[a-z-]+ )?(?:'[^']*'|\\'|[^' ])+`)

// continued is a command as a shell reads it from several lines, if one has no room for it. A word is never cut.
func continued(command string, width int) (lines []string) {
	line := ""
	for _, word := range aWord().FindAllString(command, -1) {
		switch {
		case line == "":
			line = word
		case table.ColumnsOf(line+" "+word) <= width-len(` \`):
			line += " " + word
		default:
			lines, line = append(lines, line+` \`), "  "+word
		}
	}
	return append(lines, line)
}

// pasteLines are what to paste, and how to watch it.
func (s *Report) pasteLines(a *Answer, width int) *screen {
	b, v, watch := new(screen), a.Verdict, &a.Watch
	if len(v.Paste) == 0 && v.Note != "" {
		b.lines = whole("In "+a.Server+" nothing can be pasted: "+v.Note+".", briefWidth)
	}
	if len(v.Paste) == 0 {
		return b
	}
	others := ""
	if v.For == "nginx" { // which is taken where nothing says what writes the log
		others = " (--for names other servers)"
	}
	b.lines = append(b.lines, "In "+a.Server+others+":")
	if v.Note != "" {
		for _, line := range whole(v.Note, width-2) {
			b.lines = append(b.lines, "# "+line)
		}
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

// indented are lines to paste.
func indented(lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, "    "+escape.Visible(line))
	}
	return all
}

// placed are the lines of a block, with its place in a comment.
func placed(b Block, width int) []string {
	place := "in " + escape.Visible(b.Place)
	if len(b.Lines) == 0 {
		return []string{"# " + place}
	}
	first, comment, commented := strings.Cut(b.Lines[0], "   # ")
	if first += "   # " + place; commented {
		first += ", " + comment
	}
	if table.ColumnsOf(first) > width-4 {
		return append([]string{"# " + place}, b.Lines...)
	}
	return append([]string{first}, b.Lines[1:]...)
}

// nearlyADay is how long a log is that shows the busy hours of a day.
const nearlyADay = 23 * limit.Hour

// watchText says how to watch, for how long, and how much the limit refuses of the log.
func (s *Report) watchText(a *Answer) string {
	n, span := a.Advice.Answer.Whole.Refused.Of(who.Everybody), s.Input.Span
	if e := a.Verdict.Exempt; e != nil && e.Pasted {
		n -= e.Passed
	}
	if p := a.Verdict.Sample; p != nil && a.Watch.Count != "" {
		return fmt.Sprintf("After days like the log's, %s (by the sample, %s of the target there)", a.Watch.How,
			format.FromTo(p.RefusedRange))
	}
	switch {
	case a.Watch.Count == "":
		return a.Watch.How
	case span == nil || span.Length() < nearlyADay:
		return fmt.Sprintf("After a whole day, as busy hours may be missing here, %s (here %s)", a.Watch.How, format.Thousands(n))
	}
	return fmt.Sprintf("After days like the log's, %s (here %s in %s)", a.Watch.How, format.Thousands(n),
		s.Input.SpanText())
}

// kinds are what a screen calls findings, by their codes; others are notes.
var kinds = map[string]string{
	"admin_indexed": "indexed", "attacker": "attack", "bot_network": "network", "client_missing": "clients", "clock": "clock", "copies": "copies",
	"enforced": "enforced", "few_clients": "few", "forged_crawler": "forged", "forged_forwarded_for": "forged", "health_check": "monitors",
	"heavy_client": "heavy", "inner_hosts": "inner", "no_agents": "agents", "one_network": "network", "own_server": "own",
	"password_guessed": "break-in", "proxy_as_client": "proxy", "secrets_served": "leak", "shared_addresses": "offices", "short_log": "short",
}

// shown are findings and warnings, each whole, in so many lines at most. The last line counts those for which there is no
// room.
func (s *Report) shown(all [][]string, room int) (lines []string) {
	for i, found := range all {
		left := len(all) - i
		if len(lines)+len(found)+min(left-1, 1) <= max(room, 1) {
			lines = append(lines, found...)
			continue
		}
		where := escape.Visible(s.Doctor)
		if table.ColumnsOf(where) > briefWidth-briefLabel-len("999 findings: ") {
			where = "shadow doctor LOG"
		}
		text := fmt.Sprintf("%-*s%d more: %s", briefLabel, "", left, where)
		if i == 0 {
			text = fmt.Sprintf("%-*s%s: %s", briefLabel, "found", format.Count(int64(left), "finding"), where)
		}
		return append(lines, text)
	}
	return lines
}

// found are findings and warnings, each as lines with its mark.
func (s *Report) found(width int) (all [][]string) {
	add := func(kind, text string) {
		lines := table.Wrap(escape.Visible(text), width-briefLabel)
		for i := range lines {
			lines[i] = fmt.Sprintf("%-*s%s", briefLabel, map[bool]string{true: kind}[i == 0], lines[i])
		}
		all = append(all, lines)
	}
	for i := range s.Findings {
		f := s.Findings[i]
		if f.Brief != "" {
			f.Evidence, f.Remedy = f.Brief, map[bool]string{true: f.Remedy}[f.Severity == findings.Stop]
		}
		add(cmp.Or(kinds[f.Code], "note"), f.String())
	}
	for _, text := range s.OtherWarnings() {
		add("note", text)
	}
	return all
}

// firstFound is how many lines it takes to say what is most notable, and how many more there are.
func firstFound(all [][]string) int {
	if len(all) == 0 {
		return 0
	}
	return min(len(all[0])+min(len(all)-1, 1), 5)
}
