package evidence

import (
	"fmt"
	"math/bits"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/report/format"
)

// Each signal votes: for a person with a browser, for a bot, or it abstains. Some votes for a bot are conclusive, since no
// person does that. A signal abstains when there is too little to go by, or when no client in the log shows it.
//
// An address that many share is not one person, so that what only one cannot do, such as a steady pace or long hours, says
// nothing of it. Package who weighs the votes.

// Rules are the thresholds of signals. Shares are in percent.
type Rules struct {
	Sample   int64    // views, steps or gaps that a signal needs to vote for a bot
	Assets   int64    // views of which a file was fetched: from here on human; never to fetch any file: bot
	Referers [2]int64 // steps that follow: below the first bot, from the second on human
	Rhythm   int64    // variation of the gaps between views: from here on human, below it by more than chance conclusive
	Haste    int64    // quick gaps: from here on conclusive
	Errors   int64    // steps answered with an error of the client's: from here on conclusive
	Hours    int64    // hours in a row with a view in each: from here on bot
	Agents   int64    // different browsers: from here on an address is shared
}

// DefaultRules holds the EvidenceRules unless the configuration says otherwise; docs/evidence.md says why.
var DefaultRules = Rules{
	Sample: 6, Assets: 20, Referers: [2]int64{5, 50}, Rhythm: 58,
	Haste: 50, Errors: 50, Hours: 18, Agents: 5,
}

// fewest is the number of views or steps that a signal needs to vote for a person: most people look at a few pages
// only.
const fewest = 2

// A SiteBaseline is the sums of all clients, which say what is usual on this site. Where the files of pages come from another
// server, or browsers send no referers, it says nothing that a client does not.
type SiteBaseline struct{ views, withAssets, steps, followed uint64 }

// Add takes in what a client did.
func (c *SiteBaseline) Add(e *Summary) {
	c.views += uint64(e.Views)
	c.withAssets += uint64(e.WithAssets)
	c.steps += uint64(e.Steps)
	c.followed += uint64(e.Followed)
}

// A Signal is one thing that shows whether a client is a person.
type Signal uint8

// The signals, in the order in which reports show them.
const (
	ClaimSignal Signal = iota
	BeaconSignal
	AssetsSignal
	RefererSignal
	RhythmSignal
	HasteSignal
	HoursSignal
	ErrorsSignal
	RobotsSignal
	AgentsSignal
	RangesSignal
	SignalCount
)

// A Vote says whether a signal takes a client for a person or for a bot.
type Vote int8

// The votes.
const (
	Abstain Vote = iota
	VoteHuman
	VoteBot
	Conclusive // for a bot
)

// An Assessment holds the votes on one client's evidence.
type Assessment struct {
	Shared bool // whether many people seem to use this address
	Votes  [SignalCount]Vote
}

// Assess counts the votes of what a client did and claims to be.
func (r *Rules) Assess(e *Summary, claim request.Class, site *SiteBaseline) (a Assessment) {
	votes := &a.Votes
	if 100*site.withAssets >= site.views {
		votes[AssetsSignal] = r.assets(e)
	}
	linked := 100*site.followed >= site.steps
	if linked {
		votes[RefererSignal] = r.referers(e)
	}
	votes[ErrorsSignal] = unless(int64(e.Steps) < r.Sample || share(e.Errors, e.Steps) < r.Errors, Conclusive)
	if int64(bits.OnesCount16(e.Agents)) >= r.Agents && e.Views > 0 {
		a.Shared = votes[AssetsSignal] != VoteBot && votes[ErrorsSignal] == Abstain
		votes[AgentsSignal] = unless(a.Shared, VoteBot)
	}
	if linked && alone(e) && int64(bits.OnesCount16(e.Agents)) >= 2*r.Agents {
		votes[AgentsSignal] = Conclusive
	}
	if !a.Shared { // these need one person behind the address
		// Without referers, what a page asks for by itself looks like pages, shown by a timer.
		if gaps := int64(e.Gaps); gaps >= r.Sample && (linked || !e.Traits.Has(traffic.FetchedAsset)) {
			if votes[RhythmSignal] = r.rhythm(e.Variation(), gaps); votes[RhythmSignal] == Conclusive && e.streams() {
				votes[RhythmSignal] = Abstain
			}
			votes[HasteSignal] = unless(share(uint32(e.Quick), uint32(e.Gaps)) < r.Haste, Conclusive)
		}
		votes[HoursSignal] = unless(int64(e.Hours) < r.Hours || !linked && e.Traits.Has(traffic.FetchedAsset), VoteBot)
		votes[RobotsSignal] = unless(!e.Traits.Has(traffic.FetchedRobots), Conclusive)
	}
	votes[RangesSignal] = unless(e.ranges < pieces, Conclusive)
	votes[ClaimSignal] = unless(claim == request.Browser || claim == request.Unknown, Conclusive)
	votes[BeaconSignal] = unless(!e.Traits.Has(traffic.LoadedBeacon), VoteHuman)
	return a
}

// alone reports whether a client asks for files alone, and none of them belongs to a page, of this site or of another.
func alone(e *Summary) bool { return e.Steps == 0 && !e.Traits.Has(traffic.Referred) }

// rhythm returns the vote of a variation, found from n gaps. Where it is that of the threshold, what n gaps show lies
// about 1/√n of it off, so only a variation that is smaller by more than that shows a clock.
func (r *Rules) rhythm(variation, n int64) Vote {
	short := r.Rhythm - variation
	switch {
	case short <= 0:
		return VoteHuman
	case short*short*n > r.Rhythm*r.Rhythm:
		return Conclusive
	}
	return Abstain
}

// streams reports whether the gaps between views come from where one view ends for us and the next begins, as in a stream of
// requests, each soon after the one before.
func (e *Summary) streams() bool {
	return limit.Time(e.GapSum)*tenth < limit.Time(e.Gaps)*2*sameView && 10*uint32(e.Gaps) < 9*e.Steps
}

// assets returns the vote of the files that the client fetched with its pages.
func (r *Rules) assets(e *Summary) Vote {
	switch {
	case e.Views >= fewest && share(e.WithAssets, e.Views) >= r.Assets:
		return VoteHuman
	case int64(e.Steps) >= r.Sample && !e.Traits.Has(traffic.FetchedAsset):
		return VoteBot
	}
	return Abstain
}

// referers returns the vote of the pages that the client says it came from.
func (r *Rules) referers(e *Summary) Vote {
	switch follows := share(e.Followed, e.Steps); {
	case e.Steps >= fewest && follows >= r.Referers[1]:
		return VoteHuman
	case int64(e.Steps) >= r.Sample && follows < r.Referers[0]:
		return VoteBot
	}
	return Abstain
}

// unless returns a vote, or an abstention.
func unless(abstains bool, v Vote) Vote {
	if abstains {
		return Abstain
	}
	return v
}

// share returns the percentage of whole that part is, rounded down; 0 of nothing.
func share(part, whole uint32) int64 {
	if whole == 0 {
		return 0
	}
	return int64(100 * uint64(part) / uint64(whole))
}

// Variation returns the coefficient of variation of the gaps between views, their standard deviation in percent of
// their mean, rounded down: 0 for a metronome, 57 for a client that waits any time between nothing and a bound, 100 for
// events that are independent of each other. With n gaps of sum s, and q the sum of their squares, its square is (n·q −
// s²)/s².
func (e *Summary) Variation() int64 {
	s := uint64(e.GapSum)
	if s == 0 {
		return 0
	}
	// n < 2^16, s < n·2^15 and q < n·2^29, so that n·q and s² are below 2^62, and the quotient below 10⁴·n.
	hi, lo := bits.Mul64(uint64(e.Gaps)*e.GapSquares-s*s, 100*100)
	square, _ := bits.Div64(hi, lo, s*s)
	return root(square)
}

// root returns the square root of a number below 2^32, rounded down.
func root(n uint64) int64 {
	r := uint64(0)
	for bit := uint64(1) << 15; bit > 0; bit >>= 1 {
		if (r|bit)*(r|bit) <= n {
			r |= bit
		}
	}
	return int64(r)
}

// Reasons returns the signals that do not abstain, each with its figures and its vote in front: "+" for a person, "-"
// for a bot, "!" where it is conclusive.
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

func counted(n uint32) string { return format.Thousands(int64(n)) }

// describe says what a signal goes by.
func (e *Summary) describe(s Signal, claim request.Class) string {
	switch s {
	case ClaimSignal:
		return "claims to be a " + claim.String()
	case BeaconSignal:
		return "loaded the evidence path"
	case AssetsSignal:
		if !e.Traits.Has(traffic.FetchedAsset) {
			return fmt.Sprintf("fetched no files in %s steps", counted(e.Steps))
		}
		return fmt.Sprintf("fetched files of %s of %s page views", counted(e.WithAssets), counted(e.Views))
	case RefererSignal:
		if e.Views == 0 && e.Followed > 0 {
			return fmt.Sprintf("%s of %s steps come from a page, by their referers, that it never showed", counted(e.Followed), counted(e.Steps))
		}
		return fmt.Sprintf("%s of %s steps follow from a page before (%s have a referer)", counted(e.Followed), counted(e.Steps), counted(e.Referred))
	case RhythmSignal:
		return fmt.Sprintf("%d gaps between page views vary by %d %%", e.Gaps, e.Variation())
	case HasteSignal:
		return fmt.Sprintf("%d of %d gaps between page views are shorter than 5 s", e.Quick, e.Gaps)
	case HoursSignal:
		return fmt.Sprintf("page views in %d hours in a row", e.Hours)
	case ErrorsSignal:
		return fmt.Sprintf("%s of %s steps were answered with 4xx", counted(e.Errors), counted(e.Steps))
	case RobotsSignal:
		if e.Traits.Has(traffic.Trespassed) {
			return "took what robots.txt forbids"
		}
		return "fetched robots.txt"
	case RangesSignal:
		return fmt.Sprintf("download accelerator, %d+ parts of a file", e.ranges)
	}
	if alone(e) {
		return fmt.Sprintf("claims to be %d browsers or more and asks for files of no page", bits.OnesCount16(e.Agents))
	}
	return fmt.Sprintf("claims to be %d browsers or more and fetches no files", bits.OnesCount16(e.Agents))
}
