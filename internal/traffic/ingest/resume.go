package ingest

import (
	"cmp"
	"math"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/limit"
)

// Logs may be read in parts, night by night. What a Reader of one night leaves to that of the next is how far each log
// has come in time, and the requests that still wait for older ones:
//
//	night 1   aaaaaaaaaaaaaaaaaaaaaaa│bbb      judged │ held
//	night 2                          │bbb cccccccccccccccccc│ddd
//	                       watermark = latest reached − lateness
//
// A log is read as if its files were one: in the order of their times, with one progress. Then the requests of all nights
// get the sequence times that they would have got in one.

// A Resume says how to go on where another Reader stopped, and to stop so that another can go on.
type Resume struct {
	Ranges  []logfile.Range  // of the inputs, in their order
	Logs    int              // how many logs were known before; the others come behind them
	Carried *traffic.Decoder // what the other Reader has saved; nil: there was none
	Drop    bool             // the requests that the other Reader held back are not to be judged
	Now     limit.Time       // by the clock
	Until   limit.Time       // what comes from here on is held back in any case; 0: nothing is

	Stamps traffic.Coarseness // of what was read before; what is read now may be coarser
}

// arrange puts feeds in the order in which they are to be read, and makes those of one log follow each other. Logs that
// were not known before stand in the order of their first moments and names, as inputs do.
func (s *Resume) arrange(feeds []*feed) error {
	first := map[int]*feed{}
	for _, f := range feeds {
		if log := f.part.Log; first[log] == nil || earlier(f, first[log]) < 0 {
			first[log] = f
		}
	}
	var fresh []*feed
	for log, f := range first {
		if log >= s.Logs {
			fresh = append(fresh, f)
		}
	}
	slices.SortFunc(fresh, earlier)
	ranks := map[int]uint32{}
	for i, f := range fresh {
		ranks[f.part.Log] = uint32(s.Logs + i)
	}
	for _, f := range feeds {
		f.rank = uint32(f.part.Log)
		if f.part.Log >= s.Logs {
			f.rank = ranks[f.part.Log]
		}
	}
	slices.SortStableFunc(feeds, func(f, g *feed) int {
		switch {
		case f.rank != g.rank:
			return cmp.Compare(f.rank, g.rank)
		case f.part.Known && g.part.Known:
			return 0
		case f.part.Known:
			return -1
		case g.part.Known:
			return 1
		}
		return cmp.Compare(f.begins, g.begins)
	})
	return s.link(feeds)
}

// link makes the feeds of one log follow each other, and sets where each begins.
func (s *Resume) link(feeds []*feed) error {
	for i, f := range feeds {
		if i > 0 && feeds[i-1].rank == f.rank {
			f.after = feeds[i-1]
		}
		from := f.part.From
		if from == (logfile.Place{}) {
			from = f.input.Place() // where --since has it begin
		}
		last := i == len(feeds)-1 || feeds[i+1].rank != f.rank
		if err := f.input.Follow(from, f.part.Compressed || !last); err != nil {
			return err
		}
		f.input.Expect(f.part.ID)
	}
	return nil
}

// takeProgress gives each log its progress.
func (r *Reader) takeProgress() {
	for range r.options.Resume.Logs {
		r.logs = append(r.logs, newProgress())
	}
	for _, f := range r.feeds {
		if int(f.rank) == len(r.logs) {
			r.logs = append(r.logs, newProgress())
		}
		f.progress = r.logs[f.rank]
		f.progress.future = cmp.Or(r.options.Future, traffic.MaxTime)
	}
}

// restore takes in what another Reader has saved.
func (r *Reader) restore() error {
	from := r.options.Resume.Carried
	restorePending(from, r.logs, &r.pending)
	if err := from.Err(); err != nil {
		return err
	}
	if r.options.Resume.Drop {
		r.pending.Truncate(0)
		r.pending.DropSeq()
	}
	r.stats.Carried, _ = r.held()
	r.stats.Whole += r.wholeHeld()
	for _, f := range r.feeds {
		if f.progress.reached != traffic.MinTime {
			f.first = traffic.MinTime // it is not at the beginning of its log
		}
		f.publish()
	}
	return nil
}

// stop returns the moment at which a Reader stops that another is to follow: whatever comes later lies behind it,
// unless it is late. It is a whole minute, so that none is in two nights.
func (r *Reader) stop() limit.Time {
	newest := traffic.MinTime
	for _, w := range r.logs {
		newest = max(newest, w.reached)
	}
	newest = min(newest, r.options.Resume.Now) // a clock that is ahead must not make all others late
	return max(minuteOf(max(traffic.MinTime, newest-r.options.Lateness)), r.pending.watermark)
}

// ends returns the moment from which on requests are held back in any case.
func (r *Reader) ends() limit.Time {
	if r.options.Resume == nil || r.options.Resume.Until == 0 {
		return traffic.MaxTime
	}
	return minuteOf(r.options.Resume.Until)
}

// minuteOf returns the beginning of a minute.
func minuteOf(t limit.Time) limit.Time { return t - (t%limit.Minute+limit.Minute)%limit.Minute }

// Resumed tells how far the inputs have been read, log by log and in each from the oldest to the newest. It must be called
// after Next has returned io.EOF, of a Reader with a Resume.
func (r *Reader) Resumed() (all []logfile.RangeRead) {
	for _, f := range r.feeds {
		all = append(all, logfile.RangeRead{
			Range: f.index, Log: f.part.Log, Rank: int(f.rank), Place: f.input.Place(), Whole: f.input.Problem() == "",
		})
	}
	return all
}

// Save writes what the next Reader needs. It must be called after Next has returned io.EOF.
func (r *Reader) Save(to *traffic.Encoder) { savePending(to, r.logs, &r.pending) }

// Stamps tells how coarse the timestamps are, with a Resume also those of what was read before.
func (r *Reader) Stamps() traffic.Coarseness { return r.stamps }

// wholeHeld returns how many of the requests that wait are of logs stamped in whole seconds, as far as that is known.
func (r *Reader) wholeHeld() (n int64) {
	if r.stamps.Slack == 0 {
		return 0
	}
	fine := map[uint32]bool{} // by log
	for _, f := range r.feeds {
		fine[f.rank] = !f.whole
	}
	for i, at := range r.pending.At {
		if at >= r.pending.since && !(r.pending.Source == nil && fine[0] || r.pending.Source != nil && fine[r.pending.Source[i]]) {
			n++
		}
	}
	return n
}

// held returns how many requests still wait, and the earliest moment of theirs.
func (r *Reader) held() (n int64, first limit.Time) {
	first = math.MaxInt64
	for _, at := range r.pending.At {
		if at >= r.pending.since {
			n, first = n+1, min(first, at)
		}
	}
	if n == 0 {
		first = 0
	}
	return n, first
}
