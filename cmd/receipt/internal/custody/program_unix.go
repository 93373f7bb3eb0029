//go:build unix

package custody

import (
	"os/exec"
	"syscall"
)

// own gives a program a group of processes, so that what it begins is ended with it.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// end ends what is left of the group of a program that is gone itself.
func end(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there is seldom anything
}
