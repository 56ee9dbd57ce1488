package limit

// Spec is a value for command-line flags (pflag.Value).

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
