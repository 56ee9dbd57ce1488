package commands

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"shadow/internal/commands/option"
	"shadow/internal/lazy"
	"shadow/internal/pipeline"
)

// callerOf returns what a command knows of its caller.
func callerOf(cmd *cobra.Command) pipeline.Caller {
	out, err := cmd.OutOrStdout(), cmd.ErrOrStderr()
	return pipeline.Caller{
		In: cmd.InOrStdin(), Out: out, Err: err, Width: widthOf(out), Color: hasColor(out),
		Version: versionText(), Command: strings.Join(append(os.Args[:len(os.Args):len(os.Args)], option.DefaultWords(cmd)...), " "), Started: time.Now(),
		Progress: func(p pipeline.Pass) (stop func()) { return startProgress(err, p).stop },
		Remedy:   func(flags string) string { return remedyFor(cmd, flags) },
	}
}

// flagNames finds the names in flags such as "--client-from x-forwarded-for --trusted-proxy 10.0.0.0/8".
var flagNames = lazy.Regexp(`(?:^| )--([a-z-]+)`)

// remedyFor returns the flags that a finding proposes, behind the command that has them if this one does not.
func remedyFor(cmd *cobra.Command, flags string) string {
	for _, name := range flagNames().FindAllStringSubmatch(flags, -1) {
		if cmd.Flags().Lookup(name[1]) == nil {
			return "shadow replay " + flags
		}
	}
	return flags
}

// widthOf returns how many columns the terminal behind w has, 0 if there is none. Where COLUMNS is exported it goes
// before that, also for what is no terminal.
func widthOf(w io.Writer) int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// hasColor reports whether w may get colours: it is a terminal, and its user has not asked for none (no-color.org).
func hasColor(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
