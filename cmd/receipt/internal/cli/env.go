package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/redact"
)

// Env is the environment of a command: its streams, its variables, and the clock.
type Env struct {
	In       io.Reader
	inTaken  bool // stdin was opened
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Terminal bool // out is a terminal
	Width    int  // width of Out in columns; 0 if unknown

	Piped       bool // out is a pipe, possibly to a pager on the same terminal
	ErrTerminal bool // err is a terminal
	ErrWidth    int  // width of Err in columns; 0 if unknown

	Color string // value of --color: always, never, or auto

	Drivers []ledger.Driver // drivers of ledgers that are not files

	Config   string   // defaults file; "" for none
	Defaults Defaults // that ReadDefaults read

	Messages func() (*redact.Policy, error) // policy that removes secrets from messages; if nil, it is compiled for each message

	Patience *atomic.Int64 // time that an interrupted run may take to end, in nanoseconds; may be nil

	screen   *screen
	progress *Progress // the progress that was started last
	last     []func()  // functions to run after the command
}

// Finally registers a function that runs after the command, regardless of the result.
func (e *Env) Finally(f func()) { e.last = append(e.last, f) }

// End runs the functions that were registered with Finally.
func (e *Env) End() {
	for _, f := range e.last {
		f()
	}
	e.last = nil
}

// Stdin returns stdin. Stdin returns an error on the second call, because a second reader would
// find stdin empty.
func (e *Env) Stdin() (io.ReadCloser, error) {
	if e.inTaken {
		return nil, Usage("", "stdin is specified twice, but can be read only once")
	}
	e.inTaken = true
	if e.typed() {
		e.HideProgress()
	}
	return io.NopCloser(e.In), nil
}

// Progress displays the progress of a long run on a terminal, until End is called. The passes are
// the steps of the run, in order.
func (e *Env) Progress(passes ...string) *Progress {
	return e.ProgressWhen("auto", passes...)
}

// ProgressWhen is like Progress, but for a command with the flag --progress: always, never, or
// auto. With auto, progress is displayed only if stderr is a terminal, stdout is not a pipe
// (possibly to a pager), CI is unset, and TERM is not dumb.
func (e *Env) ProgressWhen(when string, passes ...string) *Progress {
	looks := e.ErrTerminal && !e.Piped && e.Getenv("CI") == "" && e.Getenv("TERM") != "dumb"
	if when == "never" || when == "auto" && !looks {
		return nil
	}
	if e.screen == nil {
		e.ShareTerminal()
	}

	e.progress = newProgress(e.screen, e.ErrWidth, e.Now, passes)
	return e.progress
}

// HideProgress stops displaying progress, because the user is typing.
func (e *Env) HideProgress() { e.progress.hide() }

// Counted returns a reader that adds the number of bytes read from r to the progress of the run, if
// progress is displayed.
func (e *Env) Counted(r io.ReadCloser) io.ReadCloser { return e.progress.Reader(r) }

// typed reports whether stdin is a terminal.
func (e *Env) typed() bool {
	f, ok := e.In.(*os.File)
	return ok && IsTerminal(f)
}

// ShareTerminal makes messages replace the progress line. If results are written to a terminal,
// they also replace the line.
func (e *Env) ShareTerminal() {
	s := &screen{w: e.Err}
	e.screen = s
	if !e.ErrTerminal {
		return
	}

	e.Err = &sharer{e.Err, s}
	if e.Terminal {
		e.Out = &sharer{e.Out, s}
	}
}

// MayTake sets how long an interrupted run may take to end, if it needs more time than the default.
func (e *Env) MayTake(d time.Duration) {
	if e.Patience != nil {
		e.Patience.Store(int64(d))
	}
}

// Colored reports whether results are colored. This depends on the flag --color. If its value is
// auto, results are colored on a terminal, unless NO_COLOR is set (see no-color.org).
func (e *Env) Colored() bool {
	switch e.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return e.Terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// IsPipe reports whether a file is a pipe.
func IsPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// Warn prints a warning, and a hint unless it is empty.
func (e *Env) Warn(hint, format string, args ...any) {
	e.say("warning", fmt.Sprintf(format, args...), hint)
}

// Note prints a note, which requires no action.
func (e *Env) Note(format string, args ...any) { e.say("note", fmt.Sprintf(format, args...), "") }

// say prints a message of the given kind, and a hint unless it is empty. Both may quote documents
// and arguments, so secrets are withheld and control characters are escaped.
func (e *Env) say(kind, text, hint string) {
	for _, line := range [][2]string{{kind, text}, {"hint", hint}} {
		if line[1] != "" {
			fmt.Fprintf(e.Notes(), "receipt: %s: %s\n", line[0], e.WithoutSecrets(EscapeText(line[1])))
		}
	}
}

// WithoutSecrets replaces the secrets that the default detectors find in a message with
// placeholders. Messages quote member names and arguments, which may contain a token, and terminal
// output often ends up in a log.
//
// Home directories are not replaced, because most messages contain the name of a file.
func (e *Env) WithoutSecrets(text string) string {
	const whole = "the message is withheld: it could not be searched for secrets"
	compile := e.Messages
	if compile == nil {
		compile = CompileMessages
	}

	policy, err := compile()
	if err != nil {
		return whole
	}

	clean, err := redactText(policy, text)
	if err != nil {
		return whole
	}

	// A URL in a JSON Pointer is searched with unescaped slashes (RFC 6901 section 4).
	shown := strings.NewReplacer("~1", "/", "~0", "~").Replace(clean)
	again, err := redactText(policy, shown)
	switch {
	case err != nil:
		return whole
	case again != shown:
		return again
	}

	return clean
}

// Text returns the writer for results in text form. If the output is a terminal, lines are folded
// to its width. Otherwise, lines do not change, so that values remain complete.
func (e *Env) Text() io.Writer {
	if !e.Terminal || e.Width < minWidth {
		return e.Out
	}
	return &fitter{w: e.Out, width: e.Width}
}

// Notes returns the writer for messages. Each write must contain complete lines. If the output is a
// terminal, lines are folded to its width. Otherwise, each message stays on one line, so that it
// can be found by a search.
func (e *Env) Notes() io.Writer {
	if !e.ErrTerminal || e.ErrWidth < minWidth {
		return e.Err
	}
	return &fitter{w: e.Err, width: e.ErrWidth}
}

// ToolName returns the name and version of the program, in the form used in reports.
func ToolName() string { return "receipt " + ToolVersion() }

// ToolVersion returns the version of the program.
func ToolVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
