package commands

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/explore"
	"shadow/internal/pipeline/explore/local"
	"shadow/internal/suggest"
)

func newExplore() *cobra.Command {
	f := new(pipeline.Suggest)
	noOpen, follow, port := false, false, uint16(0)
	cmd := &cobra.Command{
		Use:   "explore LOG…",
		Short: "The answer as a page in your browser: try any limit, see which clients it hits, look at one",
		Long: `Explore finds the limit that suggest finds, and opens a page on which any other one can be tried. Its figures
come from a replay of the whole log, made at each move. It blocks no client.

The page is served on 127.0.0.1 under an address that is a secret, until you press Ctrl+C. Nothing leaves the machine.
Requests stay in memory, about 60 bytes each; of more than 16 million a move takes some seconds. With --follow a log
that has grown is read again, which takes twice the memory, and the page says that more requests have come. A log that
becomes shorter changes nothing until it is as long as before.`,
		Example: `  shadow explore access.log
  shadow explore access.log access.log.*.gz --for haproxy
  shadow explore --follow /var/log/nginx/access.log
  shadow explore access.log --no-open --port 8017    for a browser behind ssh -L 8017:127.0.0.1:8017`,
		Args: logArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller, f.Again = callerOf(cmd), again(cmd)
			return runExplore(cmd.Context(), f, args, port, noOpen, follow)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.Holdout, f.Scale, f.Recover, f.Band = pipeline.DefaultHoldout, pipeline.SameScale, suggest.DefaultRecover, true
	flags.BoolVar(&noOpen, "no-open", false, "do not open the browser")
	flags.BoolVar(&follow, "follow", false, "judge again as the log grows")
	flags.Uint16Var(&port, "port", 0, "the `port` of 127.0.0.1 (default one that is free)")
	addGoals(cmd, f)
	flags.StringVar(&f.Action, "action", "", "a limit for the requests of this action (`name`)")
	option.Period.Add(cmd, &f.Recover, "recover", "who is refused is forgiven within this `time`")
	addReading(cmd, &f.Reading)
	flags.Lookup("cold").Hidden = true
	f.Wanted = true
	addEvidencePaths(cmd, &f.Evidence, "")
	addConfig(cmd, &f.Source, "actions and evidence")
	addLogs(cmd, &f.Logs, "print nothing but the address and errors", "report on standard error what is chosen")
	return cmd
}

// lookEvery is the time between two looks at logs that are followed.
const lookEvery = 2 * time.Second

// runExplore finds the answer, and serves the page until it is told to stop.
func runExplore(ctx context.Context, f *pipeline.Suggest, logs []string, port uint16, noOpen, follow bool) (err error) {
	if follow {
		if err := explore.VerifyFollowed(logs); err != nil {
			return err
		}
	}
	server, err := local.Listen(ctx, port) // before logs are read, which may take minutes
	if err != nil {
		return err
	}
	defer server.Close()
	unasked := *f
	session, incomplete := explore.Open(ctx, f, logs)
	if session == nil {
		return incomplete
	}
	var next func() *pipeline.Suggest
	if follow {
		next = func() *pipeline.Suggest {
			q := unasked
			q.Started, q.Quiet, q.Verbose = time.Now(), true, false // what is chosen was told
			return &q
		}
	}
	held := explore.Follow(session, next, logs)
	watched, stop := context.WithCancel(ctx)
	var runs sync.WaitGroup
	if follow {
		runs.Go(func() { held.Run(watched, lookEvery) })
	}
	defer func() {
		stop()
		runs.Wait()
		if err = errors.Join(err, held.Close()); err == nil && held.Incomplete() != nil {
			err = &servedError{held.Incomplete()}
		}
	}()
	if incomplete != nil {
		fmt.Fprintln(f.Err, "shadow: "+complaint(ctx, incomplete))
	}
	fmt.Fprintln(f.Out, server.Address())
	if !f.Quiet {
		fmt.Fprintln(f.Err, "The page is there until you press Ctrl+C.")
	}
	if !noOpen && f.Width > 0 {
		defer server.Open(ctx)()
	}
	return server.Serve(ctx, held)
}

// A servedError says what the answer left out of the logs, once its page was served for as long as it was wanted.
type servedError struct{ error }
