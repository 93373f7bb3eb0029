package keyring

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	sumdb "golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysExport(e *cli.Env) *cobra.Command {
	var path string
	var vkey bool
	cmd := &cobra.Command{
		Use:   "export [ID…]",
		Short: "write trusted keys for others",
		Long: `Write keys of a trust file as a JWK Set: all of them, or those with the given ids.

With --vkey, write the verifier key of signed notes (golang.org/x/mod/sumdb/note),
a line each, of Ed25519 keys with an origin, which is its name.`,
		Example: `  receipt keys export key_2026_04 --keys keys.json
  receipt keys export --vkey log_1 --keys keys.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			trust, err := openTrust(e, path, false)
			if err != nil {
				return err
			}
			if vkey {
				return exportVerifiers(e, trust, args)
			}
			return exportSet(e, trust, args)
		},
	}

	cmd.Flags().StringVarP(&path, "keys", "k", "", "the trust `FILE`")
	cmd.Flags().BoolVar(&vkey, "vkey", false, "write verifier keys of signed notes")
	return cmd
}

func exportSet(e *cli.Env, trust *trustFile, ids []string) error {
	list, err := trust.chosen(ids)
	if err != nil {
		return err
	}
	var file keys.File
	if err := file.Add(list...); err != nil {
		return err
	}
	text, err := file.Marshal()
	if err != nil {
		return err
	}
	return cli.WriteOutput(e, "", text, 0, false)
}

func exportVerifiers(e *cli.Env, trust *trustFile, ids []string) error {
	list, err := trust.chosen(ids)
	if err != nil {
		return err
	}
	// Where none is named, all that can be verifier keys.
	if len(ids) == 0 {
		list = slices.DeleteFunc(list, func(k *keys.PublicKey) bool { return k.Origin == "" })
	}
	if len(list) == 0 {
		return cli.Usage("receipt keys import FILE --role checkpoint --origin NAME gives a key one", "no key of %q has an origin, the name of a verifier key", trust.path)
	}

	var b bytes.Buffer
	for _, k := range list {
		text, err := verifierKey(k)
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, text)
	}

	return cli.WriteOutput(e, "", b.Bytes(), 0, false)
}

func verifierKey(k *keys.PublicKey) (string, error) {
	public, ok := k.Crypto().(ed25519.PublicKey)
	switch {
	case !ok:
		return "", cli.Usage("", "the key %q is for %s; signed notes take Ed25519 keys", k.ID, k.Algorithm)
	case k.Origin == "":
		return "", cli.Usage("receipt keys import FILE --role checkpoint --origin NAME gives a key one", "the key %q has no origin, the name of its verifier key", k.ID)
	}

	// golang.org/x/mod/sumdb/note: the name, the hash and the key.
	text, err := sumdb.NewEd25519VerifierKey(k.Origin, public)
	if err != nil {
		return "", err
	}
	if _, err := sumdb.NewVerifier(text); err != nil { // of a name with a space or a plus sign
		return "", cli.Usage("a name is not empty and has no spaces and no plus sign", "the origin %q of the key %q cannot name a verifier key", k.Origin, k.ID)
	}

	return text, nil
}
