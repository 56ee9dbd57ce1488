package main

import (
	"fmt"
	"strings"

	"shadow/escape"
	"shadow/traffic/ingest"
	"shadow/traffic/match"
)

// An action is named on the command line, and which there are is known when the log has been read. So a name that stands for none
// is found out then; what was read is of no use, and nothing is reported or kept.

// meantAction is the action that --FLAG names, as reports call it. A log without a request has none, and that is no mistake.
func meantAction(flag, name string, o *ingest.Options, s *ingest.Stats) (string, error) {
	if name == "" || s.Taken() == 0 {
		return name, nil
	}
	switch meant := match.ActionsMeant(o.Tables.Actions, name); len(meant) {
	case 1:
		return meant[0], nil
	case 0:
		hint := "; `shadow replay` lists those there are"
		if near := match.NearestAction(o.Tables.Actions, name); near != "" {
			hint = fmt.Sprintf(", did you mean %q?", escape.Visible(near))
		}
		return "", usage("--%s %q: no request is of that action%s", flag, escape.Visible(name), hint)
	default:
		return "", usage("--%s %q: which is it, %s?", flag, escape.Visible(name), escape.Visible(strings.Join(meant, " or ")))
	}
}

// takenFor says that a name was taken for a longer one.
func takenFor(flag, name, meant string) []string {
	if name == meant {
		return nil
	}
	return []string{fmt.Sprintf("--%s %s is taken for %s", flag, name, meant)}
}
