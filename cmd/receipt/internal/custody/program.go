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

// Bounds of what a program writes, in bytes, and of how long what it left behind may
// keep its output open.
const (
	maxAnswer = 1 << 20
	maxSaid   = 500
	lingering = 250 * time.Millisecond
)

// A program is run, in a group of processes of its own, and is gone afterwards with
// whatever it began.
type program struct {
	name, path string
	patience   time.Duration
	running    *runs
}

// runs are those of a program that are under way. Each reads; who writes waits for all,
// and lets none begin any more.
type runs struct{ sync.RWMutex }

// rest waits for what runs. A run whose context has ended is being killed.
func (p program) rest() { p.running.Lock() }

var (
	errLoud = errors.New("it wrote too much")
	errLate = errors.New("it took too long")
)

// run runs the program once and returns what it wrote to stdout, and for an error
// message what it wrote to stderr: a phrase to put behind, or nothing.
func (p program) run(ctx context.Context, stdin []byte, args ...string) (out []byte, said string, err error) {
	p.running.RLock()
	defer p.running.RUnlock()

	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(p.patience, func() { cancel(errLate) })
	defer late.Stop()

	// What a program writes is kept up to a bound, and one that goes on is ended.
	answer := &bounded{most: maxAnswer, full: func() { cancel(errLoud) }}
	messages := &bounded{most: maxSaid, full: func() {}}
	cmd := exec.CommandContext(within, p.path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), answer, messages
	cmd.WaitDelay = lingering
	own(cmd)

	err = cmd.Start()
	if err != nil {
		return nil, "", fmt.Errorf("%s does not run: %w", p.name, err)
	}
	err = cmd.Wait()
	end(cmd)

	// The exit status has no meaning, and what stays behind of a program that has answered
	// is not its answer.
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

// A bounded writer keeps the first bytes, and tells once when there are more.
type bounded struct {
	kept []byte
	most int
	over bool
	full func()
}

// Write never fails: whoever writes is not ended by that.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(room, len(p))]...)
	if len(p) > room && !b.over {
		b.over = true
		b.full()
	}
	return len(p), nil
}

// phrase quotes what was written.
func (b *bounded) phrase() string {
	if text := bytes.TrimSpace(b.kept); len(text) > 0 {
		return "; it wrote " + foreign.Quote(text, maxSaid)
	}
	return ""
}
