package custody

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// Limits on the output of a program, in bytes, and on how long processes that it started may keep
// the output open.
const (
	maxAnswer = 1 << 20
	maxSaid   = 500
	lingering = 250 * time.Millisecond
)

// A program is a plugin executable. On Unix, each run has its own process group, and all processes
// in the group are killed when the run ends.
type program struct {
	name, path string
	patience   time.Duration
	running    *runs
}

// runs tracks the current runs of a program. Each run holds a read lock. The write lock waits for
// all runs to end and blocks new runs.
type runs struct{ sync.RWMutex }

// rest waits for current runs to end. A run whose context has ended is already being killed.
func (p program) rest() { p.running.Lock() }

var (
	errLoud = errors.New("it wrote too much")
	errLate = errors.New("it took too long")
)

// run runs the program once. It returns the content of stdout, and a phrase that quotes stderr for
// the end of an error message, or an empty string.
func (p program) run(ctx context.Context, stdin []byte, args ...string) (out []byte, said string, err error) {
	p.running.RLock()
	defer p.running.RUnlock()

	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(p.patience, func() { cancel(errLate) })
	defer late.Stop()

	// Keep output up to a limit, and kill a program that exceeds it.
	answer := &bounded{most: maxAnswer, full: func() { cancel(errLoud) }}
	messages := &bounded{most: maxSaid, full: func() {}}
	cmd := exec.CommandContext(within, p.path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), answer, messages
	cmd.WaitDelay = lingering
	own(cmd)

	// Wait returns when the program has exited. Then end kills the processes that it started.
	err = cmd.Start()
	if err != nil {
		return nil, "", fmt.Errorf("%s does not run: %w", p.name, err)
	}
	err = cmd.Wait()
	end(cmd)

	// The exit status has no meaning. If the program has answered, an error from processes that it
	// left behind does not matter.
	said = messages.phrase()
	switch why := context.Cause(within); {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case errors.Is(why, errLate):
		return nil, "", fmt.Errorf("%s did not answer within %s, which --key-timeout makes longer%s", p.name, p.patience, said)
	case errors.Is(why, errLoud):
		return nil, "", fmt.Errorf("%s answered with more than %d bytes%s", p.name, maxAnswer, said)
	case len(answer.kept) == 0:
		return nil, "", fmt.Errorf("%s answered nothing (%s)%s", p.name, cmd.ProcessState, said)
	}
	return answer.kept, said, nil
}

// A bounded writer keeps the first bytes, and calls full once if there are more.
type bounded struct {
	kept []byte
	most int
	over bool
	full func()
}

// Write never fails, because an error would end the writing program.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(room, len(p))]...)
	if len(p) > room && !b.over {
		b.over = true
		b.full()
	}
	return len(p), nil
}

// phrase quotes the output for the end of a message.
func (b *bounded) phrase() string {
	if text := bytes.TrimSpace(b.kept); len(text) > 0 {
		return "; it wrote " + foreign.Quote(text, maxSaid)
	}
	return ""
}
