package race

import (
	"os/exec"
	"time"
)

// A Usage describes the resources used by a process.
type Usage struct {
	Wall, Processor float64 // seconds
	Memory          float64 // maximum resident set size in bytes; 0 if the system does not report it
}

// Run runs a command until it ends. The usage is valid if the command ran, even if the command
// failed.
func Run(cmd *exec.Cmd) (Usage, error) {
	start := time.Now()
	err := cmd.Run()
	u := Usage{Wall: time.Since(start).Seconds()}
	if state := cmd.ProcessState; state != nil {
		u.Processor = (state.UserTime() + state.SystemTime()).Seconds()
		u.Memory = peakMemory(state)
	}
	return u, err
}
