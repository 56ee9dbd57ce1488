package findings

import (
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
	if s.Resolution >= limit.Second && !l.Read.Band {
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
