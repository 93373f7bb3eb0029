package pgserver

import "syscall"

// EndWithTest makes a process that a test starts end together with the test, even if the test is
// killed.
func EndWithTest(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
