package findings

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/logfile"
	"shadow/internal/mapped"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/parse/detect"
	"shadow/report/format"
)

// namesShown is the most files, or actions, that a finding names.
const namesShown = 3

// mostTwins is the share of lines that may be the same as the one before, by a flood of one client.
const mostTwins = 0.1

// copies looks at the files that hold the same lines, and at lines that stand twice.
type copies struct{ silent }

func (copies) find(s *ingest.Stats) (all []Finding) {
	how := map[logfile.How]string{
		logfile.SameFile: "another name of", logfile.SameLines: "the same as", logfile.Beginning: "the beginning of",
	}
	if n := len(s.Copies.Found); n > 0 {
		var names []string
		for _, c := range s.Copies.Found {
			names = append(names, fmt.Sprintf("%s (%s %s)", c.Name, how[c.How], c.Of))
		}
		verb := "are copies and are"
		if n == 1 {
			verb = "is a copy and is"
		}
		all = append(all, Finding{
			Code: "copies", Severity: Info, Share: NoShare,
			Evidence: fmt.Sprintf("%s %s not read: %s", format.Count(int64(n), "file"), verb,
				format.List(names, namesShown)),
		})
	}
	if n := len(s.Copies.Doubts); n > 0 {
		names := mapped.Of(s.Copies.Doubts, func(c logfile.Copy) string { return c.Name + " begins as " + c.Of })
		all = append(all, Finding{
			Code: "copies", Severity: Warn, Share: NoShare,
			Evidence: fmt.Sprintf("%s may repeat another, too short to prove a copy, so their lines count: %s",
				format.Count(int64(n), "file"), format.List(names, namesShown)),
		})
	}
	var twins int64
	for i := range s.Inputs {
		twins += s.Inputs[i].Twins
	}
	if share := ShareOf(twins, s.Parsed); share >= mostTwins {
		all = append(all, Finding{
			Code: "copies", Severity: Warn, Share: share,
			Evidence: fmt.Sprintf("%s of %s are the line before once more, to the millisecond: something writes or collects lines twice",
				format.Thousands(twins), format.Count(s.Parsed, "line")),
		})
	}
	return all
}

// anonymous looks at the requests that lack what clients are told apart by.
type anonymous struct {
	*seen
	named int64 // of these, requests whose client a header names
}

func (l *anonymous) take(b *traffic.Batch, from, to int) {
	if id, known := l.Read.Tables.Clients.Find([]byte("-")); known && len(b.Origin) > 0 {
		for row := from; row < to; row++ {
			if b.Client[row] == id && b.Origin[row] != 0 {
				l.named++
			}
		}
	}
}

func (l *anonymous) find(s *ingest.Stats) []Finding {
	n := l.anonymous()
	if n == 0 {
		return nil
	}
	what := l.Client
	if what == "addr" {
		what = "address"
	}
	f := Finding{
		Code: "client_missing", Severity: Warn, Share: ShareOf(n, l.total), Evidence: fmt.Sprintf(
			"%s of %s have no %s: they are judged as one client, -", format.Thousands(n), format.Count(l.total, "request"), what),
	}
	if n == l.total {
		f.Severity, f.Evidence = Stop, fmt.Sprintf("no %s in any of %s: all are judged as one client, -",
			what, format.Count(n, "request"))
	}
	if l.Client == "user" {
		f.Evidence += "; as a key (--by user), user counts them by their address"
	}
	if l.Client == "user" { // the formats that log users log addresses
		f.Remedy = "--client addr"
	}
	if 2*l.named > n {
		f.Evidence += fmt.Sprintf("; %s names clients in %s of them", headerName(s.ForwardedBy), format.Percentage(100*float64(ShareOf(l.named, n))))
		f.Remedy = "--client-from " + s.ForwardedBy + " --trusted-proxy private"
	}
	if f.Severity == Warn && f.Share < smallAnonymous {
		f.Severity = Info
	}
	return []Finding{f}
}

// OfAccounts tells that a log names accounts, which are another unit than addresses.
func OfAccounts(a ingest.Accounts) Finding {
	f := Finding{Code: "accounts", Severity: Warn, Share: NoShare, Remedy: "--client " + a.Field}
	f.Evidence = fmt.Sprintf("at its beginning the log names %s by %s, behind %s: a limit by address counts several as one",
		format.Count(int64(a.Values), "account"), a.Field, addresses(int64(a.Shared)))
	if a.Spread > 0 {
		f.Evidence = fmt.Sprintf("at its beginning the log names %s by %s, which come from %s: a limit by address counts one as several",
			format.Count(int64(a.Values), "account"), a.Field, addresses(int64(a.Spread)))
	}
	return f
}

// smallAnonymous is a share of requests without a client that moves no figure.
const smallAnonymous = 0.01

// agents looks at what stands where user agents are to be.
type agents struct {
	*seen
	requests []int64 // by agent
}

func (l *agents) take(b *traffic.Batch, from, to int) {
	l.requests = append(l.requests, make([]int64, max(0, l.Read.Tables.Agents.Len()-len(l.requests)))...)
	for _, agent := range b.Agent[from:to] {
		l.requests[agent]++
	}
}

// AboutAgents reports whether a warning about an input is that its user agents are none, as the finding says for all.
func AboutAgents(warning string) bool {
	return strings.Contains(warning, "have no user agent: classes mean little") ||
		strings.Contains(warning, " user agents ") && strings.Contains(warning, " are URLs and ")
}

func (l *agents) find(s *ingest.Stats) []Finding {
	if l.total == 0 {
		return nil
	}
	f := Finding{Code: "no_agents", Severity: Warn, Share: 1}
	if !s.HasAgents {
		f.Evidence = "user agents are not logged: every client is of class unknown"
		if slices.ContainsFunc(s.Inputs, func(in ingest.InputStats) bool { return slices.Contains(in.Warnings, detect.Unread) }) {
			f.Evidence = "user agents are not read: every client is of class unknown, while " + detect.Unread
		}
		return []Finding{f}
	}
	var none, urls int64
	for id, n := range l.requests {
		switch name := l.Read.Tables.Agents.Name(int32(id)); {
		case name == "-":
			none += n
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			urls += n
		}
	}
	f.Share = ShareOf(none+urls, l.total)
	switch {
	case f.Share < 0.5 && !slices.ContainsFunc(s.Inputs, func(in ingest.InputStats) bool {
		return slices.ContainsFunc(in.Warnings, AboutAgents)
	}):
		return nil
	case 10*urls > l.total:
		f.Severity = Stop
		f.Evidence = fmt.Sprintf("of %s, %s have no user agent and %s a URL in its place: lines may be of another --format",
			format.Count(l.total, "request"), format.Thousands(none), format.Thousands(urls))
	default:
		if f.Share < 0.5 {
			f.Severity = Info
		}
		f.Evidence = fmt.Sprintf("%s of %s have no user agent: their clients are of class unknown", format.Thousands(none),
			format.Count(l.total, "request"))
	}
	return []Finding{f}
}

// folded looks at the actions that stand for several paths, where limits count by action.
type folded struct {
	silent
	*seen
	counts bool
}

func (l *folded) find(*ingest.Stats) []Finding {
	if !l.counts {
		return nil
	}
	all, more := l.Read.Actions.Folded()
	if len(all) == 0 {
		return nil
	}
	var names []string
	var requests, paths int64
	for _, f := range all {
		paths += int64(f.Paths)
		names = append(names, fmt.Sprintf("%s for %d", f.Action, f.Paths))
		if id, known := l.Read.Tables.Actions.Find([]byte(f.Action)); known && int(id) < len(l.actions) {
			requests += l.actions[id]
		}
	}
	atLeast := ""
	if more {
		atLeast = "at least "
	}
	var keys []string
	for _, key := range l.Keys {
		if byActions(key) {
			keys = append(keys, key.String())
		}
	}
	verb := "stand"
	if len(all) == 1 {
		verb = "stands"
	}
	return []Finding{{
		Code: "folded_paths", Severity: Info, Share: ShareOf(requests, l.total), Remedy: l.ByPath,
		Evidence: fmt.Sprintf("what counts by %s counts several paths as one: %s %s for %s%s paths (%s)",
			strings.Join(keys, ", "), format.Count(int64(len(all)), "action"), verb, atLeast, format.Thousands(paths),
			format.List(names, namesShown)),
	}}
}
