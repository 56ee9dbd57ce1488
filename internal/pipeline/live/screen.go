package live

import (
	"context"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	"shadow/internal/pipeline"
	"shadow/internal/tail"
	"shadow/internal/tui"
)

// A runner runs what lasts until its context ends.
type runner func(ctx context.Context, work func(context.Context) error) error

// watched prepares a tail to be watched on a terminal, and returns what is to run it; without --ui it runs as it is.
func (f *Tail) watched(o *tail.Options) (runner, error) {
	if !f.UI {
		return func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }, nil
	}
	if err := f.verifyScreen(o); err != nil {
		return nil, err
	}
	spoils := f.IsTerminal(o.Err)
	show := tui.Options{
		Title: strings.Join(o.Names, " "), Feed: new(tail.Feed), Notes: tui.NewNotes(o.Err, spoils), Out: o.Out,
		Color: os.Getenv("NO_COLOR") == "",
	}
	if spoils && o.Every > 0 {
		o.Every = math.MaxInt64 // one summary, in the end
	}
	o.Feed, o.Err = show.Feed, show.Notes
	o.Out = io.Discard // of would-blocks without a file
	return func(ctx context.Context, work func(context.Context) error) error { return tui.Run(ctx, show, work) }, nil
}

// insteadOfScreen says what to do where no screen can be shown.
const insteadOfScreen = "leave it out for lines of JSON, or keep would-blocks with --would-blocks FILE"

// verifyScreen complains about what is no terminal, or too simple a one.
func (f *Tail) verifyScreen(o *tail.Options) error {
	switch name := os.Getenv("TERM"); {
	case !f.IsTerminal(o.Out):
		return pipeline.Usage("--ui needs a terminal, which standard output is not: " + insteadOfScreen)
	case name == "dumb" || name == "" && runtime.GOOS != "windows":
		return pipeline.Usage("--ui needs a terminal that can move its cursor, and TERM=%s cannot: "+insteadOfScreen, name)
	}
	if stdin, ok := o.Stdin.(io.Writer); ok && f.IsTerminal(stdin) && slices.Contains(o.Names, "-") {
		return pipeline.Usage("--ui reads keys from the terminal, so a log cannot come from there")
	}
	return nil
}
