package pipeline

import (
	"slices"

	"shadow/findings"
	"shadow/limit"
	"shadow/traffic/ingest"
)

// Every log that is read is looked at on the way, once, whatever the command.

// byPath has limits count by path rather than by action.
const byPath = "--by client+path"

// newLook is what looks at the requests.
func (l *Logs) newLook() *findings.Look {
	return findings.New(findings.Options{
		Read: &l.Read, Client: l.Client, Keys: PolicyKeys(l.Policies), ByPath: l.byPath,
		By: l.byFlag || len(l.Policies) == 0, Now: limit.Time(l.Started.UnixMicro()),
		Known: l.known,
	})
}

// findings are what was found. Those that say what a warning says cover it: people read it once.
func (l *Logs) findings(s *ingest.Stats) []findings.Finding {
	keys := PolicyKeys(l.Policies)
	covers := map[string][]string{
		"copies": copyWarnings(s.Copies), "not_http": unlikelyNotHTTP(s), "folded_paths": FoldedPaths(&l.Read, keys),
		"client_missing": l.anonymousClients(),
		"no_agents":      slices.DeleteFunc(inputWarnings(s), func(text string) bool { return !findings.AboutAgents(text) }),
	}
	found := l.look.Findings(s)
	for i := range found {
		found[i].Covers = covers[found[i].Code]
	}
	return found
}
