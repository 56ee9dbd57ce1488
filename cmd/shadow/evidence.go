package main

import (
	"os"

	"github.com/spf13/cobra"

	"shadow/policy"
	"shadow/report"
	"shadow/traffic/evidence"
)

// evidenceFlags ask for evidence about clients.
type evidenceFlags struct {
	wanted bool
	beacon string
	robots string
}

func (f *evidenceFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wanted, "evidence", false, "tell by what clients do, beside what they claim, whether they are human or bot")
	f.addPaths(cmd, "; implies --evidence")
}

// addPaths adds the flags that say more than that.
func (f *evidenceFlags) addPaths(cmd *cobra.Command, implied string) {
	flags := cmd.Flags()
	flags.StringVar(&f.beacon, "evidence-path", "", "a `path` that only real browsers load, which proves them (a glob"+implied+")")
	flags.StringVar(&f.robots, "robots", "", "the site's robots.txt, to tell who disobeys it (`file`"+implied+")")
}

// asked reports whether evidence is to be gathered.
func (f *evidenceFlags) asked() bool { return f.wanted || f.beacon != "" || f.robots != "" }

// scopes are those of conditions that may ask for it.
func (f *evidenceFlags) scopes() []report.Scope {
	if !f.asked() {
		return nil
	}
	return []report.Scope{report.WithEvidence}
}

// choose makes what traces requests and what judges them; nil if nobody asks. Flags go before the configuration.
func (f *evidenceFlags) choose(c *policy.Config) (*evidence.Tracer, *evidence.Rules, error) {
	if !f.asked() {
		return nil, nil, nil
	}
	said := &c.Evidence
	rules := evidence.TraceRules{Beacon: said.Path, Background: said.Background, Hosts: said.Hosts}
	if f.beacon != "" {
		if f.beacon[0] != '/' && f.beacon[0] != '*' {
			return nil, nil, usage("--evidence-path %s: fits no path; want a slash at its beginning", f.beacon)
		}
		rules.Beacon = f.beacon
	}
	file := said.Robots
	if f.robots != "" {
		file = f.robots
	}
	var err error
	if rules.Robots, err = readRobots(file); err != nil {
		return nil, nil, usage("%w", err)
	}
	tracer, err := evidence.NewTracer(rules)
	if err != nil {
		return nil, nil, usage("evidence: %w", err)
	}
	return tracer, evidenceRules(said), nil
}

// readRobots reads a robots.txt, if there is one to read.
func readRobots(name string) (*evidence.Robots, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	robots, err := evidence.ParseRobots(string(text))
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	return robots, nil
}

// evidenceRules are the thresholds: those of the configuration, else those by default.
func evidenceRules(said *policy.Evidence) *evidence.Rules {
	rules := evidence.DefaultRules
	take(&rules.Assets, said.Assets)
	take(&rules.Referers, said.Referers)
	take(&rules.Rhythm, said.Rhythm)
	take(&rules.Haste, said.Haste)
	take(&rules.Errors, said.Errors)
	take(&rules.Sample, said.Sample)
	take(&rules.Hours, said.Hours)
	take(&rules.Agents, said.Agents)
	return &rules
}

// take replaces a threshold by one that was stated.
func take[T any](threshold *T, stated *T) {
	if stated != nil {
		*threshold = *stated
	}
}
