//go:build unix

package setup

import (
	"os/exec"
	"syscall"
)

// detach configures a program to keep running after the session of its parent has ended.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
