package option

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
)

// profiles holds the names of the files that a command writes, and the files.
type profiles struct {
	cpu, memory string   // their names
	spent, live *os.File // nil unless begun
}

// AddProfiles adds the flags that write profiles for `go tool pprof`, of a command that has all that it does.
func AddProfiles(cmd *cobra.Command, logs *pipeline.Logs) {
	f := new(profiles)
	cmd.Flags().StringVar(&f.cpu, "cpuprofile", "", "write a CPU profile to `file`")
	cmd.Flags().StringVar(&f.memory, "memprofile", "", "write a memory profile to `file`")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		logs.Verified = func() error { return f.start(logs) }
		return errors.Join(run(cmd, args), f.stop())
	}
}

// start begins to profile, in files that are none of the logs. Both are made now: better to know before the replay that
// one cannot be written.
func (f *profiles) start(logs *pipeline.Logs) (err error) {
	if err := errors.Join(logs.Spares("cpuprofile", f.cpu), logs.Spares("memprofile", f.memory)); err != nil {
		return err
	}
	if f.memory != "" {
		if f.live, err = os.Create(f.memory); err != nil {
			return err
		}
	}
	if f.cpu == "" {
		return nil
	}
	if f.spent, err = os.Create(f.cpu); err != nil {
		return err // the program ends, and the files with it
	}
	return pprof.StartCPUProfile(f.spent)
}

// stop writes the profiles that were begun.
func (f *profiles) stop() error {
	var errs []error
	if f.spent != nil {
		pprof.StopCPUProfile()
		errs = append(errs, f.spent.Close())
	}
	if f.live != nil {
		runtime.GC() // count what is live now
		errs = append(errs, pprof.WriteHeapProfile(f.live), f.live.Close())
	}
	return errors.Join(errs...)
}
