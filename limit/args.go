package limit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Args reads a Spec's options for a constructor. The constructor asks for each option that it knows, with the value
// that stands for a missing one, and then for Err, which has the first thing that was wrong: a value of the wrong
// kind, or an option that was not asked for.
//
//	args := spec.Args()
//	burst := args.Int("burst", spec.Count)
//	drip := args.Duration("drip", 0)
//	if err := args.Err(); err != nil { … }
type Args struct {
	spec  Spec
	rest  map[string]string // the options not yet asked for; those without a value have ""
	known []string          // the options asked for, as help shows them: "burst=N"
	names []string          // the same, names only
	err   error
}

// Args begins to read the options of s.
func (s Spec) Args() *Args {
	a := &Args{spec: s, rest: map[string]string{}}
	if s.Options == "" {
		return a
	}
	for option := range strings.SplitSeq(s.Options, ",") {
		name, value, _ := strings.Cut(option, "=")
		a.rest[name] = value
	}
	return a
}

// Int is the whole number, at least 0, that the option name has, or missing.
func (a *Args) Int(name string, missing int64) int64 {
	value, ok := a.take(name, "=N")
	if !ok {
		return missing
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		a.fail("the option %s wants a whole number, such as %s=10, not %q", name, name, value)
		return missing
	}
	return int64(n)
}

// Duration is the length of time, longer than 0, that the option name has, or missing.
func (a *Args) Duration(name string, missing Time) Time {
	value, ok := a.take(name, "=PERIOD")
	if !ok {
		return missing
	}
	p, err := ParsePeriod(value)
	if err != nil || !isDigit(value[0]) {
		a.fail("the option %s wants a length of time, such as %s=30s, not %q", name, name, value)
		return missing
	}
	return p
}

// Choice is the word that the option name has, which must be one of choices, or missing.
func (a *Args) Choice(name, missing string, choices ...string) string {
	value, ok := a.take(name, "="+strings.Join(choices, "|"))
	switch {
	case !ok:
		return missing
	case slices.Contains(choices, value):
		return value
	}
	a.fail("the option %s wants %s, not %q", name, strings.Join(choices, " or "), value)
	return missing
}

// Flag reports whether the option name is there; it has no value.
func (a *Args) Flag(name string) bool {
	value, ok := a.take(name, "")
	if value != "" {
		a.fail("the option %s takes no value, not %q", name, value)
	}
	return ok
}

// FlagOrInt reports whether the option name is there, which may stand alone or have a whole number. Alone it has bare.
func (a *Args) FlagOrInt(name string, bare int64) (n int64, ok bool) {
	value, ok := a.take(name, "[=N]")
	if value == "" {
		return bare, ok
	}
	parsed, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		a.fail("the option %s stands alone or wants a whole number, such as %s=10, not %q", name, name, value)
		return bare, ok
	}
	return int64(parsed), ok
}

// Err is the first thing that was wrong, or nil. An option that was not asked for until now is unknown.
func (a *Args) Err() error {
	if a.err != nil || len(a.rest) == 0 {
		return a.err
	}
	for option := range strings.SplitSeq(a.spec.Options, ",") {
		if name := optionName(option); !slices.Contains(a.names, name) {
			a.fail("%s", unknownOption(a.spec.Algorithm, name, a.names, a.known))
		}
	}
	return a.err
}

// take hands out an option and strikes it off. shape is what follows its name in help: "=N".
func (a *Args) take(name, shape string) (value string, ok bool) {
	a.names = append(a.names, name)
	a.known = append(a.known, name+shape)
	value, ok = a.rest[name]
	delete(a.rest, name)
	return value, ok
}

func (a *Args) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("limit %q: "+format, append([]any{a.spec.String()}, args...)...)
	}
}

// Common are the options that go with every algorithm, as help shows them. Package policy takes them off before a
// constructor sees them.
const Common = "cooldown=PERIOD[/extend], clock=PERIOD, replicas=N[/hash|turn|connection], cache=PERIOD, drift=PERIOD, " +
	"store=down:open|down:closed|down:fixed"

// CommonNames returns the names of these options.
func CommonNames() (names []string) {
	for option := range strings.SplitSeq(Common, ", ") {
		names = append(names, optionName(option))
	}
	return names
}

func unknownOption(algorithm, name string, names, known []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "unknown option %q", name)
	b.WriteString(Hint(name, append(slices.Clone(names), CommonNames()...)))
	if len(known) == 0 {
		fmt.Fprintf(&b, "; %s takes no options but %s", algorithm, Common)
	} else {
		fmt.Fprintf(&b, "; %s takes %s, and %s", algorithm, strings.Join(known, ", "), Common)
	}
	return b.String()
}
