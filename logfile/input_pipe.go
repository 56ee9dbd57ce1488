package logfile

import (
	"os"
	"syscall"
	"time"
)

// openPipe opens a named pipe, which waits for somebody to open it for writing. Nothing interrupts that but a writer,
// so when Close is called meanwhile, we are that writer ourselves.
func (in *Input) openPipe() (*os.File, error) {
	opened := make(chan struct{})
	defer close(opened)
	go func() {
		select {
		case <-opened:
		case <-in.done:
			in.wakeReader(opened)
		}
	}()
	return os.Open(in.name)
}

// wakeReader opens the pipe for writing until the reader has noticed. It succeeds at once when the reader waits
// already, and fails when it is only about to.
func (in *Input) wakeReader(opened <-chan struct{}) {
	for {
		w, err := os.OpenFile(in.name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case err == nil:
			w.Close()
		case os.IsNotExist(err):
			return
		}
		select {
		case <-opened:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
