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

// start begins to profile; the function that it returns ends that.
func (f *profileFlags) start() (stop func() error, err error) {
	if f.cpu == "" {
		return f.writeMemory, nil
	}
	file, err := os.Create(f.cpu)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(file.Close(), f.writeMemory())
	}, nil
}

func (f *profileFlags) writeMemory() error {
	if f.memory == "" {
		return nil
	}
	file, err := os.Create(f.memory)
	if err != nil {
		return err
	}
	runtime.GC() // count what is live now
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}
