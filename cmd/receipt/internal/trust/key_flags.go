package trust

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/kind"
)

// KeyFlags name a private key.
type KeyFlags struct{ Path, id string }

// Add adds the flags to those of a verb.
func (k *KeyFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.Path, "key", "", "sign with the private key in this `FILE`")
	cmd.Flags().StringVar(&k.id, "key-id", "", "the key id of a key in PEM")
}

// Sign adds the key's signature, unless it is there already.
func (k *KeyFlags) Sign(ctx context.Context, e *cli.Env, sealed *receipt.Sealed) (*receipt.Sealed, error) {
	private, err := k.Read(e)
	if err != nil {
		return nil, err
	}

	// A key signs a receipt once.
	public := private.Public()
	root := sealed.Document().Root()
	for _, s := range root.Member("signatures").Elements() {
		if s.Member("key_id").String() == public.ID {
			return nil, cli.Usage("", "the receipt is signed by %q already", public.ID)
		}
	}

	if named := root.Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != public.ID {
		fmt.Fprintf(e.Err, "receipt: warning: the receipt names %s as its issuer's key; a signature by %s can only count as a witness's\n",
			cli.EscapeLine(fmt.Sprintf("%q", named.String())), cli.EscapeLine(fmt.Sprintf("%q", public.ID)))
	}

	signed, err := sealed.Sign(ctx, keys.NewSigner(private, e.Now))
	if err != nil {
		return nil, cli.Usage("", "%q: %w", k.Path, err)
	}

	return signed, nil
}

// Given reports whether a key is named. An id without a key is an error: who gives
// one expects a signature.
func (k *KeyFlags) Given() (bool, error) {
	if k.Path == "" && k.id != "" {
		return false, cli.Usage("receipt keys generate makes a key", "--key-id names the key of --key, which is missing")
	}
	return k.Path != "", nil
}

func (k *KeyFlags) Read(e *cli.Env) (*keys.PrivateKey, error) {
	if k.Path == cli.StdinName { // often the receipt is
		return nil, cli.Usage("", "--key is a file, stdin is not read for it")
	}
	data, err := input.ReadBounded(e, k.Path, maxKeyFile+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxKeyFile {
		return nil, cli.Usage("", "%q is larger than a key file ever is, %d bytes", k.Path, maxKeyFile)
	}

	// Of another file the mode does not matter.
	if f := kind.Of(data, true); f.Kind == kind.PrivateKey || f.Kind == kind.Unknown {
		if err := warnPrivateMode(e, k.Path); err != nil {
			return nil, err
		}
	}

	// PEM has no place for an id, which --key-id gives.
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN")) {
		return k.readPEM(data)
	}

	private, err := keys.ParsePrivate(data)
	if err != nil {
		if wrong := input.WrongKind(k.Path, data, "a private key", kind.PrivateKey); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage("a private key is a JWK, as receipt keys generate writes it, or PEM", "%q: %w", k.Path, err)
	}
	if k.id != "" && k.id != private.Public().ID {
		return nil, cli.Usage("", "%q holds the key %q, --key-id says %q", k.Path, private.Public().ID, k.id)
	}

	return private, nil
}

func (k *KeyFlags) readPEM(data []byte) (*keys.PrivateKey, error) {
	if k.id == "" {
		return nil, cli.Usage("", "%q is PEM, which holds no key id; give it by --key-id", k.Path)
	}
	private, err := keys.ParsePrivatePEM(data, k.id, "")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", k.Path, err)
	}
	return private, nil
}

// warnPrivateMode says when others on the machine can read a private key. It is
// no error: secrets that a cluster mounts are often readable by a group.
func warnPrivateMode(e *cli.Env, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	const others fs.FileMode = 0o077
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
		fmt.Fprintf(e.Err, "receipt: warning: the private key %s can be read by others: its mode is %04o\nreceipt: hint: chmod 600 %s\n",
			cli.EscapeLine(fmt.Sprintf("%q", path)), info.Mode().Perm(), cli.ShellFile(path))
	}
	return nil
}

// maxKeyFile is the size of the largest private key file that is read.
const maxKeyFile = 64 << 10
