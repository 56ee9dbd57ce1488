package option

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/stored"
	"shadow/internal/policy"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// A flag that is not given takes its default, which then counts as given: from a variable, from the configuration, from
// the user's own file, whichever states it first. docs/defaults.md says so to people.

// DefaultNote is the key of the note at a flag that has taken a default: where that stands.
const DefaultNote = "default"

// NoDefaults is the variable that switches all of them off.
const NoDefaults = "SHADOW_DEFAULTS"

// VariableOf returns the variable that states the default of a flag.
func VariableOf(name string) string {
	return "SHADOW_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// variableDefaults returns the defaults that the environment states. Each line of a variable is a value.
func variableDefaults() (stated []policy.Default, err error) {
	var words []string // that are long enough to be recognised when they are misspelt
	for _, name := range policy.DefaultNames {
		if len(name) > 4 {
			words = append(words, strings.ReplaceAll(name, "-", "_"))
		}
		values := strings.FieldsFunc(os.Getenv(VariableOf(name)), func(c rune) bool { return c == '\n' || c == '\r' })
		if len(values) > 0 {
			stated = append(stated, policy.Default{Name: name, Values: values, Place: VariableOf(name)})
		}
	}
	for _, variable := range os.Environ() {
		variable, value, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(variable, "SHADOW_")
		if near := limit.Misspelt(word, words); ours && value != "" && near != "" && !strings.EqualFold(near, word) {
			return nil, pipeline.Usage("the variable %s means nothing (did you mean %s?)", variable, VariableOf(near))
		}
	}
	return stated, nil
}

// statedDefaults returns all stated defaults, those first that go before the others.
func statedDefaults(flags *pflag.FlagSet) ([][]policy.Default, error) {
	switch word := os.Getenv(NoDefaults); word {
	case "off":
		return nil, nil
	case "":
	default:
		return nil, pipeline.Usage("%s=%s: want off, or nothing", NoDefaults, word)
	}
	variables, err := variableDefaults()
	if err != nil {
		return nil, err
	}
	source := new(pipeline.Source)
	if f := flags.Lookup("config"); f != nil {
		source = f.Value.(Config).Source
	}
	files, err := source.Defaults()
	return append([][]policy.Default{variables}, files...), err
}

// TakeDefaults sets the flags of a command that have a default and are not given. Then flags are verified.
func TakeDefaults(cmd *cobra.Command, _ []string) error {
	has := func(name string) bool { return cmd.Flags().Lookup(name) != nil }
	if !slices.ContainsFunc(policy.DefaultNames, has) {
		return Verify(cmd, nil)
	}
	levels, err := statedDefaults(cmd.Flags())
	if err != nil {
		return err
	}
	return SetDefaults(cmd, ChooseDefaults(cmd.Flags(), levels))
}

// ChooseDefaults returns the defaults in force, by their names.
func ChooseDefaults(flags *pflag.FlagSet, levels [][]policy.Default) map[string]policy.Default {
	chosen := map[string]policy.Default{}
	for _, level := range levels {
		above := maps.Clone(chosen)
		for _, d := range level {
			stated := flags.Changed(d.Name) || above[d.Name].Place != ""
			if flags.Lookup(d.Name) != nil && !stated && !ruledOut(d.Name, flags, above) {
				chosen[d.Name] = d
			}
		}
	}
	for name, other := range map[string]string{"log-name": "nginx-conf", "trusted-proxy": "client-from"} {
		if !flags.Changed(other) && chosen[other].Place == "" { // it would do nothing
			delete(chosen, name)
		}
	}
	return chosen
}

// ruledOut reports whether a default makes no sense beside what goes before it.
func ruledOut(name string, flags *pflag.FlagSet, above map[string]policy.Default) bool {
	stated := func(name string) bool { return flags.Changed(name) || above[name].Place != "" }
	switch name {
	case "format", "nginx-conf", "log-name", "field":
		return stated("format") || stated("nginx-conf") || stated("field")
	case "client-from", "trusted-proxy": // unless clients are addresses
		client := append(above["client"].Values, flags.Lookup("client").Value.String())[0]
		what, _, _ := strings.Cut(client, "/")
		return what != "addr"
	}
	return false
}

// SetDefaults sets flags as if they were given. What goes wrong later tells where they were.
func SetDefaults(cmd *cobra.Command, chosen map[string]policy.Default) error {
	flags := cmd.Flags()
	for _, name := range policy.DefaultNames {
		d, f := chosen[name], flags.Lookup(name)
		values, ok := suited(cmd, &d)
		if d.Place == "" || !ok {
			continue
		}
		if _, list := f.Value.(pflag.SliceValue); !list && len(values) > 1 {
			return pipeline.Usage("%s: --%s takes one value, not %d", d.Place, name, len(values))
		}
		for _, value := range values {
			if err := flags.Set(name, value); err != nil {
				return pipeline.Usage("%s: %w", d.Place, FlagError(cmd, err))
			}
		}
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[DefaultNote] = []string{d.Place}
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return placed(flags, run(cmd, args)) }
	}
	return placed(flags, Verify(cmd, nil))
}

// suited returns the values of a default that a command takes, whose flag of that name may have words of its own; false
// if it takes none.
func suited(cmd *cobra.Command, d *policy.Default) (values []string, ok bool) {
	switch cmd.Name() + " " + d.Name {
	case "tail db": // it is the flag that has a tail store at all
		return nil, false
	case "report protect":
		if len(d.Values) != 1 {
			return nil, false
		}
		_, err := stored.ParseProtect(d.Values[0])
		return d.Values, err == nil
	case "keys protect", "keys target":
		for value := range strings.SplitSeq(strings.Join(d.Values, ","), ",") {
			class, _, _ := strings.Cut(value, "=")
			if _, err := who.ParseSet(class); err != nil {
				return nil, false
			}
			values = append(values, class)
		}
		return values, true
	}
	return d.Values, true
}

// mentioned finds flags in an error.
var mentioned = lazy.Regexp(`--([a-z-]+)`)

// mentionedByValue lists the flags whose values name what an error may be about.
var mentionedByValue = []string{"client", "client-from", "nginx-conf", "db"}

// placed returns an error with the places of the defaults that it is about.
func placed(flags *pflag.FlagSet, err error) error {
	if err == nil {
		return nil
	}
	text, names := err.Error(), []string{}
	for _, found := range mentioned().FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	if errors.As(err, new(pipeline.IncompleteError)) {
		names = append(names, "format", "nginx-conf", "field")
	}
	flags.Visit(func(f *pflag.Flag) {
		place := f.Annotations[DefaultNote]
		about := slices.Contains(names, f.Name) || slices.Contains(mentionedByValue, f.Name) &&
			strings.Contains(text, f.Value.String())
		switch {
		case len(place) == 0 || !about:
		case strings.HasPrefix(text, "--"+f.Name+" ") || strings.HasPrefix(text, "--"+f.Name+":"):
			err = fmt.Errorf("%s: %w", place[0], err)
		default:
			err = fmt.Errorf("%w\n--%s is a default: %s", err, f.Name, place[0])
		}
	})
	return err
}

// DefaultWords returns the flags that have taken a default, as they would be given.
func DefaultWords(cmd *cobra.Command) (words []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if len(f.Annotations[DefaultNote]) > 0 {
			words = append(words, WordsOf(f)...)
		}
	})
	return words
}

// WordsOf returns a flag as it would be given.
func WordsOf(f *pflag.Flag) (words []string) {
	return mapped.Of(ValuesOf(f), func(v string) string { return "--" + f.Name + "=" + v })
}

// ValuesOf returns the values of a flag.
func ValuesOf(f *pflag.Flag) []string {
	if several, ok := f.Value.(pflag.SliceValue); ok {
		return several.GetSlice()
	}
	return []string{f.Value.String()}
}

// A Config is the value of --config.
type Config struct{ *pipeline.Source }

// Set implements pflag.Value.
func (f Config) Set(name string) error { f.ConfigFile = name; return nil }

func (f Config) String() string { return f.ConfigFile }

// Type returns the name of the value in help.
func (f Config) Type() string { return "string" }
