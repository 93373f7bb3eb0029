//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// own configures cmd to run in its own process group, so that its child processes are killed with
// it.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// end kills the remaining processes in the group of a program that has exited.
func end(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually, no process remains
}
