package setup

import (
	"os/exec"
	"syscall"
)

// detach makes a program outlive the console of the process that starts it.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
