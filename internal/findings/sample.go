package findings

import (
	"fmt"

	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/format"
)

// sample looks at how much there is to go by. That a limit hits none of n clients shows, with 95 % confidence, that it
// hits at most 3/n of such clients: the rule of three (Hanley, Lippman-Hand, "If nothing goes wrong, is everything all
// right?", JAMA 249:1743, 1983).
type sample struct {
	silent
	*seen
}

const (
	mustClients   = 20  // 3/n is 15 %: fewer promise nothing
	shouldClients = 300 // 3/n is 1 %

	mustRequests = 200
	mustSpan     = 10 * limit.Minute
	fairSpan     = limit.Hour
	shouldSpan   = limit.Day // whose hours differ
)

func (l *sample) find(s *ingest.Stats) (all []Finding) {
	if l.total == 0 {
		return nil
	}
	if clients := l.senders(); clients < shouldClients {
		f := Finding{Code: "few_clients", Severity: Warn, Share: 1}
		if clients < mustClients {
			f.Severity = Stop
		}
		what := "even a limit that hits none of them may hit"
		f.Evidence = fmt.Sprintf("%s: %s %s of others like them", format.Count(clients, "client"), what,
			format.Percentage(min(100, 300/float64(clients))))
		all = append(all, f)
	}
	span := s.LastAt - s.FirstAt
	f := Finding{Code: "short_log", Severity: Info, Share: 1}
	switch {
	case span < mustSpan || l.total < mustRequests:
		f.Severity = Stop
		f.Evidence = fmt.Sprintf("%s in %s are too few to judge a limit by", format.Count(l.total, "request"), format.Span(span))
	case span < shouldSpan-limit.Hour:
		if span < fairSpan {
			f.Severity = Warn
		}
		f.Evidence = fmt.Sprintf("the log covers %s, less than a day: busier hours may be missing", format.Span(span))
	default:
		return all
	}
	return append(all, f)
}
