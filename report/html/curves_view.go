package html

import (
	"fmt"

	"shadow/report/format"
	"shadow/report/table"
	"shadow/sweep"
)

// What a page shows of curves: which ones, by kind, and what is left out of them.

type curvesView struct {
	About  string
	Groups []curveGroup
	Heat   [][]heatMap // by kind
	Spare  []*table.Page
	Left   string // what is left out
	Kept   string // what the database has left out
}

// A curveGroup is the curves of a kind, for the field that chooses one.
type curveGroup struct {
	Kind   string
	Curves []curveName
}

type curveName struct {
	Index    int
	Name     string
	Selected bool
}

// view is what the page shows of the curves, nil if nothing.
func (c *Curves) view(room room) *curvesView {
	if c == nil {
		return nil
	}
	shown := c.shown(room)
	if len(shown) == 0 {
		return nil
	}
	v := &curvesView{About: c.about()}
	v.Left, v.Kept = c.missing(shown)
	for kind := range sweep.KindCount {
		var of []*sweep.Curve
		group := curveGroup{Kind: kindTitle(kind)}
		for i, curve := range shown {
			if curve.Kind == kind {
				of = append(of, curve)
				group.Curves = append(group.Curves, curveName{i, shapeTitle(&curve.Shape), curve == c.first()})
			}
		}
		if len(of) == 0 {
			continue
		}
		v.Groups = append(v.Groups, group)
		v.Spare = append(v.Spare, c.spareTable(of))
		if len(of) > 1 {
			v.Heat = append(v.Heat, c.heatMaps(of))
		}
	}
	return v
}

func (c *Curves) about() string {
	text := fmt.Sprintf("%s from %s, counted by %s", format.Count(c.judged(), "request"), format.Count(c.Clients.Sum(), "client"), c.By)
	if c.Action != "" {
		text += ", of action " + name(c.Action)
	}
	text += "."
	if c.Hidden != nil {
		text += " " + c.whoText()
	}
	if c.From != "" {
		text += " " + c.From
	}
	return text
}

// missing tells of curves that have no room on the page, and of those that have lost points on their way here.
func (c *Curves) missing(shown []*sweep.Curve) (curves, points string) {
	some, lost := 0, int64(0)
	for i := range c.Curves {
		if len(c.Curves[i].Points) > 0 {
			some++
		}
	}
	if some > len(shown) {
		curves = fmt.Sprintf("The first %d of %d curves; --output json has all.", len(shown), some)
	}
	for _, curve := range shown {
		if c.changes(curve) > int64(len(curve.Points)) {
			lost++
		}
	}
	if lost > 0 {
		points = fmt.Sprintf("Of %s the database has a selection of points, all exact. Between two of them the map shows the lower, which refuses no less, "+
			"and the smallest N is the smallest of those.", format.Count(lost, "curve"))
	}
	return curves, points
}
