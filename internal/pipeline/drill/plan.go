package drill

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/calibrate"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
	shown "shadow/report/drill"
	"shadow/report/format"
)

// A plan holds the requests that are to be sent, in the order of time.
type plan struct {
	requests []outgoing
	after    []limit.Time   // by request: how long after the first one
	batch    *traffic.Batch // by request: its row, as policies judge it
	clients  int
	stretch  shown.Stretch
}

// An outgoing request is one that can be sent as the log has it.
type outgoing struct {
	method, path string
	client       string // the value of the header that tells it
	id           int32  // of the client, in the tables
	number       int    // of the client, from 0, in the order in which they come
}

// plan takes the worst minute, and the minutes before it, out of the log.
func (d *Drill) plan(ctx context.Context, result *replay.Result) (*plan, error) {
	worst := &result.Policies[0]
	if worst.WorstMinuteRefused == 0 {
		return nil, pipeline.Usage("%s refuses no request of the log, so that a drill can prove nothing: a stricter "+
			"--limit does",
			d.Policies[0].Name)
	}
	end := worst.WorstMinute + limit.Minute
	b, err := d.rows(end-limit.Time(d.Minutes)*limit.Minute, end)
	if err != nil {
		return nil, err
	}
	p := &plan{stretch: shown.Stretch{
		First: format.Moment(end - limit.Time(d.Minutes)*limit.Minute), Minutes: d.Minutes,
		WorstMinute:        format.Moment(worst.WorstMinute),
		WorstMinuteRefused: worst.WorstMinuteRefused, Requests: int64(b.Len()),
	}}
	if result.Stats.Resolution >= limit.Second { // as calibrate reads whole seconds
		p.stretch.Spread = true
		(&calibrate.Requests{At: b.At}).Spread()
	}
	all, err := d.lines(ctx, b, result.Stats.Inputs, &p.stretch.LeftOut)
	if err != nil {
		return nil, err
	}
	p.take(b, all)
	if len(p.requests) == 0 {
		return nil, pipeline.Usage("none of the %s of these minutes can be sent: %s; --methods all sends others than "+
			"GET and HEAD",
			format.Count(p.stretch.Requests, "request"), p.stretch.LeftOut.String())
	}
	if n := busiest(p.after); n > d.MaxRate {
		return nil, pipeline.Usage("%s in the busiest second are more than --max-rate %d/s: fewer --minutes or another "+
			"part of the log (--since, --until) may have less, or raise --max-rate if the server can take that",
			format.Count(n, "request"), d.MaxRate)
	}
	return p, nil
}

// rows returns the requests from a moment on until another, in the order of time and, within a moment, of the log.
func (d *Drill) rows(from, until limit.Time) (*traffic.Batch, error) {
	all := new(traffic.Batch)
	err := d.Unpack(func(b *traffic.Batch) error {
		all.Append(b, mapped.Rows(b.At, func(at limit.Time) bool { return !b.Warm && from <= at && at < until }))
		return nil
	})
	sorted := new(traffic.Batch)
	sorted.Append(all, inOrder(all.At, func(x, y int32) int {
		return cmp.Or(cmp.Compare(source(all, int(x)), source(all, int(y))), cmp.Compare(all.Line[x], all.Line[y]))
	}))
	return sorted, err
}

// inOrder returns the rows in the order of time, and of one moment in that of then.
func inOrder(at []limit.Time, then func(x, y int32) int) []int32 {
	rows := make([]int32, len(at))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(x, y int32) int {
		if c := cmp.Compare(at[x], at[y]); c != 0 {
			return c
		}
		return then(x, y)
	})
	return rows
}

// source returns the rank of the input of a row.
func source(b *traffic.Batch, row int) uint32 {
	if b.Source == nil {
		return 0
	}
	return b.Source[row]
}

// lines reads the logs again for the methods and paths of rows. Of requests that cannot be sent there is nil.
func (d *Drill) lines(ctx context.Context, b *traffic.Batch, inputs []ingest.InputStats,
	out *shown.LeftOut,
) ([]*outgoing, error) {
	type place struct {
		input uint32
		line  int64
	}
	rows := map[place]int{}
	for row, line := range b.Line {
		rows[place{source(b, row), line}] = row
	}
	names := mapped.Of(inputs, func(i ingest.InputStats) string { return i.Name })
	all := make([]*outgoing, b.Len())
	err := ingest.Lines(ctx, names, d.Read, ingest.AnyClient, func(l ingest.Line) bool {
		at := place{uint32(l.Input), l.Number}
		if row, wanted := rows[at]; wanted {
			delete(rows, at)
			id := b.Client[row]
			r := &outgoing{
				method: string(l.Record.Method), path: string(l.Record.Path), id: id,
				client: address(d.Read.Tables.Clients.Name(id)),
			}
			switch {
			case d.Methods != MethodWords[1] && r.method != "GET" && r.method != "HEAD":
				out.Methods++
			case !d.fit(r):
				out.Unfit++
			default:
				all[row] = r
			}
		}
		return len(rows) > 0
	})
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%d of the lines were not found again: the logs have changed since they were read", len(rows))
	}
	return all, err
}

// fit reports whether a request can be sent as it is, and to the target alone: one for another thing than a /path
// names a host.
func (d *Drill) fit(r *outgoing) bool {
	return strings.HasPrefix(r.path, "/") && !hasControl(r.path, ' '+1) && r.method != "CONNECT" && isToken(r.method) &&
		d.takes(r.path) && (d.ClientSource || r.client != "" && !hasControl(r.client, ' '))
}

// hasControl reports whether a text has a byte below first, or the one that deletes.
func hasControl(text string, first byte) bool {
	return slices.ContainsFunc([]byte(text), func(c byte) bool { return c < first || c == 0x7f })
}

// isToken reports whether a text can be a method: capital letters, as all known ones have.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'A' || c > 'Z') && c != '-' && c != '_'
	})
}

// address returns a client as a header tells it: of a network, which is a client too, its address.
func address(client string) string {
	if network, err := netip.ParsePrefix(client); err == nil {
		return network.Addr().String()
	}
	return client
}

// take plans the requests that can be sent, in the order of time.
func (p *plan) take(b *traffic.Batch, all []*outgoing) {
	order := slices.DeleteFunc(inOrder(b.At, func(int32, int32) int { return 0 }),
		func(row int32) bool { return all[row] == nil })
	numbers := map[int32]int{}
	for _, row := range order {
		r := all[row]
		if _, known := numbers[r.id]; !known {
			numbers[r.id] = len(numbers)
		}
		r.number = numbers[r.id]
		p.requests, p.after = append(p.requests, *r), append(p.after, b.At[row]-b.At[order[0]])
	}
	p.batch, p.clients = new(traffic.Batch), len(numbers)
	if len(order) > 0 {
		p.batch.Append(b, order)
	}
}

// busiest returns the most requests within any second.
func busiest(after []limit.Time) (most int64) {
	first := 0
	for i, at := range after {
		for at-after[first] >= limit.Second {
			first++
		}
		most = max(most, int64(i-first+1))
	}
	return most
}
