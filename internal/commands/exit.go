package commands

import (
	"context"
	"errors"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/moves"
	"shadow/internal/tail"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// Something is missing: requests or lines of a log, the rest of a followed one, a part of an import or export, or what
	// was to come after a run was stored.
	exitIncomplete  = 3
	exitHeld        = 4 // done, and a --fail-if condition held
	exitInterrupted = 130
)

// exitCode returns the exit code of an error: it is the one place where errors become exit codes.
func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, new(*tail.LossError)), errors.As(err, new(*servedError)):
		// Also when a signal has ended the command, as it should.
		return exitIncomplete
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(pipeline.IncompleteError)): // also when a name is unknown that the rest of the log may have
		return exitIncomplete
	case errors.As(err, new(*pipeline.UsageError)):
		return exitUsage
	case errors.As(err, new(pipeline.NotUnderstoodError)), errors.As(err, new(moves.NotWantedError)):
		return exitIncomplete
	case errors.As(err, new(pipeline.HeldError)):
		return exitHeld
	case errors.As(err, new(*pipeline.DoneError)): // repeated, the command would store the run twice
		return exitIncomplete
	}
	return exitFailed
}

// complaint returns what to say about an error, harmless on a terminal: strangers may choose the names of files. After
// Ctrl-C, that is the reason of any failure.
func complaint(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil && !errors.Is(err, pipeline.ErrInterrupted) && !errors.As(err, new(*tail.LossError)) &&
		!errors.As(err, new(*servedError)) && !errors.As(err, new(*pipeline.DoneError)):
		return "interrupted"
	}
	// The package that a text begins with tells people nothing; parse and report are commands as well.
	for _, name := range []string{"logfile: ", "parse: ", "report: ", "store: "} {
		if rest, found := strings.CutPrefix(err.Error(), name); found {
			return escape.Lines(rest)
		}
	}
	return escape.Lines(err.Error())
}
