package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/limit"
	"shadow/pipeline"
)

// flagError makes an error of usage of what pflag complains about.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return pipeline.Usage("%w%s\nSee `%s --help`.", err, nearestFlag(cmd, unknown), cmd.CommandPath())
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return pipeline.Usage("%w\nSee `%s --help`.", err, cmd.CommandPath())
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
