package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
)

// A Fsck verifies an entire ledger in the same way as the command "receipt ledger fsck".
type Fsck func(ctx context.Context, e *cli.Env, o trust.PolicyFlags, address string) error

// NewHook returns the command "receipt hook".
func NewHook(e *cli.Env, fsck Fsck) *cobra.Command {
	return &cobra.Command{
		Use:   "hook install|remove claude|git",
		Short: "record when a session ends, or verify before a push",
		Long: `Install or remove a hook. Claude Code then records each session when it ends, or
git verifies the ledger before a push, with the defaults of receipt init.`,
		Example: `  receipt hook install claude
  receipt hook remove git`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 || !slices.Contains([]string{"install", "remove", "run"}, args[0]) || !slices.Contains([]string{"claude", "git"}, args[1]) {
				return cli.Usage(cmd.CommandPath()+" --help shows examples", "expected install or remove, and claude or git")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch ctx, place := cmd.Context(), args[1]; args[0] {
			case "install":
				return install(ctx, e, place)
			case "remove":
				return remove(ctx, e, place)
			default: // the argument is "run", which the installed hooks use
				if place == "git" {
					return prePush(ctx, e, fsck)
				}
				return sessionEnd(e)
			}
		},
	}
}

// An edit is the change to a file when a hook is installed or removed.
type edit struct {
	path   string
	before []byte // nil if there is no file
	mode   fs.FileMode
}

// open reads the file of a hook. If the path is a link, open follows it, so that the link remains.
func open(path string, mode fs.FileMode) (*edit, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !exists(path) { // a link without a target also counts as a file
		return &edit{path: path, mode: mode}, nil
	}
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	}
	const most = 16 << 20
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, cli.Usage("", "%q is not a regular file of at most %d bytes", path, most)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, cli.Reason(err))
	}
	return &edit{path, append([]byte{}, data...), info.Mode().Perm()}, nil
}

// write replaces the file, or removes it if after is nil.
func (d *edit) write(after []byte) error {
	if after == nil {
		return cli.Reason(os.Remove(d.path))
	}
	if d.before == nil {
		if err := folders(d.path); err != nil {
			return err
		}
	}
	return cli.ReplaceFile(d.path, after, d.mode)
}

func install(ctx context.Context, e *cli.Env, place string) error {
	if e.Defaults.Ledger == "" {
		return cli.Usage("run receipt init", "there are no defaults for the hook")
	}
	d, h, err := placeOf(ctx, e, place)
	if err != nil {
		return err
	}
	line, err := hookLine(e, place)
	if err != nil {
		return err
	}
	after, err := h.add(d.before, line)
	if err != nil {
		return cli.Usage("correct the file, or add the hook by hand: "+line, "%q: %w", d.path, err)
	}
	verb := "exists"
	if string(after) != string(d.before) {
		verb = "installed"
		if err := d.write(after); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(e.Text(), "%-9s %s\n", verb, cli.Tilde(e, d.path))
	return err
}

func remove(ctx context.Context, e *cli.Env, place string) error {
	d, h, err := placeOf(ctx, e, place)
	if err != nil {
		return err
	}
	after, found, err := h.cut(d.before)
	switch {
	case err != nil:
		return cli.Usage("", "%q: %w", d.path, err)
	case !found:
		return cli.Usage("", "%q contains no hook of receipt", d.path)
	}
	if err := d.write(after); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Text(), "%-9s %s\n", "removed", cli.Tilde(e, d.path))
	return err
}

// A hook edits the text of a file. The text is nil if the file does not exist.
type hook struct {
	add func(text []byte, line string) ([]byte, error)
	cut func(text []byte) (after []byte, found bool, err error)
}

// placeOf returns the file of a hook and the functions that edit it.
func placeOf(ctx context.Context, e *cli.Env, place string) (*edit, hook, error) {
	if place == "git" {
		path, err := gitHook(ctx)
		if err != nil {
			return nil, hook{}, err
		}
		d, err := open(path, 0o755)
		if err == nil && d.before != nil && d.mode&0o100 == 0 {
			err = cli.Usage("remove the file, or make it executable", "%q is not executable, so git does not run it", path)
		}
		return d, hook{addBlock, cutBlock}, err
	}

	dir := e.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		if dir = cli.Home(e); dir == "" {
			return nil, hook{}, cli.Usage("set HOME", "the user has no home directory")
		}
		dir = filepath.Join(dir, ".claude")
	}
	d, err := open(filepath.Join(dir, "settings.json"), 0o600)
	return d, hook{addSetting, cutSetting}, err
}

// hookLine returns the line that runs a hook. A path on PATH is preferred, because it does not
// change when the program is upgraded.
func hookLine(e *cli.Env, place string) (string, error) {
	path, err := program()
	if err != nil {
		return "", err
	}
	line := cli.ShellName(path) + runs(place)
	if e.Config != cli.ConfigFile(e, "config.toml") {
		config, err := filepath.Abs(e.Config)
		if err != nil {
			return "", err
		}
		line = "RECEIPT_CONFIG=" + cli.ShellName(config) + " " + line
	}
	return line, nil
}

// runs returns the end of the line that runs a hook. The line never exits with code 2, because this
// code would block Claude Code.
func runs(place string) string {
	const failed = " || exit 1"
	if place == "git" {
		return " hook run git </dev/null" + failed // other pre-push hooks read the refs from stdin
	}
	return " hook run claude" + failed
}

// program returns the path of this program.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("receipt"); err == nil && cli.SameFile(found, self) {
		return filepath.Abs(found)
	}
	return self, nil
}

// maxHook is the maximum size of the object that Claude Code writes to the stdin of a hook.
const maxHook = 16 << 20

// sessionEnd starts "receipt record" in the background, because Claude Code stops a SessionEnd hook
// after 1.5 seconds.
func sessionEnd(e *cli.Env) error {
	in, err := io.ReadAll(io.LimitReader(e.In, maxHook))
	if err != nil {
		return cli.Refuted("", "reading stdin: %w", cli.Reason(err))
	}
	var event struct {
		Name    string `json:"hook_event_name"`
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal(in, &event); err != nil || event.Name == "" {
		return cli.Refuted("Claude Code runs this command", "stdin is not the input of a hook of Claude Code")
	}
	ledger, file := input.LedgerFile(e.Defaults.Ledger)
	if ledger == "" || !file {
		return cli.Refuted("run receipt init", "there is no default ledger file")
	}

	args := []string{"record"}
	if event.Name == "SessionEnd" && event.Session != "" {
		args = append(args, "--ended="+event.Session)
	}
	if err := start(ledger+"-record.log", args); err != nil {
		return cli.Refuted("", "%w", err)
	}
	return nil
}

// start starts this program in the background. It replaces the log, so only the output of the last
// run is kept.
func start(log string, args []string) error {
	path, err := program()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// prePush verifies the ledger before a push, and prevents the push only if the ledger is refuted.
func prePush(ctx context.Context, e *cli.Env, fsck Fsck) error {
	if e.Defaults.Ledger == "" {
		e.Warn("run receipt init", "the ledger is not verified: there are no defaults")
		return nil
	}
	err := fsck(ctx, e, trust.PolicyFlags{}, e.Defaults.Ledger)
	var f *cli.Failure
	if err == nil || errors.As(err, &f) && f.Code == cli.ExitRefuted {
		return err
	}
	cli.Tell(e, err)
	e.Warn("", "the ledger is not verified, but nothing is refuted, so the push continues")
	return nil
}
