package keys

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
	"shadow/suggest"
)

// facts say what was read, and who is who; terminal and Markdown show the same ones.
func (k *Report) facts() []document.Fact {
	all := report.Facts(&report.Model{Input: k.Input})
	if k.Input.Requests == 0 {
		return all
	}
	of := ""
	if k.Action != "" {
		of = ", of action " + k.Action
	}
	all = append(all, document.Fact{Label: "to stop", Text: groupText(&k.Stop) + of}, document.Fact{Label: "to spare", Text: groupText(&k.Spare) + k.doubtedText() + of})
	if k.Log.Shared > 0 {
		all = append(all, document.Fact{Label: "shared", Text: k.Log.sharedText()})
	}
	if len(k.Absent) > 0 {
		all = append(all, document.Fact{Label: "absent", Text: k.absentText()})
	}
	return all
}

func (l *Log) sharedText() string {
	if l.Shared == 1 {
		return fmt.Sprintf("1 client with several browsers, %s: %s", l.MostShared, format.Thousands(l.MostBrowsers))
	}
	return fmt.Sprintf("%s with several browsers each; %s has the most, %s", format.Count(l.Shared, "client"), l.MostShared, format.Thousands(l.MostBrowsers))
}

// disguised are those whose claim to be a browser is contradicted, as suggest calls them.
var disguised = suggest.Disguised.String()

// plurals are the classes as groups are called.
func plurals(classes []string) string {
	names := make([]string, len(classes))
	for i, class := range classes {
		if names[i] = class + "s"; class == "unknown" || class == disguised {
			names[i] = class
		}
	}
	return strings.Join(names, ", ")
}

func groupText(g *Group) string {
	return fmt.Sprintf("%s: %s with %s", plurals(g.Classes), format.Count(g.Visitors, "visitor"), format.Count(g.Requests, "request"))
}

func (k *Report) doubtedText() string {
	if k.Doubted == 0 {
		return ""
	}
	return fmt.Sprintf("; %s more claim to be browsers and behave like none (disguised)", format.Thousands(k.Doubted))
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

func (k *Report) Terminal() []byte {
	t := &document.Terminal{View: k.view}
	for _, f := range k.facts() {
		t.Fact(f)
	}
	for _, w := range k.Warnings {
		t.Entry("warning", w, document.Yellow)
	}
	for i := range k.Answers {
		a := &k.Answers[i]
		fmt.Fprintf(t, "\n%s\n", t.Paint(document.Bold, a.title(k)))
		t.Grid(a.grid())
		if v := a.verdict(k); v != "" {
			t.WriteByte('\n')
			t.Entry("best", v, document.Bold)
		}
	}
	return t.Bytes()
}

func (k *Report) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# What to count by\n\n")
	for _, f := range k.facts() {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
	}
	for _, w := range k.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", table.MarkdownText(w))
	}
	for i := range k.Answers {
		a := &k.Answers[i]
		fmt.Fprintf(&b, "\n## %s\n", table.MarkdownText(a.title(k)))
		a.grid().Markdown(&b)
		if v := a.verdict(k); v != "" {
			fmt.Fprintf(&b, "\n**Best**: %s\n", table.MarkdownText(v))
		}
	}
	return b.Bytes()
}

// The report as one rectangular table: a row for each key of each answer.
var csvHead = []string{
	"refuse_percent", "per", "key", "limit", "reached", "best", "stop_requests", "stopped", "stopped_percent",
	"spare_visitors", "spare_hit", "spare_hit_percent", "spare_requests", "spare_refused", "spare_refused_percent",
}

func (k *Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(csvHead) // into memory
	for i := range k.Answers {
		a := &k.Answers[i]
		share := ""
		if a.Refuse != nil {
			share = format.ShortPercent(*a.Refuse)
		}
		for j := range a.Keys {
			r := &a.Keys[j]
			_ = w.Write([]string{
				share, a.Per, r.Key, table.CsvText(r.Limit), strconv.FormatBool(r.Reached), strconv.FormatBool(r.Key == a.Best),
				format.Plain(k.Stop.Requests), format.Plain(r.Stopped), format.Exact(r.StoppedPercent),
				format.Plain(k.Spare.Visitors), format.Plain(r.SpareHit), format.Exact(r.SpareHitPercent),
				format.Plain(k.Spare.Requests), format.Plain(r.SpareRefused), format.Exact(r.SpareRefusedPercent),
			})
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// Write writes the report in one of Formats, all of it or nothing.
func (k *Report) Write(w io.Writer, output string) error {
	return document.Write(w, k, output, format.Outputs())
}
