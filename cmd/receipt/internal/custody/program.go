package custody

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// Limits on the output of a program, in bytes.
const (
	maxAnswer = 1 << 20
	maxSaid   = 500
)

// A program is a plugin executable.
type program struct {
	name, path string
	patience   time.Duration
	running    *runs
}

// A runs value tracks the current runs of a program. Each run holds a read lock. The write lock
// waits for all runs to end, and blocks new runs.
type runs struct{ sync.RWMutex }

// rest waits for current runs to end. Runs whose context has ended are already being killed.
func (p program) rest() { p.running.Lock() }

// run runs the program once. It returns the content of stdout and a phrase for the end of an error
// message. The phrase quotes stderr, and is empty if there was no output on stderr.
func (p program) run(ctx context.Context, stdin []byte, args ...string) (out []byte, said string, err error) {
	p.running.RLock()
	defer p.running.RUnlock()

	run := cli.Program{Path: p.path, Args: args, Stdin: stdin, Patience: p.patience, Most: maxAnswer, MostSaid: maxSaid}
	result, err := run.Run(ctx)
	said = phrase(result.Said)

	// The exit status has no meaning.
	var start *cli.StartError
	switch {
	case errors.As(err, &start):
		return nil, "", fmt.Errorf("%s %w", p.name, err)
	case errors.Is(err, cli.ErrLate):
		return nil, "", fmt.Errorf("%s did not answer within %s (see --key-timeout)%s", p.name, p.patience, said)
	case errors.Is(err, cli.ErrLoud):
		return nil, "", fmt.Errorf("%s returned more than %d bytes%s", p.name, maxAnswer, said)
	case err != nil:
		return nil, "", err
	case len(result.Stdout) == 0:
		return nil, "", fmt.Errorf("%s returned nothing (%s)%s", p.name, result.State, said)
	}
	return result.Stdout, said, nil
}

// phrase quotes the output of a program for the end of a message.
func phrase(said []byte) string {
	if text := bytes.TrimSpace(said); len(text) > 0 {
		return "; it wrote " + untrusted.Quote(text, maxSaid)
	}
	return ""
}
