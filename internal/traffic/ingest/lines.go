package ingest

import (
	"context"
	"fmt"
	"io"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse"
)

// A Line is a line of an input that tells a request.
type Line struct {
	Input  int    // index into the names
	Number int64  // from 1
	Text   []byte // without its line ending; valid until the next line
	At     limit.Time
	Status uint16
	Record *parse.Record // what else it tells; valid until the next line
}

// AnyClient stands for all clients.
const AnyClient = -1

// Lines reads inputs once more, and calls see with each line that tells a request that takes part, of a client known to
// o.Tables or of AnyClient, input by input as they stand. It ends when see returns false. Inputs that are read twice must be files.
func Lines(ctx context.Context, names []string, o Options, client int32, see func(Line) bool) error {
	for i, name := range names {
		more, err := o.lines(ctx, i, name, client, see)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !more {
			break
		}
	}
	return nil
}

// lines works as Lines for one input, and reports whether more are wanted.
func (o *Options) lines(ctx context.Context, index int, name string, client int32, see func(Line) bool) (more bool, err error) {
	input, err := logfile.OpenInput(name, nil)
	if err != nil {
		return false, err
	}
	defer input.Close()
	sample, err := input.Peek()
	if err != nil || len(sample) == 0 {
		return true, err
	}
	found, err := o.Format.For(sample)
	if err != nil {
		return false, err
	}
	r := lineReader{parser: found.Format.NewParser(), clients: o.Clients.NewExtractor(), tables: o.Tables, client: client, takesPart: o.takesPart()}
	r.Input, r.Line.Record = index, &r.record
	var block logfile.Block
	for err == nil {
		if err = ctx.Err(); err == nil {
			err = input.Next(&block)
		}
		if err == nil && !r.read(block.Data, see) {
			return false, nil
		}
	}
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

// A lineReader finds a client's lines.
type lineReader struct {
	Line
	parser  parse.Parser
	clients *match.Extractor
	tables  *traffic.Tables
	client  int32
	record  parse.Record

	takesPart func(*parse.Record) bool
}

// read goes through a block, and reports whether more is wanted.
func (r *lineReader) read(data []byte, see func(Line) bool) bool {
	for len(data) > 0 {
		var line []byte
		line, data = logfile.CutLine(data)
		r.Number++
		if len(line) == 0 || len(line) > logfile.MaxLine {
			continue
		}
		r.Text = append(r.Text[:0], line...) // before the parser undoes escapes in it
		if !r.parser.Parse(line, &r.record).OK() || !r.takesPart(&r.record) {
			continue
		}
		if id, known := r.tables.Clients.Find(r.clients.Key(&r.record)); r.client != AnyClient && (!known || id != r.client) {
			continue
		}
		r.At, r.Status = r.record.Start, uint16(r.record.Status)
		if !see(r.Line) {
			return false
		}
	}
	return true
}

// A LineFinder finds the lines that requests of one client came from. The requests stand in the order of time, and are told by
// their inputs and moments; those that share both stand in the order of the lines.
type LineFinder struct {
	waiting map[lineKey][]int32 // rows, the first of which the next line belongs to
	status  []uint16
	wanted  map[int32]bool
}

type lineKey struct {
	source uint32
	at     limit.Time
}

// NewLineFinder returns a LineFinder for the requests of b, of which some rows are wanted.
func NewLineFinder(b *traffic.Batch, rows []int32) *LineFinder {
	f := &LineFinder{waiting: map[lineKey][]int32{}, status: b.Status, wanted: map[int32]bool{}}
	for _, row := range rows {
		f.wanted[row] = true
	}
	for row, at := range b.At {
		key := lineKey{at: at}
		if b.Source != nil {
			key.source = b.Source[row]
		}
		f.waiting[key] = append(f.waiting[key], int32(row))
	}
	return f
}

// Next returns the row that the next line of the client tells of, if it is wanted. The line of a request that is not
// among those of b, because it came too late to warm a limit, is none.
func (f *LineFinder) Next(l Line) (row int32, wanted bool) {
	key := lineKey{uint32(l.Input), l.At}
	rows := f.waiting[key]
	if len(rows) == 0 || f.status[rows[0]] != l.Status {
		return 0, false
	}
	f.waiting[key] = rows[1:]
	row = rows[0]
	if !f.wanted[row] {
		return 0, false
	}
	delete(f.wanted, row)
	return row, true
}

// Missing returns how many wanted rows have not been found yet.
func (f *LineFinder) Missing() int { return len(f.wanted) }

// Once returns the first of the inputs that can be read only once, a pipe or standard input; "" if all are files.
func Once(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		if name == "-" {
			return true
		}
		input, err := logfile.OpenInput(name, nil)
		if err != nil {
			return false // the reader of the log will say what is wrong
		}
		defer input.Close()
		return input.Size() < 0
	})
	if i < 0 {
		return ""
	}
	return names[i]
}
