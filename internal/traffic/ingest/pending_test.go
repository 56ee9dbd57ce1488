package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// rowsAt makes a batch of one row per time. The rows have the numbers from first on, in every other column.
func rowsAt(first int, times []limit.Time) *traffic.Batch {
	b := traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true})
	for i, t := range times {
		n := first + i
		b.At = append(b.At, t)
		b.Client, b.Host = append(b.Client, int32(n)), append(b.Host, int32(n))
		b.Agent, b.Action, b.Status = append(b.Agent, uint16(n)), append(b.Action, uint16(n)), append(b.Status, uint16(n))
		b.Source = append(b.Source, uint32(n))
		b.Bytes, b.Upstream = append(b.Bytes, int64(n)), append(b.Upstream, int64(n))
	}
	return b
}

// whole reports whether the columns of row i still belong together, and which row of rowsAt it was.
func whole(b *traffic.Batch, i int) (n int, ok bool) {
	n = int(b.Client[i])
	return n, int(b.Host[i]) == n && int(b.Agent[i]) == n && int(b.Action[i]) == n && int(b.Status[i]) == n &&
		int(b.Source[i]) == n && int(b.Bytes[i]) == n && int(b.Upstream[i]) == n
}

func newPending(lateness, since limit.Time) *pending {
	return &pending{
		Batch: *traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true}), lateness: lateness, since: since, watermark: traffic.MinTime,
	}
}

// A waiter holds what the model knows of a request.
type waiter struct {
	at, seq limit.Time
	kind    string // counted, warm or dropped
}

// seqs returns the watermark as DESIGN says it, from the whole input: a request's sequence time is its time, or, if two
// successive requests before it have reached a moment more than the lateness later, that moment less the lateness.
func seqs(times []limit.Time, lateness, since limit.Time) (all []waiter) {
	for i, at := range times {
		seq := at
		for j := 1; j < i; j++ {
			seq = max(seq, min(times[j-1], times[j])-lateness)
		}
		w := waiter{at, seq, "counted"}
		if at < since {
			w.kind = "warm"
			if seq >= since {
				w.kind = "dropped"
			}
		}
		all = append(all, w)
	}
	return all
}

// Inputs arrive in blocks, in turns; whatever the turns, each request is let out once, at its sequence time.
func TestPendingAgainstModel(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		lateness := limit.Time(rapid.IntRange(0, 8).Draw(t, "lateness"))
		since := traffic.MinTime
		if rapid.Bool().Draw(t, "has since") {
			since = limit.Time(rapid.IntRange(0, 40).Draw(t, "since"))
		}
		p := newPending(lateness, since)
		var feeds []*feed
		var left [][]limit.Time // of each input, what has not arrived yet
		var model []waiter      // by number of the row
		var first []int         // of each input, the number of its next row
		for range rapid.IntRange(1, 3).Draw(t, "inputs") {
			times := drawTimes(t)
			feeds = append(feeds, &feed{first: traffic.MinTime, progress: newProgress()})
			feeds[len(feeds)-1].publish()
			left, first = append(left, times), append(first, len(model))
			model = append(model, seqs(times, lateness, since)...)
		}
		out := outlet{t: t, model: model, watermark: traffic.MinTime}
		for {
			i := rapid.IntRange(0, len(feeds)-1).Draw(t, "input")
			n := min(len(left[i]), rapid.IntRange(0, 6).Draw(t, "rows"))
			sum := p.add(rowsAt(first[i], left[i][:n]), feeds[i].progress)
			out.expect(sum, model[first[i]:first[i]+n], lateness)
			left[i], first[i] = left[i][n:], first[i]+n
			feeds[i].publish()
			feeds[i].finished = len(left[i]) == 0
			if rapid.Bool().Draw(t, "release") {
				out.release(p, watermarkOf(feeds, lateness))
			}
			if !slices.ContainsFunc(feeds, func(f *feed) bool { return !f.finished }) {
				break
			}
		}
		out.release(p, traffic.MaxTime)
		out.complete(p)
	})
}

// drawTimes draws the times of one input: mostly ahead, sometimes back, now and then far off.
func drawTimes(t *rapid.T) (times []limit.Time) {
	now := limit.Time(rapid.IntRange(0, 20).Draw(t, "start"))
	for range rapid.IntRange(0, 30).Draw(t, "requests") {
		now += limit.Time(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3, 5, -1, -3, -9}).Draw(t, "step"))
		at := now
		switch rapid.IntRange(0, 19).Draw(t, "oddity") {
		case 0:
			at += 1000
		case 1:
			at -= 1000
		}
		times = append(times, at)
	}
	return times
}

// An outlet checks what comes out against the model.
type outlet struct {
	t         *rapid.T
	model     []waiter
	watermark limit.Time
	seen      map[int]bool
}

// expect checks the counts of one block.
func (o *outlet) expect(got added, block []waiter, lateness limit.Time) {
	want := added{first: traffic.MaxTime, last: traffic.MinTime}
	for _, w := range block {
		if w.seq != w.at {
			want.late++
			want.lateBy = max(want.lateBy, w.seq+lateness-w.at)
		}
		switch w.kind {
		case "counted":
			want.first, want.last = min(want.first, w.at), max(want.last, w.at)
		case "warm":
			want.warm++
		case "dropped":
			want.dropped++
		}
	}
	if got != want {
		o.t.Fatalf("adding %+v counts %+v, want %+v", block, got, want)
	}
}

// release lets out what lies before the watermark, all of which must lie behind all that came out before.
func (o *outlet) release(p *pending, watermark limit.Time) {
	if o.seen == nil {
		o.seen = map[int]bool{}
	}
	out := traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true})
	p.release(watermark, out, rapid.SampledFrom([]int{0, 1 << 20}).Draw(o.t, "few"))
	for i, seq := range out.Sequence() {
		n, ok := whole(out, i)
		if !ok || o.seen[n] || out.At[i] != o.model[n].at || seq != o.model[n].seq {
			o.t.Fatalf("row %d came out at %d, seq %d, columns together: %v, seen before: %v; want %+v", n, out.At[i], seq, ok, o.seen[n], o.model[n])
		}
		if seq < o.watermark || seq >= watermark {
			o.t.Fatalf("row %d with its sequence time at %d came out between the watermarks %d and %d", n, seq, o.watermark, watermark)
		}
		o.seen[n] = true
	}
	o.watermark = max(o.watermark, watermark)
}

// complete checks that all that takes part has come out.
func (o *outlet) complete(p *pending) {
	for n, w := range o.model {
		if o.seen[n] == (w.kind == "dropped") {
			o.t.Fatalf("row %d (%+v) came out: %v", n, w, o.seen[n])
		}
	}
	if p.Len() != 0 || p.Seq != nil {
		o.t.Fatalf("%d rows are left", p.Len())
	}
}

// Rows of one input come out in the order in which they went in, as long as they are not sorted.
func TestReleaseKeepsOrder(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		p, w := newPending(5, traffic.MinTime), newProgress()
		n := 0
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			times := drawTimes(t)
			p.add(rowsAt(n, times), w)
			n += len(times)
			out := traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true})
			p.release(limit.Time(rapid.IntRange(0, 100).Draw(t, "watermark")), out, rapid.SampledFrom([]int{0, 1 << 20}).Draw(t, "few"))
			if !slices.IsSorted(out.Client) || !slices.IsSorted(p.Client) {
				t.Fatalf("out %v, still waiting %v", out.Client, p.Client)
			}
		}
	})
}

// What a watermark makes of odd clocks, second by second, with a lateness of 10 s. The number behind a slash is the
// seq of a request that is late.
func TestWatermark(t *testing.T) {
	for name, test := range map[string]struct{ at, want string }{
		"in order":                    {"1 2 3 4", "1 2 3 4"},
		"a little out of order":       {"100 91 102 93", "100 91 102 93"},
		"the lateness, to the second": {"100 100 90 89", "100 100 90 89/90"},
		"a lone stamp far ahead":      {"1 2 99999 3 4 5", "1 2 99999 3 4 5"},
		"the first one far ahead":     {"99999 1 2 3", "99999 1 2 3"},
		"two lone stamps far ahead":   {"1 99999 2 99999 3", "1 99999 2 99999 3"},
		"two in a row far ahead":      {"1 2 99999 99998 3 4", "1 2 99999 99998 3/99988 4/99988"},
		"a lone stamp far back":       {"100 101 1 102 103", "100 101 1/90 102 103"},
		"a clock a day back":          {"86400 86401 1 2 3", "86400 86401 1/86390 2/86390 3/86390"},
		"and on again":                {"86400 86401 1 2 86402 86403 86380", "86400 86401 1/86390 2/86390 86402 86403 86380/86392"},
		"before 1970":                 {"-100 -99 -200 -98", "-100 -99 -200/-110 -98"},
	} {
		w := newProgress()
		var got []string
		for _, field := range strings.Fields(test.at) {
			var at int
			fmt.Sscan(field, &at)
			seq := w.pass(limit.Time(at)*limit.Second, 10*limit.Second) / limit.Second
			if seq != limit.Time(at) {
				field += fmt.Sprintf("/%d", seq)
			}
			got = append(got, field)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// When too many wait, the oldest go: some of them, never all if that can be helped, and at least one moment.
func TestOldest(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		p, w := newPending(1<<20, traffic.MinTime), newProgress()
		times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) limit.Time {
			return limit.Time(rapid.IntRange(0, 50).Draw(t, "at"))
		}), 1, 200).Draw(t, "times")
		p.add(rowsAt(0, times), w)
		out := traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true})
		p.release(p.oldest(), out, 0)
		sorted := slices.Sorted(slices.Values(times))
		want := 0 // as many as lie at or before the first quarter
		for want < len(sorted) && sorted[want] <= sorted[len(sorted)/4] {
			want++
		}
		if out.Len() != want || out.Len()+p.Len() != len(times) {
			t.Fatalf("%d of %d came out, want %d; %d are left", out.Len(), len(times), want, p.Len())
		}
		// What comes too late for that is let in at the watermark, and counted.
		sum := p.add(rowsAt(len(times), []limit.Time{p.watermark - 1, p.watermark}), w)
		if rest := p.Sequence()[p.Len()-2:]; sum.late != 1 || rest[0] != p.watermark || rest[1] != p.watermark {
			t.Fatalf("%d late; sequence times %d, watermark %d", sum.late, rest, p.watermark)
		}
	})
}

// The watermark follows the input that is furthest back, until that has come to its end.
func TestFloor(t *testing.T) {
	feeds := []*feed{{first: traffic.MinTime, progress: newProgress()}, {first: traffic.MinTime, progress: newProgress()}}
	turns := newTurns(feeds)
	at := func(i int, mark limit.Time) { feeds[i].progress.reached = mark; feeds[i].publish() }
	expect := func(when string, back *feed, want limit.Time) {
		t.Helper()
		if got := watermarkOf(feeds, 10); got != want {
			t.Errorf("%s the watermark is %d, want %d", when, got, want)
		}
		if got := turns.next(); got != back {
			t.Errorf("%s the wrong input is read next", when)
		}
	}
	at(0, traffic.MinTime)
	at(1, 100)
	expect("before all have begun", feeds[0], traffic.MinTime)
	at(0, 90)
	expect("when both are on their way", feeds[0], 80)
	feeds[0].exhausted = true
	expect("while the rest of one is on its way", feeds[1], 80)
	feeds[0].finished = true
	expect("when one has ended", feeds[1], 90)
	feeds[1].exhausted, feeds[1].finished = true, true
	expect("at the end", nil, traffic.MaxTime-10)
}

// A Stream hands out the same requests whatever the size of its batches: each batch lies before the next, and none is much
// larger than it is to be unless they are of one moment.
func TestStreamReleasesInBatches(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		s := &Stream{options: Options{Batch: rapid.IntRange(1, 20).Draw(t, "batch"), Waiting: 1 << 20}}
		s.pending, s.out = *newPending(1<<20, traffic.MinTime), traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true})
		times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) limit.Time {
			return limit.Time(rapid.IntRange(0, 50).Draw(t, "at"))
		}), 0, 200).Draw(t, "times")
		s.pending.add(rowsAt(0, times), newProgress())
		watermark := limit.Time(rapid.IntRange(0, 60).Draw(t, "watermark"))
		if rapid.IntRange(0, 9).Draw(t, "end") == 0 {
			watermark = traffic.MaxTime
		}
		var got []limit.Time
		for more := true; more; {
			var b *traffic.Batch
			b, more = s.Release(watermark)
			batch := slices.Sorted(slices.Values(b.At))
			if len(got) > 0 && len(batch) > 0 && batch[0] <= got[len(got)-1] {
				t.Fatalf("a batch from %d on after one up to %d", batch[0], got[len(got)-1])
			}
			if most := s.options.Batch + 1; more && len(batch) > most && batch[most-1] != batch[len(batch)-1] {
				t.Fatalf("%d in a batch of %d", len(batch), s.options.Batch)
			}
			if more && len(batch) == 0 {
				t.Fatal("an empty batch, and more behind it")
			}
			got = append(got, batch...)
		}
		want := slices.Sorted(slices.Values(times))
		want = want[:len(want)-countFrom(want, watermark)]
		if !slices.Equal(got, want) || s.pending.Len() != len(times)-len(want) {
			t.Fatalf("%d came out before %d, want %d; %d are left", len(got), watermark, len(want), s.pending.Len())
		}
		if watermark == traffic.MaxTime {
			watermark = slices.Max(append(want, traffic.MinTime))
		}
		if s.pending.watermark != watermark {
			t.Fatalf("the watermark is %d, want %d", s.pending.watermark, watermark)
		}
	})
}

// countFrom returns how many of the sorted times lie at or behind a moment.
func countFrom(times []limit.Time, from limit.Time) int {
	i, _ := slices.BinarySearch(times, from)
	return len(times) - i
}
