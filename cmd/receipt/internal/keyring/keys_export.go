package keyring

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysExport(e *cli.Env) *cobra.Command {
	var path string
	var vkey bool
	cmd := &cobra.Command{
		Use:   "export [ID…]",
		Short: "write trusted keys for others",
		Long: `Write keys of a trust file as a JWK Set: all of them, or those with the given ids.

With --vkey, write the verifier keys of signed notes (C2SP), one per line: of type 0x01
for the Ed25519 key of a log, under its origin, and of type 0x04 for a witness, under its
origin or ID. Cosignatures have the type 0x04.`,
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
		list = slices.DeleteFunc(list, func(k *keys.PublicKey) bool {
			return k.Origin == "" && (!k.Has(receipt.RoleWitness) || k.Algorithm != keys.Ed25519)
		})
	}
	if len(list) == 0 {
		return cli.Usage("receipt keys import FILE --role checkpoint --origin NAME gives a key one", "no key of %q has an origin, the name of a verifier key", trust.path)
	}

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

	return cli.WriteOutput(e, "", b.Bytes(), 0, false)
}
