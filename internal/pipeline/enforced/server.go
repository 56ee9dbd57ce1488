package enforced

import (
	"strings"

	"shadow/internal/calibrate"
	"shadow/internal/policy"
	"shadow/internal/servers"
	"shadow/internal/traffic/ingest"
)

// Which server has decided, as far as the log tells.

// prefer is the algorithm of the server that wrote the log, "" if that is not known.
func (t *intake) prefer(s *ingest.Stats) string {
	if t.nginx {
		return "nginx"
	}
	if len(s.Inputs) == 0 {
		return ""
	}
	format := s.Inputs[0].Format
	for _, a := range policy.Algorithms {
		if strings.Contains(format, strings.TrimSuffix(a.Name, "~")) {
			return a.Name
		}
	}
	// Servers write these; what frameworks write has names of its own.
	if strings.HasPrefix(format, "combined") || strings.HasPrefix(format, "custom '$") {
		return servers.OfFormat(format, s.Inputs[0].FormatText).Name
	}
	return ""
}

// enforced reports whether requests that the field calls refused were answered so.
func (t *intake) enforced() bool {
	var refused, answered int
	for row, v := range t.all.Verdict {
		if v == calibrate.Refused {
			refused++
			if t.status[row] >= 400 {
				answered++
			}
		}
	}
	return 2*answered > refused
}

// byProxy reports whether most of the statuses of refused requests are HAProxy's own, and not those of a server behind it.
func (t *intake) byProxy() bool {
	var refused, denied int
	seen := map[uint16]bool{}
	for row, status := range t.status {
		if t.all.Verdict[row] != calibrate.Refused {
			continue
		}
		if refused++; !seen[status] {
			seen[status] = true
			denied += t.denied[status]
		}
	}
	return 2*denied > refused
}
