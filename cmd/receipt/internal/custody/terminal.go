package custody

import (
	"os"
	"runtime"
)

// openTerminal opens the terminal that the process belongs to: what is typed, and what is
// shown.
func openTerminal() (in, out *os.File, err error) {
	reads, writes := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		reads, writes = "CONIN$", "CONOUT$"
	}

	if in, err = os.OpenFile(reads, os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile(writes, os.O_RDWR, 0); err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, out, nil
}
