package report

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"shadow/sweep"
	"shadow/traffic"
)

// What is on the page, from top to bottom: a summary that can be read by who knows nothing of rate limits, then what
// the candidates did, refusals over time, whatever else was handed in, the curves, the clients and actions, and at last what
// all of it means.

// A pageView is all that the templates write.
type pageView struct {
	CSP    template.HTML
	Style  template.CSS
	Script template.JS
	Data   template.JS

	Title    string
	Lede     string
	Cards    []card
	Verdicts []verdict
	Safe     []string // sentences on limits that leave people alone
	Warnings []string

	Policies *htmlTable
	Times    int // policies of which there are refusals over time
	Untimed  string
	Sections []sectionView
	Curves   *curvesView
	Levels   []levelView
	Details  []detailView
	More     string // what has no section of its own

	Facts   []fact
	Means   []meaning
	Shadow  string // the program, and how it was called
	Command string
	Stored  string
}

// A card is a figure and what it counts.
type card struct{ Figure, Label string }

// A verdict is a policy in a sentence.
type verdict struct {
	Name, Text string
	Percent    string
	Parts      []bar
	Tag        string // gentlest, strictest
}

// A bar is a class of clients in a verdict.
type bar struct {
	Class      string
	Hit        string // clients hit, of all
	Percent    string
	Twentieths int
}

type sectionView struct {
	Title string
	Notes []string
	Table *htmlTable
}

type curvesView struct {
	About  string
	Groups []curveGroup
	Heat   [][]heatMap // by kind
	Spare  []*htmlTable
	Left   string // what is left out
	Kept   string // what the database has left out
}

// A curveGroup is the curves of a kind, for the field that chooses one.
type curveGroup struct {
	Kind   string
	Curves []curveName
}

type curveName struct {
	Index    int
	Name     string
	Selected bool
}

type detailView struct {
	Name, Text       string
	Hit              string // evidence on the clients hit
	Facts            []fact
	Means            []string
	Nginx            []string
	Clients, Actions *htmlTable
}

// A meaning is what some policies mean.
type meaning struct{ Name, Semantics, Nginx string }

func (p *Page) view(room htmlRoom) (*pageView, error) {
	m := p.Model
	data, err := p.dataOf(room)
	v := &pageView{
		CSP:   template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + htmlPolicy + `">`), //nolint:gosec // made of hashes
		Style: template.CSS(htmlStyle), Script: template.JS(htmlScript), Data: data,                      //nolint:gosec // our own files
		Title: "What the limits would have done", Lede: ledeOf(m), Cards: p.cards(), Safe: p.safe(),
		Warnings: clippedAll(m.Warnings, room.notes), Facts: clippedFacts(facts(m), room.notes),
		Shadow: strings.TrimSpace("shadow " + m.Version), Command: clipped(m.Command, htmlText),
	}
	if len(m.Policies) == 0 && p.Curves != nil {
		v.Title = "What every limit would have done"
	}
	if m.Stored != nil {
		v.Stored = clipped(storedText(m.Stored), htmlText)
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		v.Verdicts = verdicts(m)
		v.Policies = policyTable(m, room.policies)
		v.Details, v.More = details(m, room)
		v.Means = meanings(m, room)
		v.Times, v.Untimed = min(len(p.Times), room.details), clipped(p.Untimed, htmlText)
	}
	for i := range p.Sections {
		v.Sections = append(v.Sections, sectionViewOf(&p.Sections[i], room.of(len(p.Sections)), room.notes))
	}
	for i := range p.Levels[:min(len(p.Levels), room.levels)] {
		v.Levels = append(v.Levels, levelViewOf(&p.Levels[i]))
	}
	v.Curves = p.Curves.view(room)
	return v, err
}

// ledeOf says what the page is.
func ledeOf(m *Model) string {
	in := &m.Input
	if in.Span == nil {
		return "The log has no request to judge."
	}
	const layout = "2 January 2006 15:04"
	return fmt.Sprintf("A replay of what was logged from %s to %s UTC. Nobody was blocked: this page tells who would have been.",
		in.Span.First.format(layout), in.Span.Last.format(layout))
}

func (p *Page) cards() []card {
	in := &p.Model.Input
	cards := []card{
		{thousands(in.Requests), "requests"},
		{thousands(in.Clients), "clients"},
	}
	if in.Span != nil {
		cards = append(cards, card{span(in.Span.length()), "of log"})
	}
	if n := len(p.Model.Policies); n > 0 {
		cards = append(cards, card{thousands(int64(n)), plural(n, "candidate limit")})
	}
	if p.Curves != nil {
		n := len(p.Curves.Curves)
		cards = append(cards, card{thousands(int64(n)), plural(n, "curve")})
	}
	if in.Unreadable > 0 {
		cards = append(cards, card{percent(in.UnreadablePercent) + " %", "of lines unreadable"})
	}
	return cards
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// fewVerdicts is how many candidates the summary speaks of.
const fewVerdicts = 4

// verdicts are the first few candidates; of many, also the gentlest and the strictest of all.
func verdicts(m *Model) (all []verdict) {
	gentlest, strictest := 0, 0
	for i := range m.Policies {
		if m.Policies[i].Refused < m.Policies[gentlest].Refused {
			gentlest = i
		}
		if m.Policies[i].Refused > m.Policies[strictest].Refused {
			strictest = i
		}
	}
	for i := range m.Policies {
		if i >= fewVerdicts && i != gentlest && i != strictest {
			continue
		}
		v := verdictOf(&m.Policies[i], m.Input.AgentsLogged)
		if gentlest != strictest {
			switch i {
			case gentlest:
				v.Tag = "gentlest"
			case strictest:
				v.Tag = "strictest"
			}
		}
		all = append(all, v)
	}
	return all
}

func verdictOf(p *Policy, agents bool) verdict {
	v := verdict{Name: clipped(p.Policy, htmlName), Percent: percent(p.RefusedPercent), Text: verdictText(p)}
	for class, f := range p.ByClass {
		switch {
		case f.Clients == 0 || !agents:
		case traffic.Class(class) == traffic.Browser && p.ByEvidence != nil:
			v.addBar("people", p.ByEvidence.People)
			v.addBar("disguised", p.ByEvidence.Disguised)
		default:
			v.addBar(classTitle(traffic.Class(class)), f)
		}
	}
	return v
}

// addBar tells how many of some clients are hit, if there are any.
func (v *verdict) addBar(whose string, f ClassFigures) {
	if f.Clients == 0 {
		return
	}
	share := percentOf(f.ClientsHit, f.Clients)
	v.Parts = append(v.Parts, bar{
		Class: whose, Percent: percent(share), Twentieths: twentieths(share),
		Hit: thousands(f.ClientsHit) + " of " + thousands(f.Clients),
	})
}

// classTitle is how several clients of a class are called.
func classTitle(c traffic.Class) string {
	if c == traffic.Unknown {
		return c.String()
	}
	return c.String() + "s"
}

// verdictText is the policy for those who have never heard of one.
func verdictText(p *Policy) string {
	if p.Refused == 0 && p.Delayed == 0 && p.Range == nil {
		return "It would have refused nothing."
	}
	refused, hit := p.counts()
	text := fmt.Sprintf("It would have refused %s of %s, of %s of %s.",
		refused, count(p.Requests, "request"), hit, count(p.Clients, "client"))
	if p.Range != nil {
		text += " An approximation: in brackets, what it may also be."
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf(" %s would have had to wait, half of them for %s at most.", count(p.Delayed, "request"), wait(p.Delay.P50))
	}
	return text
}

// safe says which limits leave nearly all people alone, by the curve that is looked at first.
func (p *Page) safe() (sentences []string) {
	c := p.Curves
	if c == nil || c.first() == nil {
		return nil
	}
	curve, clients, hit, who := c.first(), c.people(), (*sweep.Point).HitBrowsers, "browsers"
	if clients == 0 {
		clients, hit, who = c.Clients.Sum(), (*sweep.Point).HitAny, "clients"
	}
	last := int64(0)
	for _, share := range []int64{1000, 999, 990} {
		at := curve.Sparing(clients, share, hit)
		if at == nil || at.Limit == last {
			continue
		}
		last = at.Limit
		sentences = append(sentences, fmt.Sprintf("%s leaves %s of the %s alone, and refuses %s %% of all requests.",
			curve.Limit(at.Limit), shareWords(share), who, percent(percentOf(at.Refused.Sum(), c.judged()))))
	}
	if sentences == nil {
		return nil
	}
	for _, text := range []string{c.whoText(), c.From} {
		if text != "" {
			sentences = append(sentences, text)
		}
	}
	return sentences
}

func shareWords(thousandths int64) string {
	if thousandths == 1000 {
		return "all"
	}
	return shareText(thousandths)
}

func details(m *Model, room htmlRoom) (views []detailView, more string) {
	shown := min(len(m.Policies), room.details)
	rows := room.of(shown)
	for i := range m.Policies[:shown] {
		p := &m.Policies[i]
		d := detailView{
			Name: clipped(p.Policy, htmlName), Text: sentence(headline(p)) + ".", Hit: p.HitEvidence.text("hit addresses"),
			Facts: clippedFacts(p.harmFacts(layoutsFor(m.Input.Span)), room.notes),
			Means: clippedAll(p.told(func(part *Part) string { return part.Semantics }), room.notes),
			Nginx: clippedAll(p.told(func(part *Part) string { return part.Nginx }), room.notes),
		}
		if len(p.TopClients) > 0 {
			d.Clients = clientTable(m, p, rows)
		}
		if len(p.TopActions) > 0 {
			d.Actions = actionTable(p, rows)
		}
		views = append(views, d)
	}
	if shown < len(m.Policies) {
		more = fmt.Sprintf("The first %d of %d candidates have their clients and actions here; --output json has those of all.", shown, len(m.Policies))
	}
	return views, more
}

// meanings say once for each kind of limit what it means, of those without a section of their own.
func meanings(m *Model, room htmlRoom) (all []meaning) {
	told := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		if kind := cmp.Or(p.kind, p.Policy); i >= room.details && !told[kind] && len(all) < room.notes {
			all = append(all, meaning{clipped(p.Policy, htmlName), clipped(p.Semantics, htmlText), clipped(p.Nginx, htmlText)})
			told[kind] = true
		} else {
			told[kind] = true
		}
	}
	return all
}

func sectionViewOf(s *Section, rows, notes int) sectionView {
	v := sectionView{Title: clipped(s.Title, htmlName), Notes: clippedAll(s.Notes, notes)}
	if len(s.Rows) > 0 {
		v.Table = sectionTable(s, rows)
	}
	return v
}

// view is what the page shows of the curves, nil if nothing.
func (c *Curves) view(room htmlRoom) *curvesView {
	if c == nil {
		return nil
	}
	shown := c.shown(room)
	if len(shown) == 0 {
		return nil
	}
	v := &curvesView{About: c.about(), Left: c.leftOut(shown), Kept: c.selection(shown)}
	for kind := range sweep.KindCount {
		var of []*sweep.Curve
		group := curveGroup{Kind: kindTitle(kind)}
		for i, curve := range shown {
			if curve.Kind == kind {
				of = append(of, curve)
				group.Curves = append(group.Curves, curveName{i, shapeTitle(&curve.Shape), curve == c.first()})
			}
		}
		if len(of) == 0 {
			continue
		}
		v.Groups = append(v.Groups, group)
		v.Spare = append(v.Spare, c.spareTable(of))
		if len(of) > 1 {
			v.Heat = append(v.Heat, c.heatMaps(of))
		}
	}
	return v
}

func (c *Curves) about() string {
	text := fmt.Sprintf("%s from %s, counted by %s", count(c.judged(), "request"), count(c.Clients.Sum(), "client"), c.By)
	if c.Action != "" {
		text += ", of action " + clipped(c.Action, htmlName)
	}
	text += "."
	if c.Hidden != nil {
		text += " " + c.whoText()
	}
	if c.From != "" {
		text += " " + c.From
	}
	return text
}

func (c *Curves) leftOut(shown []*sweep.Curve) string {
	some := 0
	for i := range c.Curves {
		if len(c.Curves[i].Points) > 0 {
			some++
		}
	}
	if some == len(shown) {
		return ""
	}
	return fmt.Sprintf("The first %d of %d curves; --output json has all.", len(shown), some)
}

// selection tells of curves that have lost points on their way here.
func (c *Curves) selection(shown []*sweep.Curve) string {
	lost := 0
	for _, curve := range shown {
		if c.changes(curve) > int64(len(curve.Points)) {
			lost++
		}
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("Of %s the database has a selection of points, all exact. Between two of them the map shows the lower, which refuses no less, "+
		"and the smallest N is the smallest of those.", count(int64(lost), "curve"))
}

// clippedAll are some texts as the page may have them.
func clippedAll(texts []string, most int) (some []string) {
	for _, text := range texts[:min(len(texts), most)] {
		some = append(some, clipped(text, htmlText))
	}
	if left := len(texts) - len(some); left > 0 {
		some = append(some, fmt.Sprintf("… and %d more", left))
	}
	return some
}

func clippedFacts(facts []fact, most int) (some []fact) {
	for _, f := range facts {
		some = append(some, fact{label: f.label, text: clipped(f.text, htmlText), details: clippedAll(f.details, most)})
	}
	return some
}

// Label is that of a fact; Text and Details are what there is to say.
func (f fact) Label() string { return f.label }

// Text is the fact in a sentence.
func (f fact) Text() string { return f.text }

// Details are further lines.
func (f fact) Details() []string { return f.details }
