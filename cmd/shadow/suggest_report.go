package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"shadow/report"
	"shadow/report/advice"
	"shadow/suggest"
)

// report prints the advice, and complains if too much could not be read.
func (r *suggestRun) report() error {
	out := outputFlags{}
	w := r.cmd.OutOrStdout()
	answers := make([]advice.Answer, len(r.tracks))
	for i, t := range r.tracks {
		nginx := r.nginx(t.advice)
		answers[i] = advice.Answer{Advice: t.advice, Nginx: nginx, Next: r.next(t.advice, nginx)}
	}
	advice := advice.New(r.survey, answers, report.Options{
		Width: widthOf(w), Color: out.color(w), Version: versionText(), Command: strings.Join(os.Args, " "),
		Timezone: r.timezone, Warnings: r.warnings(), Evidence: r.judging,
	})
	if err := advice.Write(w, r.output); err != nil {
		return err
	}
	return tooManyUnreadable(&r.survey.Stats, r.maxBad)
}

// warnings are what reading found odd, and flags that came to nothing.
func (r *suggestRun) warnings() []string {
	s := &r.survey.Stats
	texts := slices.Concat(passedByName(r.found.Passed), inputWarnings(s), r.idleFlags(s))
	if r.heldOut > 0 && !r.split && s.Taken() > 0 {
		texts = append(texts, "the log is too short to hold a part of it out: nothing proves what is suggested")
	}
	texts = append(texts, r.lumped(r.reading.Tables, r.survey.Clients)...)
	if r.exempt {
		texts = append(texts, "clients that the configuration exempts are counted like all others")
	}
	texts = append(texts, takenFor("action", r.action, r.meant)...)
	if t := r.tracks; r.action != "" && len(t) == 1 && t[0].advice.First.Requests == (suggest.Groups{}) && s.Taken() > 0 {
		texts = append(texts, fmt.Sprintf("no request of the first part is of action %q", r.meant))
	}
	if n := len(r.survey.Actions); r.eachAction && n > mostActions {
		texts = append(texts, fmt.Sprintf("of %d actions, the %d with most requests are shown; --action NAME is about any", n, mostActions))
	}
	return texts
}
