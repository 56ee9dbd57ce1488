package html

import (
	"cmp"
	"fmt"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
)

// What a page has of each candidate by itself: whom it hits, what it means, how a server is told; and sections that others have
// handed in.

type detailView struct {
	Name, Text       string
	Hit              string // evidence on the clients hit
	Facts            []document.Fact
	Means            []string
	Nginx            []string
	Clients, Actions *grid
}

// A meaning is what some policies mean.
type meaning struct{ Name, Semantics, Nginx string }

func details(m *report.Model, room room) (views []detailView, more string) {
	shown := min(len(m.Policies), room.details)
	rows := room.of(shown)
	for i := range m.Policies[:shown] {
		p := &m.Policies[i]
		d := detailView{
			Name: clipped(p.Policy, nameLength), Text: format.Sentence(report.Headline(p)) + ".", Hit: p.HitEvidence.Text("hit addresses"),
			Facts: clippedFacts(p.HarmFacts(report.LayoutsFor(m.Input.Span)), room.notes),
			Means: clippedAll(p.Meanings(), room.notes),
			Nginx: clippedAll(p.Told(func(part *report.Part) string { return part.Nginx }), room.notes),
		}
		if len(p.TopClients) > 0 {
			d.Clients = clientTable(m, p, rows)
		}
		if len(p.TopActions) > 0 {
			d.Actions = actionTable(p, rows)
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
			all = append(all, meaning{clipped(p.Policy, nameLength), clipped(p.Semantics, textLength), clipped(p.Nginx, textLength)})
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
	Table *grid
}

func sectionViewOf(s *Section, rows, notes int) sectionView {
	v := sectionView{Title: clipped(s.Title, nameLength), Notes: clippedAll(s.Notes, notes)}
	if len(s.Rows) > 0 {
		v.Table = sectionTable(s, rows)
	}
	return v
}
