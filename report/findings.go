package report

import (
	"fmt"
	"slices"

	"shadow/internal/findings"
	"shadow/report/document"
)

// Every report begins with what was found in the log. People read the gravest findings, and each warning that is not one
// of them; JSON has all of both.

// findingsShown is the most findings that people read in other reports than that of `shadow doctor`.
const findingsShown = 5

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

// levels maps the severity of findings to the level at which they are shown.
var levels = [...]document.Level{
	findings.Stop: document.Stop, findings.Warn: document.Warning, findings.Info: document.Note,
}

// alert hands the findings and warnings that people read to write, one by one.
func (h *Head) alert(write func(level document.Level, text string)) {
	shown := h.Findings[:min(len(h.Findings), findingsShown)]
	for i := range shown {
		write(levels[shown[i].Severity], shown[i].String())
	}
	if more := len(h.Findings) - len(shown); more > 0 {
		write(document.Note, moreFindings(more))
	}
	for _, text := range h.OtherWarnings() {
		write(document.Warning, text)
	}
}
