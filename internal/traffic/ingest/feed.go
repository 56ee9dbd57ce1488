package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync/atomic"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/parse"
)

// A feed is one input on its way through a Reader.
type feed struct {
	name      string
	index     int           // among the names
	part      logfile.Range // what of it is to be read, if not all
	span      logfile.Span  // likewise, of Options.Spans
	after     *feed         // the one before it of the same log; nil: none
	input     *logfile.Input
	format    *parse.Format // nil for an input without a line
	next      *parse.Format // of the next block: see parse.Format.After
	warnings  []string
	rank      uint32         // among the inputs, by first moment and name: the order on the command line does not matter
	opening   uint64         // see openingOf
	hosts     map[string]int // in the referers of files at its beginning; nil: not wanted
	whole     bool           // its stamps are whole seconds, and that is wanted to be known
	begins    limit.Time     // its first moment, whatever takes part: the same for each span; MaxTime without a request
	first     limit.Time     // a moment from which on the input tells, MinTime if its beginning does not say
	reached   atomic.Int64   // how far in time the input has come, for the choice of what to read next
	exhausted bool           // fetch has read its end

	progress *progress // what collect has let through of its log
	finished bool      // collect has seen the end
	looked   bool      // whether a request of it has taken part
	fields   uint64    // of those that tiers go by: which its requests had
	missing  []missingPart
	valued   uint64 // the parts of keys that some request had, by their places
	requests int64  // of it that took part
	strange  strangers
	stamp    limit.Time // of the latest line
	firstAt  limit.Time // of the first request that takes part; MinTime: none

	firstStamp limit.Time // of the first line that could be read
	head, tail uint32     // hashes of that line and of the latest

	comments int64 // lines that count as none
	stats    InputStats
	faults   []FaultAt // the first few
}

// arrange puts feeds in the order of their ranks.
func arrange(feeds []*feed, o *Options) error {
	if o.Resume != nil {
		return o.Resume.arrange(feeds)
	}
	slices.SortStableFunc(feeds, earlier)
	for i, f := range feeds {
		f.rank = uint32(i)
	}
	return nil
}

// earlier orders feeds by their first moments, then by name.
func earlier(f, g *feed) int {
	return cmp.Or(cmp.Compare(f.begins, g.begins), cmp.Compare(f.name, g.name))
}

// tellPipes warns of pipes that begin as another input does. They can be read only once, so that nothing more is known.
func tellPipes(feeds []*feed) {
	first := map[uint64]*feed{}
	for _, f := range feeds {
		if f.input.Size() >= 0 && f.opening != 0 && first[f.opening] == nil {
			first[f.opening] = f
		}
	}
	for _, f := range feeds {
		if f.input.Size() >= 0 || f.opening == 0 {
			continue
		}
		if other := first[f.opening]; other != nil {
			f.warnings = append(f.warnings, fmt.Sprintf("begins as %s does: if it is the same log, its lines count twice", other.name))
		} else {
			first[f.opening] = f
		}
	}
}

// openingLines is the number of lines in the opening of an input, which no two hosts share by chance.
const openingLines = 10

// openingOf returns a hash of the first lines of an input; 0 if it has fewer, or too long ones.
func openingOf(sample []byte) uint64 {
	end := 0
	for range openingLines {
		n := bytes.IndexByte(sample[end:], '\n') + 1
		if n == 0 {
			return 0
		}
		end += n
	}
	h := fnv.New64a()
	h.Write(sample[:end])
	return h.Sum64()
}

// tellApart warns of inputs that do not tell by what requests are to be told apart: all of theirs count as one. When no
// input tells it, that is an error.
func tellApart(feeds []*feed, o *Options) error {
	var none error
	told := false
	for _, f := range feeds {
		if f.format == nil {
			continue
		}
		what, text, instead := o.lack(f.format, f.missing)
		if what == "" {
			told = true
			continue
		}
		f.warnings = append(f.warnings, fmt.Sprintf("%s is not logged: %s", what, instead))
		none = cmp.Or(none, error(&MissingFieldError{Field: what, text: f.name + ": " + text}))
	}
	if told {
		return nil
	}
	return none
}

func closeFeeds(feeds []*feed) {
	for _, f := range feeds {
		f.input.Close()
	}
}

// wholeSecond is the slack of stamps in whole seconds.
const wholeSecond = limit.Second - limit.Microsecond

// coarseness returns how coarse the timestamps of some inputs are. Where only some are in whole seconds, it is that of
// those inputs.
func coarseness(feeds []*feed) (c traffic.Coarseness) {
	for _, f := range feeds {
		if f.whole {
			c.Slack = wholeSecond
			c.Ends = c.Ends || !f.has(parse.FieldRequestTime)
		}
	}
	return c
}

// has reports whether the input's format has a field.
func (f *feed) has(field parse.Field) bool { return f.format != nil && f.format.Has(field) }

// read reads the next block.
func (f *feed) read(b *logfile.Block) error {
	if f.format == nil {
		return io.EOF
	}
	err := f.input.Next(b)
	if err == nil {
		f.next = f.next.After(b.Data)
	}
	return err
}

// publish tells fetch how far the input has come.
func (f *feed) publish() { f.reached.Store(int64(max(f.first, f.progress.reached))) }

// watermarkOf returns the moment before which nothing can come any more.
func watermarkOf(feeds []*feed, lateness limit.Time) limit.Time {
	lowest := traffic.MaxTime
	for _, f := range feeds {
		if !f.finished && (f.after == nil || f.after.finished) {
			lowest = min(lowest, limit.Time(f.reached.Load()))
		}
	}
	return max(traffic.MinTime, lowest-lateness)
}
