// Package setup prepares a user's machine. The command "init" creates a key, a trust file, a
// ledger, and defaults. The command "hook" installs hooks for agents and for Git.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/keyring"
)

// NewInit returns the command "receipt init".
func NewInit(e *cli.Env) *cobra.Command {
	var issuer string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "create a key, a trust file, a ledger, and defaults",
		Long: `Create a key, a trust file, and a file of defaults in the user's configuration
directory, and a ledger in the data directory. Existing files are not changed.
$RECEIPT_CONFIG selects another file of defaults, whose directory then contains
all files; an empty value selects none.`,
		Example: `  receipt init
  receipt init --issuer ada`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetup(e, issuer)
			if err != nil {
				return err
			}
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&issuer, "issuer", "", "issuer ID (default: name of the user) (`ID`)")
	return cmd
}

// A setup is a set of files that belong together.
type setup struct {
	env  *cli.Env
	want cli.Defaults
	made map[bool][]string // lines about files; the key is whether the file was created
}

// newSetup returns the setup of the user. If a defaults file exists, its values are used.
func newSetup(e *cli.Env, issuer string) (*setup, error) {
	if e.Config == "" {
		return nil, cli.Usage("set RECEIPT_CONFIG to a file, or unset it", "no file of defaults: RECEIPT_CONFIG is empty, or the user has no configuration directory")
	}
	if e.Defaults.Issuer != "" && issuer != "" && issuer != e.Defaults.Issuer {
		return nil, cli.Usage("change the issuer in that file", "--issuer is %q, but %q has %q", issuer, e.Config, e.Defaults.Issuer)
	}

	dir := filepath.Dir(e.Config)
	ledger := filepath.Join(dir, "ledger.db")
	if data := cli.DataFile(e, "ledger.db"); e.Config == cli.ConfigFile(e, "config.toml") && data != "" {
		ledger = data
	}
	d := e.Defaults
	d.Issuer = cmp.Or(d.Issuer, issuer, userName(e))
	d.Key = cmp.Or(d.Key, filepath.Join(dir, "key.json"))
	d.Keys = cmp.Or(d.Keys, filepath.Join(dir, "keys.json"))
	d.Ledger = cmp.Or(d.Ledger, ledger)
	d.Each = cmp.Or(d.Each, "task")
	if d.Issuer == "" {
		return nil, cli.Usage("", "missing --issuer ID: the user has no name")
	}
	return &setup{env: e, want: d, made: map[bool][]string{}}, nil
}

// userName returns the name of the user, without the domain that Windows adds before the name.
func userName(e *cli.Env) string {
	name := cmp.Or(e.Getenv("USER"), e.Getenv("USERNAME"))
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	return name[strings.LastIndexByte(name, '\\')+1:]
}

// run creates the files that do not exist yet. The defaults file is created last, so that it refers
// only to existing files.
func (s *setup) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.keys, s.ledger, s.defaults} {
		if err := step(ctx); err != nil {
			return err
		}
	}

	out := s.env.Text()
	for _, rows := range []struct {
		label string
		lines []string
	}{
		{"created", s.made[true]}, {"exists", s.made[false]},
		{"next", []string{"receipt record            record the agent sessions on this machine", "receipt hook install claude"}},
	} {
		for i, line := range rows.lines {
			if i > 0 {
				rows.label = ""
			}
			if _, err := fmt.Fprintf(out, "%-8s %s\n", rows.label, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell records a line that describes a file.
func (s *setup) tell(created bool, noun, path, detail string) {
	s.made[created] = append(s.made[created], fmt.Sprintf("%-12s %s%s", noun, cli.Tilde(s.env, path), detail))
}

// keys creates the key, and the trust file with its public key.
func (s *setup) keys(ctx context.Context) error {
	key, trust := s.want.Key, s.want.Keys
	hasKey, hasTrust := custody.Elsewhere(key) || exists(key), exists(trust)
	speaks := fmt.Sprintf(" (1 key, speaks for %q)", s.want.Issuer)
	var err error
	switch {
	case !hasKey:
		if err = folders(key, trust); err == nil {
			err = keyring.Create(ctx, s.env, s.want.Issuer, key, trust)
		}
	default:
		err = s.trust(ctx, hasTrust)
	}
	if err != nil {
		return err
	}

	switch {
	case hasTrust && !hasKey:
		speaks = fmt.Sprintf(" (the key was added, speaks for %q)", s.want.Issuer)
	case hasTrust:
		speaks = ""
	}
	readable := ""
	if !hasKey {
		readable = " (readable by you only)"
	}
	s.tell(!hasKey, "key", key, readable)
	s.tell(!hasKey || !hasTrust, "trust file", trust, cli.EscapeLine(speaks))
	return nil
}

// trust creates a trust file for the existing key, or compares an existing trust file with the key.
// The trust file is not compared if the key cannot be opened, for example, because an agent does
// not answer.
func (s *setup) trust(ctx context.Context, exists bool) error {
	signer, err := custody.Open(ctx, s.env, s.want.Key, custody.Options{Patience: custody.Patience})
	switch {
	case err != nil && exists:
		s.env.Warn("", "the trust file was not compared with the key: %v", err)
		return nil
	case err != nil:
		return err
	case exists:
		return keyring.CheckTrusted(s.env, s.want.Issuer, s.want.Keys, s.want.Key, signer.Public())
	}
	if err := folders(s.want.Keys); err != nil {
		return err
	}
	return keyring.Trust(s.env, s.want.Issuer, s.want.Keys, signer.Public())
}

// ledger creates the ledger.
func (s *setup) ledger(ctx context.Context) error {
	path, file := input.LedgerFile(s.want.Ledger)
	name := input.LedgerName(s.want.Ledger)
	if !file || exists(path) {
		s.tell(false, "ledger", name, "")
		return nil
	}
	if err := folders(path); err != nil {
		return err
	}
	l, _, err := input.CreateLedger(ctx, s.env, s.want.Ledger)
	if err == nil {
		err = l.Close()
	}
	if err != nil { // for example, because the -head file of a lost ledger remains
		return cli.Usage("restore the ledger, or move the file away", "creating %q: %w", name, input.LedgerReason(err))
	}
	s.tell(true, "ledger", name, "")
	return nil
}

// defaults creates the defaults file.
func (s *setup) defaults(context.Context) error {
	path := s.env.Config
	if exists(path) {
		s.tell(false, "defaults", path, "")
		return nil
	}
	text, err := s.want.Marshal()
	if err != nil {
		return err
	}
	if err := folders(path); err != nil {
		return err
	}
	f, err := cli.PrepareFile(path, text, 0o600, true)
	if err != nil {
		return err
	}
	defer f.Discard()
	err = f.CommitNew()
	if err != nil && !errors.Is(err, fs.ErrExist) { // another run may have created the file in the meantime
		return err
	}
	s.tell(err == nil, "defaults", path, "")
	return nil
}

// exists reports whether there is a file or a link at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// folders creates the directories that contain the files.
func folders(paths ...string) error {
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return cli.Usage("", "%q: %w", path, cli.Reason(err))
		}
	}
	return nil
}
