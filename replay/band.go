package replay

import "shadow/traffic"

// A band judges the requests a second time, where a traffic.Spread places them: a log in whole seconds does not tell how
// requests lay inside a second. What comes out as logged is not touched by it.

// A Band is what was judged at the spread placement.
type Band struct {
	Movable int64 // counted requests that a spread may move, see traffic.Spread
	Moved   int64 // counted requests that it moves; as logged they lie at the start of their second
}

// A Placed is what a policy did at the spread placement.
type Placed struct {
	Refused int64
	Hits    Hits
}

// A bander feeds an engine of its own with the spread placement.
type bander struct {
	spread traffic.Spread
	engine *Engine
}

// newBander is nil unless a band is wanted.
func newBander(o Options) *bander {
	if !o.Band {
		return nil
	}
	o.Band, o.Evidence, o.Sink, o.Observer, o.Clock = false, false, nil, nil, nil
	o.Bare = true
	return &bander{engine: New(o)}
}

// judge judges what can be placed once a batch is known. Without stamps in whole seconds there is nothing to place.
func (x *bander) judge(b *traffic.Batch) error {
	if x == nil || b.Stamps == nil {
		return nil
	}
	return x.spread.Take(b, x.engine.Judge)
}

// flush judges the rest.
func (x *bander) flush() error {
	if x == nil {
		return nil
	}
	return x.spread.Flush(x.engine.Judge)
}

// result adds to a result what was judged, if a band is wanted and there is one.
func (x *bander) result(r *Result) {
	if x == nil {
		return
	}
	r.Band = &Band{Movable: x.spread.Movable, Moved: x.spread.Moved}
	if r.Band.Movable == 0 {
		return
	}
	for i, c := range x.engine.candidates {
		r.Policies[i].Spread = &Placed{Refused: c.total, Hits: c.hits}
	}
}
