package evidence

import (
	"fmt"
	"math/bits"

	"shadow/request"
	"shadow/traffic"
)

// Reasons are the signals that do not abstain, each with its figures and its vote in front: "+" for a person, "-" for a
// bot, "!" where it is conclusive.
func (a *Assessment) Reasons(e *Summary, claim request.Class) []string {
	texts := []string{}
	for signal, vote := range a.Votes {
		if vote != Abstain {
			texts = append(texts, voteMarks[vote]+" "+e.describe(Signal(signal), claim))
		}
	}
	if a.Shared {
		texts = append(texts, fmt.Sprintf("shared: %d browsers or more from one address", bits.OnesCount16(e.Agents)))
	}
	return texts
}

var voteMarks = [...]string{VoteHuman: "+", VoteBot: "-", Conclusive: "!"}

// describe says what a signal goes by.
func (e *Summary) describe(s Signal, claim request.Class) string {
	switch s {
	case ClaimSignal:
		return "claims to be a " + claim.String()
	case BeaconSignal:
		return "loaded the evidence path"
	case AssetsSignal:
		if !e.Traits.Has(traffic.FetchedAsset) {
			return fmt.Sprintf("fetched no files in %d steps", e.Steps)
		}
		return fmt.Sprintf("fetched files of %d of %d page views", e.WithAssets, e.Views)
	case RefererSignal:
		return fmt.Sprintf("%d of %d steps follow from a page before (%d have a referer)", e.Followed, e.Steps, e.Referred)
	case RhythmSignal:
		return fmt.Sprintf("the %d gaps between page views vary by %d%% of their mean", e.Gaps, e.Variation())
	case HasteSignal:
		return fmt.Sprintf("%d of %d gaps between page views are shorter than 5 s", e.Quick, e.Gaps)
	case HoursSignal:
		return fmt.Sprintf("page views in %d hours in a row", e.Hours)
	case ErrorsSignal:
		return fmt.Sprintf("%d of %d steps were answered with 4xx", e.Errors, e.Steps)
	case RobotsSignal:
		if e.Traits.Has(traffic.Trespassed) {
			return "fetched robots.txt and asked for what it forbids"
		}
		return "fetched robots.txt"
	}
	return fmt.Sprintf("claims to be %d browsers or more and fetches no files", bits.OnesCount16(e.Agents))
}
