package pipeline

import (
	"cmp"
	"os"

	"shadow/policy"
	"shadow/report"
	"shadow/traffic/evidence"
)

// Evidence asks for evidence about clients.
type Evidence struct {
	Wanted bool
	Beacon string // a path that only real browsers load
	Robots string // the file of the site's robots.txt
}

// asked reports whether evidence is to be gathered.
func (f *Evidence) asked() bool { return f.Wanted || f.Beacon != "" || f.Robots != "" }

// choose makes what traces requests and what judges them; nil if nobody asks. Flags go before the configuration.
func (f *Evidence) choose(c *policy.Config) (*evidence.Tracer, *evidence.Rules, error) {
	if !f.asked() {
		return nil, nil, nil
	}
	said := &c.Evidence
	rules := evidence.TraceRules{Beacon: cmp.Or(f.Beacon, said.Path), Background: said.Background, Hosts: said.Hosts}
	if name := cmp.Or(f.Robots, said.Robots); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, Usage("%w", err)
		}
		if rules.Robots, err = evidence.ParseRobots(string(text)); err != nil {
			return nil, nil, Usage("%s: %w", name, err)
		}
	}
	tracer, err := newTracer(rules)
	return tracer, evidenceRules(said), err
}

func newTracer(rules evidence.TraceRules) (*evidence.Tracer, error) {
	tracer, err := evidence.NewTracer(rules)
	if err != nil {
		return nil, Usage("evidence: %w", err)
	}
	return tracer, nil
}

// evidenceRules are the thresholds: those of the configuration, else those by default.
func evidenceRules(said *policy.Evidence) *evidence.Rules {
	rules := evidence.DefaultRules
	for threshold, stated := range map[*int64]*int64{
		&rules.Assets: said.Assets, &rules.Rhythm: said.Rhythm, &rules.Haste: said.Haste, &rules.Errors: said.Errors,
		&rules.Sample: said.Sample, &rules.Hours: said.Hours, &rules.Agents: said.Agents,
	} {
		if stated != nil {
			*threshold = *stated
		}
	}
	if said.Referers != nil {
		rules.Referers = *said.Referers
	}
	return &rules
}

// scopes are those of conditions that may ask for it.
func (f *Evidence) scopes() []report.Scope {
	if !f.asked() {
		return nil
	}
	return []report.Scope{report.WithEvidence}
}
