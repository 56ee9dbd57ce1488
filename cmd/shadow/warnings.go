package main

import (
	"fmt"
	"strings"

	"shadow/traffic"
)

// Warnings are for figures that are right and yet not what was meant. The report shows them; it adds its own about
// clients that send too much.

// warnings are what reading found odd, and flags that came to nothing.
func (r *replayRun) warnings(s *traffic.Stats) []string {
	return append(inputWarnings(s), r.idleFlags(s)...)
}

// idleFlags tell of flags that left everything out, or nothing.
func (r *replayRun) idleFlags(s *traffic.Stats) []string {
	bounded := r.since != "" || r.until != ""
	var texts []string
	if bounded && s.Parsed == s.Excluded+s.Warm {
		texts = append(texts, "no request lies in the time of "+r.bounds()+": `shadow parse LOG` shows the times of the first lines")
	}
	if len(r.exclude) > 0 && !bounded && s.Excluded == 0 {
		texts = append(texts, "no request fits --exclude "+strings.Join(r.exclude, ", ")+
			"; a * does not cross a slash: /health/** is all below /health/")
	}
	return texts
}

// bounds are --since and --until as they were given.
func (r *replayRun) bounds() string {
	var texts []string
	if r.since != "" {
		texts = append(texts, "--since "+r.since)
	}
	if r.until != "" {
		texts = append(texts, "--until "+r.until)
	}
	return strings.Join(texts, " ")
}

// inputWarnings are what reading found odd, each text once.
func inputWarnings(s *traffic.Stats) []string {
	var texts []string
	first, more := map[string]string{}, map[string]int{}
	for _, in := range s.Inputs {
		warnings := in.Warnings
		if in.Problem != "" {
			warnings = append(warnings[:len(warnings):len(warnings)], "ended early: "+in.Problem)
		}
		for _, w := range warnings {
			if _, seen := first[w]; seen {
				more[w]++
				continue
			}
			first[w] = in.Name
			texts = append(texts, w)
		}
	}
	for i, w := range texts {
		texts[i] = first[w] + ": " + w
		if more[w] > 0 {
			texts[i] = fmt.Sprintf("%s, and %d more: %s", first[w], more[w], w)
		}
	}
	for _, err := range s.Passed {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		texts = append(texts, "passed over: "+reason)
	}
	return texts
}
