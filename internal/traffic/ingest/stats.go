package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse"
	"shadow/report/format"
)

// Stats counts what reading found in the inputs. Parsed + Carried = Excluded + Warm + Held + judged requests, and the
// lines that are not HTTP where these are not judged.
type Stats struct {
	Counts
	JudgesNotHTTP bool          // whether lines that are not HTTP were judged
	Warm          int64         // judged before --since and not counted
	Carried       int64         // had been held back by an earlier run
	Held          int64         // are held back for a later one
	HeldFrom      limit.Time    // the earliest moment of these
	LateBy        limit.Time    // the lateness that would have put all of these in order; 0: none came late
	Marked        uint64        // the scopes, as in Batch.Marks, that some request is in
	Armed         []match.Armed `json:"-"` // scopes that hold only while the site is busy
	Refusals      int64         // requests that the server itself had answered with 429 or 503, excluded ones not among them
	FirstAt       limit.Time    // of the requests that were neither excluded nor warm
	LastAt        limit.Time
	Days          int64      // with such a request; 0: not known
	Whole         int64      // of the requests that count: from inputs stamped in whole seconds; 0 unless Options.Band
	Resolution    limit.Time // of the stamps: the coarsest of grains that all are multiples of
	HasAgents     bool       // whether any format that was read has a user agent
	HasUpstream   bool       // whether any has upstream times
	Untimed       int64      // requests that do not tell how long they took; 0 unless Options.Took
	ForwardedBy   string     // the header in which a format that was read has what proxies say; "": none
	SiteHosts     [][]byte   // names of the site, as far as the log or a flag tells them, without "www."
	Inputs        []InputStats
	Faults        []FaultAt      // the first few, input by input
	Passed        []error        `json:"-"` // for each input that was passed over, why
	Copies        logfile.Copies `json:"-"` // inputs that were left out, or may be copies
}

// InputStats describes one input, and counts its lines.
type InputStats struct {
	Name                      string // as given, or as found by a glob or in a directory
	Format                    string // Format.Name
	FormatText                string // Format.Text
	Compression               string // "", "gzip", "zstd", "bzip2" or "xz"
	Size                      int64  // of the file as it lies on disk, in bytes; -1 when unknown (standard input)
	Head, Tail                uint64 // hashes of its first and last block on disk; 0 when unknown
	Lines, Parsed, Unreadable int64
	FirstAt, LastAt           limit.Time
	SeenFrom, SeenTo          limit.Time // of all lines that were read or looked at, whether or not they take part
	Steps                     Steps
	Twins                     int64 // lines with a fraction of a second that are the one before once more
	Zones                     Zones
	Warnings                  []string // what looks odd about it
	Problem                   string   // see logfile.Input: "truncated gzip …"; empty if there is none
}

// FaultAt is an unreadable line and where it stands.
type FaultAt struct {
	Input string // InputStats.Name
	Line  int64  // from 1; 0 when reading began in the middle of the file
	Fault parse.Fault
	Text  string // the beginning of the line: bytes of any client, to be made harmless where they are shown
}

// count adds what a job, and taking in its rows, came to.
func (s *Stats) count(j *job, sum added) {
	r, f := &j.rows, j.feed
	s.Add(&r.counts)
	s.Excluded += sum.dropped
	s.Warm += sum.warm
	s.Late += sum.late
	s.LateBy = max(s.LateBy, sum.lateBy)
	s.Refusals += r.refusals
	s.Untimed += r.untimed
	if f.whole {
		s.Whole += int64(r.Len()) - sum.dropped - sum.warm
	}
	s.Marked |= r.marked
	s.Resolution = Finer(s.Resolution, r.resolution())
	f.note(j)
	if f.firstAt == traffic.MinTime && r.Len() > 0 {
		f.firstAt = r.At[0]
	}
	if f.stats.Parsed == 0 && r.counts.Parsed > 0 {
		f.firstStamp = r.first
	}
	f.requests += int64(r.Len())
	f.strange.add(r.strange.lines, r.strange.shown...)
	f.looked, f.fields = f.looked || r.Len() > 0, f.fields|r.fields
	f.valued |= r.valued
	cover(&s.FirstAt, &s.LastAt, sum)
	f.stats.Steps.Add(r.steps)
	f.stats.Zones.add(&r.zones)
	f.stats.Twins += r.twins
	if r.counts.Parsed > 0 {
		if f.stats.Parsed > 0 {
			f.stats.follow(f.stamp, r.first, f.tail, r.head)
		} else {
			f.head = r.head
		}
		f.stamp, f.tail = r.stamp, r.tail
		f.stats.saw(r.first)
		f.stats.saw(r.stamp)
	}
	f.stats.Lines += r.counts.Lines
	f.comments += r.comments
	f.stats.Parsed += r.counts.Parsed
	f.stats.Unreadable += r.counts.Unreadable
	cover(&f.stats.FirstAt, &f.stats.LastAt, sum)
}

// Finer returns the finer of two resolutions, of which 0 is none.
func Finer(a, b limit.Time) limit.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// resolution returns the grain of the timestamps of the rows, 0 without any.
func (r *rows) resolution() limit.Time {
	if r.counts.Parsed == 0 {
		return 0
	}
	return grains[r.grain]
}

// note keeps the first faults, with their places in the whole input, if reading began at its beginning.
func (f *feed) note(j *job) {
	for _, fault := range j.rows.faults {
		if len(f.faults) == faultsShown {
			return
		}
		fault.Input = f.name
		if !f.input.Skipped() || f.span.From > 0 { // of a span they are counted from its first line
			fault.Line += f.stats.Lines + f.comments
		} else {
			fault.Line = 0
		}
		f.faults = append(f.faults, fault)
	}
}

// Judged returns how many requests were judged and counted.
func (s *Stats) Judged() int64 { return s.Taken() + s.Carried - s.Warm - s.Held }

// Taken returns how many lines took part: they are parsed, not excluded, and HTTP unless that is judged as well.
func (s *Stats) Taken() int64 {
	n := s.Parsed - s.Excluded
	if !s.JudgesNotHTTP {
		n -= s.NotHTTP.Lines()
	}
	return n
}

// cover widens it to hold the times of a batch.
func (sum *added) cover(b *traffic.Batch) {
	for _, at := range b.At {
		sum.first, sum.last = min(sum.first, at), max(sum.last, at)
	}
}

// cover widens a stretch of time to hold what was added. A stretch from MaxTime to MinTime is empty.
func cover(first, last *limit.Time, sum added) {
	*first, *last = min(*first, sum.first), max(*last, sum.last)
}

// follow takes down that a line follows another, by the stamps and the hashes of both.
func (in *InputStats) follow(from, to limit.Time, tail, head uint32) {
	in.Steps.step(from, to)
	if tail == head && from == to && to%limit.Second != 0 {
		in.Twins++
	}
}

// saw widens the time of the lines that were seen.
func (in *InputStats) saw(at limit.Time) {
	in.SeenFrom, in.SeenTo = min(in.SeenFrom, at), max(in.SeenTo, at)
}

// finish closes the account of an input that has come to its end.
func (s *Stats) finish(f *feed) {
	f.finished = true
	in := &f.stats
	in.Name, in.Warnings = f.name, f.warnings
	in.Compression, in.Problem = f.input.Compression(), f.input.Problem()
	in.Size, in.Head, in.Tail = f.input.Identity()
	if f.format != nil {
		in.Format, in.FormatText = f.format.Name, f.format.Text
	}
	s.HasAgents = s.HasAgents || f.has(parse.FieldAgent)
	s.HasUpstream = s.HasUpstream || f.has(parse.FieldUpstreamTime)
	if f.has(parse.FieldForwarded) {
		s.ForwardedBy = max(s.ForwardedBy, f.format.ForwardedBy()) // of several x-forwarded-for
	}
}

// close makes the statistics whole once all inputs have come to their end.
func (s *Stats) close(feeds []*feed) {
	empty(&s.FirstAt, &s.LastAt)
	for _, f := range feeds {
		empty(&f.stats.FirstAt, &f.stats.LastAt)
		empty(&f.stats.SeenFrom, &f.stats.SeenTo)
		s.Inputs = append(s.Inputs, f.stats)
		s.Faults = append(s.Faults, f.faults[:min(len(f.faults), faultsShown-len(s.Faults))]...)
	}
}

// empty makes a stretch without any moment the zero one.
func empty(first, last *limit.Time) {
	if *first > *last {
		*first, *last = 0, 0
	}
}

// A log has lines that no limiter sees: a connection on which nothing came, a TLS handshake at a port for HTTP, a request line
// that cannot be read. The server answers them before it asks a limiter (nginx: 400 while it reads the request line, and
// limit_req comes in a later phase). parse.Record.NotHTTP marks them.

// NotHTTP says what becomes of these lines.
type NotHTTP uint8

// What becomes of lines that are not HTTP.
const (
	SkipNotHTTP  NotHTTP = iota // they are counted, and not judged
	JudgeNotHTTP                // they are judged as requests
)

// A StatusLines counts the lines that have a status.
type StatusLines struct {
	Status int32 `json:"status"` // 0: not logged
	Lines  int64 `json:"lines"`
}

// ByStatus counts lines by their status, in its order. It holds at most a thousand, as a status has three digits.
type ByStatus []StatusLines

// Add counts n lines.
func (b *ByStatus) Add(status int32, n int64) {
	i, found := slices.BinarySearchFunc(*b, status, func(s StatusLines, status int32) int { return cmp.Compare(s.Status, status) })
	if !found {
		*b = slices.Insert(*b, i, StatusLines{Status: status})
	}
	(*b)[i].Lines += n
}

// AddAll counts the lines of others.
func (b *ByStatus) AddAll(others ByStatus) {
	for _, s := range others {
		b.Add(s.Status, s.Lines)
	}
}

// Less returns what b has counted since it was as before.
func (b ByStatus) Less(before ByStatus) (since ByStatus) {
	since = slices.Clone(b)
	for _, s := range before {
		since.Add(s.Status, -s.Lines)
	}
	return slices.DeleteFunc(since, func(s StatusLines) bool { return s.Lines == 0 })
}

// Lines returns the number of lines of all statuses.
func (b ByStatus) Lines() (n int64) {
	for _, s := range b {
		n += s.Lines
	}
	return n
}

// statusesNamed is the most statuses that a text names.
const statusesNamed = 5

// String names the statuses of most lines.
func (b ByStatus) String() string {
	most := slices.Clone(b)
	slices.SortStableFunc(most, func(a, b StatusLines) int { return cmp.Compare(b.Lines, a.Lines) })
	var texts []string
	for _, s := range most[:min(len(most), statusesNamed)] {
		name := "without a status"
		if s.Status > 0 {
			name = fmt.Sprint("with status ", s.Status)
		}
		texts = append(texts, format.Thousands(s.Lines)+" "+name)
	}
	if len(most) > len(texts) {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}
