package neutral

import (
	"fmt"
	"io"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
)

// Write writes a shadow.yaml. What was not understood stands above it in comments.
func (r *Result) Write(w io.Writer) error {
	var b strings.Builder
	comment := func(indent, text string) {
		fmt.Fprintf(&b, "%s# %s\n", indent, escape.Visible(text))
	}
	for _, n := range r.Notes {
		if n.Mild {
			comment("", n.String())
		} else {
			comment("", "NOT AS THERE: "+n.String())
		}
	}
	if r.nginxPaths() {
		b.WriteString("paths: nginx\n")
	}
	if len(r.Policies) > 0 {
		b.WriteString("policies:\n")
	}
	for _, p := range r.Policies {
		fmt.Fprintf(&b, "  - name: %s\n", policy.Quoted(p.Name))
		if p.Combine != "" {
			fmt.Fprintf(&b, "    combine: %s\n", p.Combine)
		}
		b.WriteString("    limits:\n")
		for _, l := range p.Limits {
			for _, text := range l.Told {
				comment("      ", text)
			}
			fmt.Fprintf(&b, "      - limit: %s\n", policy.Quoted(l.Text))
			if l.By != request.ByClient {
				fmt.Fprintf(&b, "        by: %s\n", policy.Quoted(l.By.String()))
			}
			if !l.Match.IsAll() {
				fmt.Fprintf(&b, "        match: %s\n", l.Match)
			}
			if !l.Count.Conditions.Is(&l.Match.Conditions) {
				fmt.Fprintf(&b, "        count: %s\n", countText(l.Match.Conditions, l.Count.Conditions))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String returns the set as a shadow.yaml has it.
func (s Set) String() string { return groupText(s.Conditions) }

// groupText is conditions between braces.
func groupText(c request.Conditions) string {
	var texts []string
	c.Each(func(key string, values *[]string) {
		all := mapped.Add(nil, *values, func(v string) string { return policy.Quoted(notAny(key, v)) })
		switch len(all) {
		case 0:
		case 1:
			texts = append(texts, key+": "+all[0])
		default:
			texts = append(texts, key+": ["+strings.Join(all, ", ")+"]")
		}
	})
	if len(c.Any) > 0 {
		texts = append(texts, "either: "+listText(c.Any))
	}
	if len(c.Not) > 0 {
		texts = append(texts, "not: "+listText(c.Not))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// notAny writes a value that is the word which removes a condition in other letters, with the same sense.
func notAny(key, value string) string {
	switch {
	case value != "any":
		return value
	case key == "regexp" || key == "agent":
		return "(?:any)"
	}
	return "ANY" // hosts and the like have any case, and no path is that word
}

func listText(all []request.Conditions) string {
	texts := mapped.Add(nil, all, groupText)
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// countText formats what is counted, where that begins with what is matched.
func countText(match, count request.Conditions) string {
	text := groupText(count)
	theirs := map[string]bool{}
	count.Each(func(key string, values *[]string) { theirs[key] = len(*values) > 0 })
	var gone []string
	match.Each(func(key string, values *[]string) {
		if len(*values) > 0 && !theirs[key] {
			gone = append(gone, key+": any")
		}
	})
	if len(match.Any) > 0 && len(count.Any) == 0 { // replaced by what fits every request
		gone = append(gone, "either: {path: any}")
	}
	if len(match.Not) > 0 && len(count.Not) == 0 { // and by what fits none
		gone = append(gone, "not: {method: NONE}")
	}
	if len(gone) == 0 {
		return text
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	if inner != "" {
		gone = append([]string{inner}, gone...)
	}
	return "{" + strings.Join(gone, ", ") + "}"
}
