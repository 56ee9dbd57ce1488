package suggest

import "shadow/internal/traffic/who"

// Who sends less than a limit admits at once cannot be hit. What it does to people shows in those who come near it.

// LeastNear is the number of people who must come near a limit and be spared to prove that it spares people.
const LeastNear = 10

// AtRisk returns how many protected clients sent more than the answer admits at once, and how many of these it hits: on the
// part that validates, if there is one.
func (a *Advice) AtRisk() (clients, hit int64) {
	if a.Parts[Rest] == nil {
		return a.Whole.AtRisk.Of(a.Protected()), a.Answer.Whole.Hit.Of(a.Protected())
	}
	return a.Whole.Late.Of(a.Protected()), a.Answer.Chosen.On[Rest].Hit.Of(a.Protected())
}

// proven reports whether enough of those who are protected came near the answer and were spared.
func (a *Advice) proven() bool {
	clients, hit := a.AtRisk()
	return clients-hit >= LeastNear
}

// unproven returns why an answer that few came near is not even one to try; false if it is. Where no page is loaded, none can show
// that it is a person.
func (a *Advice) unproven() (why Because, is bool) {
	people := a.Whole.Groups.Of(1<<who.Person | 1<<who.Office)
	switch near, hit := a.Whole.AtRisk.Of(a.Protected()), a.Answer.Whole.Hit.Of(a.Protected()); {
	case a.Stated || a.proven():
	case hit > Sure.Of(near):
		return NearRefused, true
	case people == 0 && a.Loads.Count > 0 && near-hit < LeastNear && a.Action == "" && a.Protected().Has(who.Person) && !a.bothSides():
		return NoPeople, true
	}
	return 0, false
}

// Unsure reports whether an answer stops much, and too little shows that it spares those to protect.
func (a *Answer) Unsure() bool {
	return a.Because == FewToProtect || a.Because == NearRefused || a.Because == NoPeople
}
