package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"shadow/escape"
	"shadow/policy"
	"shadow/request"
	"shadow/traffic/intern"
	"shadow/traffic/match"
)

func newCheckConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "check-config [FILE]",
		Short: "Say what a configuration means, or everything that is wrong with it",
		Long: `Check-config reads a configuration, shadow.yaml unless another file is named, and says in short what it
means: its actions, its tiers with their sizes, its policies with their limits. If anything is wrong with
it, it says what, and where, and ends with exit code 2. - reads standard input.`,
		Example: `  shadow check-config
  shadow check-config /etc/shadow/limits.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("want one file, not %d\nSee `%s --help`.", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkConfig(cmd.InOrStdin(), cmd.OutOrStdout(), args)
		},
	}
}

func checkConfig(in io.Reader, w io.Writer, args []string) error {
	name := defaultConfig
	if len(args) == 1 {
		name = args[0]
	} else if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return usage("there is no %s here: name the file", name)
	}
	var config policy.Config
	var err error
	if name == standardInput {
		name, config, err = pipedConfig(in)
	} else {
		config, err = loadConfig(name)
	}
	if err == nil {
		err = compiles(&config)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escape.Visible(name)+"\n"+describeConfig(&config))
	return err
}

// compiles reports whether those that read requests can do as the configuration says, all of it at once.
func compiles(c *policy.Config) error {
	if _, err := match.NewActions(c.Actions, intern.NewDict()); err != nil {
		return usage("%w", err)
	}
	if _, _, err := (&evidenceFlags{wanted: true}).choose(c); err != nil {
		return err
	}
	policies, err := c.Pick(nil)
	if err == nil {
		_, _, err = newScopes(c, policies, nil)
	}
	if err != nil {
		return usage("%w", err)
	}
	return nil
}

// describeConfig is what a configuration says, for people.
func describeConfig(c *policy.Config) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, "%*s%s\n", 2*indent, "", escape.Visible(fmt.Sprintf(format, args...)))
	}
	if names := actionNames(c); len(names) > 0 {
		line(1, "actions: %s", strings.Join(names, ", "))
	}
	if c.Exempt.Len() > 0 {
		line(1, "exempt: %s", membersText(&c.Exempt))
	}
	for i := range c.Tiers {
		line(1, "tier %s: %s", c.Tiers[i].Name, membersText(&c.Tiers[i]))
	}
	for _, set := range c.Policies {
		if len(set.Policies) > 1 {
			line(1, "policy %s: %d policies, one for each count", set.Name, len(set.Policies))
		}
		for _, p := range set.Policies[:min(len(set.Policies), policiesShown)] {
			line(1, "policy %s%s", p.Name, combineNote(p))
			for i := range p.Parts {
				line(2, "%s", p.Parts[i].String())
			}
		}
		if more := len(set.Policies) - policiesShown; more > 0 {
			line(1, "and %d more", more)
		}
	}
	if text := c.Evidence.String(); text != "" {
		line(1, "evidence: %s", text)
	}
	if b.Len() == 0 {
		line(1, "says nothing")
	}
	return b.String()
}

// combineNote says how the limits of a policy combine, unless as most do.
func combineNote(p policy.Policy) string {
	if p.Combine == policy.Together {
		return ""
	}
	return ": " + p.Combine.Means()
}

// policiesShown are the policies of one entry that are written down.
const policiesShown = 10

// actionNames are the names of the rules, each once.
func actionNames(c *policy.Config) (names []string) {
	seen := map[string]bool{}
	for _, a := range c.Actions {
		if !seen[a.Name] {
			seen[a.Name] = true
			names = append(names, a.Name)
		}
	}
	return names
}

// membersText is how many entries a tier has, of which kind.
func membersText(t *request.Tier) string {
	var texts []string
	for _, kind := range []struct {
		n        int
		one, few string
	}{
		{len(t.Networks), "address or network", "addresses and networks"},
		{len(t.Users), "user", "users"},
		{len(t.Values), "value of " + t.Field, "values of " + t.Field},
	} {
		switch kind.n {
		case 0:
		case 1:
			texts = append(texts, "1 "+kind.one)
		default:
			texts = append(texts, fmt.Sprintf("%d %s", kind.n, kind.few))
		}
	}
	return strings.Join(texts, ", ")
}
