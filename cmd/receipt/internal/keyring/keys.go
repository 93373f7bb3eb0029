// Package keyring contains the command keys, with the subcommands generate, list, import, revoke,
// export, and public.
package keyring

import (
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// New returns the command "receipt keys".
func New(e *cli.Env) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "keys COMMAND",
		Short: "generate, list, import, revoke, and export keys",
		Long: `Generate keys, and manage the trust file, a JWK Set of trusted public keys
(default: $RECEIPT_KEYS, or else receipt/keys.json in the user's configuration
directory).`,
		Example: `  receipt keys generate --issuer harness_a --private a.private.json --keys keys.json
  receipt keys list keys.json`,
	}, newKeysGenerate(e), newKeysList(e), newKeysImport(e), newKeysRevoke(e), newKeysExport(e), newKeysPublic(e))
}

// A trustFile is a trust file that is listed or edited.
type trustFile struct {
	*keys.File
	path   string
	mode   fs.FileMode
	create bool // missing directories are also created, because the default path belongs to the user
}

// openTrust reads the trust file that the flag specifies. If edit is set, a missing file is treated
// as empty.
func openTrust(e *cli.Env, flag string, edit bool) (*trustFile, error) {
	path := trust.TrustPath(e, flag)
	if path == "" {
		return nil, cli.Usage("specify the file with a flag or $RECEIPT_KEYS", "no trust file: the user has no configuration directory")
	}

	t := &trustFile{path: path, mode: 0o644, create: flag == "" && e.Getenv("RECEIPT_KEYS") == ""}
	if path != cli.StdinName {
		info, err := os.Stat(path)
		// An edit creates a missing file. A dangling link is an error.
		if errors.Is(err, fs.ErrNotExist) {
			if _, link := os.Lstat(path); edit && link != nil {
				t.File = new(keys.File)
				return t, nil
			}
			if err := input.RefuseAddress(path); err != nil {
				return nil, err
			}
			return nil, cli.Usage("create a trust file with receipt keys import FILE --issuer ID", "%q: %w", path, cli.Reason(err))
		}
		if err == nil {
			t.mode = info.Mode().Perm()
		}
	}

	data, err := input.ReadBounded(e, path, keys.MaxSetBytes+1)
	if err != nil {
		return nil, err
	}
	if t.File, err = keys.ParseFile(data); err != nil {
		if wrong := input.WrongKind(path, data, "a key set", kind.Keys, kind.PrivateKey, input.Receipt); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage(trust.KeyHint(err), "%q: %w", path, err)
	}

	return t, nil
}

// save replaces the file atomically, but does not replace a symbolic link to it.
func (t *trustFile) save() error {
	path := t.path
	if path == cli.StdinName {
		return cli.Usage("", "a trust file to change must be a file, not -")
	}
	if t.create {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return cli.Usage("", "%q: %w", path, cli.Reason(err))
		}
	}

	// If the path is a link, the target of the link is replaced.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}

	text, err := t.Marshal()
	if err != nil {
		return cli.Usage("", "%q: %w", t.path, err)
	}

	// A file that is too large to be read again must not be written.
	if len(text) > keys.MaxSetBytes {
		return cli.Usage("", "the trust file %q would have %d bytes; the maximum is %d", t.path, len(text), keys.MaxSetBytes)
	}

	return cli.ReplaceFile(path, text, t.mode)
}

// find returns the key with the given ID.
func (t *trustFile) find(id string) (*keys.PublicKey, error) {
	for _, k := range t.Keys() {
		if k.ID == id {
			return k, nil
		}
	}
	return nil, cli.Usage("list the IDs with receipt keys list", "%q is not in %q (%s)", id, t.path, cli.Plural(len(t.Keys()), "key", ""))
}

// namesakes returns the other IDs under which the same key material is stored (RFC 7638).
func (t *trustFile) namesakes(k *keys.PublicKey) (ids []string) {
	for _, other := range t.Keys() {
		if other.Thumbprint == k.Thumbprint && other.ID != k.ID {
			ids = append(ids, other.ID)
		}
	}
	return ids
}

// bindingFlags specifies the purposes for which a key is trusted.
type bindingFlags struct {
	issuers, roles []string
	anyIssuer      bool
	origin         string
}

func (b *bindingFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&b.issuers, "issuer", nil, "issuer that the key may speak for; repeatable (`ID`)")
	f.BoolVar(&b.anyIssuer, "any-issuer", false, "allow any issuer that verify --issuer names")
	f.StringArrayVar(&b.roles, "role", nil, "role: issuer (the default), witness, or checkpoint; repeatable (`ROLE`)")
	f.StringVar(&b.origin, "origin", "", "name of the log whose checkpoints the key signs (`NAME`)")
}

func (b *bindingFlags) check() error {
	switch {
	case len(b.issuers) > 0 && b.anyIssuer:
		return cli.Usage("", "--issuer and --any-issuer exclude each other")
	case len(b.issuers) == 0 && !b.anyIssuer && b.forIssuers():
		return cli.Usage("specify the issuer.id of its receipts, or use --any-issuer", "--issuer is missing")
	}

	for _, r := range b.roles {
		if !slices.Contains([]receipt.Role{receipt.RoleIssuer, receipt.RoleWitness, receipt.RoleCheckpoint}, receipt.Role(r)) {
			return cli.Usage("", "invalid --role %q: must be issuer, witness, or checkpoint", r)
		}
	}

	// Only the name is checked here, so the key does not matter.
	if b.origin != "" {
		if _, err := tlog.NewLog(b.origin, make(ed25519.PublicKey, ed25519.PublicKeySize)); err != nil { // an invalid name cannot be in a checkpoint
			return cli.Usage("use a URL without https://, such as log.example.net/receipts", "--origin %q: %s", b.origin, trust.PlainMerkle(err))
		}
	}

	return nil
}

// forIssuers reports whether the roles include "issuer".
func (b *bindingFlags) forIssuers() bool {
	return len(b.roles) == 0 || slices.Contains(b.roles, string(receipt.RoleIssuer))
}

// bind replaces the issuers, the roles, and the origin that the key states, because only the user
// decides for which purposes a key is trusted.
func (b *bindingFlags) bind(k *keys.PublicKey) {
	k.Issuers, k.Roles, k.Origin = b.issuers, nil, b.origin
	for _, r := range b.roles {
		k.Roles = append(k.Roles, receipt.Role(r))
	}
}

// issuersText lists the issuers for which a key speaks.
func issuersText(k *keys.PublicKey) string {
	switch {
	case !k.Has(receipt.RoleIssuer):
		return "-"
	case len(k.Issuers) == 0:
		return "(named by --issuer)"
	}
	return cli.EscapeLine(strings.Join(k.Issuers, ", "))
}

// chosen returns the keys with the given IDs, or all keys, in the order of the file.
func (t *trustFile) chosen(ids []string) ([]*keys.PublicKey, error) {
	for _, id := range ids {
		if _, err := t.find(id); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(t.Keys(), func(k *keys.PublicKey) bool {
		return len(ids) > 0 && !slices.Contains(ids, k.ID)
	}), nil
}
