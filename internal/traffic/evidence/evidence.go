package evidence

import (
	"math"

	"shadow/internal/traffic"
	"shadow/limit"
)

// What an agent claims costs nothing. Evidence is what a client does: a browser fetches what its pages are made of and
// says which page it comes from, and the person before it reads at a pace that no clock keeps. Evidence is counted
// while requests come, one small record per client, and judged at the end (see Rules).
//
// An address alone does not tell whether it is a page: it may be a picture or data that a page asked for. A page is what
// other requests come from, by their referers, or what is asked for without coming from any page of the site:
//
//	12:00:00  GET /           from no page         a view of /
//	12:00:00  GET /site.css   from /               which has assets: a file of it was fetched
//	12:00:01  GET /stock      from /               a page, or data of the page at hand: who knows
//	12:00:09  GET /shop       from /               likewise; it takes the place of /stock
//	12:00:09  GET /site.css   from /shop           so /shop was a page: a view, 9 s after the one before
//	12:00:11  POST /cart      from /shop           a step like the two above it, no view
//
// docs/evidence.md defines every word.

// Summary counts what one client did, in 64 bytes. Its requests must be added in time order.
type Summary struct {
	Views      uint32 // pages shown
	WithAssets uint32 // views of which a file was fetched
	Steps      uint32 // requests for something that is no file of a page: pages, data, forms, whatever failed
	Referred   uint32 // steps with a referer
	Followed   uint32 // steps whose referer is one of the client's latest pages
	Errors     uint32 // steps that were answered with an error of the client's

	Gaps       uint16 // between views, without rests
	Quick      uint16 // those that are too short to read anything
	GapSum     uint32 // tenths of a second
	GapSquares uint64 // sum of the gaps' squares, in hundredths of a square second

	Agents uint16    // a set of the browsers that it claimed to be, with room for sixteen: a lower bound
	Hours  uint8     // the longest row of hours of the clock with a view in each
	row    uint8     // of hours, up to that of the latest view
	Traits Traits    // what it did at least once
	ranges uint8     // of one target in a row, up to pieces, where it stays
	page   uint16    // at hand, by Clue.Page; 0: none
	next   uint16    // asked for from there, and perhaps a page; 0: none
	wait   uint16    // tenths of a second from the latest view to next
	older  [2]uint16 // pages before these, the latest first
	last   limit.Time
}

// What the words mean, in times.
const (
	sameView  = limit.Second      // pages that come so close to a view belong to it: frames, redirects
	assetTime = 10 * limit.Second // in which the first file of a page is asked for
	quickGap  = 5 * limit.Second  // who shows the next page sooner has hardly read this one
	restTime  = 30 * limit.Minute // who comes back later has done something else meanwhile
	tenth     = limit.Second / 10
)

// Traits holds the traits that fit a byte.
type Traits uint8

// Has reports whether all traits of u are there.
func (t Traits) Has(u traffic.Trait) bool { return traffic.Trait(t).Has(u) }

// bare stands among the traits while no file of the latest view was fetched.
const bare = 1 << 7

// pieces is the number of parts of one target, fetched in a row, that show a download accelerator. A browser that shows
// a document while it loads it fetches some dozens.
const pieces = 250

// Add takes in a request. agents is the set that holds the browser it claims to be, none if it claims no browser.
func (e *Summary) Add(at limit.Time, status uint16, agents uint16, t traffic.Clue) {
	if e.Traits == 0 {
		e.last = at
	}
	e.Agents |= agents
	e.Traits |= Traits(t.Traits &^ traffic.SignedIn)
	switch {
	case t.Traits.Has(traffic.FetchedAsset):
		if t.From != 0 && t.From == e.next {
			e.confirm(at)
		}
		if e.Traits.Has(bare) && at-e.last <= assetTime {
			e.Traits &^= bare
			bump(&e.WithAssets)
		}
	case t.Traits.Has(traffic.Stepped) && !fails(status):
		e.step(at, status, t)
		e.piece(status, t.Page)
		if t.Traits.Has(traffic.Asked) && shown(status) {
			e.ask(at, t)
		}
	}
}

// step counts a request for something that is no file, and turns to the page that it comes from.
func (e *Summary) step(at limit.Time, status uint16, t traffic.Clue) {
	bump(&e.Steps)
	// Errors of a login that failed, and of a limit, do not say that the client asked for something wrong.
	if status/100 == 4 && status != 401 && status != 407 && status != 429 {
		bump(&e.Errors)
	}
	if t.Traits.Has(traffic.Referred) {
		bump(&e.Referred)
	}
	if t.From == 0 {
		return
	}
	if t.From == e.page || t.From == e.next || t.From == e.older[0] || t.From == e.older[1] {
		bump(&e.Followed)
	}
	switch t.From {
	case e.page:
	case e.next:
		e.confirm(at)
	default: // back to an older one, which was not asked for again
		e.turn(t.From)
	}
}

// piece follows a row of answers with a part of what was asked for before.
func (e *Summary) piece(status, page uint16) {
	switch {
	case e.ranges == pieces:
	case status != 206 || page == 0 || page != e.page && page != e.next:
		e.ranges = 0
	default:
		e.ranges++
	}
}

// ask takes in what may be a page. One that is asked for again and again is refreshed by itself, and tells nothing.
func (e *Summary) ask(at limit.Time, t traffic.Clue) {
	switch {
	case t.Page == e.page:
	case t.From == 0:
		e.view(at, t.Page)
	default:
		if t.Page != e.next {
			e.outdate(e.next)
		}
		e.next, e.wait = t.Page, uint16(min(max(at-e.last, 0)/tenth, math.MaxUint16))
	}
}

// confirm makes what was asked for last a view, since something comes from there at the given time. After a long rest it
// is as good as when it was asked for, which is not known any more.
func (e *Summary) confirm(at limit.Time) {
	page := e.next
	e.next = 0
	if e.wait < math.MaxUint16 {
		at = e.last + limit.Time(e.wait)*tenth
	}
	e.view(at, page)
}

// view counts a page.
func (e *Summary) view(at limit.Time, page uint16) {
	e.turn(page)
	if gap := at - e.last; e.Views > 0 {
		if -sameView < gap && gap < sameView {
			return
		}
		// The first 65,535 gaps decide, so that all sums have room.
		if gap >= 0 && gap <= restTime && e.Gaps < math.MaxUint16 {
			e.Gaps++
			if gap < quickGap {
				e.Quick++
			}
			tenths := uint32(gap / tenth)
			e.GapSum += tenths
			e.GapSquares += uint64(tenths) * uint64(tenths)
		}
	}
	e.hour(at)
	bump(&e.Views)
	e.last = at
	e.Traits |= bare
}

// hour follows the row of hours to a view, before it is counted.
func (e *Summary) hour(at limit.Time) {
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

// Outside reports whether no step comes from a page of this site, and most come from other sites, by their referers.
func (e *Summary) Outside() bool {
	return e.Steps > 0 && 2*e.Referred >= e.Steps && e.Followed == 0 && (e.page == 0 || e.Views > 0)
}

// turn makes a page the one at hand.
func (e *Summary) turn(page uint16) {
	if page != e.page {
		e.outdate(e.page)
		e.page = page
	}
}

// outdate remembers a page as an older one.
func (e *Summary) outdate(page uint16) {
	if page != 0 && page != e.older[0] {
		e.older[1], e.older[0] = e.older[0], page
	}
}

// fails reports whether the server answers with an error of its own: such a page has no files, and leads nowhere. By 503 it may
// refuse a client.
func fails(status uint16) bool { return status/100 == 5 && status != 503 }

// shown reports whether an answer is one to look at. A log may not tell the status.
func shown(status uint16) bool { return status == 0 || status/100 == 2 || status == 304 }

// bump counts one more, up to what there is room for.
func bump(n *uint32) {
	if *n < math.MaxUint32 {
		*n++
	}
}
