package setup

import (
	"os/exec"
	"syscall"
)

// detach makes a program continue after the console of the process that starts it closes.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
