package advice

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/suggest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/report/format"
)

// The verdict in words, for screens and pages: a sentence that says why, and a line for each thing that the limit does.

// largest is a command that lists the clients that sent most, since its limit refuses nearly all that they sent.
const largest = "shadow replay LOG --limit window:1/1h --no-store"

// reason says in a sentence why the verdict is what it is.
func (s *Answer) reason() string {
	a, n := s.Advice, &s.Advice.Answer
	switch n.Because {
	case suggest.Separates:
		text := "the target sends faster than the protected clients"
		if a.Capped() {
			text += "; stricter limits that hit no more of these would refuse over half of the log, which may be what the site is for"
		}
		return text
	case suggest.Overlaps:
		if w := a.Whole; n.Verdict == suggest.NoLimitCan {
			return fmt.Sprintf("the target (%s, %s) sends no faster than the protected clients, so no limit by this key can "+
				"separate them", format.Count(w.Groups.Of(a.Target), "client"),
				format.Count(w.Requests.Of(a.Target), "request")) + othersText(a)
		}
		whose := "bots' "
		if a.Target&a.Protected() != 0 {
			whose = ""
		}
		fit := "fit to deploy" // by the promise, in pace and in what it forgets
		if a.Short || s.Action != "" {
			fit = "that keeps the promise" // of those that a flag names nothing else is asked
		}
		return "no limit " + fit + " refuses 5 % of the " + whose + "requests"
	case suggest.NoTarget:
		text := "the target, as far as it is known, sent less than 1 % of the requests: the limit guards against what may come"
		if all := a.Whole.Requests; 10*all[who.Undecided] >= all.Of(who.Everybody) {
			text += "; nothing shows who sent " + format.Percentage(format.PercentOf(all[who.Undecided], all.Of(who.Everybody)))
			if s.Action == "" {
				text += ": " + largest + " lists the largest"
			}
		}
		return text
	case suggest.NoOneThere:
		if n.Of != nil {
			none := "none of the protected %s sends such requests"
			if a.Whole.Groups.Of(a.Protected()) > 0 {
				none = "protected %s send such requests only in the last part"
			}
			return fmt.Sprintf(none+", so it goes by what it leaves to others", a.Protected())
		}
		return fmt.Sprintf("no %s sent a request, so nothing shows what would hurt them", a.Protected())
	case suggest.SparesAll:
		return s.brokeText() + "; this one hits no client in the whole log, and still refuses a share that matters"
	case suggest.FewToProtect:
		few, where := a.Whole.Groups.Of(a.Protected()), ""
		if rest := a.Parts[suggest.Rest]; rest != nil && n.Broke == "" {
			few, where = rest.Clients.Of(a.Protected()), " in the last part"
		}
		return fmt.Sprintf("too few protected clients%s (%s) to be 95 %% sure of at most %g %%", where, format.Thousands(few),
			suggest.Sure.Float())
	case suggest.NearRefused:
		return fmt.Sprintf("of the %s that ever sent more it hits %s", format.Count(a.Whole.AtRisk.Of(a.Protected()), "protected client"),
			format.Thousands(n.Whole.Hit.Of(a.Protected())))
	case suggest.NoPeople:
		return "none of the clients to protect shows that it is a person, and few came near it"
	case suggest.FewLogIn:
		return fmt.Sprintf("%s log in here, and none is hit, so it goes by the guesses that it leaves: the fewest a day "+
			"of limits with %d at once and %d an hour", format.Count(a.Whole.Groups.Of(a.Protected()), "protected client"),
			suggest.TriesAtOnce, suggest.TriesAnHour)
	case suggest.FailedLater:
		return s.brokeText() + ", so only a limit that hits no client is safe"
	}
	switch {
	case a.AllCapped():
		return "limits that keep the promise would refuse over half of the log: if the site is not for that, --exclude who sends it"
	case a.Unfit():
		return "limits that keep the promise are slower than people who load one page after the other, or take longer to " +
			"forget than --recover: --rate or --per asks for such"
	}
	return "every limit that this log can judge hits more clients than the promise allows" + othersText(a)
}

// brokeText says which limit broke its promise, and on which client.
func (s *Answer) brokeText() string {
	text := s.Advice.Answer.Broke + " broke its promise later in the log"
	if c := s.Verdict.BrokeOn; c != nil {
		text += fmt.Sprintf(" (%s, %s: %s of %s refused)", named(c.Client), c.Identity, format.Thousands(c.Refused),
			format.Count(c.Requests, "request"))
	}
	return text
}

// otherKeys says that a few keys do not separate: a log has more, such as wider networks.
const otherKeys = ", nor one by the other keys tried here (shadow keys tries more)"

// othersText says by which key a limit might separate where none by client can.
func othersText(a *suggest.Advice) string {
	best := a.Might()
	switch aim, found := a.Aim(); {
	case a.Answer.Verdict != suggest.NoLimitCan || len(a.ByKey) == 0:
		return ""
	case found:
		return otherKeys + "; most of its requests are for " + a.Whole.Tables.ShownAction(aim) + ": ask for that action alone"
	case best == nil:
		return otherKeys
	}
	return fmt.Sprintf("; limits by %s may refuse up to %s of the target's requests: ask shadow keys", best.Key,
		format.Percentage(format.PercentOf(best.Requests, best.OfRequests)))
}

// A wording is what people read of a verdict.
type wording struct {
	label string // on a screen
	words string // on a page
	how   string // before the limit
}

var wordings = map[string]wording{
	"deploy":          {"DEPLOY", "deploy", dryRun + ": "},
	"deploy_unproven": {"DEPLOY", "deploy " + dryRun + ": few or no people came near it", dryRun + ", as few or no people came near: "},
	"ceiling":         {"CEILING", "ceiling", "a safety net: "},
	"no_limit_can":    {"NO LIMIT", "no limit can", ""},
	"not_judgeable":   {"NO ANSWER", "not judgeable", ""},
}

// wording returns that of the verdict, on a limit of the answer's server, which may have no dry run. A ceiling that too few
// clients show may stop much.
func (s *Answer) wording() wording {
	if n := &s.Advice.Answer; n.Because == suggest.FewToProtect {
		return wording{"UNSURE", "unsure: too few clients to protect", ""}
	} else if n.Unsure() {
		return wording{"UNSURE", "unsure: few came near it", ""}
	}
	w := wordings[s.Verdict.Verdict]
	nothing := s.Verdict.Limit != nil && len(s.Verdict.Paste) == 0
	if s.Server != "" && (s.Watch.Count == "" || nothing) {
		const instead = "after a replay of the next days"
		w.words, w.how = strings.Replace(w.words, dryRun, instead, 1), strings.Replace(w.how, dryRun, instead, 1)
	}
	return w
}

const dryRun = "in dry run"

// verdictText returns the verdict in words, without its label.
func (s *Answer) verdictText() string {
	v := s.Verdict
	if v.Limit == nil {
		return v.Reason
	}
	text := s.wording().how + s.limitText() + s.hitsText()
	if v.Verdict == "ceiling" {
		text += "; " + v.Reason
	}
	return text
}

// Headline returns the verdict in a sentence.
func (s *Answer) Headline() string { return s.wording().label + " " + s.verdictText() }

// hitsText says how many clients the limit hits, without those that the lines let through.
func (s *Answer) hitsText() string {
	n := s.Advice.Answer.Whole.Hit.Of(who.Everybody)
	if e := s.Verdict.Exempt; e != nil && e.Pasted {
		n -= int64(e.Through)
	}
	return fmt.Sprintf("; hits %s of %s", format.Thousands(n), format.Thousands(s.Advice.Whole.Groups.Of(who.Everybody)))
}

// betterText names a limit for one action; "" without one.
func (s *Answer) betterText() string {
	o := s.Verdict.OfAction
	if o == nil {
		return ""
	}
	text := fmt.Sprintf("for %s alone, %s refuses %s there", named(o.Action), o.Limit, format.Percentage(o.RefusedPercent))
	if o.Over {
		text += ", none in the last part"
	}
	if o.Verdict == suggest.SafetyNet.String() {
		text += ", unsure"
	}
	return text + ": see next"
}

// heavyText asks who the client is that is most of what the limit refuses, and who the others are of those named that are a
// tenth or more of it, and whose the other programs are; "" if none is. A search engine has said who it is.
func (s *Answer) heavyText() string {
	h := s.Verdict.Heavy
	if h == nil || h.Identity == who.Search.One() {
		return ""
	}
	names, refused, exclude := []string{h.Client}, h.Refused, ""
	others := s.Advice.Answer.Whole.Hit[who.Program]
	for _, c := range s.Verdict.Most {
		switch {
		case c.Client == h.Client:
		case 10*c.Refused >= h.RefusedOfAll && !who.Hostile.Names(c.Identity):
			names, refused = append(names, c.Client), refused+c.Refused
		default:
			continue
		}
		if c.Identity == who.Program.One() {
			others--
		}
	}
	for _, name := range names {
		if _, err := netip.ParseAddr(name); err == nil {
			exclude += " --exclude " + name
		}
	}
	is, it, yours := "who is", "It is", "it is"
	if len(names) > 1 {
		is, it, yours = "who are", "They are", "they are"
	}
	text := fmt.Sprintf("%s %s? %s %s of what the limit refuses, and nothing shows an attack", is, strings.Join(names, ", "), it,
		format.Percentage(format.PercentOf(refused, h.RefusedOfAll)))
	if exclude != "" {
		text += fmt.Sprintf(". If %s yours, ask again with%s", yours, exclude)
	}
	if others > 0 && s.Advice.Protected()&(1<<who.Program) == 0 {
		text += fmt.Sprintf(". Are the other programs (%s) yours, or your customers'?", format.Thousands(others))
	}
	return text
}

// ownText asks whether the programs that a limit refuses are the operator's, where more than a quarter of what it
// refuses is theirs; "" elsewhere.
func (s *Answer) ownText() string {
	refused := &s.Advice.Answer.Whole.Refused
	if s.Verdict.Limit == nil || s.Advice.Protected()&(1<<who.Program) != 0 || 4*refused[who.Program] <= refused.Of(who.Everybody) {
		return ""
	}
	return "are the programs it refuses yours, or your customers'? None of them attacks or hides: --exclude what may go on"
}

// lossText asks whether search engines may lose a tenth of their requests; "" where they do not, or are protected.
func (s *Answer) lossText() string {
	requests, refused := s.Verdict.searches()
	if refused == 0 || 10*refused < requests || s.Advice.Protected()&(1<<who.Search) != 0 {
		return ""
	}
	return fmt.Sprintf("may search engines lose %s of their requests? --protect search=100%%, beside --protect browsers=99.9%%, spares them",
		format.Percentage(format.PercentOf(refused, requests)))
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
	count(1<<who.Program, "programs")
	count(who.Everybody&^who.Browsers&^(1<<who.Program), "others")
	if parts == nil {
		return "none of those to protect sent such a request"
	}
	text := strings.Join(parts, ", ") + " hit"
	if c := v.Harmed; c != nil {
		text += fmt.Sprintf(" (most %s, %s: %s of %s)", named(c.Client), c.Identity, format.Thousands(c.Refused),
			format.Thousands(c.Requests))
	}
	n := w.Groups.Of(protected)
	if hit.Of(protected) == 1 && n < 100 && slices.ContainsFunc(s.Advice.Goals, func(g suggest.Goal) bool { return g.MayHit(n) == 1 }) {
		text += ", as may be where there are fewer than 100"
	}
	atOnce := s.Advice.Answer.Chosen.Limit // of the log as it is, without the scale
	if r := v.AtRisk; r.Clients == 0 {
		text += fmt.Sprintf("; none ever sent more than %s", format.Count(atOnce, "request"))
	} else {
		text += fmt.Sprintf("; of the %s that ever sent more than %s: %s", format.Thousands(r.Clients),
			format.Thousands(atOnce), format.Thousands(r.Hit))
	}
	return text
}

// expectText returns the bounds of what the limit does to others like them; "" where nothing shows it.
func (s *Answer) expectText() string {
	v := s.Verdict
	switch {
	case s.Advice.Answer.Because == suggest.FewLogIn:
		return "too few log in here to say how many others like them it may hit"
	case v.MostHit == nil:
		return ""
	}
	text := "expect at most " + format.Percentage(*v.MostHit) + " hit (95 % confidence)"
	switch r := v.AtRisk; {
	case r.MostHit == nil:
	case r.Validated-r.LateHit < suggest.LeastNear:
		text += "; too few send more to say it of them"
	default:
		text += "; of those that send more, at most " + format.Percentage(*r.MostHit)
	}
	return text
}

// botsText says what a limit stops.
func (v *Verdict) botsText() string {
	t := &v.Targets
	if t.Requests == 0 {
		return "none known"
	}
	text := fmt.Sprintf("%s of %s refused", format.Percentage(t.RefusedPercent), format.Count(t.Requests, "request"))
	if p := v.Validated; p != nil && p.Targets.Requests == 0 {
		text += "; none came in the last part"
	} else if p != nil {
		text += fmt.Sprintf("; %s in the last part, not used to choose", format.Percentage(p.Targets.RefusedPercent))
	}
	return text
}

// attackerText says how many attackers are hit, and what each gets that sends as fast as it can.
func (s *Answer) attackerText() string {
	v, w := s.Verdict, s.Advice.Whole
	what := "requests"
	if match.IsLogin(s.Action) {
		what = "guesses"
	}
	var text string
	if v.Allows == nil {
		text = fmt.Sprintf("still gets any number of %s, %s at a time", what, format.Thousands(v.AtRisk.AtOnce))
	} else {
		text = fmt.Sprintf("still gets %s %s in the first minute, %s in an hour", format.Thousands(v.Allows.Minute), what,
			format.Thousands(v.Allows.Hour))
	}
	n := w.Groups[who.Attacker]
	if n == 0 {
		return text
	}
	if n > 1 {
		text = "each " + text
	}
	hit := s.Advice.Answer.Whole.Hit[who.Attacker]
	return fmt.Sprintf("%s of %s hit; %s", format.Thousands(hit), format.Thousands(n), text)
}

// text says who should be exempt, and why.
func (e *Exempt) text(pasted bool) string {
	if e == nil {
		return ""
	}
	names, claimed := strings.Join(e.Addresses, ", "), ""
	if e.Others > 0 {
		claimed = fmt.Sprintf("%s of %s that only say that they monitor the site or work for it are refused",
			format.Count(e.Claimed, "request"), format.Count(e.Others, "client"))
	}
	if n := len(e.Addresses); pasted && n > searchNamed {
		names = fmt.Sprintf("the %d addresses in the lines", n)
	}
	where := map[bool]string{true: "in the lines", false: "by hand"}[e.Pasted]
	text := fmt.Sprintf("if yours, as it seems: %s, else %s are refused: %s", where, format.Count(e.Requests-e.Claimed, "request"), names)
	switch {
	case e.Clients == 0: // none is refused
		return names + ": what --exclude leaves out"
	case e.Others == e.Clients:
		return "none: " + claimed
	case len(e.Addresses) == 0: // which are not to be named
		return format.Count(e.Requests, "request") + " of own work or monitors are refused"
	case claimed != "":
		return text + "; " + claimed
	}
	return text
}
