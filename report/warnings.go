package report

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/report/format"
)

// AddressOf is the address or prefix that name is, in its usual writing, and the address itself or that of the prefix.
func AddressOf(name string) (text string, address netip.Addr, ok bool) {
	if address, err := netip.ParseAddr(name); err == nil && address.Zone() == "" {
		return address.String(), address, true
	}
	prefix, err := netip.ParsePrefix(name)
	return prefix.String(), prefix.Addr(), err == nil
}

// Figures of hosts that share their limits are exact as long as all of them ask the same Redis. What was decided
// without it is in the figures as it was decided, so a report says how much that is.

// namedDegraded is the most policies that are named; all of them have it in their figures.
const namedDegraded = 5

// degradedText says which policies had degraded verdicts, "" if none.
func degradedText(policies []Policy) string {
	var texts []string
	more := 0
	for i := range policies {
		p := &policies[i]
		switch {
		case p.Degraded == 0:
		case len(texts) == namedDegraded:
			more++
		default:
			texts = append(texts, fmt.Sprintf("of %s %s of %s (%s) and %s of %s", p.Policy, format.Thousands(p.Degraded),
				format.Count(p.Requests, "request"),
				format.Percentage(format.PercentOf(p.Degraded, p.Requests)), format.Thousands(p.DegradedRefused),
				format.Count(p.Refused, "refusal")))
		}
	}
	if texts == nil {
		return ""
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more policies", more))
	}
	return "verdicts were degraded while Redis was away, or slower than the log grew, and the hosts that share a limit " +
		"might have decided otherwise together: " +
		strings.Join(texts, "; ")
}

// setApart tells, among the warnings as well, what several runs of the same time judged each by itself.
func (m *Model) setApart(found *Apart, a *Anonymizer) {
	if found == nil {
		return
	}
	apart := *found
	apart.TopClients = nil
	for _, c := range found.TopClients {
		apart.TopClients = append(apart.TopClients, ApartClient{a.Name(c.Client), c.Requests})
	}
	m.Apart, m.Warnings = &apart, append(m.Warnings, apart.text(m.Input.Requests))
}

// namedApart is the most clients that the warning names.
const namedApart = 5

func (p *Apart) text(requests int64) string {
	var names []string
	for _, c := range p.TopClients[:min(len(p.TopClients), namedApart)] {
		names = append(names, fmt.Sprintf("%s (%s)", c.Client, format.Thousands(c.Requests)))
	}
	if more := p.Clients - int64(len(names)); more > 0 {
		names = append(names, format.Thousands(more)+" more")
	}
	return fmt.Sprintf("%s are about the same time and have %s in common, with %s of the %s: %s. Each run judged its "+
		"own requests: "+
		"a limit that their hosts share would refuse more, as a replay of all their logs together tells",
		format.Runs(p.Runs), format.Count(p.Clients, "client"), format.Thousands(p.Requests),
		format.Count(requests, "request"), strings.Join(names, ", "))
}

// A warning often comes once for each of many files or policies: "NAME: what is wrong", with figures of its own.
const (
	foldFrom  = 3 // warnings of one kind, from which on they are one line
	foldNames = 3 // of those that follow the first are named
)

// ownNumber is a number that stands alone: one in an address, a path or a limit tells things apart.
var ownNumber = lazy.Regexp(`(^|[ (])[0-9]+(,[0-9]{3})*(\.[0-9]+)?%?([ ,;)]|$)`)

// FoldWarnings makes one of those that differ in their name and figures only, for people. What is said of a name in
// other figures as well stays.
func FoldWarnings(texts []string) (folded []string) {
	names, kinds := map[string][]string{}, make([]string, len(texts))
	first := map[[2]string]string{} // by kind and name
	for i, text := range texts {
		name, what, _ := strings.Cut(text, ": ")
		kinds[i] = ownNumber().ReplaceAllString(what, "$1#$4")
		if !slices.Contains(names[kinds[i]], name) {
			names[kinds[i]] = append(names[kinds[i]], name)
			first[[2]string{kinds[i], name}] = text
		}
	}
	for i, text := range texts {
		alike := names[kinds[i]]
		switch {
		case kinds[i] == "" || len(alike) < foldFrom:
			folded = append(folded, text)
		case slices.Index(kinds, kinds[i]) == i: // the first
			folded = append(folded, text+"; likewise "+format.List(alike[1:], foldNames))
		default:
			if name, _, _ := strings.Cut(text, ": "); first[[2]string{kinds[i], name}] != text {
				folded = append(folded, text)
			}
		}
	}
	return folded
}
