//go:build !unix

package cli

import "os/exec"

// own does nothing, because there are no process groups that can be killed in one step.
func own(*exec.Cmd) {}

func end(*exec.Cmd) {}
