package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"shadow/escape"
	"shadow/logfile"
	"shadow/traffic/ingest"
)

// inputs are the logs of a command that reads them to their ends, and how it reads them.
type inputs struct {
	cmd     *cobra.Command
	found   logfile.Expansion
	copies  *logfile.Copies // nil: not looked for yet
	reading ingest.Options
}

// expand finds the logs.
func (in *inputs) expand(args []string) (err error) {
	in.found, err = logfile.Expand(args)
	in.reading.Guessed = in.found.Guessed
	return err
}

// leaveOut leaves copies out, and says so unless quiet says not to.
func (in *inputs) leaveOut(ctx context.Context, quiet bool) error {
	if in.copies != nil {
		return nil
	}
	copies, err := interruptible(ctx, func() (logfile.Copies, error) { return logfile.FindCopies(ctx, in.found.Names) })
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for _, c := range copies.Found {
		left[c.Name] = true
	}
	in.found.Names = slices.DeleteFunc(in.found.Names, func(name string) bool { return left[name] })
	in.tellCopies(copies, quiet)
	return nil
}

// tellCopies takes down the copies that were found, and says which.
func (in *inputs) tellCopies(copies logfile.Copies, quiet bool) {
	copies.Found = slices.Concat(in.found.Links, copies.Found)
	in.copies = &copies
	if quiet {
		return
	}
	for _, text := range copyWarnings(copies) {
		fmt.Fprintf(in.cmd.ErrOrStderr(), "warning: %s\n", escape.Visible(text))
	}
}

// read has do read the logs, while a bar shows how far it has come unless quiet says not to. A read under way is not waited
// for when ctx ends.
func (in *inputs) read(ctx context.Context, o ingest.Options, quiet bool, do func(*ingest.Reader) error) (ingest.Stats, error) {
	if err := in.leaveOut(ctx, quiet); err != nil {
		return ingest.Stats{}, err
	}
	reader, err := interruptible(ctx, func() (*ingest.Reader, error) {
		return ingest.NewReader(ctx, in.found.Names, in.cmd.InOrStdin(), o)
	})
	if err != nil {
		return ingest.Stats{}, err
	}
	progress := startProgress(in.cmd.ErrOrStderr(), reader, quiet)
	err = do(reader)
	progress.stop()
	if ctx.Err() != nil {
		return ingest.Stats{}, errInterrupted
	}
	err = cmp.Or(err, reader.Close())
	stats := reader.Stats()
	stats.Copies = *in.copies
	return stats, err
}

// readOnce is the first input that can be read once only, "" if all can be read again.
func readOnce(names []string) string {
	for _, name := range names {
		if name == "-" {
			return "standard input"
		}
		if info, err := os.Stat(name); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice|os.ModeSocket) != 0 {
			return name
		}
	}
	return ""
}

// actionWarnings are about --action: what is taken for it, and that none of the requests read is of it.
func actionWarnings(asked, meant string, requests int64, s *ingest.Stats) []string {
	texts := takenFor("action", asked, meant)
	if asked != "" && requests == 0 && s.Taken() > s.Warm {
		texts = append(texts, fmt.Sprintf("no request is of action %q", asked))
	}
	return texts
}
