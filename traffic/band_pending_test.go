package traffic

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shadow/limit"
)

// A sighting is a request of the model: what is read of it, and the shift that it must get.
type sighting struct {
	at, second limit.Time
	client     int32
	source     uint16
	shift      limit.Time
}

// drawSightings draws one input: mostly ahead, sometimes far back, some requests longer than any lateness.
func drawSightings(t *rapid.T, source uint16) (all []sighting) {
	now := 0
	for range rapid.IntRange(0, 40).Draw(t, "requests") {
		now += rapid.IntRange(-3, 5).Draw(t, "later")
		s := sighting{second: limit.Time(now/2) * limit.Second, client: rapid.Int32Range(0, 2).Draw(t, "client"), source: source}
		s.at = s.second - limit.Time(rapid.IntRange(0, 12).Draw(t, "took"))*limit.Second/4
		all = append(all, s)
	}
	return all
}

// shiftAll is the definition of the spread placement, in as many steps as there are pairs of requests.
func shiftAll(inputs [][]sighting, lateness limit.Time) {
	var moving []*sighting // input by input, as read
	for _, in := range inputs {
		var times []limit.Time
		for _, s := range in {
			times = append(times, s.at)
		}
		for i, w := range places(times, lateness, dawn) {
			if w.place == w.at && in[i].second-in[i].at <= lateness {
				moving = append(moving, &in[i])
			}
		}
	}
	for i, s := range moving {
		before, n := 0, 0
		for j, other := range moving {
			if other.client == s.client && other.second == s.second {
				if n++; j < i {
					before++
				}
			}
		}
		s.shift = limit.Time(before * 1_000_000 / n)
	}
}

// TestSettleAgainstModel has inputs arrive in blocks of a few requests, in turns: each request gets its shift before it is
// handed out.
func TestSettleAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lateness := limit.Time(rapid.IntRange(0, 12).Draw(t, "lateness")) * limit.Second / 4
		p := pending{Batch: *newBatch(0, columns{source: true, stamps: true}), lateness: lateness, since: dawn, floor: dawn, spreader: spreader{from: dawn}}
		var inputs [][]sighting
		var feeds []*feed
		for i := range rapid.IntRange(1, 2).Draw(t, "inputs") {
			inputs = append(inputs, drawSightings(t, uint16(i)))
			feeds = append(feeds, &feed{first: dawn, watermark: newWatermark()})
			feeds[i].publish()
		}
		shiftAll(inputs, lateness)
		left, came := slices.Clone(inputs), 0
		var read []sighting // by the order of reading
		release := func(floor limit.Time) {
			out := newBatch(0, columns{source: true, stamps: true})
			p.release(p.settle(floor, 3), out, 0)
			for row, s := range out.Stamps {
				if want := read[s.Read]; s.Shift != want.shift || out.At[row] != want.at || out.Client[row] != want.client {
					t.Fatalf("request %d of %+v is shifted by %d", s.Read, want, s.Shift)
				}
				came++
			}
		}
		for slices.ContainsFunc(feeds, func(f *feed) bool { return !f.finished }) {
			i := rapid.IntRange(0, len(feeds)-1).Draw(t, "input")
			n := min(len(left[i]), rapid.IntRange(0, 4).Draw(t, "rows"))
			p.add(sighted(left[i][:n]), feeds[i].watermark)
			read = append(read, left[i][:n]...)
			left[i] = left[i][n:]
			feeds[i].publish()
			feeds[i].finished = len(left[i]) == 0
			if rapid.Bool().Draw(t, "release") {
				release(floor(feeds, lateness))
			}
		}
		release(dusk)
		if came != len(read) {
			t.Fatalf("%d of %d requests came out", came, len(read))
		}
	})
}

// sighted makes a batch.
func sighted(all []sighting) *Batch {
	b := newBatch(0, columns{source: true, stamps: true})
	for _, s := range all {
		b.At, b.Client, b.Source = append(b.At, s.at), append(b.Client, s.client), append(b.Source, s.source)
		b.Stamps = append(b.Stamps, Stamp{Second: s.second})
	}
	n := len(all)
	b.Agent, b.Action, b.Status, b.Bytes = make([]uint16, n), make([]uint16, n), make([]uint16, n), make([]int64, n)
	return b
}
