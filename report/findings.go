package report

import (
	"fmt"
	"slices"

	"shadow/internal/findings"
	"shadow/report/document"
)

// Every report begins with what was found in the log. People read the gravest findings, and each warning that is not one
// of them; JSON has all of both.

// FindingsShown is the most findings that people read in other reports than that of `shadow doctor`.
const FindingsShown = 5

// shownFindings returns the findings that people read, and how many more there are.
func (h *Head) shownFindings() (shown []findings.Finding, more int) {
	shown = h.Findings[:min(len(h.Findings), FindingsShown)]
	return shown, len(h.Findings) - len(shown)
}

// moreFindings says where the others are.
func moreFindings(n int) string { return fmt.Sprintf("%d more: shadow doctor LOG", n) }

// OtherWarnings are the warnings that no finding covers, folded for people.
func (h *Head) OtherWarnings() []string {
	covered := func(text string) bool {
		return slices.ContainsFunc(h.Findings, func(f findings.Finding) bool { return slices.Contains(f.Covers, text) })
	}
	return FoldWarnings(slices.DeleteFunc(slices.Clone(h.Warnings), covered))
}

// found reports whether there is a finding with a code.
func (h *Head) found(code string) bool {
	return slices.ContainsFunc(h.Findings, func(f findings.Finding) bool { return f.Code == code })
}

// Short reports whether the log is too short to draw limits from.
func (h *Head) Short() bool { return h.found("short_log") }

// alert writes findings and warnings.
func (h *Head) alert(w *document.Writer) {
	shown, more := h.shownFindings()
	for i := range shown {
		w.Alert(alerts[shown[i].Severity], shown[i].String())
	}
	if more > 0 {
		w.Alert(document.Note, moreFindings(more))
	}
	for _, text := range h.OtherWarnings() {
		w.Alert(document.Warning, text)
	}
}

// alerts maps the severity of findings to the level at which they are shown.
var alerts = [...]document.Level{
	findings.Stop: document.Stop, findings.Warn: document.Warning, findings.Info: document.Note,
}

// Alerts are the findings and warnings that people read, a line each.
func (h *Head) Alerts() (lines []string) {
	shown, more := h.shownFindings()
	for i := range shown {
		lines = append(lines, shown[i].String())
	}
	if more > 0 {
		lines = append(lines, moreFindings(more))
	}
	return append(lines, h.OtherWarnings()...)
}
