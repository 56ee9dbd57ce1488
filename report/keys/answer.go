package keys

import (
	"fmt"
	"slices"
	"strings"

	"shadow/report/format"
	"shadow/report/table"
)

// One answer for people: what was asked, a table of the keys, and which is best.

// title says what an answer is about.
func (a *Answer) title(k *Report) string {
	if a.Refuse == nil {
		return a.Limit + ", counted by"
	}
	return fmt.Sprintf("The largest window of %s that refuses %s%% of the requests of %s", a.Per, format.ShortPercent(*a.Refuse), plurals(k.Target.Classes))
}

// verdict says which key is best, "" where nobody asked.
func (a *Answer) verdict(k *Report) string {
	switch {
	case a.Refuse == nil || len(a.Keys) == 0:
		return ""
	case a.Best == "":
		return fmt.Sprintf("no key refuses %s%% by a window of %s, however small: at best %s%%, by %s",
			format.ShortPercent(*a.Refuse), a.Per, format.Percent(a.Keys[0].TargetPercent), a.Keys[0].Key) + a.longerText(k)
	}
	best, client := &a.Keys[0], (*Row)(nil)
	if i := slices.IndexFunc(a.Keys, func(r Row) bool { return r.Key == "client" }); i >= 0 {
		client = &a.Keys[i]
	}
	text := fmt.Sprintf("%s, %s, hits %s of %s to protect", best.Key, best.Limit, format.Thousands(best.ProtectedHit), format.Count(k.Protected.Visitors, "visitor"))
	switch {
	case best == client:
		text += "; no other key hits fewer"
	case client == nil:
	case !client.Reached:
		text += "; client refuses no more than " + format.Percent(client.TargetPercent) + "%"
	case client.ProtectedHit == best.ProtectedHit:
		text += fmt.Sprintf("; client hits as many, and refuses them %s rather than %s", format.Count(client.ProtectedRefused, "request"), format.Thousands(best.ProtectedRefused))
	default:
		text += "; client hits " + format.Thousands(client.ProtectedHit)
	}
	if !a.separates() {
		text += ": no key separates them by such a window" + a.longerText(k)
	}
	return text
}

// separates reports whether the best key refuses the share, and hits few of the protected visitors.
func (a *Answer) separates() bool {
	return a.Best != "" && a.Keys[0].ProtectedHitPercent <= wellSeparated
}

// longerText says which longer window does, if one was found; else what was tried, or can be.
func (a *Answer) longerText(k *Report) string {
	switch {
	case a.longer != nil:
		return fmt.Sprintf("; --per %s gathers more of what comes slowly: %s, %s, hits %s of %s", a.Longer,
			a.longer.Key, a.longer.Limit, format.Thousands(a.longer.ProtectedHit), format.Thousands(k.Protected.Visitors))
	case a.tried != nil:
		return "; nor does one separate them by " + strings.Join(a.tried, " or ")
	}
	return "; a longer --per gathers more of what comes slowly"
}

// wellSeparated is the most that a key which separates may hit, in percent of the protected visitors.
const wellSeparated = 5

func (a *Answer) table() *table.Table {
	t := table.Of[Row]{}
	t.Head(table.Words("key"), func(r *Row) table.Cell { return table.Text(r.Key) })
	if a.Refuse != nil {
		t.Join(table.Number("N"), func(r *Row) table.Cell {
			if !r.Reached {
				return table.Text("none")
			}
			return table.Count(r.n)
		})
	}
	t.Head(table.Number("target refused"), func(r *Row) table.Cell { return table.Count(r.TargetRefused) })
	t.Join(table.Number("%"), func(r *Row) table.Cell { return table.Share(r.TargetPercent) })
	t.Head(table.Number("protected hit"), func(r *Row) table.Cell { return table.Count(r.ProtectedHit) })
	t.Join(table.Number("%"), func(r *Row) table.Cell { return table.Share(r.ProtectedHitPercent) })
	t.Join(table.Number("their requests"), func(r *Row) table.Cell { return table.Count(r.ProtectedRefused) })
	t.Join(table.Number("%"), func(r *Row) table.Cell { return table.Share(r.ProtectedPercent) })
	return t.Fill(a.Keys)
}
