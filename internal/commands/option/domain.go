package option

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/internal/mapped"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/limit"
)

// Flags are values of domains: a text is parsed and verified when its flag is set, so an error names the flag, and
// commands get what the text means.

// A Domain describes the values of some flags.
type Domain[T comparable] struct {
	What  string // as --help calls a value where the usage does not; the default of a "string" stands in quotes
	Parse func(string) (T, error)
	Text  func(T) string // as parse reads it
	Words []string       // to which shells complete
}

// Domains of several flags.
var (
	Period  = Domain[limit.Time]{What: "duration", Parse: limit.ParsePeriod, Text: limit.FormatPeriod}
	Moment  = Domain[flagvalue.Moment]{What: "string", Parse: flagvalue.ParseMoment, Text: flagvalue.Moment.String}
	Size    = Domain[int64]{What: "size", Parse: flagvalue.ParseSize, Text: flagvalue.FormatSize}
	Percent = Domain[float64]{What: "percent", Parse: flagvalue.ParsePercent, Text: flagvalue.FormatPercent}
	Key     = Domain[request.Key]{"string", request.ParseKey, request.Key.String, slices.Concat(request.Keys(), request.PartWords())}
	Zone    = Domain[*time.Location]{What: "string", Parse: flagvalue.ParseZone, Text: (*time.Location).String}
)

// Server is one that a limit is for, or any.
var Server = Domain[string]{
	What: "string", Text: func(name string) string { return name }, Words: append(servers.Names(), "any"),
	Parse: func(name string) (string, error) {
		if name == "any" {
			return name, nil
		}
		_, err := servers.Named(name)
		if err != nil {
			return "", fmt.Errorf("%w or any", err)
		}
		return name, nil
	},
}

// Capacity takes the tokens that a bucket holds, at least 1.
var Capacity = AtLeast[int64](1, "a bucket that holds nothing admits nothing; ")

// Address is one at which to listen.
var Address = Verified(func(text string) error {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return errors.New("want an address with a port, such as 127.0.0.1:9598")
	}
	return nil
})

// Verified takes texts that have no problem.
func Verified(problem func(string) error) Domain[string] {
	return Domain[string]{
		What: "string", Parse: func(text string) (string, error) { return text, problem(text) },
		Text: func(text string) string { return text },
	}
}

// OneOf takes one of some words.
func OneOf[T ~string](words ...T) Domain[T] {
	d := Domain[T]{What: "string", Text: func(word T) string { return string(word) }}
	d.Words = mapped.Add(d.Words, words, func(word T) string { return string(word) })
	d.Parse = func(text string) (T, error) {
		if !slices.Contains(d.Words, text) {
			return "", fmt.Errorf("want one of %s%s", strings.Join(d.Words, ", "), limit.Hint(text, d.Words))
		}
		return T(text), nil
	}
	return d
}

// Named takes numbers that have names.
func Named[T ~uint8 | ~int | ~int64](names ...string) Domain[T] {
	d := OneOf(names...)
	return Domain[T]{
		What: "string", Words: d.Words, Text: func(v T) string { return names[v] },
		Parse: func(text string) (T, error) {
			_, err := d.Parse(text)
			return T(slices.Index(names, text)), err
		},
	}
}

// AtLeast takes whole numbers. why says in front of an error what is wrong with smaller ones.
func AtLeast[T int | int64](least T, why string) Domain[T] {
	return Domain[T]{What: "int", Text: func(n T) string { return fmt.Sprint(n) }, Parse: func(text string) (T, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return 0, errors.New("want a whole number")
		case T(n) < least:
			return 0, fmt.Errorf("%swant at least %d", why, least)
		}
		return T(n), nil
	}}
}

// Waits takes durations to wait: at least 0, or with more, above 0.
func Waits(more bool) Domain[time.Duration] {
	return Domain[time.Duration]{
		What: "duration", Text: time.Duration.String,
		Parse: func(text string) (time.Duration, error) {
			d, err := time.ParseDuration(text)
			switch {
			case err != nil:
				return 0, errors.New("want a duration, such as 10s")
			case d < 0 || more && d == 0:
				return 0, errors.New("want a longer duration, such as 10s")
			}
			return d, nil
		},
	}
}

// A Single is a pflag.Value.
type Single[T comparable] struct {
	Domain[T]
	At *T
}

// Set implements pflag.Value.
func (v *Single[T]) Set(text string) (err error) {
	*v.At, err = v.Parse(text)
	return err
}

func (v *Single[T]) String() string { return v.Text(*v.At) }

// Type returns the name of the value in help.
func (v *Single[T]) Type() string { return v.What }

// Add adds a flag, whose default is what at holds. Behind the name there may be a letter that stands for it:
// "output,o".
func (d Domain[T]) Add(cmd *cobra.Command, at *T, name, usage string) {
	name, letter, _ := strings.Cut(name, ",")
	cmd.Flags().VarP(&Single[T]{d, at}, name, letter, usage)
	CompleteWords(cmd, name, d.Words...)
}

// A several is a pflag.SliceValue: what its flag is given, each value once, in place of what it holds by default.
type several[T comparable] struct {
	Domain[T]
	at    *[]T
	all   func(text string) ([]T, error) // a text may stand for several values
	comma bool                           // whether commas separate texts
	given bool
}

// AddList adds a flag that may be repeated, or, with comma, have values with commas between them.
func (d Domain[T]) AddList(cmd *cobra.Command, at *[]T, comma bool, name, usage string) {
	d.AddLists(cmd, at, comma, func(text string) ([]T, error) {
		value, err := d.Parse(text)
		return []T{value}, err
	}, name, usage)
}

// AddLists adds a list of texts that stand for several values each.
func (d Domain[T]) AddLists(cmd *cobra.Command, at *[]T, comma bool, all func(string) ([]T, error),
	name, usage string,
) {
	cmd.Flags().Var(&several[T]{Domain: d, at: at, all: all, comma: comma}, name, usage)
	CompleteWords(cmd, name, d.Words...)
}

func (v *several[T]) Set(text string) error {
	items := []string{text}
	if v.comma {
		items = strings.Split(text, ",")
	}
	if !v.given {
		*v.at, v.given = nil, true
	}
	for _, item := range items {
		if err := v.Append(item); err != nil {
			return &badItem{item, err}
		}
	}
	return nil
}

func (v *several[T]) String() string {
	if len(*v.at) == 0 {
		return ""
	}
	return "[" + strings.Join(v.GetSlice(), ",") + "]"
}

// Type returns the name of the value in help.
func (v *several[T]) Type() string { return "strings" }

// Append implements pflag.SliceValue.
func (v *several[T]) Append(text string) error {
	values, err := v.all(text)
	for _, value := range values {
		if err == nil && !slices.Contains(*v.at, value) {
			*v.at = append(*v.at, value)
		}
	}
	return err
}

// Replace implements pflag.SliceValue.
func (v *several[T]) Replace(texts []string) error {
	*v.at, v.given = nil, true
	for _, text := range texts {
		if err := v.Append(text); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice implements pflag.SliceValue.
func (v *several[T]) GetSlice() []string { return mapped.Of(*v.at, v.Text) }

// A badItem is an error about one text of a list.
type badItem struct {
	text string
	error
}
