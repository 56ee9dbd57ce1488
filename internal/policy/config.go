package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"

	"shadow/internal/request"
	"shadow/limit"
)

// A configuration is YAML, read strictly: what it says and we do not know is an error, with its place. docs/policies.md
// explains every key.
//
//	actions:
//	  - {name: login, method: POST, prefix: /account/login}
//	tiers:
//	  pro: {addresses: 192.0.2.0/24, file: pro.txt}
//	exempt: {addresses: 10.0.0.0/8}
//	policies:
//	  - name: login and site
//	    limits:
//	      - {limit: token:5/15m, match: {action: login}, count: {status: 401}}
//	      - {limit: token:1000/s, by: site}

// A Config is what shadow.yaml says.
type Config struct {
	Defaults []Default      // in the order of the file
	Actions  []request.Rule // in the order of the file: the first that matches wins
	Tiers    []request.Tier // in the order of the file: the first that holds a client wins
	Exempt   request.Tier   // the clients that no policy judges
	Policies []Set          // in the order of the file
	Evidence Evidence
	Scopes   []request.Conditions // what the scopes of policies mean: Scope s is Scopes[s-1]

	NginxPaths bool // whether policies see paths as nginx does, see match.NginxURI

	everyone Scope // all clients but those that are exempt
}

// A Set is the policies of one entry of the file: one, or if counts of its limits are lists or ranges one for each.
type Set struct {
	Name     string
	Policies []Policy
}

// NoPolicy is the name that picks none.
const NoPolicy = "none"

// ParseConfig reads a configuration; name is what problems call it, and files that it names lie beside that. An empty
// text is a Config that says nothing. The error is of type Problems.
func ParseConfig(name string, text []byte) (Config, error) {
	whole := string(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	short, bulk := cutBulk(whole)
	c, err := parseConfig(name, short, bulk)
	if err == nil && len(bulk) > 0 { // these were no addresses of a tier
		return parseConfig(name, whole, nil)
	}
	return c, err
}

// parseConfig takes from bulk what it has read.
func parseConfig(name, text string, bulk map[int][]string) (Config, error) {
	r := newReader(name, bulk)
	r.readTree(r.parse([]byte(text)))
	if err := r.err(); err != nil {
		return Config{}, err
	}
	return r.config, nil
}

func newReader(name string, bulk map[int][]string) *configReader {
	r := &configReader{
		document: document{name: name, cut: map[int]int{}, damaged: map[node]*token.Position{}}, bulk: bulk,
		owners: map[member]string{}, sets: map[string]bool{}, policies: map[string]bool{},
	}
	for line, texts := range bulk {
		r.cut[line] = len(texts)
	}
	return r
}

// Pick returns the policies with these names, or all if there are no names. The name of an entry that makes several
// means them all; the name that reports call one of them means that one.
func (c *Config) Pick(names []string) ([]Policy, error) {
	if slices.Contains(names, NoPolicy) {
		if len(names) > 1 {
			return nil, fmt.Errorf("policy %s stands alone", NoPolicy)
		}
		return nil, nil
	}
	var chosen []Policy
	var entries, all []string
	for _, set := range c.Policies {
		entries, all = append(entries, set.Name), append(all, set.Name)
		for _, p := range set.Policies {
			all = append(all, p.Name)
			if len(names) == 0 || slices.Contains(names, set.Name) || slices.Contains(names, p.Name) {
				chosen = append(chosen, p)
			}
		}
	}
	for _, name := range names {
		switch {
		case len(all) == 0:
			return nil, errors.New("the configuration has no policies")
		case !slices.Contains(all, name):
			return nil, fmt.Errorf("the configuration has none of that name%s; there are %s",
				limit.Hint(name, all), strings.Join(entries, ", "))
		}
	}
	return chosen, nil
}

// ErrConditions says that a run cannot tell all conditions of limits apart.
var ErrConditions = fmt.Errorf("there are more than %d different conditions of limits", request.MaxScopes)

// Replace takes the policies of another configuration, which has nothing else, in place of its own.
func (c *Config) Replace(other Config) error {
	c.Policies, c.Scopes, c.NginxPaths = other.Policies, other.Scopes, other.NginxPaths
	if c.Exempt.Name == "" {
		return nil
	}
	c.Scopes = append(slices.Clip(c.Scopes), request.Conditions{})
	c.everyone = Scope(len(c.Scopes))
	if flat, _ := request.Flatten(c.Scopes); len(flat) > request.MaxScopes {
		return ErrConditions
	}
	for _, set := range c.Policies {
		for _, p := range set.Policies {
			for i := range p.Parts {
				part := &p.Parts[i]
				part.within(cmp.Or(part.Match, c.everyone), cmp.Or(part.Count, c.everyone), c)
			}
		}
	}
	return nil
}

// Spare makes policies that are not of the configuration pass over the clients that it exempts.
func (c *Config) Spare(policies []Policy) {
	for _, p := range policies {
		for i := range p.Parts {
			p.Parts[i].within(c.everyone, c.everyone, c)
		}
	}
}

// within gives a part its scopes.
func (p *Part) within(match, count Scope, c *Config) {
	p.Match, p.Count = match, count
	p.MatchText, p.CountText = c.scopeText(match), c.scopeText(count)
}

// scopeText is a scope in words, "" for all requests.
func (c *Config) scopeText(s Scope) string {
	if s == 0 {
		return ""
	}
	text := c.Scopes[s-1].String()
	if c.everyone == 0 || len(c.Scopes[s-1].Tiers) > 0 {
		return text
	}
	return strings.TrimPrefix(text+", tier not exempt", ", ")
}
