package advice

import (
	"cmp"
	"fmt"
	"strings"

	"shadow/findings"
	"shadow/report/format"
	"shadow/suggest"
)

// A Verdict is the answer to the question: whether to deploy a limit, which, and what it does. Figures are those of the
// whole log unless they say otherwise.
type Verdict struct {
	Verdict   string        `json:"verdict"` // deploy, ceiling, no_limit_can or not_judgeable
	Reason    string        `json:"reason"`  // in a sentence
	Site      findings.Site `json:"site"`    // people, api or unknown
	For       string        `json:"for"`     // the server that has the limit; any: none was asked for
	Limit     *string       `json:"limit"`   // as --limit takes it; nil: there is none
	Protects  Affected      `json:"protects"`
	Targets   Affected      `json:"targets"`
	MostHit   *float64      `json:"most_hit_percent"` // of the protected clients, with 95 % confidence; nil: nothing shows it
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
func affected(who suggest.Set, clients, requests *suggest.Groups, f *suggest.Figures) Affected {
	a := Affected{
		Who: who.String(), Clients: clients.Of(who), Hit: f.Hit.Of(who), Requests: requests.Of(who), Refused: f.Refused.Of(who),
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
	allows := leavesOf(n.Of.Shape, n.Chosen.Limit)
	v.Allows = &Allows{allows[0], allows[1], allows[2]}
}

// reason says in a sentence why the verdict is what it is.
func (s *Answer) reason() string {
	a, n := s.Advice, &s.Advice.Answer
	bound := ""
	if a.Reach != nil {
		bound = fmt.Sprintf(" (bound: %s of the target requests)%s", format.Percentage(format.PercentOf(a.Reach.Requests,
			a.Reach.OfRequests)), othersText(a))
	}
	switch n.Because {
	case suggest.Separates:
		return "the target sends faster than the protected clients"
	case suggest.Overlaps:
		if n.Verdict == suggest.NoLimitCan {
			return "the target sends no faster than the protected clients, so no limit by this key can separate them" + bound
		}
		return "no limit that keeps the promise refuses 5 % of the target requests" + bound
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
	"deploy": "deploy", "ceiling": "ceiling", "no_limit_can": "no limit can", "not_judgeable": "not judgeable",
}

// text is the verdict's line.
func (v *Verdict) text() string {
	if v.Sample != nil {
		return verdictTexts[v.Verdict] + ", by a sample: " + v.Reason
	}
	return verdictTexts[v.Verdict] + ": " + v.Reason
}

// text says what a limit does to clients to protect.
func (v *Verdict) protectsText() string {
	p := &v.Protects
	text := fmt.Sprintf("%s %s%s: ", format.Thousands(p.Clients), p.Who, v.inSample())
	if p.Hit == 0 {
		text += "none hit"
	} else {
		text += format.Thousands(p.Hit) + " hit"
	}
	if v.MostHit != nil {
		text += "; 95 % sure that at most " + format.Percentage(*v.MostHit) + " would be"
		if n := v.Validated; n != nil && v.Broke == nil && n.Protects.Clients < p.Clients {
			text += ", by the " + format.Thousands(n.Protects.Clients) + " of the last part"
		}
	}
	return text
}

// targetsText says what a limit stops.
func (v *Verdict) targetsText() string {
	t := &v.Targets
	text := fmt.Sprintf("%s of %s target requests%s (%s), %s of %s clients", format.Thousands(t.Refused),
		format.Thousands(t.Requests), v.inSample(), format.Percentage(t.RefusedPercent), format.Thousands(t.Hit), format.Thousands(t.Clients))
	if p := v.Validated; p != nil {
		text += fmt.Sprintf("; on the last part, which chose nothing, %s of %s, and %s of %s protected clients hit",
			format.Thousands(p.Targets.Refused), format.Thousands(p.Targets.Requests), format.Thousands(p.Protects.Hit),
			format.Thousands(p.Protects.Clients))
	}
	return text
}

// allowsText says what a client gets that sends as fast as it can.
func (v *Verdict) allowsText(guesses bool) string {
	what := "requests"
	if guesses {
		what = "guesses"
	}
	return fmt.Sprintf("one client flat out: %s %s in the first minute, %s an hour, %s a day",
		format.Thousands(v.Allows.Minute), what, format.Thousands(v.Allows.Hour), format.Thousands(v.Allows.Day))
}

// text says who should be exempt, and why.
func (e *Exempt) text() string {
	if e == nil {
		return ""
	}
	who, whose := format.List(e.Addresses, searchNamed), "the site itself"
	switch {
	case len(e.Addresses) == 0:
		who = "nobody by address: it refuses"
	case e.Clients > 0 && e.Others == e.Clients:
		who += "; it refuses"
	case e.Pasted:
		who += ", as in the lines: else they refuse"
	default:
		who += ": else it refuses"
	}
	switch {
	case e.Clients == 0: // none is refused
		return strings.TrimSuffix(strings.TrimSuffix(who, ": else it refuses"), ": else they refuse") + ": what --exclude leaves out"
	case e.Others == e.Clients:
		whose = "other monitors"
	case e.Others > 0:
		whose += " or other monitors"
	}
	return fmt.Sprintf("%s %s of %s (%s)", who, format.Count(e.Requests, "request"), whose, format.Count(e.Clients, "client"))
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
