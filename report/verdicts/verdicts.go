// Package verdicts writes what becomes of each request by each policy, as lines for programs.
package verdicts

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strconv"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
)

// Columns lists the columns of a verdict, with their types in SQL.
var Columns = [][2]string{
	{"file", "VARCHAR"},
	{"line", "BIGINT"},
	{"time", "TIMESTAMP"},
	{"client", "VARCHAR"},
	{"action", "VARCHAR"},
	{"status", "SMALLINT"},
	{"policy", "VARCHAR"},
	{"verdict", "VARCHAR"},
	{"wait", "DOUBLE"},
}

// Format says how verdicts are written.
type Format int

// The formats.
const (
	JSON  Format = iota // objects, one a line
	CSV                 // for people and spreadsheets: no text can become a formula
	Plain               // CSV for programs, with texts as they are
)

// A Writer is a replay.Observer that writes a line for each request that counts and each policy: batch by batch, in each
// batch in the order of time, and the policies of a request in their order.
type Writer struct {
	out      *bufio.Writer
	format   Format
	tables   *traffic.Tables
	inputs   []string
	policies []string
	clients  texts
	actions  texts
	renames  *report.Anonymizer

	clock    format.Clock
	line     []byte
	rows     []int32
	verdicts [][]verdict // of each policy, by row
}

// A verdict is what becomes of a request.
type verdict struct {
	wait limit.Time
	outcome
}

type outcome uint8

const (
	passed outcome = iota
	delayed
	refused
)

var outcomes = [...]string{passed: "passed", delayed: "delayed", refused: "refused"}

// texts are names as they are written, by their ids.
type texts struct{ known intern.PagedSlice[[]byte] }

// of is a name as write has it.
func (t *texts) of(id int32, write func() []byte) []byte {
	if int(id) >= t.known.Len() {
		t.known.Grow(int(id) + 1)
	}
	text := t.known.At(id)
	if *text == nil {
		*text = write()
	}
	return *text
}

// New returns a writer of verdicts of policies to out, with other names where some are to be renamed.
func New(out io.Writer, f Format, tables *traffic.Tables, policies []policy.Policy, renames *report.Anonymizer) *Writer {
	w := &Writer{out: bufio.NewWriterSize(out, 1<<18), format: f, tables: tables, renames: renames, verdicts: make([][]verdict, len(policies))}
	for _, p := range policies {
		w.policies = append(w.policies, string(w.text(renames.Text(p.Name))))
	}
	if f != JSON {
		for i, column := range Columns {
			if i > 0 {
				w.line = append(w.line, ',')
			}
			w.line = append(w.line, column[0]...)
		}
		_, _ = w.out.Write(append(w.line, '\n')) // Finish tells
	}
	return w
}

// Inputs says how the inputs are called, as Batch.Source tells them. It comes before the first batch.
func (w *Writer) Inputs(names []string) {
	w.inputs = mapped.Add(w.inputs, names, func(name string) string { return string(w.text(w.renames.File(name))) })
}

// text is a text as a line has it.
func (w *Writer) text(s string) []byte {
	switch w.format {
	case JSON:
		return format.AppendText(nil, s)
	case CSV:
		return table.CSVText(s)
	}
	return table.PlainText(s)
}

// Observe implements replay.Observer.
func (w *Writer) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	if b.Warm {
		return nil
	}
	w.rows = b.InOrder(w.rows)
	for i := range verdicts {
		w.take(i, &verdicts[i], b.Len())
	}
	for _, row := range w.rows {
		for i, policy := range w.policies {
			if err := w.write(b, row, policy, w.verdicts[i][row]); err != nil {
				return err
			}
		}
	}
	return nil
}

// take notes the verdicts of a policy on n rows.
func (w *Writer) take(policy int, v *replay.Verdicts, n int) {
	all := slices.Grow(w.verdicts[policy][:0], n)[:n]
	for row := range all {
		all[row] = verdict{}
	}
	for _, d := range v.Delayed {
		all[d.Index] = verdict{d.By, delayed}
	}
	for i, row := range v.Refused {
		all[row] = verdict{v.Retry[i].After, refused}
	}
	w.verdicts[policy] = all
}

// begin begins a line of JSON.
var begin = "{" + format.VerdictSchema.Key() + `"file":`

// write writes one line.
func (w *Writer) write(b *traffic.Batch, row int32, policy string, v verdict) error {
	input := 0
	if b.Source != nil {
		input = int(b.Source[row])
	}
	client := w.clients.of(b.Client[row], func() []byte { return w.text(w.tables.ShownClient(b.Client[row])) })
	action := w.actions.of(int32(b.Action[row]), func() []byte { return w.text(w.tables.ShownAction(int32(b.Action[row]))) })
	line := w.line[:0]
	if w.format == JSON {
		line = append(append(line, begin...), w.inputs[input]...)
		line = strconv.AppendInt(append(line, `,"line":`...), b.Line[row], 10)
		line = w.clock.Append(append(line, `,"time":"`...), b.At[row])
		line = append(append(line, `","client":`...), client...)
		line = append(append(line, `,"action":`...), action...)
		line = strconv.AppendUint(append(line, `,"status":`...), uint64(b.Status[row]), 10)
		line = append(append(line, `,"policy":`...), policy...)
		line = append(append(line, `,"verdict":"`...), outcomes[v.outcome]...)
		line = format.AppendSeconds(append(line, `","wait":`...), v.wait)
		line = append(line, '}')
	} else {
		line = append(append(line, w.inputs[input]...), ',')
		line = append(strconv.AppendInt(line, b.Line[row], 10), ',')
		line = append(w.clock.Append(line, b.At[row]), ',')
		line = append(append(line, client...), ',')
		line = append(append(line, action...), ',')
		line = append(strconv.AppendUint(line, uint64(b.Status[row]), 10), ',')
		line = append(append(line, policy...), ',')
		line = append(append(line, outcomes[v.outcome]...), ',')
		if v.wait != limit.Never {
			line = format.AppendSeconds(line, v.wait)
		}
	}
	w.line = append(line, '\n')
	_, err := w.out.Write(w.line)
	return err
}

// Finish writes what is left.
func (w *Writer) Finish() error { return w.out.Flush() }

// Head is the SQL of Columns, as DuckDB's read_csv takes them.
func Head() string {
	var b bytes.Buffer
	for i, column := range Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("'" + column[0] + "': '" + column[1] + "'")
	}
	return "{" + b.String() + "}"
}
