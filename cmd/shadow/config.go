package main

import (
	"errors"
	"io/fs"
	"os"

	"shadow/policy"
	"shadow/traffic"
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
	return policy.LoadConfig(name)
}

// actionRules carries the rules over to where requests are read, which does not know of policies.
func actionRules(c policy.Config) []traffic.Rule {
	rules := make([]traffic.Rule, len(c.Actions))
	for i, a := range c.Actions {
		rules[i] = traffic.Rule{Name: a.Name, Methods: a.Methods, Prefix: a.Prefix, Glob: a.Glob, Regexp: a.Regexp}
	}
	return rules
}
