package ingest

import (
	"bytes"
	"hash/crc32"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
	"shadow/parse"
)

// An intake turns blocks of lines into rows. It works in tiles of a few hundred lines: first it parses them all, then it
// looks up all their clients, then all their agents, and so on. So each loop stays in the caches, and the look-ups of
// different lines overlap.
//
//	block ──▶ tile of records ──▶ clients ──▶ agents ──▶ actions ──▶ rows

// tile is the number of records in hand at once.
const tile = 256

// mostFormats is the most formats at hand: the format of a log that is followed may change any number of times.
const mostFormats = 256

// An intake belongs to one goroutine.
type intake struct {
	tables  *traffic.Tables
	clients *match.Extractor
	ids     *intern.Finder // of clients
	agents  *useragent.Finder
	actions *match.Matcher
	exclude *match.Exclude
	notHTTP NotHTTP
	marker  *match.Marker        // nil unless there are scopes
	clues   *evidence.ClueReader // nil unless wanted
	origins *match.Origins       // nil unless wanted
	values  *match.Values        // nil unless wanted
	trial   *Trial               // of the values
	span    span
	columns traffic.Columns
	formats map[*parse.Format]*parse.Lines
	strange []clientShape // of the clients by id
	routes  bool          // whether the lines may have a route

	nginxPaths bool // see Options

	addresses bool // whether clients are addresses
	clock     Stopwatch

	records [tile]parse.Record
	numbers [tile]int64 // of the lines of the records, from the start of the block
	host    []byte      // in lower case, reused
}

// rows holds the requests of one block, and counts of its lines.
type rows struct {
	traffic.Batch
	counts       Counts // but for Late
	line         int64  // of the block, from 1, with comments
	comments     int64
	strange      strangers
	refusals     int64
	untimed      int64      // that do not tell how long they took, where that is needed
	marked       uint64     // the scopes that some request is in
	valued       uint64     // the parts of keys that some request had
	fields       uint64     // the fields that tiers go by and some request had
	first, stamp limit.Time // of the first line and the latest
	steps        Steps
	twins        int64  // lines with a fraction of a second that are the one before once more
	head, tail   uint32 // hashes of the first line and the latest
	before       []byte // that line, while the block is read
	zones        Zones
	grain        uint8     // of grains: the coarsest that all stamps are multiples of
	faults       []FaultAt // the first few, with the line counted from the start of the block
	times        StageTimes
}

// fill replaces what r held by the rows of one block.
func (in *intake) fill(r *rows, block *logfile.Block, format *parse.Format) {
	r.clear()
	r.counts.Bytes = int64(len(block.Data))
	lines := in.lines(format)
	in.routes = format.Has(parse.FieldRoute)
	lines.Begin(block.Data)
	in.clock.Start()
	defer in.clock.Stop()
	for lines.More() {
		n := in.scan(r, lines)
		in.clock.Lap(&r.times.Parse)
		in.look(r, in.records[:n])
	}
	r.counts.Lines = r.line - r.comments
	r.tail, r.before = lineHash(r.before), nil
}

// lineHash returns a hash that a line has in all readings.
func lineHash(line []byte) uint32 { return crc32.Checksum(line, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// clear empties r and keeps its room.
func (r *rows) clear() {
	r.Batch.Reset() // where it is: a copy would be allocated
	*r = rows{Batch: r.Batch, faults: r.faults[:0], counts: Counts{NotHTTP: r.counts.NotHTTP[:0]}}
}

// lines returns the reader for lines of a format on this goroutine.
func (in *intake) lines(f *parse.Format) *parse.Lines {
	l := in.formats[f]
	if l == nil {
		if len(in.formats) == mostFormats {
			clear(in.formats)
		}
		l = f.NewLines()
		in.formats[f] = l
	}
	return l
}

// scan parses lines until the tile is full, and returns how many records it made.
func (in *intake) scan(r *rows, lines *parse.Lines) int {
	n := 0
	for n < tile && lines.More() {
		r.line++
		record := &in.records[n]
		line, fault := lines.Next(record)
		if !fault.OK() {
			if fault == parse.Comment {
				r.comments++
			} else {
				r.fault(fault, line)
			}
			continue
		}
		r.counts.Parsed++
		r.compare(lines.Text(), record.Stamp)
		if record.Stamp != r.stamp || r.counts.Parsed == 1 {
			r.see(record.Stamp)
			r.zones.see(lines.Zone(), record.Stamp)
		}
		judged := !record.NotHTTP || in.notHTTP == JudgeNotHTTP
		switch {
		case !in.span.holds(record.Start), in.exclude.Match(record):
			r.counts.Excluded++
			continue
		case record.NotHTTP && record.Start >= in.span.since:
			r.counts.NotHTTP.Add(record.Status, 1)
		case !judged: // it could only warm limits, and warms none
			r.counts.Excluded++
		}
		if judged {
			if record.Start != record.Stamp {
				r.counts.Moved++
			}
			in.numbers[n] = r.line
			n++
		}
	}
	return n
}

// compare counts a line that is the one before once more. In whole seconds a client may well send the same twice.
func (r *rows) compare(line []byte, stamp limit.Time) {
	switch {
	case r.counts.Parsed == 1:
		r.head = lineHash(line)
	case stamp%limit.Second != 0 && bytes.Equal(line, r.before):
		r.twins++
	}
	r.before = line
}

// grains hold how coarse stamps may be.
var grains = [...]limit.Time{limit.Minute, 10 * limit.Second, limit.Second, limit.Millisecond, limit.Microsecond}

// see notes how precise a stamp is.
func (r *rows) see(stamp limit.Time) {
	if r.counts.Parsed == 1 {
		r.first = stamp
	} else {
		r.steps.step(r.stamp, stamp)
	}
	r.stamp = stamp
	for stamp%grains[r.grain] != 0 {
		r.grain++
	}
}

// look appends the rows of the tile's records.
func (in *intake) look(r *rows, records []parse.Record) {
	n := len(records)
	for i, ids := 0, extend(&r.Client, n); i < n; i++ {
		key := in.clients.Key(&records[i])
		ids[i] = in.ids.ID(key)
		if in.addresses {
			in.meet(&r.strange, ids[i], key)
		}
	}
	in.clock.Lap(&r.times.Clients)
	clients := r.Client[len(r.Client)-n:]
	for i, ids := 0, extend(&r.Agent, n); i < n; i++ {
		ids[i] = in.agents.ID(clients[i], records[i].Agent)
	}
	in.clock.Lap(&r.times.Agents)
	for i, ids := 0, extend(&r.Action, n); i < n; i++ {
		if in.routes {
			ids[i] = uint16(in.actions.Of(&records[i]))
		} else {
			ids[i] = uint16(in.actions.ID(records[i].Method, records[i].Path))
		}
	}
	in.clock.Lap(&r.times.Actions)
	at, status, size := extend(&r.At, n), extend(&r.Status, n), extend(&r.Bytes, n)
	for i := range records {
		record := &records[i]
		at[i], status[i], size[i] = record.Start, uint16(record.Status), record.Bytes
		if traffic.Refusal(record.Status) && record.Start >= in.span.since {
			r.refusals++
		}
	}
	in.optional(r, records)
	in.clock.Lap(&r.times.Parse)
}

// optional appends to the columns that not every run has.
func (in *intake) optional(r *rows, records []parse.Record) {
	if in.columns.Host {
		for i := range records {
			in.host = intern.LowerASCII(in.host[:0], records[i].Host)
			r.Host = append(r.Host, in.tables.Hosts.ID(dash(in.host)))
		}
	}
	if in.columns.User {
		for i := range records {
			user := int32(traffic.NoUser)
			if name := records[i].User; len(name) > 0 && string(name) != "-" {
				user = in.tables.Users.ID(name)
			}
			r.User = append(r.User, user)
		}
	}
	if in.columns.Path {
		for i := range records {
			r.Path = append(r.Path, in.tables.Paths.ID(pathKey(&records[i], in.nginxPaths)))
		}
	}
	for i := range in.columns.Values {
		in.value(r, i, records)
	}
	if in.columns.Upstream {
		r.Upstream = lengths(r.Upstream, records, func(r *parse.Record) limit.Time { return r.UpstreamTime })
	}
	if in.columns.Took {
		r.Took = lengths(r.Took, records, func(r *parse.Record) limit.Time { return r.RequestTime })
		r.untimed += untimed(records)
	}
	if in.columns.Clues {
		in.find(extend(&r.Clues, len(records)), records)
	}
	if in.columns.Origins {
		for i := range records {
			origin, leftmost := in.origins.Of(&records[i])
			r.Origin, r.Leftmost = append(r.Origin, origin), append(r.Leftmost, leftmost)
		}
	}
	if in.columns.Lines {
		r.Line = append(r.Line, in.numbers[:len(records)]...)
	}
	if in.columns.Marks {
		marks := extend(&r.Marks, len(records))
		in.marker.Mark(marks, &r.Batch, records)
		for _, m := range marks {
			r.marked |= m
		}
		r.fields |= in.marker.Fields()
	}
}

// find finds clues, and keeps the targets that were given away though they should not be public.
func (in *intake) find(clues []traffic.Clue, records []parse.Record) {
	in.clues.Find(clues, records)
	for i := range clues {
		if clues[i].Traits.Has(traffic.Pried) && records[i].Status/100 == 2 {
			in.tables.AddTarget(clues[i].Page, match.PathOf(records[i].Path))
		}
	}
}

// lengths appends a length of time of each record, 0 where it is not logged.
func lengths(dst []int64, records []parse.Record, of func(*parse.Record) limit.Time) []int64 {
	for i := range records {
		dst = append(dst, max(0, int64(of(&records[i]))))
	}
	return dst
}

// untimed counts the records that do not tell how long the request took.
func untimed(records []parse.Record) (n int64) {
	for i := range records {
		if records[i].RequestTime == parse.NotLogged {
			n++
		}
	}
	return n
}

// pathKey returns the key of a request where limits count by paths: its path as it was logged, or as nginx has it.
func pathKey(r *parse.Record, nginx bool) []byte {
	if !match.IsHTTP(r.Method, r.Path) {
		return notHTTPPath
	}
	return dash(match.URIOf(r, nginx))
}

// notHTTPPath is the path of all requests that are not HTTP.
var notHTTPPath = []byte(match.NotHTTPAction)

// extend makes a column n rows longer and returns the new rows.
func extend[T any](column *[]T, n int) []T {
	*column = slices.Grow(*column, n)
	*column = (*column)[:len(*column)+n]
	return (*column)[len(*column)-n:]
}

// dash returns a name, or "-" for one that was not logged.
func dash(name []byte) []byte {
	if len(name) == 0 {
		return []byte("-")
	}
	return name
}

// Faults are for people to read: a few of them, each with the beginning of its line.
const (
	faultsShown    = 10
	faultTextBytes = 200
)

// fault counts an unreadable line, which has just been counted as a line.
func (r *rows) fault(f parse.Fault, line []byte) {
	r.counts.Unreadable++
	if len(r.faults) < faultsShown {
		text := string(line[:min(len(line), faultTextBytes)])
		r.faults = append(r.faults, FaultAt{Line: r.line, Fault: f, Text: text})
	}
}

// A span says which requests take part, by their time: those from warm on are judged, those from since on are counted,
// and those from until on are left out.
type span struct{ warm, since, until limit.Time }

func (s span) holds(t limit.Time) bool { return t >= s.warm && t < s.until }
