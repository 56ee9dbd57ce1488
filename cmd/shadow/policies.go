package main

import (
	"github.com/spf13/cobra"

	"shadow/policy"
)

// policyFlags say what to judge by: limits on the command line, policies of the configuration, or both.
type policyFlags struct {
	limits []string
	by     string
	picked []string
}

func (f *policyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.limits, "limit", "l", nil, "a `limit` to judge by, a list or range of them, or several joined by + (repeatable)")
	flags.StringVar(&f.by, "by", "client", "what --limit counts by (`key`): "+keyTexts())
	flags.StringArrayVar(&f.picked, "policy", nil, "judge by this policy of the configuration (`name`, repeatable), or by none (default all)")
	completeWords(cmd, "by", policy.Keys()...)
}

// choose makes the policies: those of --limit first, then those of the configuration.
func (f *policyFlags) choose(config *policy.Config) ([]policy.Policy, error) {
	key, err := policy.ParseKey(f.by)
	if err != nil {
		return nil, badFlag("by", f.by, err)
	}
	policies, err := policy.ParseLimits(f.limits, key)
	if err != nil {
		return nil, badFlag("limit", "", err)
	}
	config.Spare(policies)
	picked, err := config.Pick(f.picked)
	if err != nil {
		return nil, usage("--policy: %w", err)
	}
	policies = append(policies, picked...)
	if len(policies) == 0 {
		return nil, usage("which limit? Say, for instance, --limit 6/30s (6 requests per 30 seconds), or write policies into " + defaultConfig)
	}
	return policies, twice(policies)
}

// twice is the error of two policies with one name, by which reports tell them apart.
func twice(policies []policy.Policy) error {
	seen := map[string]bool{}
	for _, p := range policies {
		if seen[p.Name] {
			return usage("two policies are called %q: give one in the configuration another name", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// keyTexts are what limits can count by, for --help.
func keyTexts() string {
	return "client, client+agent, client/24, client/64 or user, each with +action or without; action, host or site"
}
