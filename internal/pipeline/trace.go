package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/request"
	"shadow/internal/store"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/internal/traffic/who"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
)

// A trace is a log without its people: what limits go by, with a hash in the place of each client. It is written once all
// is read, since who a client is shows only then.

// traceColumns are the columns of a trace, with their types in SQL. What reads them is a format of package parse.
const traceColumns = "{'time': 'TIMESTAMPTZ', 'client': 'VARCHAR', 'action': 'VARCHAR', 'identity': 'VARCHAR', " +
	"'agent': 'VARCHAR', 'status': 'SMALLINT'}"

// traceAgents stand for all agents of a class.
var traceAgents = [request.ClassCount]string{
	request.Browser: "Mozilla/5.0 (X11)", request.Crawler: "crawler", request.Tool: "curl", request.Monitor: "monitor",
	request.Unknown: "app",
}

// traceAgent returns the text that stands for an agent: of search engines that names it, since it is they that are wanted.
func traceAgent(agents *useragent.Agents, id int32) string {
	name, class := agents.Name(id), agents.Class(id)
	if name == "-" {
		return ""
	}
	if class == request.Crawler {
		if engine := who.SearchEngine(useragent.CrawlerName(name)); engine != "" {
			return engine + " (+http)"
		}
	}
	return traceAgents[class]
}

// leastAskers is the number of clients that must ask for an action whose name is told: the path of one may name him.
const leastAskers = 5

// CheckTraceName reports what is wrong with the name of a trace.
func CheckTraceName(name string) error {
	if filepath.Ext(name) != parquet {
		return errors.New("want a file that ends in .parquet")
	}
	return nil
}

// A traceWriter writes requests as lines of CSV.
type traceWriter struct {
	*bufio.Writer
	logs    *Logs
	names   *report.Anonymizer
	actions [][]byte // by id
	clients [][]byte // likewise, each with its identity
	agents  []string // likewise
	clock   format.Clock
	line    []byte
	rows    []int32
}

// writeTrace writes the requests that are kept as a trace, whole or not at all. Without a name none is wanted.
func (l *Logs) writeTrace(ctx context.Context, name string) (err error) {
	if name == "" {
		return nil
	}
	key, err := l.key()
	if err != nil {
		return err
	}
	names, err := report.NewAnonymizer("hash", key)
	if err != nil {
		return err
	}
	names.Know(l.Read.Tables.Clients)
	w := &traceWriter{logs: l, names: names}
	if err := w.nameAll(ctx); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	defer os.Remove(part.Name()) // it has got its name, unless something failed
	defer part.Close()           //nolint:errcheck // DuckDB has written and synced it
	lines, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer lines.Close()
	written := make(chan error, 1)
	w.Writer = bufio.NewWriterSize(to, 1<<16)
	go func() { written <- errors.Join(w.writeAll(ctx), w.Flush(), to.Close()) }()
	err = store.WriteParquet(ctx, fmt.Sprintf("/dev/fd/%d", lines.Fd()), part.Name(), traceColumns)
	lines.Close() //nolint:errcheck // it ends who still writes
	if err = errors.Join(err, <-written); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		err = fmt.Errorf("--trace %s: %w", name, err)
	}
	return err
}

// each hands batches with requests that count to do.
func (w *traceWriter) each(ctx context.Context, do func(*traffic.Batch) error) error {
	return each(ctx, w.logs.requests.Pass(), func(b *traffic.Batch) error {
		if b.Warm {
			return nil
		}
		return do(b)
	})
}

// nameAll finds the words for all that requests have.
func (w *traceWriter) nameAll(ctx context.Context) error {
	t := w.logs.Read.Tables
	askers := make([][]int32, t.Actions.Len())
	err := w.each(ctx, func(b *traffic.Batch) error {
		for row, action := range b.Action {
			if by := askers[action]; len(by) < leastAskers && !slices.Contains(by, b.Client[row]) {
				askers[action] = append(by, b.Client[row])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, by := range askers {
		name := t.Actions.Name(int32(id))
		if len(by) < leastAskers && name != match.StaticAction && !strings.HasPrefix(name, "(") {
			name = "action-" + strings.TrimPrefix(w.names.Name(name), report.AnonymousClient)
		}
		w.actions = append(w.actions, table.PlainText(w.names.Text(name)))
	}
	for id := range int32(t.Clients.Len()) {
		client := table.PlainText(w.names.Name(t.Clients.Name(id)))
		w.clients = append(w.clients, client)
	}
	for id := range int32(t.Agents.Len()) {
		w.agents = append(w.agents, traceAgent(t.Agents, id))
	}
	return nil
}

// writeAll writes all requests in the order of time.
func (w *traceWriter) writeAll(ctx context.Context) error {
	if _, err := w.WriteString("time,client,action,identity,agent,status\n"); err != nil {
		return err
	}
	clients := w.logs.who()
	return w.each(ctx, func(b *traffic.Batch) error {
		w.rows = b.InOrder(w.rows)
		for _, row := range w.rows {
			client := b.Client[row]
			line := append(w.clock.Append(w.line[:0], b.At[row]), ',')
			line = append(append(line, w.clients[client]...), ',')
			line = append(append(line, w.actions[b.Action[row]]...), ',')
			line = append(append(line, clients.Of(client).One()...), ',')
			line = append(append(line, w.agents[b.Agent[row]]...), ',')
			w.line = append(strconv.AppendUint(line, uint64(b.Status[row]), 10), '\n')
			if _, err := w.Write(w.line); err != nil {
				return err
			}
		}
		return nil
	})
}
