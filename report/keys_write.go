package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"shadow/suggest"
)

// facts say what was read, and who is who; terminal and Markdown show the same ones.
func (k *Keys) facts() []fact {
	all := facts(&Model{Input: k.Input})
	if k.Input.Requests == 0 {
		return all
	}
	of := ""
	if k.Action != "" {
		of = ", of action " + k.Action
	}
	all = append(all, fact{label: "to stop", text: groupText(&k.Stop) + of}, fact{label: "to spare", text: groupText(&k.Spare) + k.doubtedText() + of})
	if k.Log.Shared > 0 {
		all = append(all, fact{label: "shared", text: k.Log.sharedText()})
	}
	if len(k.Absent) > 0 {
		all = append(all, fact{label: "absent", text: k.absentText()})
	}
	return all
}

func (l *KeysLog) sharedText() string {
	if l.Shared == 1 {
		return fmt.Sprintf("1 client with several browsers, %s: %s", l.MostShared, thousands(l.MostBrowsers))
	}
	return fmt.Sprintf("%s with several browsers each; %s has the most, %s", count(l.Shared, "client"), l.MostShared, thousands(l.MostBrowsers))
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

func groupText(g *KeyGroup) string {
	return fmt.Sprintf("%s: %s with %s", plurals(g.Classes), count(g.Visitors, "visitor"), count(g.Requests, "request"))
}

func (k *Keys) doubtedText() string {
	if k.Doubted == 0 {
		return ""
	}
	return fmt.Sprintf("; %s more claim to be browsers and behave like none (disguised)", thousands(k.Doubted))
}

// absentText names the keys that the log has nothing for, reason by reason.
func (k *Keys) absentText() string {
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

func (k *Keys) table() []byte {
	t := &terminal{view: k.view}
	for _, f := range k.facts() {
		t.fact(f)
	}
	for _, w := range k.Warnings {
		t.entry("warning", w, yellow)
	}
	for i := range k.Answers {
		a := &k.Answers[i]
		fmt.Fprintf(t, "\n%s\n", t.paint(bold, a.title(k)))
		t.grid(a.grid())
		if v := a.verdict(k); v != "" {
			t.WriteByte('\n')
			t.entry("best", v, bold)
		}
	}
	return t.Bytes()
}

func (k *Keys) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# What to count by\n\n")
	for _, f := range k.facts() {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.label, markdownText(f.text))
	}
	for _, w := range k.Warnings {
		fmt.Fprintf(&b, "\n> **Warning**: %s\n", markdownText(w))
	}
	for i := range k.Answers {
		a := &k.Answers[i]
		fmt.Fprintf(&b, "\n## %s\n", markdownText(a.title(k)))
		a.grid().markdown(&b)
		if v := a.verdict(k); v != "" {
			fmt.Fprintf(&b, "\n**Best**: %s\n", markdownText(v))
		}
	}
	return b.Bytes()
}

// The report as one rectangular table: a row for each key of each answer.
var keysHead = []string{
	"refuse_percent", "per", "key", "limit", "reached", "best", "stop_requests", "stopped", "stopped_percent",
	"spare_visitors", "spare_hit", "spare_hit_percent", "spare_requests", "spare_refused", "spare_refused_percent",
}

func (k *Keys) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(keysHead) // into memory
	for i := range k.Answers {
		a := &k.Answers[i]
		share := ""
		if a.Refuse != nil {
			share = shortPercent(*a.Refuse)
		}
		for j := range a.Keys {
			r := &a.Keys[j]
			_ = w.Write([]string{
				share, a.Per, r.Key, csvText(r.Limit), strconv.FormatBool(r.Reached), strconv.FormatBool(r.Key == a.Best),
				plain(k.Stop.Requests), plain(r.Stopped), exact(r.StoppedPercent),
				plain(k.Spare.Visitors), plain(r.SpareHit), exact(r.SpareHitPercent),
				plain(k.Spare.Requests), plain(r.SpareRefused), exact(r.SpareRefusedPercent),
			})
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// exact is a share for programs.
func exact(p float64) string { return strconv.FormatFloat(p, 'f', 4, 64) }
