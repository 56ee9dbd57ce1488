package keys

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
)

// facts say who is who.
func (k *Report) facts() (f document.Facts) {
	if k.Input.Requests == 0 {
		return nil
	}
	of, doubted := "", ""
	if k.Action != "" {
		of = ", of action " + k.Action
	}
	if k.Doubted > 0 {
		doubted = fmt.Sprintf("; %s more claim to be browsers and behave like none (disguised)", format.Thousands(k.Doubted))
	}
	f.Add("target", k.Target.text()+of)
	f.Add("protect", k.Protected.text()+doubted+of)
	switch l := &k.Log; {
	case l.Shared == 1:
		f.Add("shared", fmt.Sprintf("1 client with several browsers, %s: %s", l.MostShared, format.Thousands(l.MostBrowsers)))
	case l.Shared > 1:
		f.Add("shared", fmt.Sprintf("%s with several browsers each; %s has the most, %s",
			format.Count(l.Shared, "client"), l.MostShared, format.Thousands(l.MostBrowsers)))
	}
	f.Add("absent", k.absentText())
	return f
}

// plurals are the classes as groups are called.
func plurals(classes []string) string {
	names := make([]string, len(classes))
	for i, class := range classes {
		if names[i] = class + "s"; class == "unknown" || class == suggest.Disguised.String() {
			names[i] = class
		}
	}
	return strings.Join(names, ", ")
}

func (g *Group) text() string {
	return fmt.Sprintf("%s: %s with %s", plurals(g.Classes), format.Count(g.Visitors, "visitor"), format.Count(g.Requests, "request"))
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
	texts := make([]string, len(reasons))
	for i, why := range reasons {
		texts[i] = strings.Join(keys[why], ", ") + ": " + why
	}
	return strings.Join(texts, "; ")
}

// Text writes the report for people.
func (k *Report) Text(w *document.Writer) {
	k.Begin(w, "What to count by", "", k.facts()...)
	for i := range k.Answers {
		a := &k.Answers[i]
		w.Section(2, a.title(k))
		w.Table(a.table())
		if v := a.verdict(k); v != "" {
			w.Space()
			w.Facts(document.Strong("best", v))
		}
	}
}

// The report as one rectangular table: a row for each key of each answer.
var csvHead = []string{
	"refuse_percent", "per", "key", "limit", "reached", "best", "stop_requests", "stopped", "stopped_percent",
	"spare_visitors", "spare_hit", "spare_hit_percent", "spare_requests", "spare_refused", "spare_refused_percent",
}

// CSV writes the report for programs.
func (k *Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	c := table.NewCSV(&b, csvHead...)
	exact := func(percent float64) table.Cell { return table.Shown("", strconv.FormatFloat(percent, 'f', 4, 64)) }
	for i := range k.Answers {
		a := &k.Answers[i]
		share := ""
		if a.Refuse != nil {
			share = format.ShortPercent(*a.Refuse)
		}
		for j := range a.Keys {
			r := &a.Keys[j]
			c.Add(
				table.Text(share), table.Text(a.Per), table.Text(r.Key), table.Text(r.Limit),
				table.Text(strconv.FormatBool(r.Reached)), table.Text(strconv.FormatBool(r.Key == a.Best)),
				table.Count(k.Target.Requests), table.Count(r.TargetRefused), exact(r.TargetPercent),
				table.Count(k.Protected.Visitors), table.Count(r.ProtectedHit), exact(r.ProtectedHitPercent),
				table.Count(k.Protected.Requests), table.Count(r.ProtectedRefused), exact(r.ProtectedPercent),
			)
		}
	}
	err := c.Flush()
	return b.Bytes(), err
}

// Write writes the report in one of Formats, all of it or nothing.
func (k *Report) Write(w io.Writer, output string) error {
	return document.Write(w, k, k.View, output, format.Outputs())
}
