//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// apart has a program not be stopped by what stops this one: Ctrl+C is for all in a terminal's group.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
