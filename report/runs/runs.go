// Package runs lists stored runs: what a database knows of them comes in; text, JSON, CSV or Markdown goes out.
package runs

import (
	"io"
	"slices"

	"shadow/internal/escape"
	"shadow/internal/store"
	"shadow/limit"
	"shadow/report/format"
	"shadow/report/table"
)

// kind returns the command that made the run.
func kind(r *store.RunFact) string {
	switch {
	case r.Policies == 0 && r.Curves > 0: // a replay with --sweep has curves as well
		return "sweep"
	case r.Tail != "":
		return "tail"
	case r.Policies > 0:
		return "replay"
	}
	return "empty"
}

// runColumns are all there is to tell of a run.
var runColumns = []string{
	"run", "kind", "started", "finished", "first", "last", "requests", "clients", "policies", "curves", "refused", "clients_hit",
	"inputs", "lines", "bytes", "parsed", "unreadable", "excluded", "warm", "late", "already_refused", "degraded", "version", "command",
	"not_http", "moved",
}

func values(r *store.RunFact) []any {
	var first, last any
	if r.Requests > 0 {
		first, last = format.Moment(r.First).String(), format.Moment(r.Last).String()
	}
	return []any{
		int64(r.Run), kind(r), format.Moment(r.Started).String(), format.Moment(r.Finished).String(), first, last,
		r.Requests, r.Clients, r.Policies, r.Curves, r.Refused, r.ClientsHit,
		r.Inputs, r.Lines, r.Bytes, r.Parsed, r.Unreadable, r.Excluded, r.Warm, r.Late, r.AlreadyRefused, r.Degraded, r.Version, r.Command,
		r.NotHTTP, r.Moved,
	}
}

// mostCommand is the most columns of a command in a table for people.
const mostCommand = 60

// Write lists runs in one of Formats. JSON and CSV have all that is known of each.
func Write(w io.Writer, output string, width int, runs []store.RunFact) error {
	var rows table.Slice
	if output == "json" || output == "csv" {
		for i := range runs {
			rows = append(rows, values(&runs[i]))
		}
		return table.WriteRows(w, format.RunsSchema, output, width, runColumns, &rows)
	}
	columns := []string{"run", "kind", "started", "took", "requests from", "to", "requests", "clients", "limits", "most refused"}
	degraded := slices.ContainsFunc(runs, func(r store.RunFact) bool { return r.Degraded > 0 })
	if degraded {
		columns = append(columns, "degraded")
	}
	columns = append(columns, "command")
	const minute = "2006-01-02 15:04"
	for i := range runs {
		r := &runs[i]
		from, to := "–", "–"
		if r.Requests > 0 {
			from, to = format.Moment(r.First).Format(minute), format.Moment(r.Last).Format(minute)
		}
		row := []any{
			int64(r.Run), kind(r), format.Moment(r.Started).Format(minute), format.Brief((r.Finished - r.Started) / limit.Millisecond * limit.Millisecond),
			from, to, table.Figure(r.Requests), table.Figure(r.Clients), r.Policies, table.Figure(r.Refused),
		}
		if degraded {
			row = append(row, table.Figure(r.Degraded))
		}
		rows = append(rows, append(row, table.Cut(escape.Visible(r.Command), mostCommand)))
	}
	return table.WriteRows(w, format.RunsSchema, output, width, columns, &rows)
}

// WriteFacts tells all there is to know of some runs; a table for people has a line for each figure.
func WriteFacts(w io.Writer, output string, width int, runs []store.RunFact) error {
	if output == "json" || output == "csv" {
		return Write(w, output, width, runs)
	}
	var rows table.Slice
	for j, name := range runColumns[1:] {
		row := []any{name}
		for i := range runs {
			value := values(&runs[i])[j+1]
			switch v := value.(type) {
			case nil:
				value = "–"
			case int64:
				value = table.Figure(v)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	columns := []string{"run"}
	for i := range runs {
		columns = append(columns, format.Plain(int64(runs[i].Run)))
	}
	return table.WriteRows(w, format.RunsSchema, output, width, columns, &rows)
}
