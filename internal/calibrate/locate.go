package calibrate

import "slices"

// A limit holds for the whole site, or for requests of some hosts or some paths. The log does not say which, but a place
// with a limit has refusals, and requests that a limit does not see contradict it. So where no limit explains all
// requests, those of the places with refusals are looked at alone: as if they shared one limit, and each for itself.

// A Location is requests with a limit of their own.
type Location struct {
	Way    int     // of Requests.Places; -1: all requests
	Places []int32 // in its column
	Key    int     // of Requests.Keys
	*Found
}

const (
	wellExplained = 200 // one in so many requests may be contradicted without looking further
	mostPlaces    = 12  // that are looked at one by one
	betterBy      = 2   // times fewer contradictions make it worth to divide the requests, or to join two limits
)

// Locate finds where limits hold, and which they are.
func (r *Requests) Locate(o Options) []Location {
	best := []Location{r.locate(-1, nil, o)}
	if f := best[0].Found; f.Best == nil || f.Best.Wrong <= f.Requests/wellExplained {
		return best
	}
	for way := range r.Places {
		for _, try := range r.divided(way, wrong(best)/betterBy, o) {
			if betterBy*wrong(try) < wrong(best) {
				best = try
			}
		}
	}
	return best
}

// divided returns the ways to limit only some places: one limit for all that refuse, and one for each of them, as long as
// no more requests contradict those. It returns none where that divides nothing, or where too many places refuse.
func (r *Requests) divided(way int, most int64, o Options) (tries [][]Location) {
	refusing, places := r.refusing(r.Places[way])
	if places < 2 || len(refusing) > mostPlaces {
		return nil
	}
	if len(refusing) < places {
		tries = append(tries, []Location{r.locate(way, refusing, o)})
	}
	if len(refusing) > 1 {
		var each []Location
		for _, place := range refusing {
			if each = append(each, r.locate(way, []int32{place}, o)); wrong(each) > most {
				return tries
			}
		}
		tries = append(tries, each)
	}
	return tries
}

// refusing returns the places of a column with refusals, in order, and counts all its places. Both stop at one more
// than mostPlaces.
func (r *Requests) refusing(column []int32) (refusing []int32, places int) {
	var all []int32
	for row, place := range column {
		if !slices.Contains(all, place) && len(all) <= mostPlaces {
			all = append(all, place)
		}
		if r.Verdict[row] == Refused && !slices.Contains(refusing, place) {
			refusing = append(refusing, place)
		}
		if len(refusing) > mostPlaces {
			break
		}
	}
	slices.Sort(refusing)
	return refusing, len(all)
}

// wrong counts the requests that contradict the limits of some locations. Without a limit, all refusals count.
func wrong(all []Location) (n int64) {
	for _, l := range all {
		if l.Best == nil {
			n += l.Refused
		} else {
			n += l.Best.Wrong
		}
	}
	return n
}

// locate finds the limit of some places, by the key that explains most.
func (r *Requests) locate(way int, places []int32, o Options) Location {
	var part func(row int32) bool
	if way >= 0 {
		part = func(row int32) bool { return slices.Contains(places, r.Places[way][row]) }
	}
	best := r.byKey(func(column []int32) *Found { return r.Search(column, part, o) })
	best.Way, best.Places = way, places
	return best
}

// byKey returns what explains most, by the key that does.
func (r *Requests) byKey(explain func(column []int32) *Found) (best Location) {
	for key, column := range r.Keys {
		l := Location{Way: -1, Key: key, Found: explain(column)}
		if best.Found == nil || l.Best != nil && (best.Best == nil || l.Best.Wrong < best.Best.Wrong) {
			best = l
		}
	}
	return best
}

// Hold holds limits against all requests, by the key that explains most.
func (r *Requests) Hold(limits []string, o Options) []Location {
	return []Location{r.byKey(func(column []int32) *Found { return r.Judge(column, nil, limits, o) })}
}
