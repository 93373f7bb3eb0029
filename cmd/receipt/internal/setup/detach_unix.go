//go:build unix

package setup

import (
	"os/exec"
	"syscall"
)

// detach makes a program outlive the session of the process that starts it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
