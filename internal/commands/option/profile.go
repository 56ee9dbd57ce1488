package option

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// A Profile has the flags that write profiles for `go tool pprof`.
type Profile struct {
	cpu, memory string   // their names
	spent, live *os.File // nil unless begun
}

// Add adds them.
func (f *Profile) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cpu, "cpuprofile", "", "write a CPU profile to `file`")
	flags.StringVar(&f.memory, "memprofile", "", "write a memory profile to `file`")
}

// Start begins to profile. Both files are made now: better to know before the replay that one cannot be written. spares is
// the error that one would be written over what is read.
func (f *Profile) Start(spares func(flag, name string) error) (err error) {
	if err := errors.Join(spares("cpuprofile", f.cpu), spares("memprofile", f.memory)); err != nil {
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

// Stop writes the profiles that were begun.
func (f *Profile) Stop() error {
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
