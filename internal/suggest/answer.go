package suggest

import (
	"slices"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// The answer is one limit that an operator would deploy, or the reason why there is none. It is looked for in the
// market: of the best family the smallest limit that keeps the promise on both parts that choose, as the server itself
// counts. From there it is loosened as far as that costs next to nothing of what it stops: the room is for people who have
// not been seen yet. What the third part says of it is no choice any more.

// A Verdict is what to do with the answer.
type Verdict uint8

// The verdicts.
const (
	Deploy       Verdict = iota // it keeps the promise on all parts, and refuses a share of the target that matters
	Unproven                    // likewise, but few who are protected ever came near it
	SafetyNet                   // it hits no client to protect, and stops little
	NoLimitCan                  // no limit by this key reaches the target under the promise
	NotJudgeable                // something about the log forbids an answer
)

var verdictNames = [...]string{"deploy", "deploy_unproven", "ceiling", "no_limit_can", "not_judgeable"}

// String is the verdict as JSON has it.
func (v Verdict) String() string { return verdictNames[v] }

// Answer is the verdict with its limit.
type Answer struct {
	Verdict Verdict
	Because Because
	Limit   string      // as replay takes it, with the scale in it; "" if there is none
	Of      *Suggestion // nil if there is none
	Chosen  Candidate   // what it does on each part
	Proof   Proof       // what the rest says of it
	MostHit Percent     // the share of protected clients that it hits at most, with 95 % confidence, by the rest; 0: unknown
	Whole   Figures     // what it does on the whole log
	Any     *Suggestion // the best of all limits, if it stops at least half as much again; nil: it does not
	Broke   string      // the limit that seemed the answer, until the rest of the log broke its promise; "" if none did
	loose   bool        // whether it was chosen to hit no client
}

// Because is the reason of a verdict, which a report puts into words.
type Because uint8

// The reasons.
const (
	Separates    Because = iota // the limit tells the target from the protected
	Overlaps                    // target and protected send alike
	NoTarget                    // there is no target
	NoOneThere                  // there is no client to protect
	FailedLater                 // the promise broke on the part that validates
	SparesAll                   // likewise, but a limit that hits no client in the whole log refuses a share that matters
	NothingKeeps                // every limit breaks the promise
	FewToProtect                // so few are seen that hitting none of them shows little
	NearRefused                 // few came near it, and of these it refuses a share that matters
	NoPeople                    // likewise, on a site for people, and no client to protect is known to be one
	FewLogIn                    // so few log in that the answer goes by the guesses that it leaves
	Forbidden                   // a finding forbids an answer
)

// A Reach is how much of the target any windows and buckets together could reach under the promise.
type Reach struct {
	Requests, OfRequests int64
	Clients, OfClients   int64
}

// A KeyReach is the same by another key.
type KeyReach struct {
	Key request.Key
	Reach
	Fullest int64 // the most clients of the target that share one bucket; 0: none do
}

// Might is the simplest key by which limits reach nearly as much of the target as by any, nil if none is known by which they
// reach a share that matters. A key that tells no clients apart is none: protected clients use up what it allows, and the bound
// does not know.
func (a *Advice) Might() *KeyReach {
	most := int64(0)
	lumps := func(k request.Key) bool { return k == request.ByAction || k == request.BySite }
	for _, k := range a.ByKey {
		if !lumps(k.Key) {
			most = max(most, k.Requests)
		}
	}
	i := slices.IndexFunc(a.ByKey, func(k KeyReach) bool {
		return !lumps(k.Key) && share(k.Requests, k.OfRequests, matters) && share(k.Requests, most, nearlyAll)
	})
	if i < 0 {
		return nil
	}
	return &a.ByKey[i]
}

// mostly is the share of the target's requests, in percent, of an action that the target is there for.
const mostly = 50

// Aim returns the action that most of the target's requests are for, where no limit by client and none by another key tried
// can separate: a limit for that action alone might.
func (a *Advice) Aim() (action int32, found bool) {
	if a.Action != "" || a.Answer.Verdict != NoLimitCan || len(a.ByKey) == 0 || a.Might() != nil {
		return 0, false
	}
	busiest := a.Whole.Busiest(mostly)
	if len(busiest) == 0 || a.bothSides() || !a.Whole.narrows(busiest[0]) {
		return 0, false
	}
	return busiest[0], true
}

// Shares of the target's requests, in percent.
const (
	matters   = 5  // what a limit must refuse to be worth deploying
	someone   = 1  // of all requests, that the target must have sent to be one
	reachable = 1  // what must be in reach for a safety net to be the answer
	nearlyAll = 80 // of what the best key reaches, that a simpler one must reach to be named in its place
	kept      = 95 // what a looser limit must keep of what a stricter one refuses
)

// share reports whether part is at least so many percent of all.
func share(part, all, percent int64) bool { return all > 0 && part*100 >= all*percent }

// targeted counts the requests of the target on the parts that choose.
func (a *Advice) targeted() (requests int64) {
	for _, p := range a.Choosing() {
		requests += p.Requests.Of(a.Target)
	}
	return requests
}

// market is the limits among which the answer is.
func (a *Advice) market() []Suggestion {
	if a.Server.Server != nil {
		return a.Own
	}
	return a.Suggestions
}

// settle takes of each family that was looked at the smallest limit that keeps the promise in the server's own arithmetic.
func (a *Advice) settle() {
	for i := range a.Own {
		s := &a.Own[i]
		if s.Why != Found {
			continue
		}
		if s.tries == nil { // not among the best
			s.Why = Broken
			continue
		}
		k := slices.IndexFunc(s.tries, func(c Candidate) bool { return a.keeps(&c, a.Keeps) })
		if k < 0 {
			s.Why = Broken
			continue
		}
		s.Chosen = s.tries[k]
	}
}

// pick chooses the answer among limits that separate.
func (a *Advice) pick() {
	if a.byGuesses() {
		return
	}
	best := a.deployable(slices.Concat(a.market(), a.Looser))
	if best == nil || !share(a.RefusedTarget(&best.Chosen), a.targeted(), matters) {
		return
	}
	chosen := best.Chosen
	for _, c := range best.tries {
		roomy := a.isLogin() && chosen.Limit >= TriesAtOnce // more would be guesses
		if c.Limit > chosen.Limit && !roomy && share(a.RefusedTarget(&c), a.RefusedTarget(&best.Chosen), kept) &&
			a.keeps(&c, a.Keeps) {
			chosen = c
		}
	}
	if a.bothSides() && !a.farAbove(best) {
		return
	}
	a.take(best, chosen)
	if top := a.BestOfAll(); len(top) > 0 && a.Server.Server != nil &&
		2*a.RefusedTarget(&top[0].Chosen) >= 3*a.RefusedTarget(&chosen) {
		a.Answer.Any = top[0]
	}
}

// WhyLooser says why the answer may be looser than the least limit that hits no client to protect.
func (a *Answer) WhyLooser() string {
	switch {
	case a.loose:
		return "the next client may be busier than any of these"
	case a.Broke != "":
		return "a stricter one failed on the part of the log where it was not chosen"
	}
	return "the promise is kept on each part of the log, and at least 95 % of what the strictest such limit refuses is refused"
}

// farAbove reports whether those that a limit hits send far more than it admits: twice the limit refuses at least half
// as much. Where all clients are protected and all are the target, any limit that hits one in a hundred hits some
// client. Only those who stand out are worth it.
func (a *Advice) farAbove(s *Suggestion) bool {
	for _, c := range s.tries {
		if c.Limit >= 2*s.Chosen.Limit {
			return share(a.RefusedTarget(&c), a.RefusedTarget(&s.Chosen), 50)
		}
	}
	return false
}

// take makes a limit the answer, and tells what the rest says of it.
func (a *Advice) take(s *Suggestion, c Candidate) {
	text, ok := s.family.scaled(a.Scale, c.Limit)
	if !ok {
		return
	}
	a.Answer = Answer{Limit: text, Of: s, Chosen: c, Broke: a.Answer.Broke}
	rest := a.Parts[Rest]
	if rest == nil {
		return
	}
	clients, hit := rest.Clients.Of(a.Protected()), c.On[Rest].Hit.Of(a.Protected())
	switch {
	case clients == 0:
		a.Answer.Proof = Nothing
	case a.Keeps(&c.On[Rest], &rest.Clients):
		a.Answer.Proof, a.Answer.MostHit = Holds, MostHit(clients, hit)
	default:
		a.Answer.Proof = Fails
	}
}

// failed reports whether the answer broke its promise where it was not chosen, and gives it up then.
func (a *Advice) failed() bool {
	n := &a.Answer
	switch {
	case n.Of == nil && a.excess: // looser ones may refuse less
		a.room += 50
		return true
	case n.Of == nil || len(a.Ceilings) > 0:
		return false
	case n.loose && n.Broke == "" && a.Parts[Rest] != nil && !a.hitsNone(&n.Chosen.On[Rest]): // it has a say from now on
		a.breaks()
		return true
	case n.loose && (!a.hitsNone(&n.Whole) || a.excessiveOnAll()): // a burst lies across a cut
		a.room += 25
		a.Answer = Answer{Broke: n.Broke}
		return true
	case a.excessiveOnAll():
		of, from, broke := n.Of, n.Chosen.Limit, n.Broke
		a.Answer, a.tooMuch = Answer{Broke: broke}, true
		if i := slices.IndexFunc(of.tries, func(c Candidate) bool { return c.Limit > from }); i >= 0 {
			a.take(of, of.tries[i])
		}
		return true
	case n.Proof != Fails && a.Keeps(&n.Whole, &a.Whole.Groups):
		if n.loose || a.worth() {
			return false
		}
		a.Answer = Answer{Broke: n.Broke} // it stops little on the whole log, so one that hits none will do
		return true
	}
	a.breaks()
	return true
}

// breaks gives the answer up, as it broke its promise.
func (a *Advice) breaks() {
	a.Broken = a.Whole.Harmed
	a.Answer = Answer{Broke: a.Answer.Limit}
}

// excessiveOnAll reports whether the answer refuses more than half of the whole log, attackers aside.
func (a *Advice) excessiveOnAll() bool {
	return a.Action == "" && 2*a.Answer.Whole.Refused.Of(usual) > a.Whole.Requests.Of(who.Everybody)
}

// Sure is the largest share of protected clients that a limit may hit and be deployed, with 95 % confidence, unless the
// user says which to protect. That it hits none of 29 shows as much.
const Sure Percent = 10_000_000

// unsure reports whether too few protected clients were seen to show that. Where nothing was held out, those count that
// the limit was chosen on.
func (a *Advice) unsure() bool {
	n := &a.Answer
	bound := n.MostHit
	switch {
	case a.Stated:
		return false
	case a.Parts[Rest] == nil && bound == 0:
		bound = MostHit(a.Whole.Groups.Of(a.Protected()), n.Whole.Hit.Of(a.Protected()))
	}
	return bound == 0 || bound > Sure
}

// fewest is the least number of protected clients, where passwords are tried, that say what people need there.
const fewest = 20

// People mistype passwords, and come again: at least so many tries are admitted at once, and an hour in the long run.
const (
	TriesAtOnce = 5
	TriesAnHour = 20
)

// leastTries is the smallest limit of a shape that admits as many; false if none does.
func leastTries(s sweep.Shape) (n int64, ok bool) {
	if s.Kind == sweep.Token {
		return TriesAtOnce, ceilProduct(s.Rate.Count, int64(limit.Hour), int64(s.Rate.Per)) >= TriesAnHour
	}
	return max(TriesAtOnce, ceilProduct(TriesAnHour, int64(s.Per), int64(limit.Hour))), true
}

// byGuesses reports whether the answer goes by the guesses that it leaves: passwords are tried there, and hardly any
// other client comes. What sent such requests on the whole log must be known.
func (a *Advice) byGuesses() bool {
	n := a.Whole.Groups.Of(a.Protected())
	return a.isLogin() && !a.Stated && !a.bothSides() && 0 < n && n < fewest
}

// isLogin reports whether the answer is about an action at which passwords are tried.
func (a *Advice) isLogin() bool { return a.Action != "" && match.IsLogin(a.Action) }

// worth reports whether the answer refuses a share of the target that matters, on the whole log.
func (a *Advice) worth() bool {
	return share(a.Whole.Requests.Of(a.Target), a.Whole.Requests.Of(who.Everybody), someone) &&
		share(a.Answer.Whole.Refused.Of(a.Target), a.Whole.Requests.Of(a.Target), matters)
}

// Forbid takes the answer back, as something about the log forbids one.
func (a *Advice) Forbid() { a.withdraw(NotJudgeable, Forbidden) }

// withdraw leaves a verdict without a limit, and nothing of what one does.
func (a *Advice) withdraw(v Verdict, why Because) {
	a.Answer, a.Broken = Answer{Verdict: v, Because: why}, nil
	if a.Whole != nil {
		a.Whole.forget()
	}
}

// Admits returns how many requests the answer admits one client in less than a time, with the scale in it.
func (a *Advice) Admits(time limit.Time) int64 {
	of := a.Answer.Of
	shape := of.Shape
	if rate := &shape.Rate; shape.Kind == sweep.Token && !a.Scale.One() {
		if count, per, ok := a.Scale.times(rate.Count, rate.Per); ok && of.family.own == nil {
			rate.Count, rate.Per = count, per
		} else {
			rate.Count = a.Scale.Up(rate.Count)
		}
	}
	return admits(a.Answer.Limit, shape, a.Scale.Up(a.Answer.Chosen.Limit), time)
}

// judge gives the verdict. What the answer does to the whole log must be known.
func (a *Advice) judge() {
	n := &a.Answer
	why, unproven := a.unproven()
	unreachable := a.Reach != nil && !share(a.Reach.Requests, a.Reach.OfRequests, reachable)
	switch {
	case n.Of == nil && a.Whole.Groups.Of(a.Protected()) == 0:
		n.Verdict, n.Because = NotJudgeable, NoOneThere
	case n.Of == nil:
		n.Verdict, n.Because = NoLimitCan, NothingKeeps
	case len(a.Ceilings) > 0:
		n.Verdict, n.Because = SafetyNet, NoOneThere
	case a.byGuesses() && a.worth():
		n.Verdict, n.Because = Deploy, FewLogIn
	case a.byGuesses():
		n.Verdict, n.Because = SafetyNet, FewLogIn
	case a.worth() && a.unsure():
		n.Verdict, n.Because = SafetyNet, FewToProtect
	case a.worth() && unproven:
		n.Verdict, n.Because = SafetyNet, why
	case a.worth() && n.Broke != "":
		n.Verdict, n.Because = Deploy, SparesAll
	case a.worth():
		n.Verdict, n.Because = Deploy, Separates
	case !share(a.Whole.Requests.Of(a.Target), a.Whole.Requests.Of(who.Everybody), someone):
		n.Verdict, n.Because = SafetyNet, NoTarget
	case unreachable:
		n.Verdict, n.Because = NoLimitCan, Overlaps
	case n.Broke != "":
		n.Verdict, n.Because = SafetyNet, FailedLater
	default:
		n.Verdict, n.Because = SafetyNet, Overlaps
	}
	switch {
	case n.Verdict == Deploy && !a.proven():
		n.Verdict = Unproven
	case n.Verdict == NoLimitCan: // the nearest one is none to deploy
		a.withdraw(n.Verdict, n.Because)
	}
}
