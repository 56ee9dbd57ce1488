package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/pipeline/flagvalue"
	"shadow/request"
	"shadow/servers"
)

// Flags are values of domains: a text is parsed and verified when its flag is set, so an error names the flag, and
// commands get what the text means.

// A domain is what the values of some flags are.
type domain[T comparable] struct {
	what  string // as --help calls a value where the usage does not; the default of a "string" stands in quotes
	parse func(string) (T, error)
	text  func(T) string // as parse reads it
	words []string       // to which shells complete
}

// The domains of several flags.
var (
	aPeriod  = domain[limit.Time]{what: "duration", parse: limit.ParsePeriod, text: limit.FormatPeriod}
	aMoment  = domain[flagvalue.Moment]{what: "string", parse: flagvalue.ParseMoment, text: flagvalue.Moment.String}
	aSize    = domain[int64]{what: "size", parse: flagvalue.ParseSize, text: flagvalue.FormatSize}
	aPercent = domain[float64]{what: "percent", parse: flagvalue.ParsePercent, text: flagvalue.FormatPercent}
	aKey     = domain[request.Key]{"string", request.ParseKey, request.Key.String, slices.Concat(request.Keys(), request.PartWords())}
	aZone    = domain[*time.Location]{what: "string", parse: parseZone, text: (*time.Location).String}
)

// aServer is one that a limit is for, or any.
var aServer = domain[string]{
	what: "string", text: func(name string) string { return name }, words: append(servers.Names(), "any"),
	parse: func(name string) (string, error) {
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

// aCapacity is how many tokens a bucket holds.
var aCapacity = atLeast[int64](1, "a bucket that holds nothing admits nothing; ")

func parseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, errors.New("no such zone; want a name such as UTC, Europe/Berlin or Local")
	}
	return zone, nil
}

// anAddress is one at which to listen.
var anAddress = verified(func(text string) error {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return errors.New("want an address with a port, such as 127.0.0.1:9598")
	}
	return nil
})

// verified are texts that have no problem.
func verified(problem func(string) error) domain[string] {
	return domain[string]{
		what: "string", parse: func(text string) (string, error) { return text, problem(text) },
		text: func(text string) string { return text },
	}
}

// oneOf are some words.
func oneOf[T ~string](words ...T) domain[T] {
	d := domain[T]{what: "string", text: func(word T) string { return string(word) }}
	for _, word := range words {
		d.words = append(d.words, string(word))
	}
	d.parse = func(text string) (T, error) {
		if !slices.Contains(d.words, text) {
			return "", fmt.Errorf("want one of %s", strings.Join(d.words, ", "))
		}
		return T(text), nil
	}
	return d
}

// named are numbers that have names.
func named[T ~uint8 | ~int | ~int64](names ...string) domain[T] {
	d := oneOf(names...)
	return domain[T]{
		what: "string", words: d.words, text: func(v T) string { return names[v] },
		parse: func(text string) (T, error) {
			_, err := d.parse(text)
			return T(slices.Index(names, text)), err
		},
	}
}

// atLeast are whole numbers. why says in front of an error what is wrong with smaller ones.
func atLeast[T int | int64](least T, why string) domain[T] {
	return domain[T]{what: "int", text: func(n T) string { return fmt.Sprint(n) }, parse: func(text string) (T, error) {
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

// waits are how long to wait: not less than nothing, or more than that.
func waits(more bool) domain[time.Duration] {
	return domain[time.Duration]{
		what: "duration", text: time.Duration.String,
		parse: func(text string) (time.Duration, error) {
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

// A single is a pflag.Value.
type single[T comparable] struct {
	domain[T]
	at *T
}

func (v *single[T]) Set(text string) (err error) {
	*v.at, err = v.parse(text)
	return err
}

func (v *single[T]) String() string { return v.text(*v.at) }

// Type is what help calls the value.
func (v *single[T]) Type() string { return v.what }

// add adds a flag, whose default is what at holds. Behind the name there may be a letter that stands for it:
// "output,o".
func (d domain[T]) add(cmd *cobra.Command, at *T, name, usage string) {
	name, letter, _ := strings.Cut(name, ",")
	cmd.Flags().VarP(&single[T]{d, at}, name, letter, usage)
	completeWords(cmd, name, d.words...)
}

// A several is a pflag.SliceValue: what its flag is given, each value once, in place of what it holds by default.
type several[T comparable] struct {
	domain[T]
	at    *[]T
	all   func(text string) ([]T, error) // a text may stand for several values
	comma bool                           // whether commas separate texts
	given bool
}

// addList adds a flag that may be repeated, or, with comma, have values with commas between them.
func (d domain[T]) addList(cmd *cobra.Command, at *[]T, comma bool, name, usage string) {
	d.addLists(cmd, at, comma, func(text string) ([]T, error) {
		value, err := d.parse(text)
		return []T{value}, err
	}, name, usage)
}

// addLists adds a list of texts that stand for several values each.
func (d domain[T]) addLists(cmd *cobra.Command, at *[]T, comma bool, all func(string) ([]T, error),
	name, usage string,
) {
	cmd.Flags().Var(&several[T]{domain: d, at: at, all: all, comma: comma}, name, usage)
	completeWords(cmd, name, d.words...)
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

// Type is what help calls the value.
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
func (v *several[T]) GetSlice() (texts []string) {
	for _, value := range *v.at {
		texts = append(texts, v.text(value))
	}
	return texts
}

// A badItem is an error about one text of a list.
type badItem struct {
	text string
	error
}
