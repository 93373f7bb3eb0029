package setup

import (
	"os/exec"
	"syscall"
)

// detach configures a program to keep running after the console of its parent has closed.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
