package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"shadow/store"
)

// A replay with --resume goes on where the last one of its name stopped: it reads what has come to the logs since, its limits
// remember what they remembered, and the requests that were held back because older ones might still come are judged now.
//
//	state ──▶ what is to be read, what limits remember ──▶ replay ──▶ run + state, in one transaction

// resumeFlags are the options for that.
type resumeFlags struct {
	resume   string // "": not wanted
	resumeAs string
}

// What --resume may be.
const (
	resumeOn     = "on"     // with the options of last time
	resumeAnyway = "anyway" // with others as well
	resumeFresh  = "fresh"  // as if there had been no last time
)

func (f *resumeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.resume, "resume", "", "judge only what has come to the logs since the last replay with --resume, and go on with its limits; `how`: on, anyway (with other options than then), fresh (from the beginning)")
	flags.Lookup("resume").NoOptDefVal = resumeOn
	flags.StringVar(&f.resumeAs, "resume-as", "replay", "`name` of what is gone on with, where a database serves several replays with --resume")
	needs(cmd, []string{"resume"}, "resume-as")
	completeWords(cmd, "resume", resumeOn, resumeAnyway, resumeFresh)
}

// verifyResume looks whether the flags go with the others.
func (f *replayFlags) verifyResume(logs []string) error {
	if f.resume == "" {
		return nil
	}
	if !slices.Contains([]string{resumeOn, resumeAnyway, resumeFresh}, f.resume) {
		return usage("--resume=%s: want on, anyway or fresh", f.resume)
	}
	if err := store.CheckStateName(f.resumeAs); err != nil {
		return usage("--resume-as %q: %w", f.resumeAs, err)
	}
	switch {
	case f.noStore:
		return usage("--resume keeps in the database where to go on, and --no-store keeps nothing: state one")
	case f.band:
		return usage("--resume and --band: state one: the state of a band is not kept from night to night")
	case f.redisFlags.inUse():
		return usage("--resume and --redis: state one: what Redis remembers is not kept from night to night")
	case slices.Contains(logs, "-"):
		return usage("--resume: standard input has no place in it to go on from; name files")
	case f.until != "":
		return usage("--resume reads each line once: what --until leaves out would be lost")
	}
	return nil
}

// errNothingNew ends a run that has read no line: there is nothing to keep.
var errNothingNew = errors.New("nothing new")
