// Package pipeline takes in a question about logs, as the fields that flags set, and wires what answers it: files,
// parsing, evidence, limits, the database. Out come reports on a Caller's writers, and an error. Commands name the
// flags, parse them, and refuse those that contradict each other.
package pipeline

import (
	"cmp"
	"errors"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/textfile"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/who"
)

// A Source is what commands that read logs have in common: how lines become requests, and what judges who sent them.
type Source struct {
	Reading
	Evidence
	ConfigFile string   // "": DefaultConfig, if it is there
	NoConfig   bool     // with ConfigFile "": none is read
	LimitsFrom []string // configurations of servers, whose limits take the place of its policies
	LimitsFlag string   // the flag that names them; "": limits-from
	Asked      string   // the action that a flag names; "": none does

	config   *configText // nil until it is read
	imported []string    // what is noted of LimitsFrom
	lost     int         // on how many places it is judged in another way
	limits   []neutral.Policy
	logged   []string // the formats that LimitsFrom names for logs
}

// A Pipeline is what a Source means.
type Pipeline struct {
	Config   policy.Config
	Policies []policy.Policy
	Read     ingest.Options
	Rules    *evidence.Rules // of what browsers do
}

// Build looks up all that is named. choose makes the policies for which logs are read; how they are read depends on
// them.
func (s *Source) Build(now time.Time, choose func(*policy.Config) ([]policy.Policy, error)) (p *Pipeline, err error) {
	p = new(Pipeline)
	if p.Config, err = s.loadConfig(); err == nil {
		err = s.withLimits(&p.Config)
	}
	if err != nil {
		return nil, err
	}
	if p.Policies, err = choose(&p.Config); err != nil {
		return nil, err
	}
	if p.Read, err = s.options(&p.Config, p.Policies, now); err != nil {
		return nil, err
	}
	p.Read.Format.Hints = s.logged
	p.Read.Actions.Ask(s.Asked)
	p.Read.ClueFinder, p.Rules, err = s.Evidence.choose(&p.Config)
	return p, err
}

// What lies in the working directory unless flags say otherwise. The configuration need not be there.
const (
	DefaultConfig = "shadow.yaml"
	DefaultDB     = "shadow.db"
)

// knownProblems makes what is wrong with a configuration an error of how the command was called.
func knownProblems(name string, err error) error {
	var problems policy.Problems
	switch {
	case err == nil:
		return nil
	case errors.As(err, &problems) && len(problems) > 1:
		return Usage("%s has more than one problem:\n%w", name, err)
	}
	return Usage("%w", err)
}

// newScopes are the scopes that policies use, nil when they use none. owners may be nil. extra is what the client rule asks of the parser;
// with what tiers and scopes ask besides it comes back. A scope that is not used states no condition, so it costs nothing.
func newScopes(c *policy.Config, policies []policy.Policy, extra []string, owners *network.Database) (*match.Scopes, []string, error) {
	scopes, any := make([]request.Conditions, len(c.Scopes)), false
	tiered := c.Exempt.Len() > 0 // whether it matters which tier a client is in
	for _, p := range policies {
		for _, part := range p.Parts {
			for _, s := range part.Scopes() {
				if s > 0 {
					scopes[s-1], any = c.Scopes[s-1], true
					tiered = tiered || c.Scopes[s-1].ByTier()
				}
			}
		}
	}
	if !any {
		return nil, extra, nil
	}
	var tiers *match.Tiers
	if tiered {
		all := append([]request.Tier{c.Exempt}, c.Tiers...) // being exempt goes before all
		all[0].Exempt = true
		var err error
		if tiers, err = match.NewTiers(all, extra); err != nil {
			return nil, nil, err
		}
		extra = tiers.Extra()
	}
	compiled, err := match.NewScopes(scopes, tiers, extra, owners)
	if err != nil {
		return nil, nil, err
	}
	return compiled, compiled.Extra(), nil
}

// Evidence says what shows who clients are.
type Evidence struct {
	Wanted bool   // whether people read it
	Beacon string // a path that only real browsers load
	Robots string // the file of the site's robots.txt
}

// choose makes what clues requests and what judges them. Flags go before the configuration, and who states what shows
// who clients are wants to read it.
func (f *Evidence) choose(c *policy.Config) (*evidence.ClueFinder, *evidence.Rules, error) {
	f.Wanted = f.Wanted || f.Beacon != "" || f.Robots != ""
	said := &c.Evidence
	rules := evidence.ClueRules{
		Beacon: cmp.Or(f.Beacon, said.Path), Background: said.Background, Hosts: said.Hosts,
		Purposes: true, Identities: who.Names(),
	}
	if name := cmp.Or(f.Robots, said.Robots); name != "" {
		text, err := textfile.Read(name, textfile.Most)
		if err != nil {
			return nil, nil, Usage("%w", err)
		}
		if rules.Robots, err = evidence.ParseRobots(string(text)); err != nil {
			return nil, nil, Usage("%s: %w", name, err)
		}
	}
	finder, err := evidence.NewClueFinder(rules)
	if err != nil {
		return nil, nil, Usage("evidence: %w", err)
	}
	return finder, evidenceRules(said), nil
}

// evidenceRules are the thresholds: those of the configuration, else those by default.
func evidenceRules(said *policy.Evidence) *evidence.Rules {
	rules := evidence.DefaultRules
	for key, threshold := range map[string]*int64{
		"assets": &rules.Assets, "rhythm": &rules.Rhythm, "haste": &rules.Haste, "errors": &rules.Errors,
		"sample": &rules.Sample, "hours": &rules.Hours, "agents": &rules.Agents,
	} {
		if stated := said.Numbers[key]; stated != nil {
			*threshold = stated[0]
		}
	}
	copy(rules.Referers[:], said.Numbers["referers"])
	return &rules
}
