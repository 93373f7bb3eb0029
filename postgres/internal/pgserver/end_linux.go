package pgserver

import "syscall"

// EndWithTest lets a process that a test starts end with the test, even if the test is killed.
func EndWithTest(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
