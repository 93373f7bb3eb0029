package keyring

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysExport(e *cli.Env) *cobra.Command {
	var path string
	var vkey bool
	cmd := &cobra.Command{
		Use:   "export [ID…]",
		Short: "write trusted keys for others",
		Long: `Write keys of a trust file as a JWK Set: all of them, or those with the given
IDs. With --vkey, write verifier keys of signed notes (C2SP), one per line, of
type 0x01 for a log, 0x04 for a witness, and 0x06 for either with ML-DSA-44.`,
		Example: `  receipt keys export key_2026_04 --keys keys.json
  receipt keys export --vkey log_1 --keys keys.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			trust, err := openTrust(e, path, false)
			if err != nil {
				return err
			}
			list, err := trust.chosen(args)
			switch {
			case err != nil:
				return err
			case vkey:
				return exportVerifiers(e, trust, list, len(args) == 0)
			}
			return writeSet(e, list...)
		},
	}

	cmd.Flags().StringVarP(&path, "keys", "k", "", "trust file (`FILE`)")
	cmd.Flags().BoolVar(&vkey, "vkey", false, "write verifier keys of signed notes")
	return cmd
}

// writeSet writes keys as a JWK Set.
func writeSet(e *cli.Env, list ...*keys.PublicKey) error {
	var file keys.File
	if err := file.Add(list...); err != nil {
		return err
	}
	text, err := file.Marshal()
	if err != nil {
		return err
	}
	_, err = e.Out.Write(text)
	return err
}

// exportVerifiers writes the verifier keys for a list of keys. If all is set, the list also
// contains other keys, which are skipped.
func exportVerifiers(e *cli.Env, trust *trustFile, list []*keys.PublicKey, all bool) error {
	if all {
		list = slices.DeleteFunc(list, func(k *keys.PublicKey) bool {
			_, err := k.Witness("name")
			return k.Origin == "" && (!k.Has(receipt.RoleWitness) || err != nil)
		})
	}
	if len(list) == 0 {
		return cli.Usage("set an origin with receipt keys import FILE --role checkpoint --origin NAME", "no key of %q has an origin, the name of a verifier key", trust.path)
	}

	// Nothing is written unless every key can be exported.
	var b bytes.Buffer
	for _, k := range list {
		lines, err := verifierKeys(k)
		if err != nil {
			return err
		}
		for _, line := range lines {
			fmt.Fprintln(&b, line)
		}
	}

	_, err := e.Out.Write(b.Bytes())
	return err
}

func newKeysPublic(e *cli.Env) *cobra.Command {
	var id string
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "public KEY",
		Short: "write the public half of a private key",
		Long: `Write the public half of a private key, in any form that receipt sign accepts, as
a JWK Set. The set does not bind the key to an issuer; receipt keys import does.`,
		Example: `  receipt keys public issuer.private.json
  receipt keys public a.private.json | receipt keys import - --issuer harness_b --keys b.json`,
		Args: cli.ExactArgs(1, "one private key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := custody.Open(cmd.Context(), e, args[0], custody.Options{ID: id, Patience: patience})
			if err != nil {
				return err
			}
			return writeSet(e, key.Public())
		},
	}

	cmd.Flags().StringVar(&id, "id", "", "ID of a key that is not in a JWK (`ID`)")
	custody.AddPatience(cmd, &patience)
	return cmd
}
