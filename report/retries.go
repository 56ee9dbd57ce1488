package report

import (
	"fmt"

	"shadow/internal/calibrate"
	"shadow/report/document"
	"shadow/report/format"
)

// Retries holds what a policy has to bear where refused requests come back: what is expected, and the least and the most.
type Retries struct {
	How      string   `json:"how"`
	Wanted   int64    `json:"wanted"`   // requests that clients make by themselves
	Requests Expected `json:"requests"` // that come in all
	Refused  Expected `json:"refused"`
	Lost     Expected `json:"lost"`    // wanted ones that were never admitted
	Guessed  int64    `json:"guessed"` // refused requests of which the log hardly shows what their clients do next
	Cut      bool     `json:"cut"`     // more would come than are counted
	Middle   bool     `json:"middle"`  // by the middle assumption of an approximation alone
}

// Expected is a number of requests, between a least and a most.
type Expected struct {
	Expected int64 `json:"expected"`
	Low      int64 `json:"low"`
	High     int64 `json:"high"`
}

// NewRetries returns the figures of a forecast.
func NewRetries(how string, wanted int, f calibrate.Forecast) Retries {
	return Retries{
		How: how, Wanted: int64(wanted), Guessed: f.Guessed, Cut: f.High.Cut,
		Requests: Expected{f.Requests, f.Low.Requests, f.High.Requests},
		Refused:  Expected{f.Refused, f.Low.Refused, f.High.Refused},
		Lost:     Expected{f.Lost, f.Low.Lost, f.High.Lost},
	}
}

func (e Expected) String() string {
	if e.Low == e.High {
		return format.Thousands(e.Expected)
	}
	return fmt.Sprintf("%s (%s)", format.Thousands(e.Expected), format.FromTo([2]int64{e.Low, e.High}))
}

// RetryFacts say it in words.
func (p *Policy) RetryFacts() (facts document.Facts) {
	r := p.Retries
	if r == nil {
		return nil
	}
	facts.Add("retries", fmt.Sprintf("%s: of %s wanted come %s, %s of them refused; %s are never admitted",
		r.How, format.Count(r.Wanted, "request"), r.Requests, r.Refused, r.Lost))
	if r.Middle {
		facts.Add("by", "the middle assumption alone: the range has nothing of the others")
	}
	if r.Guessed > r.Refused.Expected/20 {
		facts.Add("not known", fmt.Sprintf("how clients come back after %s of the refusals: they were hardly refused in this log", format.Thousands(r.Guessed)))
	}
	if r.Cut {
		facts.Add("not counted", "more requests than these: clients come back, or go on, at once")
	}
	return facts
}
