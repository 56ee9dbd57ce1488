package report

import (
	"cmp"
	"fmt"
)

// What a page has of each candidate by itself: whom it hits, what it means, how a server is told; and sections that others have
// handed in.

type detailView struct {
	Name, Text       string
	Hit              string // evidence on the clients hit
	Facts            []fact
	Means            []string
	Nginx            []string
	Clients, Actions *htmlTable
}

// A meaning is what some policies mean.
type meaning struct{ Name, Semantics, Nginx string }

func details(m *Model, room htmlRoom) (views []detailView, more string) {
	shown := min(len(m.Policies), room.details)
	rows := room.of(shown)
	for i := range m.Policies[:shown] {
		p := &m.Policies[i]
		d := detailView{
			Name: clipped(p.Policy, htmlName), Text: sentence(headline(p)) + ".", Hit: p.HitEvidence.text("hit addresses"),
			Facts: clippedFacts(p.harmFacts(layoutsFor(m.Input.Span)), room.notes),
			Means: clippedAll(p.meanings(), room.notes),
			Nginx: clippedAll(p.told(func(part *Part) string { return part.Nginx }), room.notes),
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
func meanings(m *Model, room htmlRoom) (all []meaning) {
	told := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		if kind := cmp.Or(p.kind, p.Policy); i >= room.details && !told[kind] && len(all) < room.notes {
			all = append(all, meaning{clipped(p.Policy, htmlName), clipped(p.Semantics, htmlText), clipped(p.Nginx, htmlText)})
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
	Table *htmlTable
}

func sectionViewOf(s *Section, rows, notes int) sectionView {
	v := sectionView{Title: clipped(s.Title, htmlName), Notes: clippedAll(s.Notes, notes)}
	if len(s.Rows) > 0 {
		v.Table = sectionTable(s, rows)
	}
	return v
}

// Label is that of a fact; Text and Details are what there is to say.
func (f fact) Label() string { return f.label }

// Text is the fact in a sentence.
func (f fact) Text() string { return f.text }

// Details are further lines.
func (f fact) Details() []string { return f.details }
