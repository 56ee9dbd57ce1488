package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/policy"
	"shadow/request"
	"shadow/traffic/ingest"
)

// policyFlags say what to judge by: limits on the command line, policies of the configuration, or both.
type policyFlags struct {
	limits []string
	by     string
	picked []string
}

func (f *policyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.limits, "limit", "l", nil, "a `limit` to judge by, a list or range of them, or several joined by +, with each: or in-turn: in front (repeatable)")
	flags.StringVar(&f.by, "by", "client", "what --limit counts by (`key`): "+keyTexts())
	flags.StringArrayVar(&f.picked, "policy", nil, "judge by this policy of the configuration (`name`, repeatable), or by none (default all)")
	needs(cmd, []string{"limit", "sweep"}, "by")
	completeWords(cmd, "by", request.Keys()...)
}

// choose makes the policies: those of --limit first, then those of the configuration.
func (f *policyFlags) choose(config *policy.Config) ([]policy.Policy, error) {
	key, err := request.ParseKey(f.by)
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

// blame names the policies of the configuration that count by what no log tells. Judged all the same they would count
// everybody as one; left out, a run that is kept would lack them. So which of the others to judge by is to be said.
func blame(err error, policies []policy.Policy) error {
	var untold *ingest.Untold
	if !errors.As(err, &untold) {
		return err
	}
	var names []string
	place := ""
	for _, p := range policies {
		if p.Place == "" || !slices.ContainsFunc(p.Keys(), untoldKey(untold.What)) {
			continue
		}
		if names = append(names, p.Name); place == "" {
			place = p.Place
		}
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%s: policies that count by %s (%s) cannot be judged; --policy picks others: %w",
		place, strings.TrimPrefix(untold.What, "the "), strings.Join(names, ", "), err)
}

// untoldKey tells of a key whether it needs what is not told.
func untoldKey(what string) func(request.Key) bool {
	return func(k request.Key) bool {
		return what == ingest.TheHost && k == request.ByHost || what == ingest.TheUser && k.ByUsers() ||
			what == ingest.ThePath && k.ByPaths()
	}
}

// keyTexts are what limits can count by, for --help.
func keyTexts() string {
	return "client, client+agent, client/24, client/64 or user, each with +action or without; client+path, action, host or site"
}
