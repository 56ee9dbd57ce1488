package html

import (
	"cmp"
	"fmt"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// What a page has of each candidate by itself: whom it hits, what it means, how a server is told; and sections that
// others have handed in.

type detailView struct {
	Name, Text       string
	Hit              string // evidence on the clients hit
	Facts            []document.Fact
	Means            []string
	Nginx            []string
	Clients, Actions *table.Page
}

// A meaning is what some policies mean.
type meaning struct{ Name, Semantics, Nginx string }

func details(m *report.Model, room room) (views []detailView, more string) {
	shown := min(len(m.Policies), room.details)
	rows := room.of(shown)
	for i := range m.Policies[:shown] {
		p := &m.Policies[i]
		d := detailView{
			Name: table.Clip(p.Policy, table.PageName), Text: format.Sentence(report.Headline(p)) + ".", Hit: p.HitEvidence.Text("hit addresses"),
			Facts: clippedFacts(p.HarmFacts(report.LayoutsFor(m.Input.Span)), room.notes),
			Means: clippedAll(p.Meanings(), room.notes),
			Nginx: clippedAll(p.NginxTexts(), room.notes),
		}
		if len(p.TopClients) > 0 {
			d.Clients = report.ClientTable(m, p).Page(rows, "clients", p.ClientsHit)
		}
		if len(p.TopActions) > 0 {
			d.Actions = report.ActionTable(p).Page(rows, "actions", 0) // how many there are in all is not known
		}
		views = append(views, d)
	}
	if shown < len(m.Policies) {
		more = fmt.Sprintf("The first %d of %d candidates have their clients and actions here; --output json has those of all.", shown, len(m.Policies))
	}
	return views, more
}

// meanings say once for each kind of limit what it means, of those without a section of their own.
func meanings(m *report.Model, room room) (all []meaning) {
	told := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		if kind := cmp.Or(p.Kind, p.Policy); i >= room.details && !told[kind] && len(all) < room.notes {
			all = append(all, meaning{table.Clip(p.Policy, table.PageName), table.Clip(p.Semantics, textLength), table.Clip(p.Nginx, textLength)})
			told[kind] = true
		} else {
			told[kind] = true
		}
	}
	return all
}

type sectionView struct {
	Title string
	Notes []string
	Table *table.Page
}

func sectionViewOf(s *document.Section, rows, notes int) sectionView {
	v := sectionView{Title: table.Clip(s.Title, table.PageName), Notes: clippedAll(s.Notes, notes)}
	if s.Table != nil {
		s.Table.Title = s.Title
		v.Table = s.Table.Page(rows, "rows", int64(len(s.Table.Rows)))
	}
	return v
}
