package findings

import (
	"fmt"

	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// stamps looks at what the time stamps tell of when requests came.
type stamps struct {
	silent
	*seen
}

func (l *stamps) find(s *ingest.Stats) (found []Finding) {
	if l.total == 0 {
		return nil
	}
	if f, told := l.coarse(s); told {
		found = append(found, f)
	} else if s.Resolution >= limit.Second && !l.Read.Band {
		found = append(found, Finding{
			Code: "whole_seconds", Severity: Info, Share: 1, Remedy: "--band",
			Evidence: "timestamps are whole seconds: within a second, requests are judged in the order logged",
		})
	}
	if s.Moved > 0 {
		found = append(found, Finding{
			Code: "judged_at_start", Severity: Info, Share: min(1, ShareOf(s.Moved, l.total)),
			Evidence: format.Count(s.Moved, "request") + " are judged when they began: at their timestamp less the " +
				"request time that is logged, as a server does",
		})
	}
	return found
}

// coarse tells of times that all are multiples of more than a second. In a short log, or one of a few jobs at fixed
// times, they are so by chance.
func (l *stamps) coarse(s *ingest.Stats) (f Finding, told bool) {
	if s.Resolution <= limit.Second || l.total < mustRequests || s.LastAt-s.FirstAt < mustSpan || l.seen.senders() < mustClients {
		return f, false
	}
	f = Finding{Code: "clock", Severity: Warn, Share: 1}
	what := "10 seconds"
	if s.Resolution >= limit.Minute {
		f.Severity, what = Stop, "a minute"
	}
	f.Evidence = fmt.Sprintf("all timestamps are multiples of %s: what came within it seems to come at once, and no limit can be judged finer", what)
	return f, true
}
