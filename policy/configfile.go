package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// The shape of the configuration file. Entries keep the token where they stand, so that what is wrong with them can be
// said with its place.

type configFile struct {
	Actions []actionEntry `yaml:"actions"`
}

type actionEntry struct {
	at     *token.Token
	fields struct {
		Name   scalar  `yaml:"name"`
		Method scalars `yaml:"method"`
		Prefix scalar  `yaml:"prefix"`
		Glob   scalar  `yaml:"glob"`
		Regexp scalar  `yaml:"regexp"`
	}
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (a *actionEntry) UnmarshalYAML(node ast.Node) error {
	a.at = node.GetToken()
	return yaml.NodeToValue(node, &a.fields, yaml.Strict())
}

// rule checks the entry.
func (a *actionEntry) rule() (ActionRule, error) {
	f := &a.fields
	r := ActionRule{Name: f.Name.text, Prefix: f.Prefix.text, Glob: f.Glob.text, Regexp: f.Regexp.text}
	if r.Name == "" {
		return r, fault(a.at, "an action needs a name")
	}
	patterns := 0
	for _, s := range []scalar{f.Prefix, f.Glob, f.Regexp} {
		if s.text != "" {
			patterns++
		}
	}
	if patterns != 1 {
		return r, fault(a.at, "action %q has %d of prefix, glob and regexp; want exactly one", r.Name, patterns)
	}
	for _, s := range []scalar{f.Prefix, f.Glob} {
		if s.text != "" && s.text[0] != '/' && !strings.HasPrefix(s.text, "**") {
			return r, fault(s.at, "action %q: %q fits no path; want a slash at its beginning", r.Name, s.text)
		}
	}
	for _, m := range f.Method {
		if !isMethod(m.text) {
			return r, fault(m.at, "action %q: %q is no method; want one such as POST", r.Name, m.text)
		}
		r.Methods = append(r.Methods, strings.ToUpper(m.text))
	}
	if _, err := regexp.Compile(r.Regexp); err != nil {
		return r, fault(f.Regexp.at, "action %q: %v", r.Name, err)
	}
	return r, nil
}

func isMethod(text string) bool {
	return text != "" && strings.Trim(strings.ToUpper(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// A scalar is a text and where it stands.
type scalar struct {
	text string
	at   *token.Token
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *scalar) UnmarshalYAML(node ast.Node) error {
	s.at = node.GetToken()
	if err := yaml.NodeToValue(node, &s.text); err != nil {
		return fault(s.at, "want a text here")
	}
	return nil
}

// scalars are one text or a list of them.
type scalars []scalar

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *scalars) UnmarshalYAML(node ast.Node) error {
	if list, ok := node.(*ast.SequenceNode); ok {
		*s = make(scalars, len(list.Values))
		for i, value := range list.Values {
			if err := (*s)[i].UnmarshalYAML(value); err != nil {
				return err
			}
		}
		return nil
	}
	*s = make(scalars, 1)
	return (*s)[0].UnmarshalYAML(node)
}

// fault is an error at a token.
func fault(at *token.Token, format string, args ...any) error {
	return &yaml.SyntaxError{Message: fmt.Sprintf(format, args...), Token: at}
}

// placed is err with the name of the file, the line and the column in front, if it knows them.
func placed(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p := at.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, at.GetMessage())
}
