//go:build !unix

package redistest

import "syscall"

// Nothing stops a process for a while here: the signals are none.
const sigStop, sigCont = syscall.Signal(0), syscall.Signal(0)
