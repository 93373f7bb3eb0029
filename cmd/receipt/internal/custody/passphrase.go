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

// errNoTerminal says that nobody can be asked for a passphrase.
var errNoTerminal = errors.New("there is no terminal to ask at")

// ask asks for a passphrase at the terminal that the process belongs to, whatever its
// streams are: stdin may be a receipt, and stderr a log. What is typed is not shown.
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

	// After an interruption the reader is left to itself: nothing else ends it, and what it
	// would put back has been put back.
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

// An answer is a line that somebody typed.
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

// askFor asks for the passphrase of a file.
func askFor(ctx context.Context, e *cli.Env, path string) (string, error) {
	passphrase, err := ask(ctx, e, fmt.Sprintf("passphrase of %q:", path))
	if errors.Is(err, errNoTerminal) {
		return "", cli.Usage("where nobody types, a key is in an agent or behind a plugin: --key agent:SHA256:… or NAME://KEY",
			"%q is encrypted, and there is no terminal to ask for its passphrase", path)
	}
	return passphrase, err
}

func wrongPassphrase(path string) error {
	return cli.Usage("", "%q: the passphrase is wrong", path)
}

// NewPassphrase asks for a passphrase for a new file, twice.
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
