package report

import (
	"fmt"
	"strings"
	"testing"

	"shadow/internal/findings"
	"shadow/report/history"
	"shadow/report/reporttest"
)

// A mail that is read every morning is short, however much has happened, and says how much it leaves out.
func TestNewsAreShort(t *testing.T) {
	m := New(reporttest.TownOfMany(), townOptions)
	h := &history.History{Compare: "previous", Runs: []int32{7}, Base: []int32{6}, Repeat: history.Repeat{HitDays: 3, OfDays: 7}}
	for i := range m.Policies {
		p := history.Policy{Policy: m.Policies[i].Policy, NewlyHit: moved(200), Repeating: moved(200)}
		for client := range 200 {
			name := fmt.Sprintf("198.51.%d.%d", i, client)
			p.TopNewlyHit = append(p.TopNewlyHit, history.Mover{Client: name, Class: "browser", Refused: int64(1000 - client)})
			p.TopRepeating = append(p.TopRepeating, history.Mover{Client: name, Class: "browser", Refused: 5, Days: 3})
		}
		p.TopNewlyHit = append(p.TopNewlyHit, history.Mover{Client: fmt.Sprint("2001:db8::", i), Identity: "person", Refused: 1})
		h.Policies = append(h.Policies, p)
	}
	m.SetHistory(h, nil)
	for range 40 {
		m.Findings = append(m.Findings, findings.Finding{Evidence: "something is wrong, and this says at length what", Brief: "something is wrong"})
	}
	for _, format := range []string{"table", "markdown"} {
		text := write(t, m, format)
		if lines := strings.Count(text, "\n"); lines > newsLines {
			t.Errorf("%s: %d lines, at most %d:\n%s", format, lines, newsLines, text)
		}
		for _, want := range []string{"37 more", "2001:db8::0", "people first, the first ", "--details"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: not in the news: %q:\n%s", format, want, text)
			}
		}
	}
	m.Details = true
	if text := write(t, m, "table"); strings.Count(text, "\n") <= newsLines || !strings.Contains(text, "198.51.0.0") {
		t.Errorf("--details shows not all:\n%s", text)
	}
}
