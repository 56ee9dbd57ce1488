package evidence

import (
	"shadow/internal/traffic"
	"shadow/limit"
)

// A Viewing says which part of page views a request is, as Evidence counts them. Whether something that was asked for
// from a page is a page itself is known only when something comes from it:
//
//	12:00:00  GET /           from no page     NewView
//	12:00:00  GET /site.css   from /           FileOfView
//	12:00:05  GET /shop       from /           MayBeView
//	12:00:05  GET /shop.css   from /shop       LateView, FileOfView: so /shop was a page
//	12:00:40  GET /shop       from no page     nothing: the page at hand refreshes itself
type Viewing uint8

// What a request may be, also several at once; then a LateView comes first.
const (
	NewView    Viewing = 1 << iota // it shows a page
	SameView                       // it belongs to the latest view: a frame, a redirect
	MayBeView                      // it may be a page
	LateView                       // what may have been a page is one, and a view of its own
	LateSame                       // it is one, and belongs to the latest view
	FileOfView                     // a file of the latest view, which is shown while it is fetched
)

// Has reports whether all of these are true of a request.
func (v Viewing) Has(all Viewing) bool { return v&all == all }

// View takes in a request as Add does, and tells what it is of page views. It knows nothing of agents.
func (e *Summary) View(at limit.Time, status uint16, t traffic.Clue) (v Viewing) {
	views, page, next := e.Views, e.page, e.next
	e.Add(at, status, 0, t)
	file, step := t.Traits.Has(traffic.FetchedAsset), t.Traits.Has(traffic.Stepped) && !fails(status)
	confirmed := t.From != 0 && t.From == next && (file || step && t.From != page)
	asked := !file && step && t.Traits.Has(traffic.Asked) && shown(status)
	switch {
	case confirmed && e.Views > views:
		v |= LateView
	case confirmed:
		v |= LateSame
	case e.Views > views:
		v |= NewView
	case asked && t.From == 0 && t.Page != page:
		v |= SameView
	}
	if asked && t.From != 0 && e.next == t.Page {
		v |= MayBeView
	}
	if file && e.Views > 0 && at-e.last <= assetTime {
		v |= FileOfView
	}
	return v
}
