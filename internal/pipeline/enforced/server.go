package enforced

import (
	"slices"
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

// ended notes whether a refusal is HAProxy's own, by its state at the end, and not that of a server behind it.
func (t *intake) ended(status uint16, state string) {
	switch {
	case !slices.Contains(t.wanted(), status):
	case strings.HasPrefix(state, "P"):
		t.own++
	default:
		t.own--
	}
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
