//go:build unix

package setup

import (
	"os/exec"
	"syscall"
)

// detach makes a program continue after the session of the process that starts it ends.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
