package limit

import "strings"

// Spec and List are values for command-line flags (pflag.Value), one limit and many.

// Set reads the limit from text.
func (s *Spec) Set(text string) error {
	spec, err := Parse(text)
	if err == nil {
		*s = spec
	}
	return err
}

// Type is what help calls the value.
func (s *Spec) Type() string { return "limit" }

// A List is what a repeatable flag collects: each text adds one limit, or several if its count is a list or a range.
type List []Spec

// Set adds the limits in text.
func (l *List) Set(text string) error {
	specs, err := ParseAll(text)
	*l = append(*l, specs...)
	return err
}

// String is the canonical texts, split by blanks.
func (l *List) String() string {
	texts := make([]string, len(*l))
	for i, s := range *l {
		texts[i] = s.String()
	}
	return strings.Join(texts, " ")
}

// Type is what help calls the value.
func (l *List) Type() string { return "limit" }
