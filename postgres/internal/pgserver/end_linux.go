package pgserver

import "syscall"

// EndWithTest ensures that a process started by a test ends together with the test, even if the
// test is killed.
func EndWithTest(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
