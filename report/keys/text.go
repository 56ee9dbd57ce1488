package keys

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/table"
)

// facts say who is who.
func (k *Report) facts() (f document.Facts) {
	if k.Input.Requests == 0 {
		return nil
	}
	of := ""
	if k.Action != "" {
		of = ", of action " + k.Action
	}
	f.Add("target", k.Target.text()+of)
	f.Add("protect", k.Protected.text()+of)
	switch l := &k.Log; {
	case l.Shared == 1:
		f.Add("shared", fmt.Sprintf("1 client with several browsers, %s: %s", l.Most, format.Thousands(l.InMost)))
	case l.Shared > 1:
		f.Add("shared", fmt.Sprintf("%s with several browsers each; %s has the most, %s",
			format.Count(l.Shared, "client"), l.Most, format.Thousands(l.InMost)))
	}
	f.Add("absent", k.absentText())
	if len(k.Found) > 0 {
		f.Add("also tried", strings.Join(k.Found, ", ")+": the log has them, and the usual keys do not separate")
	}
	return f
}

func (g *Group) text() string {
	return fmt.Sprintf("%s: %s with %s", g.Who, format.Count(g.Visitors, "visitor"),
		format.Count(g.Requests, "request"))
}

// absentText names the keys that the log has nothing for, reason by reason.
func (k *Report) absentText() string {
	var reasons []string
	keys := map[string][]string{}
	for _, a := range k.Absent {
		if keys[a.Why] == nil {
			reasons = append(reasons, a.Why)
		}
		keys[a.Why] = append(keys[a.Why], a.Key)
	}
	texts := mapped.Of(reasons, func(why string) string { return strings.Join(keys[why], ", ") + ": " + why })
	return strings.Join(texts, "; ")
}

// Schema implements document.Report.
func (k *Report) Schema() format.Schema { return format.KeysSchema }

// Text writes the report for people.
func (k *Report) Text(w *document.Writer) {
	k.Begin(w, "What to count by", k.facts()...)
	if len(k.Answers) == 0 && k.Bounds == nil || k.Input.Requests == 0 {
		return
	}
	w.Section(2, k.title())
	w.Table(k.table())
	w.Space()
	for i := range k.Answers {
		a := &k.Answers[i]
		if v := a.verdict(k); v != "" {
			w.Facts(document.Strong("best", v))
		}
		if a.Validated != nil {
			w.Facts(document.Strong("validated", a.Validated.text()))
		}
	}
}

// The report as one rectangular table: a row for each key of each answer.
var csvHead = []string{
	"refuse_percent", "per", "key", "limit", "reached", "best", "stop_requests", "stopped", "stopped_percent",
	"spare_visitors", "spare_hit", "spare_hit_percent", "spare_requests", "spare_refused", "spare_refused_percent",
	"bound_requests", "bound_of_requests", "bound_percent", "bound_clients", "bound_of_clients",
}

// CSV writes the report for programs.
func (k *Report) CSV(w io.Writer) error {
	c := table.NewCSV(w, csvHead...)
	exact := func(percent float64) table.Cell { return table.Shown("", strconv.FormatFloat(percent, 'f', 4, 64)) }
	for i := range k.Answers {
		a := &k.Answers[i]
		share := ""
		if a.Refuse != nil {
			share = strconv.FormatFloat(*a.Refuse, 'f', -1, 64)
		}
		for j := range a.Keys {
			r := &a.Keys[j]
			row := []table.Cell{
				table.Text(share), table.Text(a.Per), table.Text(r.Key), table.Text(r.Limit),
				table.Text(strconv.FormatBool(r.Reached)), table.Text(strconv.FormatBool(r.Key == a.Best)),
				table.Count(k.Target.Requests), table.Count(r.TargetRefused), exact(r.TargetPercent),
				table.Count(k.Protected.Visitors), table.Count(r.ProtectedHit), exact(r.ProtectedHitPercent),
				table.Count(k.Protected.Requests), table.Count(r.ProtectedRefused), exact(r.ProtectedPercent),
			}
			if b := k.bound(r.Key); b == nil {
				row = append(row, table.Texts("", "", "", "", "")...)
			} else {
				row = append(row, table.Count(b.Requests), table.Count(b.OfRequests), exact(b.RequestsPercent),
					table.Count(b.Clients), table.Count(b.OfClients))
			}
			c.Add(row...)
		}
	}
	return c.Flush()
}

// bound returns the bound of a key, nil if it is not known.
func (k *Report) bound(key string) *Bound {
	if k.Bounds == nil {
		return nil
	}
	i := slices.IndexFunc(k.Bounds.Keys, func(b Bound) bool { return b.Key == key })
	if i < 0 {
		return nil
	}
	return &k.Bounds.Keys[i]
}

// Write writes the report in one of format.PageOutputs, all of it or nothing.
func (k *Report) Write(w io.Writer, output string) error {
	return html.WriteReport(w, k, &k.Head, "", output)
}

// One answer for people: what was asked, a table of the keys, and which is best.

// title says what the table has.
func (k *Report) title() string {
	n := len(k.Answers)
	switch {
	case n > 0 && k.Answers[n-1].Refuse == nil:
		return "What each limit refuses of the target, and how many of the protected it hits, by what it counts by"
	case n > 0 && k.Answers[0].Refuse == nil:
		return "What each limit refuses of the target, the largest window that refuses so much, and how many of the protected they hit"
	}
	return "The largest window that refuses so much of the target, and how many of the protected it hits"
}

// table has a row for each key, and columns for the bound and for each answer.
func (k *Report) table() *table.Table {
	t := table.New(table.Words("key"))
	if k.Bounds != nil {
		t.Head(table.Number("any limit, at most %"))
	}
	var names []string
	for i := range k.Answers {
		a := &k.Answers[i]
		if a.Refuse == nil {
			t.Head(table.Number(a.Limit + ": refused %"))
		} else {
			t.Head(table.Number(format.ShortPercentage(*a.Refuse) + " in " + a.Per + ": N"))
		}
		t.Join(table.Numbers("hit", "%")...)
		for j := range a.Keys {
			if name := a.Keys[j].Key; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if k.Bounds != nil {
		for i := range k.Bounds.Keys {
			if name := k.Bounds.Keys[i].Key; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		row := table.Texts(name)
		if b := k.bound(name); b != nil {
			row = append(row, table.Share(b.RequestsPercent))
		} else if k.Bounds != nil {
			row = append(row, table.None)
		}
		for i := range k.Answers {
			row = append(row, k.Answers[i].cells(name)...)
		}
		t.Add(row...)
	}
	return t
}

// cells returns the cells of an answer about a key.
func (a *Answer) cells(key string) []table.Cell {
	i := slices.IndexFunc(a.Keys, func(r Row) bool { return r.Key == key })
	switch {
	case i < 0:
		return []table.Cell{table.None, table.None, table.None}
	case !a.Keys[i].Reached:
		return []table.Cell{table.Text("none"), table.None, table.None}
	}
	r := &a.Keys[i]
	first := table.Count(r.n)
	if a.Refuse == nil {
		first = table.Share(r.TargetPercent)
	}
	return []table.Cell{first, table.Count(r.ProtectedHit), table.Share(r.ProtectedHitPercent)}
}

// verdict says which key is best, "" if not asked for.
func (a *Answer) verdict(k *Report) string {
	switch {
	case a.Refuse == nil || len(a.Keys) == 0:
		return ""
	case a.Best == "" && slices.ContainsFunc(a.Keys, func(r Row) bool { return r.Reached }):
		return fmt.Sprintf("for %s: by a window of %s every key that refuses as much hits more than %d %% of the protected",
			format.ShortPercentage(*a.Refuse), a.Per, wellSeparated) + a.longerText(k)
	case a.Best == "":
		return fmt.Sprintf("no key refuses %s by a window of %s, however small: at best %s, by %s",
			format.ShortPercentage(*a.Refuse), a.Per, format.Percentage(a.Keys[0].TargetPercent), a.Keys[0].Key) + a.longerText(k)
	}
	best, client := &a.Keys[0], (*Row)(nil)
	if i := slices.IndexFunc(a.Keys, func(r Row) bool { return r.Key == "client" }); i >= 0 {
		client = &a.Keys[i]
	}
	text := fmt.Sprintf("for %s: %s, %s, hits %s of %s to protect", format.ShortPercentage(*a.Refuse), best.Key, best.Limit, format.Thousands(best.ProtectedHit),
		format.Count(k.Protected.Visitors, "visitor"))
	switch {
	case best == client && client.separates():
		text += "; no other key that tells clients apart hits at most half as many and 1 % of them fewer"
	case best == client:
		text += "; no other key hits at most half as many and 1 % of them fewer"
	case client == nil:
	case !client.Reached:
		text += "; client refuses no more than " + format.Percentage(client.TargetPercent)
	case client.ProtectedHit == best.ProtectedHit:
		text += fmt.Sprintf("; client hits as many, and refuses them %s rather than %s",
			format.Count(client.ProtectedRefused, "request"), format.Thousands(best.ProtectedRefused))
	default:
		text += "; client hits " + format.Thousands(client.ProtectedHit)
	}
	text += k.sharedText(best.Key)
	if !a.separates() {
		text += ": no key separates them by such a window" + a.longerText(k)
	}
	return text
}

// sharedText says of how many clients of the target a key makes one: it does not tell these apart.
func (k *Report) sharedText(key string) string {
	b := k.bound(key)
	if b == nil || b.SharedBy == 0 {
		return ""
	}
	return fmt.Sprintf("; its fullest bucket has %s of the %s of the target: these share one limit", format.Thousands(b.SharedBy),
		format.Count(b.OfClients, "client"))
}

// separates reports whether the best key refuses the share, and hits few of the protected visitors.
func (a *Answer) separates() bool { return a.Best != "" && a.Keys[0].separates() }

// separates reports whether a key refuses the share, and hits few of the protected visitors.
func (r *Row) separates() bool { return r.Reached && r.ProtectedHitPercent <= wellSeparated }

// longerText says which longer window does, if one was found; else what was tried, or can be.
func (a *Answer) longerText(k *Report) string {
	switch {
	case a.longer != nil:
		return fmt.Sprintf("; --per %s gathers more of what comes slowly: %s, %s, hits %s of %s", a.Longer,
			a.longer.Key, a.longer.Limit, format.Thousands(a.longer.ProtectedHit), format.Thousands(k.Protected.Visitors)) + k.sharedText(a.longer.Key)
	case a.tried != nil:
		return "; nor does one separate them by " + strings.Join(a.tried, " or ")
	}
	return "; a longer --per gathers more of what comes slowly"
}

// wellSeparated is the most that a key which separates may hit, in percent of the protected visitors.
const wellSeparated = 5
