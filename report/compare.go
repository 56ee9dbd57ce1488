package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/replay"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// Several policies hit much the same clients and actions. So for people the lists of those policies that are shown in
// detail are one table, which has the shared columns once and two columns for each policy. Other readers get the lists
// of each policy, and a page as well, as it has a section for each.

// A compared client or action stands in the list of at least one policy.
type compared[T any] struct {
	of      T
	refused []int64 // by each of the policies
}

// compare makes the tables of clients and actions of the policies shown in detail, if there are several.
func (m *Model) compare(res *replay.Result, sort string) {
	if m.Detailed < 2 {
		return
	}
	tallies := res.Policies[:m.Detailed]
	m.clients = union(m.Policies[:m.Detailed], sort, func(p *Policy) []Client { return p.TopClients },
		func(c *Client) (int32, string, int64) { return c.id, c.Client, c.Requests },
		func(c *Client) (refused []int64) {
			for i := range tallies {
				hit, found := tallies[i].Hits.Find(c.id)
				if refused = append(refused, hit.Refused); found {
					c.First, c.Last = min(c.First, format.Moment(hit.First)), max(c.Last, format.Moment(hit.Last))
				}
			}
			return refused
		})
	m.actions = union(m.Policies[:m.Detailed], sort, func(p *Policy) []Action { return p.TopActions },
		func(a *Action) (int32, string, int64) { return a.id, a.Action, a.Requests },
		func(a *Action) (refused []int64) {
			return mapped.Add(refused, tallies, func(p replay.PolicyTally) int64 { return p.ByAction[a.id] })
		})
	hit := make([]bool, res.Clients.Len())
	for i := range tallies {
		for h := range tallies[i].Hits.All() {
			if !hit[h.Client] {
				hit[h.Client] = true
				m.clientsHit++
			}
		}
	}
}

// union joins the lists of some policies, and orders it as each of them is, by the policy that refuses most.
func union[T any](policies []Policy, sort string, list func(*Policy) []T, about func(*T) (id int32, name string, requests int64),
	refusedBy func(*T) []int64,
) (all []compared[T]) {
	seen := map[int32]bool{}
	for i := range policies {
		for _, of := range list(&policies[i]) {
			if id, _, _ := about(&of); !seen[id] {
				seen[id] = true
				refused := refusedBy(&of) // completes of
				all = append(all, compared[T]{of, refused})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b compared[T]) int {
		_, nameA, requestsA := about(&a.of)
		_, nameB, requestsB := about(&b.of)
		most := cmp.Compare(slices.Max(b.refused), slices.Max(a.refused))
		switch sort {
		case "client":
			return compareNames(nameA, nameB)
		case "requests":
			return cmp.Or(cmp.Compare(requestsB, requestsA), most, strings.Compare(nameA, nameB))
		}
		return cmp.Or(most, cmp.Compare(requestsB, requestsA), strings.Compare(nameA, nameB))
	})
	return all
}

// mostLimit is the most columns of a limit's name above a column.
const mostLimit = 40

// refusedColumns have for each policy what it refuses.
func refusedColumns[T any](m *Model, t *table.Of[compared[T]], requests func(*T) int64) {
	t.Head(table.Number("requests"), func(c *compared[T]) table.Cell { return table.Count(requests(&c.of)) })
	for i := range m.Policies[:m.Detailed] {
		t.Head(table.Number(table.Cut(m.Policies[i].Policy, mostLimit)),
			func(c *compared[T]) table.Cell { return table.Count(c.refused[i]) })
		t.Join(table.Number("%"), func(c *compared[T]) table.Cell {
			return table.Share(format.PercentOf(c.refused[i], requests(&c.of)))
		})
	}
}

// writeCompared writes the tables of clients and actions of several policies.
func (m *Model) writeCompared(w *document.Writer) {
	if len(m.clients) > 0 {
		w.Heading(2, "Clients hit",
			"by these limits, with the requests that each refuses; first and last are those of any of them")
		at := m.Input.Span.Layouts().Second
		t := table.Of[compared[Client]]{}
		t.Head(table.Name("client"), func(c *compared[Client]) table.Cell { return table.Text(c.of.Client) })
		refusedColumns(m, &t, func(c *Client) int64 { return c.Requests })
		t.Head(table.Words("first refused"), func(c *compared[Client]) table.Cell { return MomentCell(c.of.First, at) })
		t.Join(table.Words("last refused"), func(c *compared[Client]) table.Cell { return MomentCell(c.of.Last, at) })
		tellClient(m, &t, m.clients, func(c *compared[Client]) *Client { return &c.of })
		w.Table(t.Fill(m.clients))
		if more := m.clientsHit - int64(len(m.clients)); more > 0 {
			w.Note(fmt.Sprintf("%s more (--top %d)", format.Thousands(more), m.clientsHit))
		}
	}
	if len(m.actions) > 0 {
		t := table.Of[compared[Action]]{}
		t.Head(table.Name("action"), func(a *compared[Action]) table.Cell { return table.Text(a.of.Action) })
		refusedColumns(m, &t, func(a *Action) int64 { return a.Requests })
		w.Table(t.Fill(m.actions))
	}
}
