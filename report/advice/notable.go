package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/findings"
	"shadow/report/format"
	"shadow/report/table"
)

// A screen begins with what was found in the log, the gravest first, and names what it has no room for.

// kinds has what a screen calls findings, by their codes; others are notes.
var kinds = map[string]string{
	"accounts": "accounts", "admin_indexed": "indexed", "attacker": "attack", "bot_network": "network", "client_missing": "clients", "clock": "clock", "copies": "copies",
	"enforced": "enforced", "few_clients": "few", "forged_crawler": "forged", "forged_forwarded_for": "forged", "health_check": "monitors",
	"heavy_client": "heavy", "inner_hosts": "inner", "masked_addresses": "masked", "no_agents": "agents", "one_network": "network", "own_server": "own",
	"partial": "partial", "password_guessed": "break-in", "proxy_as_client": "proxy", "secrets_served": "leak", "shared_addresses": "offices", "short_log": "short",
}

// A notable is a finding or a warning on the screen.
type notable struct {
	brief string   // its kind; of clients that the answer leaves out, with their share
	lines []string // with the kind in front
}

// shown are findings and warnings, each whole, in so many lines at most. The last line names the kinds of those for which
// there is no room.
func (s *Report) shown(all []notable, room int) (lines []string) {
	for i, found := range all {
		left := len(all) - i
		if len(lines)+len(found.lines)+min(left-1, 1) <= max(room, 1) {
			lines = append(lines, found.lines...)
			continue
		}
		label, text := "", format.Count(int64(left), "other finding")
		if i == 0 {
			label, text = "found", format.Count(int64(left), "finding")
		}
		where := escape.Visible(s.Doctor)
		if table.ColumnsOf(where) > briefWidth-briefLabel-len("999 findings: ") {
			where = "shadow doctor LOG"
		}
		var kinds []string
		for _, hidden := range all[i:] {
			if hidden.brief != "note" && !slices.Contains(kinds, hidden.brief) {
				kinds = append(kinds, hidden.brief)
			}
		}
		named := text + " (" + strings.Join(kinds, ", ") + "): " + where
		if kinds == nil || table.ColumnsOf(named) > briefWidth-briefLabel {
			named = text + ": " + where
		}
		return append(lines, fmt.Sprintf("%-*s%s", briefLabel, label, named))
	}
	return lines
}

// found are findings and warnings: what forbids an answer, what an attack got, who the clients are, and all others.
func (s *Report) found(width int) (all []notable) {
	add := func(kind, brief, text string) {
		all = append(all, notable{brief, labelled(kind, table.Wrap(escape.Visible(text), width-briefLabel))})
	}
	byRank := func(x, y findings.Finding) int { return cmp.Compare(rankOf(&x), rankOf(&y)) }
	for _, f := range slices.SortedStableFunc(slices.Values(s.Findings), byRank) {
		if f.Brief != "" {
			f.Evidence, f.Remedy = f.Brief, map[bool]string{true: f.Remedy}[f.Severity == findings.Stop]
		}
		kind := cmp.Or(kinds[f.Code], "note")
		brief := kind
		if leavesOut(&f) {
			brief += fmt.Sprintf(" %.0f %%", 100*f.Share)
		}
		add(kind, brief, f.String())
	}
	for _, text := range s.OtherWarnings() {
		add("note", "note", text)
	}
	return all
}

// leavesOut reports whether a finding is about clients that the answer leaves out.
func leavesOut(f *findings.Finding) bool { return f.Code == "own_server" || f.Code == "health_check" }

// rankOf orders findings for a screen that may have room for one or two.
func rankOf(f *findings.Finding) int {
	switch {
	case f.Severity == findings.Stop, f.Code == "masked_addresses", f.Code == "partial":
		return 0
	case f.Code == "secrets_served" || f.Code == "password_guessed":
		return 1
	case f.Code == "attacker", f.Code == "heavy_client" && f.Share >= 0.5:
		return 2
	case leavesOut(f) && f.Share >= 0.1, f.Code == "enforced" && f.Severity == findings.Warn, f.Code == "accounts":
		return 3
	}
	return 4
}

// firstFound returns how many lines it takes to say what is most notable, and how many more there are.
func firstFound(all []notable) int {
	if len(all) == 0 {
		return 0
	}
	return min(len(all[0].lines)+min(len(all)-1, 1), 5)
}
