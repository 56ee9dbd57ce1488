package findings

import (
	"fmt"

	"shadow/internal/traffic/ingest"
	"shadow/report/format"
)

// notHTTP looks at the lines whose request is not HTTP. A few of them are scanners; where they are most of the log, or
// the server has answered them as it answers requests, the format is another one.
type notHTTP struct{ silent }

func (notHTTP) find(s *ingest.Stats) []Finding {
	n := s.NotHTTP.Lines()
	if n == 0 {
		return nil
	}
	all, answered := s.Parsed-s.Excluded, int64(0)
	lines := fmt.Sprintf("%s (%s) without a request line of HTTP", format.Count(n, "line"), s.NotHTTP)
	if s.JudgesNotHTTP {
		return []Finding{{
			Code: "not_http", Severity: Info, Share: ShareOf(n, all), Remedy: "--not-http skip",
			Evidence: lines + " judged all the same, though no limiter of a server sees such lines",
		}}
	}
	for _, status := range s.NotHTTP {
		if status.Status >= 200 && status.Status < 400 {
			answered += status.Lines
		}
	}
	f := Finding{
		Code: "not_http", Severity: Info, Share: ShareOf(n, all), Remedy: "--not-http judge",
		Evidence: lines + " not judged",
	}
	switch {
	case 100*answered > all:
		f.Severity = Warn
		f.Evidence += fmt.Sprintf(", though the server answered %s of them with a status from 200 to 399: their "+
			"--format may be another one", format.Thousands(answered))
	case 2*n > all:
		f.Severity = Warn
		f.Evidence += fmt.Sprintf(", of %s in all: their --format may be another one", format.Thousands(all))
	default:
		f.Evidence += ": no limiter of a server sees such lines"
	}
	return []Finding{f}
}
