package replay

import (
	"slices"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// A ClientLog is an Observer that collects the requests of one client in the order of time, and what became of each.
type ClientLog struct {
	// Tables holds the tables of the run, but for Clients, which knows this client only.
	Tables *traffic.Tables

	// Batch has the client's requests. Their Source is kept, though their order does not need it any more.
	Batch traffic.Batch
	Warm  int // the first so many requests only warm the limits

	Outcomes []Outcome // by policy

	client ClientName
	all    *intern.Dict // the clients of the run
	id     int32        // among them
	known  bool
	looked int     // the first so many of them are others
	places []int32 // by row of the batch at hand: where it went; means something for rows of the client
}

// A ClientName says which client is meant.
type ClientName struct {
	Name string
	Like func(name string) bool // nil, or whether a client of another name is meant; the first that is
}

// An Outcome holds the verdicts of one policy on the requests.
type Outcome struct {
	Refused []bool       // by row
	Delayed []limit.Time // by row: how long an admitted request was kept waiting
}

// NewClientLog returns one that has no request of the client yet.
func NewClientLog(t *traffic.Tables, client ClientName, policies int) *ClientLog {
	own := *t
	own.Clients = intern.NewDict()
	own.Clients.ID([]byte(client.Name))
	return &ClientLog{Tables: &own, Outcomes: make([]Outcome, policies), client: client, all: t.Clients}
}

// Client returns the client's id and name in the run, if it has come.
func (g *ClientLog) Client() (id int32, name string, known bool) {
	if !g.known {
		g.find()
	}
	if !g.known {
		return 0, "", false
	}
	return g.id, g.all.Name(g.id), true
}

// find looks for the client among those that have come since it was last looked for.
func (g *ClientLog) find() {
	if g.id, g.known = g.all.Find([]byte(g.client.Name)); g.known || g.client.Like == nil {
		return
	}
	for n := g.all.Len(); g.looked < n && !g.known; g.looked++ {
		g.id, g.known = int32(g.looked), g.client.Like(g.all.Name(int32(g.looked)))
	}
}

// Observe implements Observer.
func (g *ClientLog) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	id, _, known := g.Client()
	if !known {
		return nil
	}
	rows := b.RowsOf(id)
	if len(rows) == 0 {
		return nil
	}
	first := g.Batch.Len()
	g.Batch.Append(b, rows)
	clear(g.Batch.Client[first:])
	if b.Warm {
		g.Warm = g.Batch.Len()
	}
	g.places = grow(g.places, b.Len())
	for i, row := range rows {
		g.places[row] = int32(first + i)
	}
	for i := range g.Outcomes {
		f, v := &g.Outcomes[i], &verdicts[i]
		f.Refused, f.Delayed = grow(f.Refused, g.Batch.Len()), grow(f.Delayed, g.Batch.Len())
		for _, row := range v.Refused {
			if b.Client[row] == id {
				f.Refused[g.places[row]] = true
			}
		}
		for _, d := range v.Delayed {
			if b.Client[d.Index] == id {
				f.Delayed[g.places[d.Index]] = d.By
			}
		}
	}
	return nil
}

// batch returns the first n requests, to be judged again.
func (g *ClientLog) batch(n int) *traffic.Batch {
	b := g.Batch.Rows(0, n)
	b.Source = nil // the rows are in order
	if slices.Equal(b.Seq, b.At) {
		b.Seq = nil
	}
	return b
}

// Span returns the times of the first counted request and of the last; both are 0 when there is none.
func (g *ClientLog) Span() (first, last limit.Time) {
	if at := g.Batch.At[g.Warm:]; len(at) > 0 {
		return slices.Min(at), slices.Max(at)
	}
	return 0, 0
}

// Listed returns the rows of the first counted requests that each policy refuses, at most so many of each.
func (g *ClientLog) Listed(most int) []int32 {
	var rows []int32
	for i := range g.Outcomes {
		n := 0
		for row := g.Warm; row < g.Batch.Len() && n < most; row++ {
			if g.Outcomes[i].Refused[row] {
				rows = append(rows, int32(row))
				n++
			}
		}
	}
	return rows
}
