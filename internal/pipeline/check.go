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

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/textfile"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/report/format"
)

// CheckConfig writes what a configuration means, for people or as JSON; its error says everything that is wrong with it.
// Of standard input it checks what comes from in, of "" the file in the working directory. fits says what is wrong with
// defaults.
func CheckConfig(in io.Reader, w io.Writer, output, name string, fits func([]policy.Default) error) error {
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
		if text, err = textfile.ReadFrom(in, 0, mostConfig); err == nil {
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
	if output == "json" {
		return format.WriteJSON(w, format.CheckConfigSchema, meaningOf(name, &config))
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

// describeConfig returns what a configuration says, for people.
func describeConfig(c *policy.Config) string {
	var b strings.Builder
	line := func(indent int, layout string, args ...any) {
		fmt.Fprintf(&b, "%*s%s\n", 2*indent, "", escape.Visible(fmt.Sprintf(layout, args...)))
	}
	for _, d := range c.Defaults {
		line(1, "default %s: %s", d.Name, cmp.Or(strings.Join(d.Values, ", "), "none"))
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
	if c.NginxPaths {
		line(1, "paths: as nginx decodes, merges and resolves them")
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

// actionNames are the names of the rules, each once.
func actionNames(c *policy.Config) []string {
	names := []string{}
	for _, a := range c.Actions {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// A Meaning is what a configuration says, for programs.
type Meaning struct {
	File     string         `json:"file"`
	Defaults []DefaultMeant `json:"defaults"`
	Actions  []string       `json:"actions"` // names
	Exempt   TierMeant      `json:"exempt"`
	Tiers    []TierMeant    `json:"tiers"`
	Paths    string         `json:"paths"`    // whose paths policies see: "nginx", or "" for those of the log
	Policies []PolicyMeant  `json:"policies"` // one for each count of a range
	Evidence string         `json:"evidence"` // in words; "": nothing
}

// DefaultMeant is the default of a flag.
type DefaultMeant struct {
	Default string   `json:"default"`
	Values  []string `json:"values"`
}

// TierMeant counts the entries of a tier.
type TierMeant struct {
	Tier      string `json:"tier"`      // its name
	Addresses int    `json:"addresses"` // and networks
	Users     int    `json:"users"`
	Values    int    `json:"values"` // of the field
	Field     string `json:"field"`
}

// PolicyMeant is a policy.
type PolicyMeant struct {
	Policy  string   `json:"policy"`
	Combine string   `json:"combine"`
	Limits  []string `json:"limits"` // each in words
}

func meaningOf(name string, c *policy.Config) *Meaning {
	tier := func(t *request.Tier) TierMeant {
		return TierMeant{t.Name, len(t.Networks), len(t.Users), len(t.Values), t.Field}
	}
	m := &Meaning{
		File: name, Defaults: []DefaultMeant{}, Actions: actionNames(c), Exempt: tier(&c.Exempt), Tiers: []TierMeant{},
		Policies: []PolicyMeant{}, Evidence: c.Evidence.String(),
	}
	if c.NginxPaths {
		m.Paths = "nginx"
	}
	for _, d := range c.Defaults {
		m.Defaults = append(m.Defaults, DefaultMeant{d.Name, append([]string{}, d.Values...)})
	}
	for i := range c.Tiers {
		m.Tiers = append(m.Tiers, tier(&c.Tiers[i]))
	}
	for _, set := range c.Policies {
		for _, p := range set.Policies {
			limits := mapped.Of(p.Parts, policy.Part.String)
			m.Policies = append(m.Policies, PolicyMeant{p.Name, p.Combine.String(), limits})
		}
	}
	return m
}

// policiesShown are the policies of one entry that are written down.
const policiesShown = 10

// membersText says how many entries a tier has, of which kind.
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
