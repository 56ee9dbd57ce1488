package report

import (
	"fmt"
	"strconv"
	"strings"
)

// One answer for people: what was asked, a table of the keys, and which is best.

// title says what an answer is about.
func (a *KeysAnswer) title(k *Keys) string {
	if a.Refuse == nil {
		return a.Limit + ", counted by"
	}
	return fmt.Sprintf("The largest window of %s that refuses %s%% of the requests of %s", a.Per, shortPercent(*a.Refuse), plurals(k.Stop.Classes))
}

func shortPercent(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// verdict says which key is best, "" where nobody asked.
func (a *KeysAnswer) verdict(k *Keys) string {
	switch {
	case a.Refuse == nil || len(a.Keys) == 0:
		return ""
	case a.Best == "":
		return fmt.Sprintf("no key refuses %s%% by a window of %s, however small: at best %s%%, by %s",
			shortPercent(*a.Refuse), a.Per, percent(a.Keys[0].StoppedPercent), a.Keys[0].Key) + a.longerText(k)
	}
	best, client := &a.Keys[0], a.row("client")
	text := fmt.Sprintf("%s, %s, hits %s of %s to be spared", best.Key, best.Limit, thousands(best.SpareHit), count(k.Spare.Visitors, "visitor"))
	switch {
	case best == client:
		text += "; no other key hits fewer"
	case client == nil:
	case !client.Reached:
		text += "; client refuses no more than " + percent(client.StoppedPercent) + "%"
	case client.SpareHit == best.SpareHit:
		text += fmt.Sprintf("; client hits as many, and refuses them %s rather than %s", count(client.SpareRefused, "request"), thousands(best.SpareRefused))
	default:
		text += "; client hits " + thousands(client.SpareHit)
	}
	if !a.separates() {
		text += ": no key separates them by such a window" + a.longerText(k)
	}
	return text
}

// separates tells whether the best key refuses the share, and hits few of those to be spared.
func (a *KeysAnswer) separates() bool {
	return a.Best != "" && a.Keys[0].SpareHitPercent <= wellSeparated
}

// longerText says which longer window does, if one was found; else what was tried, or can be.
func (a *KeysAnswer) longerText(k *Keys) string {
	switch {
	case a.longer != nil:
		return fmt.Sprintf("; --per %s gathers more of what comes slowly: %s, %s, hits %s of %s", a.Longer,
			a.longer.Key, a.longer.Limit, thousands(a.longer.SpareHit), thousands(k.Spare.Visitors))
	case a.tried != nil:
		return "; nor does one separate them by " + strings.Join(a.tried, " or ")
	}
	return "; a longer --per gathers more of what comes slowly"
}

// wellSeparated is the share of those to be spared, in percent, up to which a key that hits so many separates at all.
const wellSeparated = 5

func (a *KeysAnswer) row(key string) *KeyRow {
	for i := range a.Keys {
		if a.Keys[i].Key == key {
			return &a.Keys[i]
		}
	}
	return nil
}

func (a *KeysAnswer) grid() *grid {
	g := &grid{columns: append([]column{text("key")}, with(number("N"))...)}
	if a.Refuse == nil {
		g.columns = g.columns[:1]
	}
	g.columns = append(g.columns, number("stopped"))
	g.columns = append(g.columns, with(number("%"))...)
	g.columns = append(g.columns, number("hit"))
	g.columns = append(g.columns, with(number("%"), number("their requests"), number("%"))...)
	for i := range a.Keys {
		g.rows = append(g.rows, a.Keys[i].cells(a.Refuse != nil))
	}
	return g
}

func (r *KeyRow) cells(kindest bool) []string {
	row := []string{r.Key}
	if kindest {
		n := "none"
		if r.Reached {
			n = thousands(r.n)
		}
		row = append(row, n)
	}
	return append(row, thousands(r.Stopped), percent(r.StoppedPercent),
		thousands(r.SpareHit), percent(r.SpareHitPercent), thousands(r.SpareRefused), percent(r.SpareRefusedPercent))
}
