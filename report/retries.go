package report

import (
	"fmt"

	"shadow/internal/calibrate"
	"shadow/report/document"
	"shadow/report/format"
)

// Retries holds what a policy has to bear where refused requests come back: the least and the most over some seeds.
type Retries struct {
	How      string   `json:"how"`
	Wanted   int64    `json:"wanted"` // requests that clients make by themselves
	Seeds    int      `json:"seeds"`
	Requests [2]int64 `json:"requests"`
	Refused  [2]int64 `json:"refused"`
	Lost     [2]int64 `json:"lost"` // wanted ones that were never admitted
}

// Add takes in what one seed has come to.
func (r *Retries) Add(l calibrate.Load) {
	add := func(band *[2]int64, n int64) {
		if r.Seeds == 0 {
			*band = [2]int64{n, n}
		}
		*band = [2]int64{min(band[0], n), max(band[1], n)}
	}
	add(&r.Requests, l.Requests)
	add(&r.Refused, l.Refused)
	add(&r.Lost, l.Lost)
	r.Seeds++
}

// RetryFacts say it in words.
func (p *Policy) RetryFacts() (facts document.Facts) {
	r := p.Retries
	if r == nil {
		return nil
	}
	facts.Add("retries", fmt.Sprintf("%s: of %s wanted come %s, %s of them refused; %s are never admitted",
		r.How, format.Count(r.Wanted, "request"), format.FromTo(r.Requests), format.FromTo(r.Refused), format.FromTo(r.Lost)))
	return facts
}
