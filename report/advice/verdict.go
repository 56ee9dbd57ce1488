package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/findings"
	"shadow/report/format"
	"shadow/suggest"
	"shadow/traffic/who"
)

// A Verdict is the answer to the question: whether to deploy a limit, which, and what it does. Figures are those of the
// whole log unless they say otherwise.
type Verdict struct {
	Verdict   string        `json:"verdict"` // deploy, deploy_unproven, ceiling, no_limit_can or not_judgeable
	Reason    string        `json:"reason"`  // in a sentence
	Site      findings.Site `json:"site"`    // people, api or unknown
	For       string        `json:"for"`     // the server that has the limit; any: none was asked for
	Limit     *string       `json:"limit"`   // as --limit takes it; nil: there is none
	Protects  Affected      `json:"protects"`
	Targets   Affected      `json:"targets"`
	MostHit   *float64      `json:"most_hit_percent"` // of the protected clients, with 95 % confidence; nil: nothing shows it
	AtRisk    *AtRisk       `json:"at_risk"`          // nil without a limit
	Most      []RefusedMost `json:"refused_most"`     // the clients that lose most
	Heavy     *Heavy        `json:"heavy"`            // nil: no single client is most of what the limit refuses, or it attacks
	Sample    *SampleProof  `json:"sample,omitempty"` // nil: all clients were looked at, or there is no limit
	Validated *Validated    `json:"validated"`        // nil: no part chose nothing
	Reach     *Reach        `json:"bound"`            // nil: not computed
	ByKey     []KeyReach    `json:"bound_by_key"`     // the same by other keys; empty unless no limit can, or --details
	Allows    *Allows       `json:"allows"`           // nil without a limit
	Best      *string       `json:"best_of_any"`      // a limit of any algorithm that stops at least half as much again; nil: none
	Broke     *string       `json:"broke"`            // the limit that broke its promise where it was validated; nil: none did
	Search    []Crawler     `json:"search_engines"`
	Exempt    *Exempt       `json:"exempt"` // nil: the limit refuses nothing of those that the answer leaves out
	Key       string        `json:"key"`    // what the server counts by, in its own words; "": only the operator knows
	Note      string        `json:"note"`   // about the key, and whatever is not quite as judged
	Paste     []Block       `json:"paste"`  // for the server's configuration
	Next      []string      `json:"next"`   // commands to try
}

// Exempt is what the limit would refuse of the site's own work, of health checks and of other monitors, which nothing else
// counts, and who should be exempt.
type Exempt struct {
	Requests  int64    `json:"requests"` // that would be refused, of the whole log
	Clients   int64    `json:"clients"`
	Addresses []string `json:"addresses"` // of findings, and of --exclude
	Pasted    bool     `json:"pasted"`    // whether the lines to paste let them through
	Passed    int64    `json:"-"`         // of Requests, those of the addresses
	Others    int64    `json:"-"`         // of the clients: those that only claim to be monitors, and stay limited
}

// AtRisk are the protected clients that sent more requests than the limit admits at once: no other can be hit.
type AtRisk struct {
	AtOnce    int64    `json:"at_once"` // requests that the limit admits at once
	Clients   int64    `json:"clients"`
	Hit       int64    `json:"clients_hit"`
	Validated int64    `json:"validated_clients"` // the same of the part that validates
	LateHit   int64    `json:"validated_clients_hit"`
	MostHit   *float64 `json:"most_hit_percent"` // of such clients, with 95 % confidence, by that part; nil: nothing shows it
}

// RefusedMost is a client that the limit refuses most.
type RefusedMost struct {
	Client   string   `json:"client"`
	Identity string   `json:"identity"`
	Agent    string   `json:"agent"`  // of most of its requests
	Action   string   `json:"action"` // likewise
	Requests int64    `json:"requests"`
	Refused  int64    `json:"refused"`
	Reasons  []string `json:"reasons"` // of the identity
}

// Heavy is a client that is more than half of what the limit refuses, and does nothing hostile, with the answer that there is
// without it.
type Heavy struct {
	RefusedMost
	RefusedOfAll int64  `json:"refused_of_all"`
	Verdict      string `json:"verdict_without"`
	Limit        string `json:"limit_without"` // "": none
}

// A Block is lines of a configuration that go to one place.
type Block struct {
	Place string   `json:"place"`
	Lines []string `json:"lines"`
}

// Affected is what the limit does to some clients.
type Affected struct {
	Who            string  `json:"who"`
	Clients        int64   `json:"clients"`
	Hit            int64   `json:"clients_hit"`
	Requests       int64   `json:"requests"`
	Refused        int64   `json:"refused"`
	RefusedPercent float64 `json:"refused_percent"` // of the requests
}

// Validated is what the limit does on the part of the log that had no say in choosing it.
type Validated struct {
	Holds    bool     `json:"holds"`
	Protects Affected `json:"protects"`
	Targets  Affected `json:"targets"`
}

// Reach is how much of the target any windows and buckets together could reach under the promise.
type Reach struct {
	Requests        int64   `json:"requests"`
	OfRequests      int64   `json:"of_requests"`
	RequestsPercent float64 `json:"requests_percent"`
	Clients         int64   `json:"clients"`
	OfClients       int64   `json:"of_clients"`
}

// A KeyReach is the same by another key.
type KeyReach struct {
	Key string `json:"key"`
	Reach
}

func newReach(r *suggest.Reach) Reach {
	return Reach{r.Requests, r.OfRequests, format.PercentOf(r.Requests, r.OfRequests), r.Clients, r.OfClients}
}

// Allows is how many requests the limit admits one client that sends flat out, from its first on.
type Allows struct {
	Minute int64 `json:"minute"`
	Hour   int64 `json:"hour"`
	Day    int64 `json:"day"`
}

// affected are the figures of a limit for some groups.
func affected(some who.Set, clients, requests *who.Groups, f *suggest.Figures) Affected {
	a := Affected{
		Who: some.String(), Clients: clients.Of(some), Hit: f.Hit.Of(some), Requests: requests.Of(some), Refused: f.Refused.Of(some),
	}
	a.RefusedPercent = format.PercentOf(a.Refused, a.Requests)
	return a
}

// fillVerdict computes the verdict. Site, For, Next and what to paste must be there.
func (s *Answer) fillVerdict() {
	if s.Verdict == nil {
		s.Verdict = &Verdict{}
	}
	v, a, n := s.Verdict, s.Advice, &s.Advice.Answer
	v.Verdict, v.Reason = n.Verdict.String(), cmp.Or(v.Reason, s.reason())
	v.Paste, v.Next, v.Search = append([]Block{}, v.Paste...), append([]string{}, v.Next...), []Crawler{}
	v.Most = append([]RefusedMost{}, v.Most...)
	w := a.Whole
	v.Protects = affected(a.Protected(), &w.Groups, &w.Requests, &n.Whole)
	v.Targets = affected(a.Target, &w.Groups, &w.Requests, &n.Whole)
	for _, c := range w.Crawlers {
		if c.Search {
			v.Search = append(v.Search, Crawler(c))
		}
	}
	if a.Reach != nil {
		r := newReach(a.Reach)
		v.Reach = &r
	}
	v.ByKey = []KeyReach{}
	for i := range a.ByKey {
		v.ByKey = append(v.ByKey, KeyReach{a.ByKey[i].Key.String(), newReach(&a.ByKey[i].Reach)})
	}
	if n.Broke != "" {
		v.Broke = &n.Broke
	}
	if n.Of == nil {
		return
	}
	v.Limit = &n.Limit
	if n.MostHit > 0 {
		percent := n.MostHit.Float()
		v.MostHit = &percent
	}
	if n.Any != nil {
		text, _ := a.Text(n.Any, n.Any.Chosen.Limit)
		v.Best = &text
	}
	if rest := a.Parts[suggest.Rest]; rest != nil && (n.Proof == suggest.Holds || n.Proof == suggest.Fails) {
		f := &n.Chosen.On[suggest.Rest]
		v.Validated = &Validated{
			n.Proof == suggest.Holds, affected(a.Protected(), &rest.Clients, &rest.Requests, f),
			affected(a.Target, &rest.Clients, &rest.Requests, f),
		}
	}
	v.AtRisk = s.atRisk()
	allows := leavesOf(n.Of.Shape, n.Chosen.Limit)
	v.Allows = &Allows{allows[0], allows[1], allows[2]}
}

// atRisk counts those who may be hit at all.
func (s *Answer) atRisk() *AtRisk {
	a, n := s.Advice, &s.Advice.Answer
	r := &AtRisk{AtOnce: a.Scale.Up(n.Chosen.Limit), Clients: a.Whole.AtRisk.Of(a.Protected()), Hit: n.Whole.Hit.Of(a.Protected())}
	if a.Parts[suggest.Rest] == nil {
		return r
	}
	r.Validated, r.LateHit = a.AtRisk()
	if r.Validated > 0 {
		most := suggest.MostHit(r.Validated, r.LateHit).Float()
		r.MostHit = &most
	}
	return r
}

// reason says in a sentence why the verdict is what it is.
func (s *Answer) reason() string {
	a, n := s.Advice, &s.Advice.Answer
	bound := ""
	if a.Reach != nil {
		bound = fmt.Sprintf(" (at most %s)%s", format.Percentage(format.PercentOf(a.Reach.Requests,
			a.Reach.OfRequests)), othersText(a))
	}
	switch n.Because {
	case suggest.Separates:
		return "the target sends faster than the protected clients"
	case suggest.Overlaps:
		if n.Verdict == suggest.NoLimitCan {
			return "the target sends no faster than the protected clients, so no limit by this key can separate them" + bound
		}
		return "no limit that keeps the promise refuses 5 % of the bots' requests" + bound
	case suggest.NoTarget:
		return "the target sent less than 1 % of the requests: the limit guards against what has not come yet"
	case suggest.NoOneThere:
		if n.Of != nil {
			return fmt.Sprintf("none of the protected %s sends such requests, so it goes by what it leaves to others", a.Protected())
		}
		return fmt.Sprintf("no %s sent a request, so nothing shows what would hurt them", a.Protected())
	case suggest.SparesAll:
		return fmt.Sprintf("%s broke its promise later in the log; this one hits nobody in the whole log, and still refuses a share "+
			"that matters", n.Broke)
	case suggest.FewToProtect:
		few, where := a.Whole.Groups.Of(a.Protected()), ""
		if rest := a.Parts[suggest.Rest]; rest != nil && n.Broke == "" {
			few, where = rest.Clients.Of(a.Protected()), " in the last part"
		}
		return fmt.Sprintf("too few protected clients%s (%s) to be 95 %% sure of at most %g %%", where, format.Thousands(few),
			suggest.Sure.Float())
	case suggest.FewLogIn:
		return fmt.Sprintf("%s log in here, and none is hit, so it goes by the guesses that it leaves: the fewest a day "+
			"of limits with %d at once and %d an hour", format.Count(a.Whole.Groups.Of(a.Protected()), "protected client"),
			suggest.TriesAtOnce, suggest.TriesAnHour)
	case suggest.FailedLater:
		return fmt.Sprintf("%s broke its promise later in the log, so only a limit that hits nobody is safe", n.Broke)
	}
	return "every limit that this log can judge hits more clients than the promise allows" + othersText(a)
}

// othersText says by which key a limit might separate where none by client can.
func othersText(a *suggest.Advice) string {
	best := a.Might()
	switch {
	case a.Answer.Verdict != suggest.NoLimitCan || len(a.ByKey) == 0:
		return ""
	case best == nil:
		return ", nor one by another key"
	}
	return fmt.Sprintf("; one by %s might (bound: %s)", best.Key, format.Percentage(format.PercentOf(best.Requests, best.OfRequests)))
}

// settings are the words of verdicts as people read them.
var verdictTexts = map[string]string{
	"deploy": "deploy", "deploy_unproven": "deploy in dry run: few people ever came near it", "ceiling": "ceiling", "no_limit_can": "no limit can", "not_judgeable": "not judgeable",
}

// labels are what a screen calls the verdicts.
var labels = map[string]string{
	"deploy": "DEPLOY", "deploy_unproven": "DEPLOY", "ceiling": "CEILING", "no_limit_can": "NO LIMIT", "not_judgeable": "NO ANSWER",
}

// text returns the verdict in words, without its label.
func (v *Verdict) text(limit string) string {
	text := map[string]string{
		"deploy": "in dry run: ", "deploy_unproven": "in dry run, as few people ever came near it: ", "ceiling": "a safety net: ",
	}[v.Verdict]
	switch {
	case v.Limit == nil:
		text = v.Reason
	case v.Verdict == "ceiling":
		text += limit + "; " + v.Reason
	case v.Verdict == "no_limit_can":
		text = v.Reason + "; the nearest is " + limit
	default:
		text += limit
	}
	if v.Sample != nil {
		text += " (by a sample)"
	}
	return text
}

// heavyText asks who the client is that is most of what the limit refuses; "" if none is.
func (v *Verdict) heavyText() string {
	h := v.Heavy
	if h == nil {
		return ""
	}
	without := "no limit can"
	if h.Limit != "" && h.Verdict != "no_limit_can" {
		without = h.Limit + ": " + verdictTexts[h.Verdict]
	}
	if v.Limit != nil && h.Limit == *v.Limit {
		without = "the same limit"
	}
	return fmt.Sprintf("who is %s? It is %s of what the limit refuses, and nothing shows an attack. Without it: %s", h.Client,
		format.Percentage(format.PercentOf(h.Refused, h.RefusedOfAll)), without)
}

// peopleText says what a limit does to clients to protect.
func (s *Answer) peopleText() string {
	v, w, hit := s.Verdict, s.Advice.Whole, &s.Advice.Answer.Whole.Hit
	protected := s.Advice.Protected()
	var parts []string
	count := func(some who.Set, what string) {
		if some &= protected; w.Groups.Of(some) > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s %s", format.Thousands(hit.Of(some)), format.Thousands(w.Groups.Of(some)), what))
		}
	}
	count(1<<who.Person|1<<who.Office, "people")
	count(1<<who.Undecided, "undecided")
	count(who.Everybody&^who.Browsers, "others")
	if parts == nil {
		return "none of those to protect sent such a request"
	}
	text := strings.Join(parts, ", ") + v.inSample() + " hit"
	n := w.Groups.Of(protected)
	if hit.Of(protected) == 1 && n < 100 && slices.ContainsFunc(s.Advice.Goals, func(g suggest.Goal) bool { return g.MayHit(n) == 1 }) {
		text += ", as may be where there are fewer than 100"
	}
	switch r := v.AtRisk; {
	case r.Clients == 0:
		text += fmt.Sprintf("; none ever sent more than %s", format.Count(r.AtOnce, "request"))
	default:
		text += fmt.Sprintf("; of the %s that ever sent more than %s: %s", format.Thousands(r.Clients), format.Thousands(r.AtOnce), format.Thousands(r.Hit))
	}
	return text
}

// expectText returns the bounds of what the limit does to others like them; "" where nothing shows it.
func (v *Verdict) expectText() string {
	if v.MostHit == nil {
		return ""
	}
	text := "expect at most " + format.Percentage(*v.MostHit) + " hit (95 % confidence)"
	switch r := v.AtRisk; {
	case r.MostHit == nil:
	case r.Validated-r.LateHit < suggest.LeastNear:
		text += fmt.Sprintf("; too few send more than %s to say it of these", format.Thousands(r.AtOnce))
	default:
		text += fmt.Sprintf("; of those that send more than %s, at most %s", format.Thousands(r.AtOnce), format.Percentage(*r.MostHit))
	}
	return text
}

// botsText says what a limit stops.
func (v *Verdict) botsText() string {
	t := &v.Targets
	if t.Requests == 0 {
		return "none came"
	}
	text := fmt.Sprintf("%s of %s refused%s", format.Percentage(t.RefusedPercent), format.Count(t.Requests, "request"),
		v.inSample())
	if p := v.Validated; p != nil {
		text += fmt.Sprintf("; %s in the last part, not used to choose", format.Percentage(p.Targets.RefusedPercent))
	}
	return text
}

// allowsText says what a client gets that sends as fast as it can.
func (v *Verdict) allowsText(guesses bool) string {
	what := "requests"
	if guesses {
		what = "guesses"
	}
	return fmt.Sprintf("still gets %s %s in the first minute, %s in an hour, %s in a day",
		format.Thousands(v.Allows.Minute), what, format.Thousands(v.Allows.Hour), format.Thousands(v.Allows.Day))
}

// text says who should be exempt, and why.
func (e *Exempt) text() string {
	if e == nil {
		return ""
	}
	names := format.List(e.Addresses, searchNamed)
	switch {
	case e.Clients == 0: // none is refused
		return names + ": what --exclude leaves out"
	case len(e.Addresses) == 0 || e.Others == e.Clients:
		return fmt.Sprintf("%s of clients that only say that they monitor are refused", format.Count(e.Requests, "request"))
	case e.Pasted:
		return fmt.Sprintf("%s (the site itself, monitors), in the lines: else %s are refused", names, format.Count(e.Requests, "request"))
	}
	return fmt.Sprintf("%s (the site itself, monitors) by hand: else %s are refused", names, format.Count(e.Requests, "request"))
}

// searchNamed is how many search engines are named.
const searchNamed = 3

// searchText says what happens to search engines.
func (v *Verdict) searchText() string {
	if len(v.Search) == 0 {
		return ""
	}
	var names []string
	requests, refused := int64(0), int64(0)
	for _, c := range v.Search {
		requests, refused = requests+c.Requests, refused+c.Refused
		name := c.Name
		if c.Refused > 0 {
			name += fmt.Sprintf(" (%s of %s refused)", format.Thousands(c.Refused), format.Thousands(c.Requests))
		}
		names = append(names, name)
	}
	text := format.List(names, searchNamed) + ": " + format.Count(requests, "request")
	if refused == 0 {
		text += ", none refused"
	}
	return strings.TrimSpace(text)
}
