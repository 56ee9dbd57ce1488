package evidence

import (
	"math/bits"

	"shadow/request"
	"shadow/traffic"
)

// Judging is weighing signs. Each says nothing, or speaks for a person with a browser, or against; some contradict, since
// no person does that. A sign keeps silent when there is too little to go by, or when nobody in the log shows it.
//
//	claims no browser               bot
//	loaded the beacon               human
//	any sign contradicts            bot
//	two against, and more than for  bot
//	two for, and none against       human
//	else                            undecided
//
// The first line that fits decides. An address that many share is not one person, so that what only one cannot do, such
// as a steady pace or long hours, says nothing of it.

// A Verdict is what evidence and claim come to.
type Verdict uint8

// The verdicts, in the order in which reports show them.
const (
	Human Verdict = iota
	Bot
	Undecided
	VerdictCount
)

var verdictNames = [VerdictCount]string{"human", "bot", "undecided"}

// String is the verdict in one lower-case word.
func (v Verdict) String() string { return verdictNames[v] }

// ParseVerdict is the verdict of that name; of any other name, undecided.
func ParseVerdict(name string) Verdict {
	for v, known := range verdictNames {
		if name == known {
			return Verdict(v)
		}
	}
	return Undecided
}

// Rules are the thresholds of signs. Shares are in percent.
type Rules struct {
	Sample   int64    // views, steps or gaps that a sign needs to speak against
	Assets   int64    // views of which a file was fetched: from here on for; never to fetch any file speaks against
	Referers [2]int64 // steps that follow: below the first against, from the second on for
	Rhythm   int64    // variation of the gaps between views: from here on for, below it by more than chance contradicts
	Haste    int64    // quick gaps: from here on contradicts
	Errors   int64    // steps answered with an error of the client's: from here on contradicts
	Hours    int64    // hours in a row with a view in each: from here on against
	Agents   int64    // different browsers: from here on an address is shared
}

// DefaultRules are what EvidenceRules are unless the configuration says otherwise; docs/evidence.md says why.
var DefaultRules = Rules{
	Sample: 6, Assets: 20, Referers: [2]int64{5, 50}, Rhythm: 58,
	Haste: 50, Errors: 50, Hours: 18, Agents: 5,
}

// fewest is how many views or steps a sign needs to speak for a person: most people look at a few pages only.
const fewest = 2

// Customs are the sums of all clients, which tell what is usual on this site. Where the files of pages come from another
// server, or browsers send no referers, that no client does says nothing.
type Customs struct{ views, dressed, steps, followed uint64 }

// Add takes in what a client did.
func (c *Customs) Add(e *Summary) {
	c.views += uint64(e.Views)
	c.dressed += uint64(e.Dressed)
	c.steps += uint64(e.Steps)
	c.followed += uint64(e.Followed)
}

// A Sign is one thing that tells of a client.
type Sign uint8

// The signs, in the order in which they are told.
const (
	ClaimSign Sign = iota
	BeaconSign
	AssetsSign
	RefererSign
	RhythmSign
	HasteSign
	HoursSign
	ErrorsSign
	RobotsSign
	AgentsSign
	SignCount
)

// A Voice is what a sign says.
type Voice int8

// The voices of signs.
const (
	Silent Voice = iota
	For
	Against
	Contradicts
)

// A Judgement is what is made of one client's evidence.
type Judgement struct {
	Verdict Verdict
	Shared  bool // whether many people seem to use this address
	Signs   [SignCount]Voice
}

// Judge weighs what a client did against what it claims to be.
func (r *Rules) Judge(e *Summary, claim request.Class, c *Customs) (j Judgement) {
	s := &j.Signs
	if 100*c.dressed >= c.views {
		s[AssetsSign] = r.assets(e)
	}
	if 100*c.followed >= c.steps {
		s[RefererSign] = r.referers(e)
	}
	s[ErrorsSign] = unless(int64(e.Steps) < r.Sample || share(e.Errors, e.Steps) < r.Errors, Contradicts)
	if int64(bits.OnesCount16(e.Agents)) >= r.Agents && e.Views > 0 {
		j.Shared = s[AssetsSign] != Against && s[ErrorsSign] == Silent
		s[AgentsSign] = unless(j.Shared, Against)
	}
	if !j.Shared {
		r.judgeOne(e, s)
	}
	s[ClaimSign] = unless(claim == request.Browser || claim == request.Unknown, Contradicts)
	s[BeaconSign] = unless(!e.Traits.Has(traffic.LoadedBeacon), For)
	j.Verdict = verdict(s)
	return j
}

// judgeOne hears the signs that tell only of somebody who is one.
func (r *Rules) judgeOne(e *Summary, s *[SignCount]Voice) {
	if gaps := int64(e.Gaps); gaps >= r.Sample {
		s[RhythmSign] = r.rhythm(e.Variation(), gaps)
		s[HasteSign] = unless(share(uint32(e.Quick), uint32(e.Gaps)) < r.Haste, Contradicts)
	}
	s[HoursSign] = unless(int64(e.Hours) < r.Hours, Against)
	s[RobotsSign] = unless(!e.Traits.Has(traffic.FetchedRobots), Contradicts)
}

// rhythm is the voice of a variation, found from n gaps. Where it is that of the threshold, what n gaps show lies about
// 1/√n of it off, so only a variation that is smaller by more than that tells of a clock.
func (r *Rules) rhythm(variation, n int64) Voice {
	short := r.Rhythm - variation
	switch {
	case short <= 0:
		return For
	case short*short*n > r.Rhythm*r.Rhythm:
		return Contradicts
	}
	return Silent
}

// assets is the voice of the files that the client fetched with its pages.
func (r *Rules) assets(e *Summary) Voice {
	switch {
	case e.Views >= fewest && share(e.Dressed, e.Views) >= r.Assets:
		return For
	case int64(e.Steps) >= r.Sample && !e.Traits.Has(traffic.FetchedAsset):
		return Against
	}
	return Silent
}

// referers is the voice of the pages that the client says it came from.
func (r *Rules) referers(e *Summary) Voice {
	switch follows := share(e.Followed, e.Steps); {
	case e.Steps >= fewest && follows >= r.Referers[1]:
		return For
	case int64(e.Steps) >= r.Sample && follows < r.Referers[0]:
		return Against
	}
	return Silent
}

// unless is a voice, or silence.
func unless(silent bool, v Voice) Voice {
	if silent {
		return Silent
	}
	return v
}

// verdict counts the voices.
func verdict(s *[SignCount]Voice) Verdict {
	var n [Contradicts + 1]int
	for _, voice := range s {
		n[voice]++
	}
	switch {
	case s[ClaimSign] == Contradicts:
		return Bot
	case s[BeaconSign] == For:
		return Human
	case n[Contradicts] > 0 || n[Against] >= 2 && n[Against] > n[For]:
		return Bot
	case n[For] >= 2 && n[Against] == 0:
		return Human
	}
	return Undecided
}

// Believed reports whether a client is taken for the browser that it claims to be.
func Believed(claim request.Class, v Verdict) bool { return claim == request.Browser && v != Bot }

// share is how many percent part is of whole, rounded down; 0 of nothing.
func share(part, whole uint32) int64 {
	if whole == 0 {
		return 0
	}
	return int64(100 * uint64(part) / uint64(whole))
}

// Variation is the coefficient of variation of the gaps between views, their standard deviation in percent of their mean,
// rounded down: 0 for a metronome, 57 for somebody who waits any time between nothing and a bound, 100 for events that
// do not know of each other. With n gaps of sum s, and q the sum of their squares, its square is (n·q − s²)/s².
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

// root is the square root of a number below 2^32, rounded down.
func root(n uint64) int64 {
	r := uint64(0)
	for bit := uint64(1) << 15; bit > 0; bit >>= 1 {
		if (r|bit)*(r|bit) <= n {
			r |= bit
		}
	}
	return int64(r)
}
