package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/spf13/cobra"
)

// keyFlags name a private key.
type keyFlags struct{ path, id string }

func (k *keyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.path, "key", "", "sign with the private key in this `FILE`")
	cmd.Flags().StringVar(&k.id, "key-id", "", "the key id of a key in PEM")
}

// sign adds the key's signature, unless it is there already.
func (k *keyFlags) sign(ctx context.Context, e *env, sealed *receipt.Sealed) (*receipt.Sealed, error) {
	private, err := k.read(e)
	if err != nil {
		return nil, err
	}
	public := private.Public()
	doc, err := canon.Parse(sealed.JSON())
	if err != nil {
		return nil, err
	}
	for _, s := range doc.Root().Member("signatures").Elements() {
		if s.Member("key_id").String() == public.ID {
			return nil, usage("", "the receipt is signed by %q already", public.ID)
		}
	}
	if named := doc.Root().Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != public.ID {
		fmt.Fprintf(e.err, "receipt: warning: the receipt names %s as its issuer's key; a signature by %s can only count as a witness's\n",
			escapeLine(fmt.Sprintf("%q", named.String())), escapeLine(fmt.Sprintf("%q", public.ID)))
	}
	signed, err := sealed.Sign(ctx, keys.NewSigner(private, e.now))
	if err != nil {
		return nil, usage("", "%q: %w", k.path, err)
	}
	return signed, nil
}

// given reports whether a key is named. An id without a key is an error: who gives
// one expects a signature.
func (k *keyFlags) given() (bool, error) {
	if k.path == "" && k.id != "" {
		return false, usage("receipt keys generate makes a key", "--key-id names the key of --key, which is missing")
	}
	return k.path != "", nil
}

func (k *keyFlags) read(e *env) (*keys.PrivateKey, error) {
	if k.path == stdinName { // often the receipt is
		return nil, usage("", "--key is a file, stdin is not read for it")
	}
	if err := warnPrivateMode(e, k.path); err != nil {
		return nil, err
	}
	data, err := readBounded(e, k.path, maxKeyFile+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxKeyFile {
		return nil, usage("", "%q is larger than a key file ever is, %d bytes", k.path, maxKeyFile)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN")) {
		return k.readPEM(data)
	}
	private, err := keys.ParsePrivate(data)
	if err != nil {
		return nil, usage("a private key is a JWK, as receipt keys generate writes it, or PEM", "%q: %w", k.path, err)
	}
	if k.id != "" && k.id != private.Public().ID {
		return nil, usage("", "%q holds the key %q, --key-id says %q", k.path, private.Public().ID, k.id)
	}
	return private, nil
}

func (k *keyFlags) readPEM(data []byte) (*keys.PrivateKey, error) {
	if k.id == "" {
		return nil, usage("", "%q is PEM, which holds no key id; give it by --key-id", k.path)
	}
	private, err := keys.ParsePrivatePEM(data, k.id, "")
	if err != nil {
		return nil, usage("", "%q: %w", k.path, err)
	}
	return private, nil
}

// warnPrivateMode says when others on the machine can read a private key. It is
// no error: secrets that a cluster mounts are often readable by a group.
func warnPrivateMode(e *env, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return readError(path, err)
	}
	const others fs.FileMode = 0o077
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
		fmt.Fprintf(e.err, "receipt: warning: the private key %s can be read by others: its mode is %04o\nreceipt: hint: chmod 600 %s\n",
			escapeLine(fmt.Sprintf("%q", path)), info.Mode().Perm(), shellFile(path))
	}
	return nil
}

// maxKeyFile is the size of the largest private key file that is read.
const maxKeyFile = 64 << 10
