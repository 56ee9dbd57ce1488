package evidence

import (
	"fmt"
	"math/bits"

	"shadow/request"
	"shadow/traffic"
)

// Reasons are the signs of a judgement that say something, each with its figures and its voice in front: "+" for a
// person, "-" against, "!" where it contradicts.
func (j *Judgement) Reasons(e *Summary, claim request.Class) []string {
	texts := []string{}
	for sign, voice := range j.Signs {
		if voice != Silent {
			texts = append(texts, voiceMarks[voice]+" "+e.tell(Sign(sign), claim))
		}
	}
	if j.Shared {
		texts = append(texts, fmt.Sprintf("shared: %d browsers or more from one address", bits.OnesCount16(e.Agents)))
	}
	return texts
}

var voiceMarks = [...]string{For: "+", Against: "-", Contradicts: "!"}

// tell is what a sign goes by.
func (e *Summary) tell(s Sign, claim request.Class) string {
	switch s {
	case ClaimSign:
		return "claims to be a " + claim.String()
	case BeaconSign:
		return "loaded the evidence path"
	case AssetsSign:
		if !e.Traits.Has(traffic.FetchedAsset) {
			return fmt.Sprintf("fetched no files in %d steps", e.Steps)
		}
		return fmt.Sprintf("fetched files of %d of %d page views", e.Dressed, e.Views)
	case RefererSign:
		return fmt.Sprintf("%d of %d steps follow from a page before (%d have a referer)", e.Followed, e.Steps, e.Referred)
	case RhythmSign:
		return fmt.Sprintf("the %d gaps between page views vary by %d%% of their mean", e.Gaps, e.Variation())
	case HasteSign:
		return fmt.Sprintf("%d of %d gaps between page views are shorter than 5 s", e.Quick, e.Gaps)
	case HoursSign:
		return fmt.Sprintf("page views in %d hours in a row", e.Hours)
	case ErrorsSign:
		return fmt.Sprintf("%d of %d steps were answered with 4xx", e.Errors, e.Steps)
	case RobotsSign:
		if e.Traits.Has(traffic.Trespassed) {
			return "fetched robots.txt and asked for what it forbids"
		}
		return "fetched robots.txt"
	}
	return fmt.Sprintf("claims to be %d browsers or more and fetches no files", bits.OnesCount16(e.Agents))
}
