package initial

import (
	"encoding/json"
	"fmt"
	"strings"

	"shadow/contrib"
	"shadow/internal/escape"
	"shadow/internal/findings"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/report/advice"
	"shadow/report/format"
	"shadow/report/table"
)

// commentWidth is the most columns of a comment.
const commentWidth = 100

// A file is a shadow.yaml that is being written.
type file struct{ strings.Builder }

// say writes a comment, which may quote a log.
func (b *file) say(indent, text string) {
	for _, line := range table.Wrap(escape.Visible(text), commentWidth) {
		b.WriteString(indent + "# " + line + "\n")
	}
}

// written returns the file. A limit without an answer is a comment.
func written(page *advice.Report, settings []setting, workers []pipeline.Worker) string {
	var b file
	var schema struct {
		ID string `json:"$id"`
	}
	if err := json.Unmarshal(contrib.Schema, &schema); err != nil {
		panic(err) // a mistake in this program
	}
	b.WriteString("# yaml-language-server: $schema=" + schema.ID + "\n")
	b.say("", fmt.Sprintf("Written by `shadow config init`, of %s from %s. `shadow config check` says what it means; "+
		"`shadow help config` shows all that can stand here.", format.Count(page.Input.Requests, "request"),
		format.Count(page.Input.Clients, "client")))
	for _, f := range page.Findings {
		if f.Severity != findings.Info {
			b.say("", "- "+f.String())
		}
	}
	if len(settings) > 0 {
		b.WriteString("\n# Values of flags that are not given.\ndefaults:\n")
	}
	for i, s := range settings {
		if s.why != "" && (i == 0 || s.why != settings[i-1].why) {
			b.say("  ", s.why)
		}
		text := strings.Join(mapped.Of(s.Values, policy.Quoted), ", ")
		if len(s.Values) != 1 {
			text = "[" + text + "]"
		}
		b.WriteString("  " + s.Name + ": " + text + "\n")
	}
	for i := range page.Findings {
		if words := strings.Fields(page.Findings[i].Remedy); len(words) == 4 && words[0] == "--client-from" && !isSure(&page.Findings[i]) {
			fmt.Fprintf(&b, "\n# If these are your proxies, take out the marks:\n# defaults:\n#   client-from: %s\n#   trusted-proxy: [%s]\n",
				policy.Quoted(words[1]), strings.Join(mapped.Of(strings.Split(words[3], ","), policy.Quoted), ", "))
		}
	}
	if len(workers) > 0 {
		b.WriteString("\n# Counted and never refused. Anyone can send such requests: make sure that these clients are yours.\n" +
			"exempt:\n  addresses:\n")
	}
	for _, w := range workers {
		b.say("    ", w.Reason)
		b.WriteString("    - " + policy.Quoted(w.Address) + "\n")
	}
	answer := &page.Answers[0]
	b.WriteByte('\n')
	b.say("", "What is judged. "+answer.Headline())
	mark, limit := "# ", "token:6/30s"
	if answer.Verdict.Limit != nil {
		mark, limit = "", *answer.Verdict.Limit
	}
	fmt.Fprintf(&b, "%[1]spolicies:\n%[1]s  - name: first\n%[1]s    limits: %[2]s\n", mark, policy.Quoted(limit))
	return b.String()
}
