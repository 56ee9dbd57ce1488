package traffic

import (
	"math"

	"shadow/limit"
)

// What an agent claims costs nothing. Evidence is what a client does: a browser fetches what its pages are made of and
// says which page it comes from, and the person before it reads at a pace that no clock keeps. Evidence is counted
// while requests come, one small record per client, and judged at the end (see EvidenceRules).
//
//	12:00:00  GET /          a view
//	12:00:00  GET /site.css  which is dressed: a file of it was fetched
//	12:00:09  GET /shop      a step that follows: its referer is /; a view, 9 s after the one before
//	12:00:11  POST /cart     a step that follows, no view
//
// docs/evidence.md defines every word.

// Evidence is what one client did, in 64 bytes. Its requests must be added in time order.
type Evidence struct {
	Views    uint32 // pages shown
	Dressed  uint32 // views of which a file was fetched
	Steps    uint32 // requests for something that is no file of a page: views, forms, whatever failed
	Referred uint32 // steps with a referer
	Followed uint32 // steps whose referer is one of the client's latest pages
	Errors   uint32 // steps that were answered with an error of the client's

	Gaps       uint16 // between views, without rests
	Quick      uint16 // those that are too short to read anything
	GapSum     uint32 // tenths of a second
	GapSquares uint64 // sum of the gaps' squares, in hundredths of a square second

	Agents uint16    // a set of the browsers that it claimed to be, with room for sixteen: a lower bound
	Hours  uint8     // the longest row of hours of the clock with a view in each
	row    uint8     // of hours, up to that of the latest view
	Traits Trait     // what it did at least once
	naked  bool      // the latest view is not dressed yet
	recent [4]uint16 // its latest pages, by Trace.Page, the latest first; 0: none
	last   limit.Time
}

// What the words mean, in times.
const (
	sameView  = limit.Second      // requests so close to a view belong to it: frames, data, redirects
	dressTime = 10 * limit.Second // in which the first file of a page is asked for
	quickGap  = 5 * limit.Second  // who shows the next page sooner has hardly read this one
	restTime  = 30 * limit.Minute // who comes back later has done something else meanwhile
	tenth     = limit.Second / 10
)

// Add takes in a request. agents is the set that holds the browser it claims to be, none if it claims no browser.
func (e *Evidence) Add(at limit.Time, status uint16, agents uint16, t Trace) {
	e.Agents |= agents
	e.Traits |= t.Traits
	switch {
	case t.Traits.Has(FetchedAsset):
		e.dress(at)
	case t.Traits.Has(Stepped):
		e.step(status, t)
		if t.Traits.Has(Asked) && shown(status) {
			e.view(at, t.Page)
		}
	}
}

// dress notes that a file was fetched.
func (e *Evidence) dress(at limit.Time) {
	if e.naked && at-e.last <= dressTime {
		e.naked = false
		bump(&e.Dressed)
	}
}

// step counts a request for something that is no file.
func (e *Evidence) step(status uint16, t Trace) {
	bump(&e.Steps)
	if blamed(status) {
		bump(&e.Errors)
	}
	if t.Traits.Has(Referred) {
		bump(&e.Referred)
	}
	if t.From != 0 && e.find(t.From) {
		bump(&e.Followed)
	}
}

// view counts a page. One that is asked for again and again is refreshed by itself, and tells nothing.
func (e *Evidence) view(at limit.Time, page uint16) {
	again := e.recent[0] == page
	e.remember(page)
	gap := at - e.last
	if e.Views > 0 && (again || -sameView < gap && gap < sameView) {
		return
	}
	if e.Views > 0 {
		e.pace(gap)
	}
	e.hour(at)
	bump(&e.Views)
	e.last, e.naked = at, true
}

// pace counts the gap before a view. The first 65,535 gaps decide, so that all sums have room.
func (e *Evidence) pace(gap limit.Time) {
	if gap < 0 || gap > restTime || e.Gaps == math.MaxUint16 {
		return
	}
	e.Gaps++
	if gap < quickGap {
		e.Quick++
	}
	tenths := uint32(gap / tenth)
	e.GapSum += tenths
	e.GapSquares += uint64(tenths) * uint64(tenths)
}

// hour follows the row of hours to a view, before it is counted.
func (e *Evidence) hour(at limit.Time) {
	switch now, before := hourOf(at), hourOf(e.last); {
	case e.Views > 0 && now == before:
		return
	case e.Views > 0 && now == before+1:
		e.row = max(e.row, e.row+1) // 255 is more than enough
	default:
		e.row = 1
	}
	e.Hours = max(e.Hours, e.row)
}

// hourOf numbers the hours of the clock.
func hourOf(t limit.Time) limit.Time {
	hour := t / limit.Hour
	if t < hour*limit.Hour {
		hour--
	}
	return hour
}

// find tells whether a page is among the latest, of which it becomes the first: who opens many links of a page comes
// from it again and again.
func (e *Evidence) find(page uint16) bool {
	for i, p := range e.recent {
		if p == page {
			copy(e.recent[1:i+1], e.recent[:i])
			e.recent[0] = page
			return true
		}
	}
	return false
}

// remember makes a page the latest.
func (e *Evidence) remember(page uint16) {
	if !e.find(page) {
		copy(e.recent[1:], e.recent[:])
		e.recent[0] = page
	}
}

// shown tells whether an answer is one to look at. A log may not tell the status.
func shown(status uint16) bool { return status == 0 || status/100 == 2 || status == 304 }

// blamed tells whether an answer says that the client asked for something wrong. Those of a login that failed, and of a
// limit, do not.
func blamed(status uint16) bool {
	return status/100 == 4 && status != 401 && status != 407 && status != 429
}

// bump counts one more, up to what there is room for.
func bump(n *uint32) {
	if *n < math.MaxUint32 {
		*n++
	}
}
