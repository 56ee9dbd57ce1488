//go:build unix

package redistest

import "syscall"

const sigStop, sigCont = syscall.SIGSTOP, syscall.SIGCONT
