package custody

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/term"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// errNoTerminal indicates that there is no terminal for a prompt.
var errNoTerminal = errors.New("there is no terminal for the prompt")

// ask prompts for a passphrase on the controlling terminal. It does not use the standard streams,
// because stdin may be a receipt and stderr may be a log. The input is not echoed.
func ask(ctx context.Context, e *cli.Env, question string) (string, error) {
	in, out, err := openTerminal()
	if err != nil {
		return "", errNoTerminal
	}
	defer out.Close()
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		in.Close()
		return "", errNoTerminal
	}

	e.HideProgress()
	fmt.Fprint(out, cli.EscapeLine(question), " ")
	typed := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		typed <- answer{text, err}
	}()

	// If the prompt is interrupted, the goroutine that reads is abandoned, because nothing can
	// unblock it. The state of the terminal, which that goroutine would restore, is restored here.
	select {
	case a := <-typed:
		in.Close()
		fmt.Fprintln(out)
		return a.passphrase()
	case <-ctx.Done():
		_ = term.Restore(fd, before)
		fmt.Fprintln(out)
		return "", cli.Usage("", "interrupted")
	}
}

// An answer is the result of a prompt.
type answer struct {
	text []byte
	err  error
}

func (a answer) passphrase() (string, error) {
	switch {
	case a.err == nil && len(a.text) > 0:
		return string(a.text), nil
	case a.err == nil:
		return "", cli.Usage("", "no passphrase was typed")
	}
	return "", cli.Usage("", "the terminal cannot be read: %w", cli.Reason(a.err))
}

// askFor prompts for the passphrase of an existing file.
func askFor(ctx context.Context, e *cli.Env, path string) (string, error) {
	passphrase, err := ask(ctx, e, fmt.Sprintf("passphrase of %q:", path))
	if errors.Is(err, errNoTerminal) {
		return "", cli.Usage("without a terminal, use a key in an agent or a plugin: --key agent:SHA256:… or NAME://KEY",
			"%q is encrypted, and there is no terminal to prompt for its passphrase", path)
	}
	return passphrase, err
}

func wrongPassphrase(path string) error {
	return cli.Usage("", "%q: the passphrase is incorrect", path)
}

// NewPassphrase prompts twice for the passphrase of a new file.
func NewPassphrase(ctx context.Context, e *cli.Env, path string) (string, error) {
	first, err := ask(ctx, e, fmt.Sprintf("passphrase for %q:", path))
	if errors.Is(err, errNoTerminal) {
		return "", cli.Usage("run the command on a terminal", "there is no terminal to prompt for a passphrase; nothing was written")
	}
	if err != nil {
		return "", err
	}

	second, err := ask(ctx, e, "the same again:")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", cli.Usage("", "the passphrases differ; nothing was written")
	}
	return first, nil
}

// openTerminal opens the controlling terminal for input and output.
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
