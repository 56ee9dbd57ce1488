package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"shadow/policy"
	"shadow/request"
	"shadow/traffic/match"
)

// What lies in the working directory unless flags say otherwise. The configuration need not be there.
const (
	defaultConfig = "shadow.yaml"
	defaultDB     = "shadow.duckdb"
)

// loadConfig reads the file that was named, or the one in the working directory, or none.
func loadConfig(name string) (policy.Config, error) {
	if name == "" {
		if _, err := os.Stat(defaultConfig); errors.Is(err, fs.ErrNotExist) {
			return policy.Config{}, nil
		}
		name = defaultConfig
	}
	if name == standardInput {
		return policy.Config{}, usage("a configuration is read from a file; `shadow check-config -` checks one from standard input")
	}
	config, err := policy.LoadConfig(name)
	return knownProblems(name, config, err)
}

// standardInput is what stands for it on the command line.
const standardInput = "-"

// pipedConfig reads a configuration that comes from standard input. Files that it names lie in the working directory.
func pipedConfig(in io.Reader) (name string, config policy.Config, err error) {
	name = onceName(standardInput)
	text, err := io.ReadAll(in)
	if err == nil {
		config, err = policy.ParseConfig(name, text)
	}
	config, err = knownProblems(name, config, err)
	return name, config, err
}

// knownProblems makes what is wrong with a configuration an error of how the command was called.
func knownProblems(name string, config policy.Config, err error) (policy.Config, error) {
	var problems policy.Problems
	switch {
	case err == nil:
		return config, nil
	case errors.As(err, &problems) && len(problems) > 1:
		return config, usage("%s has more than one problem:\n%w", name, err)
	}
	return config, usage("%w", err)
}

// newScopes are the scopes that policies use, nil when they use none. extra is what the client rule asks of the parser;
// with what tiers ask besides it comes back. A scope that is not used states no condition, so it costs nothing.
func newScopes(c *policy.Config, policies []policy.Policy, extra []string) (*match.Scopes, []string, error) {
	scopes, any := usedScopes(c, policies)
	if !any {
		return nil, extra, nil
	}
	var tiers *match.Tiers
	if needsTiers(c, scopes) {
		var err error
		if tiers, err = match.NewTiers(tiersOf(c), extra); err != nil {
			return nil, nil, err
		}
		extra = tiers.Extra()
	}
	compiled, err := match.NewScopes(scopes, tiers)
	return compiled, extra, err
}

func usedScopes(c *policy.Config, policies []policy.Policy) (scopes []request.Conditions, any bool) {
	scopes = make([]request.Conditions, len(c.Scopes))
	for _, p := range policies {
		for _, part := range p.Parts {
			for _, s := range []policy.Scope{part.Match, part.Count} {
				if s > 0 {
					scopes[s-1], any = c.Scopes[s-1], true
				}
			}
		}
	}
	return scopes, any
}

// needsTiers reports whether it matters which tier a client is in.
func needsTiers(c *policy.Config, scopes []request.Conditions) bool {
	for _, s := range scopes {
		if len(s.Tiers) > 0 {
			return true
		}
	}
	return c.Exempt.Len() > 0
}

// tiersOf are the tiers with the exempt clients first, since being exempt goes before all.
func tiersOf(c *policy.Config) []request.Tier {
	tiers := append([]request.Tier{c.Exempt}, c.Tiers...)
	tiers[0].Exempt = true
	return tiers
}
