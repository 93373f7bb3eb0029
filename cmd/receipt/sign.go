package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newSign(e *env) *cobra.Command {
	var key keyFlags
	var output string
	var force bool
	cmd := &cobra.Command{
		Use:   "sign FILE --key KEY",
		Short: "add a signature to a sealed receipt",
		Long: `Add a signature to a sealed receipt, as its issuer or as a witness. The schema and
the hash are checked first: nothing false is ever signed. The hash does not
change; signatures lie outside it.

KEY is a private JWK as receipt keys generate writes it, or a private key in PEM,
whose id then is given by --key-id.`,
		Example: `  receipt sign receipt.json --key witness.private.json -o witnessed.json
  receipt sign - --key issuer.pem --key-id key_1 < receipt.json`,
		Args: exactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key.path == "" {
				return usage("receipt keys generate makes a key", "--key is missing")
			}
			data, err := readInput(e, args[0])
			if err != nil {
				return err
			}
			sealed, err := receipt.ParseSealed(data)
			if err != nil {
				return unsignable(args[0], err)
			}
			if sealed, err = key.sign(cmd.Context(), e, sealed); err != nil {
				return err
			}
			return writeOutput(e, output, append(sealed.JSON(), '\n'), 0o644, force)
		},
	}
	key.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `FILE`")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the output file")
	return cmd
}

// unsignable words why a document must not be signed, with its report's exit.
func unsignable(path string, err error) error {
	var undecided *receipt.UndecidedError
	if errors.As(err, &undecided) {
		return &failure{exitUndecided, fmt.Errorf("%q cannot be signed: %w", sourceName(path), err), ""}
	}
	return refuted("receipt verify --integrity-only shows all of it", "%q must not be signed: %w", sourceName(path), err)
}

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
	root := sealed.Document().Root()
	for _, s := range root.Member("signatures").Elements() {
		if s.Member("key_id").String() == public.ID {
			return nil, usage("", "the receipt is signed by %q already", public.ID)
		}
	}
	if named := root.Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != public.ID {
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

// maxKeyFile is the size of the largest private key file that is read.
const maxKeyFile = 64 << 10

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
