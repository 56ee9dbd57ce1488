// Package traces writes logs without their people: what limits go by, with a hash in the place of each client.
package traces

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
)

// Columns names the columns of a trace with their types in SQL, as DuckDB's read_csv takes them. A format of package parse reads
// them.
const Columns = "{'time': 'TIMESTAMPTZ', 'client': 'VARCHAR', 'action': 'VARCHAR', 'identity': 'VARCHAR', " +
	"'agent': 'VARCHAR', 'status': 'SMALLINT'}"

// agents stand for all agents of a class.
var agents = [request.ClassCount]string{
	request.Browser: "Mozilla/5.0 (X11)", request.Crawler: "crawler", request.Tool: "curl", request.Monitor: "monitor",
	request.Unknown: "app",
}

// leastAskers is the number of clients that must ask for an action whose name is told: the path of one may name him.
const leastAskers = 5

// A Writer sees all requests once, to know what may be named, and then writes them as lines of CSV.
type Writer struct {
	tables *traffic.Tables
	who    *who.Register
	names  *report.Anonymizer
	askers [][]int32 // by action, up to leastAskers clients

	out              *bufio.Writer
	actions, clients [][]byte // by id
	agents           []string // likewise
	clock            format.Clock
	line             []byte
	rows             []int32
}

// New returns a writer of requests whose clients are known, under the names that names gives them.
func New(tables *traffic.Tables, clients *who.Register, names *report.Anonymizer) *Writer {
	return &Writer{tables: tables, who: clients, names: names, askers: make([][]int32, tables.Actions.Len())}
}

// See takes in a batch that is written later.
func (w *Writer) See(b *traffic.Batch) error {
	for row, action := range b.Action {
		if by := w.askers[action]; !b.Warm && len(by) < leastAskers && !slices.Contains(by, b.Client[row]) {
			w.askers[action] = append(by, b.Client[row])
		}
	}
	return nil
}

// Begin writes the names of the columns to out, once all is seen. What is taken goes there, until it is called again.
func (w *Writer) Begin(out io.Writer) error {
	if w.out == nil {
		w.nameAll()
	}
	w.out = bufio.NewWriterSize(out, 1<<16)
	_, err := w.out.WriteString("time,client,action,identity,agent,status\n")
	return err
}

// nameAll makes the texts of all that is seen.
func (w *Writer) nameAll() {
	for id, by := range w.askers {
		name := w.tables.Actions.Name(int32(id))
		if len(by) < leastAskers && !match.IsCommon(name) {
			name = "action-" + strings.TrimPrefix(w.names.Name(name), report.AnonymousClient)
		}
		w.actions = append(w.actions, table.PlainText(w.names.Text(name)))
	}
	for id := range int32(w.tables.Clients.Len()) {
		w.clients = append(w.clients, table.PlainText(w.names.Name(w.tables.Clients.Name(id))))
	}
	for id := range int32(w.tables.Agents.Len()) {
		w.agents = append(w.agents, agentOf(w.tables.Agents, id))
	}
}

// agentOf returns the text that stands for an agent: of search engines that names it, since it is they that are wanted.
func agentOf(all *useragent.Agents, id int32) string {
	name, class := all.Name(id), all.Class(id)
	if name == "-" {
		return ""
	}
	if class == request.Crawler {
		if engine := who.SearchEngine(useragent.CrawlerName(name)); engine != "" {
			return engine + " (+http)"
		}
	}
	return agents[class]
}

// Take writes the requests of a batch that count, in the order of time.
func (w *Writer) Take(b *traffic.Batch) error {
	if b.Warm {
		return nil
	}
	w.rows = b.InOrder(w.rows)
	for _, row := range w.rows {
		client := b.Client[row]
		line := append(w.clock.Append(w.line[:0], b.At[row]), ',')
		line = append(append(line, w.clients[client]...), ',')
		line = append(append(line, w.actions[b.Action[row]]...), ',')
		line = append(append(line, w.who.Of(client).One()...), ',')
		line = append(append(line, w.agents[b.Agent[row]]...), ',')
		w.line = append(strconv.AppendUint(line, uint64(b.Status[row]), 10), '\n')
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

// Finish writes what is left.
func (w *Writer) Finish() error { return w.out.Flush() }
