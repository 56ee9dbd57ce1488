package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// profileFlags write profiles for `go tool pprof`.
type profileFlags struct{ cpu, memory string }

func (f *profileFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cpu, "cpuprofile", "", "write a CPU profile to `file`")
	flags.StringVar(&f.memory, "memprofile", "", "write a memory profile to `file`")
}

// start begins to profile; the function that it returns ends that. Both files are made now: better to know before the
// replay that one cannot be written.
func (f *profileFlags) start() (stop func() error, err error) {
	memory, err := create(f.memory)
	if err != nil {
		return nil, err
	}
	cpu, err := create(f.cpu)
	if err == nil && cpu != nil {
		err = pprof.StartCPUProfile(cpu)
	}
	if err != nil {
		return nil, err // the program ends, and the files with it
	}
	return func() error {
		var errs []error
		if cpu != nil {
			pprof.StopCPUProfile()
			errs = append(errs, cpu.Close())
		}
		if memory != nil {
			runtime.GC() // count what is live now
			errs = append(errs, pprof.WriteHeapProfile(memory), memory.Close())
		}
		return errors.Join(errs...)
	}, nil
}

// create makes a file, or none if it has no name.
func create(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	return os.Create(name)
}
