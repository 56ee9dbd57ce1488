package keys

import (
	"fmt"
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
	return fmt.Sprintf("The largest window of %s that refuses %s%% of the requests of %s", a.Per, format.ShortPercent(*a.Refuse), plurals(k.Stop.Classes))
}

// verdict says which key is best, "" where nobody asked.
func (a *Answer) verdict(k *Report) string {
	switch {
	case a.Refuse == nil || len(a.Keys) == 0:
		return ""
	case a.Best == "":
		return fmt.Sprintf("no key refuses %s%% by a window of %s, however small: at best %s%%, by %s",
			format.ShortPercent(*a.Refuse), a.Per, format.Percent(a.Keys[0].StoppedPercent), a.Keys[0].Key) + a.longerText(k)
	}
	best, client := &a.Keys[0], a.row("client")
	text := fmt.Sprintf("%s, %s, hits %s of %s to be spared", best.Key, best.Limit, format.Thousands(best.SpareHit), format.Count(k.Spare.Visitors, "visitor"))
	switch {
	case best == client:
		text += "; no other key hits fewer"
	case client == nil:
	case !client.Reached:
		text += "; client refuses no more than " + format.Percent(client.StoppedPercent) + "%"
	case client.SpareHit == best.SpareHit:
		text += fmt.Sprintf("; client hits as many, and refuses them %s rather than %s", format.Count(client.SpareRefused, "request"), format.Thousands(best.SpareRefused))
	default:
		text += "; client hits " + format.Thousands(client.SpareHit)
	}
	if !a.separates() {
		text += ": no key separates them by such a window" + a.longerText(k)
	}
	return text
}

// separates reports whether the best key refuses the share, and hits few of those to be spared.
func (a *Answer) separates() bool {
	return a.Best != "" && a.Keys[0].SpareHitPercent <= wellSeparated
}

// longerText says which longer window does, if one was found; else what was tried, or can be.
func (a *Answer) longerText(k *Report) string {
	switch {
	case a.longer != nil:
		return fmt.Sprintf("; --per %s gathers more of what comes slowly: %s, %s, hits %s of %s", a.Longer,
			a.longer.Key, a.longer.Limit, format.Thousands(a.longer.SpareHit), format.Thousands(k.Spare.Visitors))
	case a.tried != nil:
		return "; nor does one separate them by " + strings.Join(a.tried, " or ")
	}
	return "; a longer --per gathers more of what comes slowly"
}

// wellSeparated is the share of those to be spared, in percent, up to which a key that hits so many separates at all.
const wellSeparated = 5

func (a *Answer) row(key string) *Row {
	for i := range a.Keys {
		if a.Keys[i].Key == key {
			return &a.Keys[i]
		}
	}
	return nil
}

func (a *Answer) table() *table.Table {
	t := table.New(table.Words("key"))
	if a.Refuse != nil {
		t.Join(table.Number("N"))
	}
	t.Head(table.Number("stopped"))
	t.Join(table.Number("%"))
	t.Head(table.Number("hit"))
	t.Join(table.Numbers("%", "their requests", "%")...)
	for i := range a.Keys {
		t.Add(a.Keys[i].cells(a.Refuse != nil)...)
	}
	return t
}

func (r *Row) cells(kindest bool) []table.Cell {
	row := table.Texts(r.Key)
	switch {
	case kindest && r.Reached:
		row = append(row, table.Count(r.n))
	case kindest:
		row = append(row, table.Text("none"))
	}
	return append(row, table.Count(r.Stopped), table.Share(r.StoppedPercent),
		table.Count(r.SpareHit), table.Share(r.SpareHitPercent), table.Count(r.SpareRefused), table.Share(r.SpareRefusedPercent))
}
