package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"shadow/escape"
	"shadow/policy"
	"shadow/request"
	"shadow/traffic/intern"
	"shadow/traffic/match"
)

// CheckConfig writes what a configuration means; its error says everything that is wrong with it. Of standard input it
// checks what comes from in, of "" the file in the working directory. fits says what is wrong with defaults.
func CheckConfig(in io.Reader, w io.Writer, name string, fits func([]policy.Default) error) error {
	if name == "" {
		name = DefaultConfig
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return Usage("there is no %s here: name the file", name)
		}
	}
	var config policy.Config
	var err error
	if name == standardInput { // files that it names lie in the working directory
		name = onceName(name)
		var text []byte
		if text, err = io.ReadAll(in); err == nil {
			config, err = policy.ParseConfig(name, text)
		}
		err = knownProblems(name, err)
	} else {
		config, err = (&Source{ConfigFile: name}).loadConfig()
	}
	if err == nil {
		err = cmp.Or(compiles(&config), fits(config.Defaults))
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
		return Usage("%w", err)
	}
	if _, _, err := (&Evidence{Wanted: true}).choose(c); err != nil {
		return err
	}
	policies, err := c.Pick(nil)
	if err == nil {
		_, _, err = newScopes(c, policies, nil, nil)
	}
	if err != nil {
		return Usage("%w", err)
	}
	return nil
}

// describeConfig is what a configuration says, for people.
func describeConfig(c *policy.Config) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, "%*s%s\n", 2*indent, "", escape.Visible(fmt.Sprintf(format, args...)))
	}
	for _, d := range c.Defaults {
		line(1, "default %s: %s", d.Name, cmp.Or(strings.Join(d.Values, ", "), "none"))
	}
	var names []string // of the rules, each once
	for _, a := range c.Actions {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	if len(names) > 0 {
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
			combined := ""
			if p.Combine != policy.Together {
				combined = ": " + p.Combine.Means()
			}
			line(1, "policy %s%s", p.Name, combined)
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

// policiesShown are the policies of one entry that are written down.
const policiesShown = 10

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
