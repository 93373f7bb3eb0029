package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeys(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "make keys and keep the file of trusted ones",
		Long: `Make keys and keep the file of trusted ones: a JWK Set that says for which issuers
each key may speak. The file is --keys, else $RECEIPT_KEYS, else receipt/keys.json
in the user's configuration folder.`,
		Example: `  receipt keys generate --issuer my_harness --private me.private.json --public keys.json
  receipt keys list --keys keys.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("receipt keys --help lists them", "unknown verb %q of keys", args[0])
			}
			return usage("receipt keys --help lists them", "expected generate, list, import, revoke or export")
		},
	}
	cmd.AddCommand(newKeysGenerate(e), newKeysList(e), newKeysImport(e), newKeysRevoke(e), newKeysExport(e))
	return cmd
}

// A editedTrust is a file of trusted keys that is being edited.
type editedTrust struct {
	path string
	file *keys.File
}

// openTrust reads a trust file. One that does not exist is empty when create is
// set, and an error otherwise.
func openTrust(e *env, path string, create bool) (*editedTrust, error) {
	if path == "" {
		return nil, usage("name it by --keys or $RECEIPT_KEYS", "there is no file of trusted keys")
	}
	if _, err := os.Stat(path); create && errors.Is(err, fs.ErrNotExist) {
		return &editedTrust{path, new(keys.File)}, nil
	}
	data, err := readBounded(e, path, keys.MaxSetBytes+1)
	if err != nil {
		return nil, err
	}
	file, err := keys.ParseFile(data)
	if err != nil {
		return nil, usage("", "the key file %q cannot be used: %w", path, err)
	}
	return &editedTrust{path, file}, nil
}

// save replaces the file, whole or not at all.
func (t *editedTrust) save() error {
	const private fs.FileMode = 0o700 // of a configuration folder that is not there yet
	if err := os.MkdirAll(filepath.Dir(t.path), private); err != nil {
		return usage("", "%q: %w", t.path, reason(err))
	}
	text, err := t.file.Marshal()
	if err != nil {
		return usage("", "%q: %w", t.path, err)
	}
	return replaceFile(t.path, text, 0o644)
}

func (t *editedTrust) add(list ...*keys.PublicKey) error {
	if err := t.file.Add(list...); err != nil {
		return usage("receipt keys list shows what is there; --id gives a key another id", "%q: %w", t.path, err)
	}
	return t.save()
}

// trustFlags say what a key may be used for.
type trustFlags struct {
	issuers []string
	roles   []string
	origin  string
}

func (f *trustFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.issuers, "issuer", nil, "the `ID` of an issuer that the key may speak for; repeatable")
	cmd.Flags().StringArrayVar(&f.roles, "role", nil, "`issuer|witness|checkpoint`; repeatable")
	cmd.Flags().StringVar(&f.origin, "origin", "", "the log's `NAME` of a checkpoint key")
}

func (f *trustFlags) apply(k *keys.PublicKey) error {
	k.Issuers, k.Origin = f.issuers, f.origin
	for _, r := range f.roles {
		role := receipt.Role(r)
		if !slices.Contains([]receipt.Role{receipt.RoleIssuer, receipt.RoleWitness, receipt.RoleCheckpoint}, role) {
			return usage("", "--role is issuer, witness or checkpoint, found %q", r)
		}
		k.Roles = append(k.Roles, role)
	}
	return nil
}

// noIssuerNeeded reports whether the roles leave the key nothing to say for an
// issuer.
func (f *trustFlags) noIssuerNeeded() bool {
	return len(f.roles) > 0 && !slices.Contains(f.roles, string(receipt.RoleIssuer))
}

func describeKey(k *keys.PublicKey) string {
	text := fmt.Sprintf("%s, %s, fingerprint %s", escapeLine(k.ID), k.Algorithm, k.Fingerprint())
	if len(k.Issuers) > 0 {
		text += ", speaks for " + escapeLine(strings.Join(k.Issuers, ", "))
	}
	return text
}

// keysFlag adds the flag that names the file of trusted keys.
func keysFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "keys", "", "the `FILE` of trusted keys")
}
