package main

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/screen"
	"shadow/tail"
)

// errNoScreen marks terminals that cannot show a screen.
var errNoScreen = errors.New("leave it out for lines of JSON, or keep would-blocks with --would-blocks FILE")

// watched prepares a tail to be watched on a terminal, and returns what runs it: without --ui, what runs it as it is.
func (f *tailFlags) watched(cmd *cobra.Command, o *tail.Options) (func(context.Context, func(context.Context) error) error, error) {
	if !f.ui {
		return func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }, nil
	}
	if err := f.verifyTerminal(o); err != nil {
		return nil, err
	}
	spoils := isTerminal(o.Err)
	show := screen.Options{
		Title: strings.Join(o.Names, " "), Live: new(tail.Live), Notes: screen.NewNotes(o.Err, spoils), Out: o.Out,
		Color: os.Getenv("NO_COLOR") == "",
	}
	if spoils && o.Every > 0 {
		o.Every = math.MaxInt64 // one summary, in the end
	}
	o.Live, o.Err = show.Live, show.Notes
	o.Out = io.Discard // of would-blocks without a file
	return func(ctx context.Context, work func(context.Context) error) error { return screen.Run(ctx, show, work) }, nil
}

// verifyTerminal complains about what is no terminal, or too simple a one.
func (f *tailFlags) verifyTerminal(o *tail.Options) error {
	switch name := os.Getenv("TERM"); {
	case !isTerminal(o.Out):
		return usage("--ui needs a terminal, and standard output is none: %w", errNoScreen)
	case name == "" || name == "dumb":
		return usage("--ui needs a terminal that can move its cursor, and TERM=%s cannot: %w", name, errNoScreen)
	}
	if stdin, ok := o.Stdin.(io.Writer); ok && isTerminal(stdin) && slices.Contains(o.Names, "-") {
		return usage("--ui reads keys from the terminal, so a log cannot come from there")
	}
	return nil
}
