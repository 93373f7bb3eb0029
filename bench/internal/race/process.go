package race

import (
	"os/exec"
	"time"
)

// A Usage contains the resources that a process used.
type Usage struct {
	Wall, Processor float64 // seconds
	Memory          float64 // the maximum resident set, in bytes; 0: this system does not report it
}

// Run runs a command to its end. The usage is valid if the command ran, even if it failed.
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
