package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/limit"
)

// What is wrong with a flag is said once, with the flag in front: --limit "6": has no period; want …

// badFlag is an error of usage about the value of a flag. Errors of the packages beneath open with what they are
// about, and often with the value as well; neither is said twice.
func badFlag(name, value string, err error) error {
	text := err.Error()
	rest, named := strings.CutPrefix(text, name+" ")
	switch {
	case named:
		return usage("--%s %s", name, rest)
	case strings.Contains(text, strconv.Quote(value)):
		return usage("--%s: %s", name, text)
	}
	return usage("--%s %q: %s", name, value, text)
}

// flagError makes an error of usage of what pflag complains about.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return usage("%w%s\nSee `%s --help`.", err, nearestFlag(cmd, unknown), cmd.CommandPath())
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return usage("%w\nSee `%s --help`.", err, cmd.CommandPath())
	}
	cause := bad.Unwrap()
	if number := new(strconv.NumError); errors.As(cause, &number) {
		cause = errors.New(wanted[bad.GetFlag().Value.Type()])
	}
	return badFlag(bad.GetFlag().Name, bad.GetValue(), cause)
}

// nearestFlag says which flag was likely meant, if any is near: also where it is written with one dash.
func nearestFlag(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	word, names := unknown.GetSpecifiedName(), []string{}
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
	return ""
}

// wanted is what values of pflag's own types must be.
var wanted = map[string]string{
	"int": "want a whole number", "uint": "want a whole number, at least 0", "bool": "want true or false",
	"int64": "want a whole number", "uint64": "want a whole number, at least 0",
}
