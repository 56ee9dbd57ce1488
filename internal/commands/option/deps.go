package option

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/internal/pipeline"
	"shadow/internal/store/duck"
	"shadow/limit"
)

// A flag that is given is meant to do something. An empty value is mostly that of a variable that is not set, and a
// flag that says something about another one does nothing without it. Both are errors of usage, found here for all
// commands before they begin; where a flag is added, it is said what it needs.

// NeedsNote is the key of the note at a flag that says which others it is about.
const NeedsNote = "needs"

// Needs says of flags that they do nothing unless one of some others is in use. One of those may be a value that it
// must have, where it has all of them by default: "kind=token".
func Needs(cmd *cobra.Command, others []string, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, NeedsNote, others); err != nil {
			panic(err) // the flag does not exist: a mistake in this program
		}
	}
}

// clashNote is the key of the note at a flag that says with which others it makes no sense: texts, each after the flag.
const clashNote = "clash"

// Clash says what to complain about where a flag is in use and one of some others as well.
func Clash(cmd *cobra.Command, text, flag string, others ...string) {
	f := cmd.Flags().Lookup(flag)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	for _, other := range others {
		f.Annotations[clashNote] = append(f.Annotations[clashNote], other, text)
	}
}

// keeping are the flags that nothing comes of without a database.
var keeping = []string{"db", "events", "resume", "retain", "sweep"}

// Verify complains about flags that are given and can have no effect.
func Verify(cmd *cobra.Command, _ []string) (err error) {
	flags := cmd.Flags()
	flags.Visit(func(f *pflag.Flag) {
		others := f.Annotations[NeedsNote]
		serves := func(other string) bool { return inUse(flags, other) }
		dashes := oneDash(flags, f, ValuesOf(f)...)
		switch {
		case err != nil:
		case !duck.Built && slices.Contains(keeping, f.Name) && f.Annotations[DefaultNote] == nil:
			err = pipeline.Usage("--%s needs a database, and this shadow was built without one: take the full one", f.Name)
		case isEmpty(f):
			err = emptyFlag(f)
		case dashes != nil:
			err = dashes
		case len(others) > 0 && !slices.ContainsFunc(others, serves):
			err = pipeline.Usage("--%s does nothing without %s: state that as well, or leave it "+
				"out", f.Name, wantedOf(flags, others))
		}
		for note := f.Annotations[clashNote]; err == nil && len(note) > 0 && inUse(flags, f.Name); note = note[2:] {
			if inUse(flags, note[0]) {
				err = pipeline.Usage("%s", note[1])
			}
		}
	})
	return err
}

func emptyFlag(f *pflag.Flag) error {
	what, _ := pflag.UnquoteUsage(f)
	return pipeline.Usage("--%s is empty, perhaps by a variable that is not set: state its %s, or leave the flag out",
		f.Name, strings.ToUpper(what))
}

// oneDash returns an error where a value is the rest of the name of a flag: -limit is read as -l imit.
func oneDash(flags *pflag.FlagSet, f *pflag.Flag, values ...string) error {
	for _, value := range values {
		name, _, _ := strings.Cut(f.Shorthand+value, "=")
		if f.Shorthand != "" && flags.Lookup(name) != nil {
			return pipeline.Usage("-%s: the name of a flag has two dashes; did you mean --%s?", name, name)
		}
	}
	return nil
}

// isEmpty reports whether the value of a flag is a text without anything in it, or a list with such a one.
func isEmpty(f *pflag.Flag) bool {
	if _, list := f.Value.(pflag.SliceValue); list {
		return len(ValuesOf(f)) == 0 || slices.Contains(ValuesOf(f), "")
	}
	return f.Value.Type() == "string" && f.Value.String() == ""
}

// inUse reports whether a flag is given, or whether it may have a value that is wanted of it.
func inUse(flags *pflag.FlagSet, wanted string) bool {
	name, value, valued := strings.Cut(wanted, "=")
	f := flags.Lookup(name)
	switch {
	case f == nil:
		return false
	case valued:
		list, ok := f.Value.(pflag.SliceValue)
		return !f.Changed || ok && slices.Contains(list.GetSlice(), value)
	case f.Value.Type() == "bool":
		return f.Value.String() == "true"
	}
	return f.Changed
}

// wantedOf writes down the flags that this command has of some, any of which will do: "--limit LIMIT or --sweep".
func wantedOf(flags *pflag.FlagSet, others []string) string {
	var texts []string
	for _, other := range others {
		name, value, valued := strings.Cut(other, "=")
		f := flags.Lookup(name)
		if f == nil {
			continue
		}
		text := "--" + name
		if what, _ := pflag.UnquoteUsage(f); valued {
			text += " " + value
		} else if what != "" && f.NoOptDefVal == "" {
			text += " " + strings.ToUpper(what)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " or ")
}

// FlagError makes an error of usage of what pflag complains about.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 { // a misspelt command knows no flag
			if err := cmd.ValidateArgs(args); err != nil {
				return err
			}
		}
		return pipeline.Usage("%w%s\nSee `%s --help`.", err, nearestFlag(cmd, unknown), cmd.CommandPath())
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return pipeline.Usage("%w\nSee `%s --help`.", err, cmd.CommandPath())
	}
	if err := oneDash(cmd.Flags(), bad.GetFlag(), bad.GetValue()); err != nil {
		return err
	}
	value, cause := bad.GetValue(), bad.Unwrap()
	if item := new(badItem); errors.As(cause, &item) {
		value, cause = item.text, item.error
	}
	if value == "" {
		return emptyFlag(bad.GetFlag())
	}
	if number := new(strconv.NumError); errors.As(cause, &number) {
		cause = errors.New(wanted[bad.GetFlag().Value.Type()])
	}
	return pipeline.BadFlag(bad.GetFlag().Name, value, cause)
}

// gone says of flags of development versions why they are no more.
var gone = map[string]string{
	"cache": "reading a log again is fast enough", "claims": "identities say who the clients are",
	"sample": "a replay of all clients is fast enough", "sum": "logs too large for one machine are judged with Apache Beam",
}

// nearestFlag says which flag was likely meant, if any is near: also where it is written with one dash.
func nearestFlag(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	word, names := unknown.GetSpecifiedName(), []string{}
	if why := gone[word]; why != "" {
		return fmt.Sprintf(" (it is gone: %s)", why)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if group := unknown.GetSpecifiedShortnames(); group != "" {
		if word = group; !slices.Contains(names, word) {
			return ""
		}
	}
	if near := limit.Nearest(word, names); near != "" {
		return fmt.Sprintf(" (did you mean --%s?)", near)
	}
	return elsewhere(cmd, word)
}

// elsewhere names a command that has a flag which this one has not, replay rather than others.
func elsewhere(cmd *cobra.Command, word string) string {
	if f := cmd.Flags().Lookup("output"); f != nil && f.Value.(*Single[string]).Parse != nil {
		if _, err := f.Value.(*Single[string]).Parse(word); err == nil {
			return fmt.Sprintf(" (did you mean --output %s?)", word)
		}
	}
	with := ""
	for _, other := range cmd.Root().Commands() {
		if other.Flags().Lookup(word) != nil && (with == "" || other.Name() == "replay") {
			with = other.Name()
		}
	}
	switch {
	case with == "":
		return ""
	case word == "limit" && (cmd.Name() == "suggest" || cmd.Name() == "sweep"):
		return fmt.Sprintf(": %s tries every limit; shadow replay judges one", cmd.Name())
	case !cmd.HasParent():
		return fmt.Sprintf(": the name of a command comes first, as in shadow %s --%s", with, word)
	}
	return fmt.Sprintf(": %s does without; shadow %s has it", cmd.Name(), with)
}

// wanted says what values of pflag's own types must be.
var wanted = map[string]string{
	"int": "want a whole number", "uint": "want a whole number, at least 0", "bool": "want true or false",
	"int64": "want a whole number", "uint64": "want a whole number, at least 0",
}
