package main

import (
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	signednote "golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysExport(e *env) *cobra.Command {
	var path string
	var vkey bool
	cmd := &cobra.Command{
		Use:   "export [ID…]",
		Short: "write public keys",
		Long: `Write public keys as a JWK Set: those named, or all. With --vkey, write the
verifier key of a checkpoint key, as C2SP signed notes use it.`,
		Example: `  receipt keys export key_1 --keys keys.json
  receipt keys export log_1 --vkey --keys keys.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			trust, err := openTrust(e, trustPath(e, path), false)
			if err != nil {
				return err
			}
			list, err := selectKeys(trust, args)
			if err != nil {
				return err
			}
			if vkey {
				return writeVkeys(e, list)
			}
			file := new(keys.File)
			if err := file.Add(list...); err != nil {
				return usage("", "%q: %w", trust.path, err)
			}
			text, err := file.Marshal()
			if err != nil {
				return usage("", "%q: %w", trust.path, err)
			}
			return writeOutput(e, "", text, 0, false)
		},
	}
	keysFlag(cmd, &path)
	cmd.Flags().BoolVar(&vkey, "vkey", false, "write verifier keys of signed notes")
	return cmd
}

// selectKeys returns the keys of the given ids, or all.
func selectKeys(trust *editedTrust, ids []string) ([]*keys.PublicKey, error) {
	all := trust.file.Keys()
	if len(ids) == 0 {
		return all, nil
	}
	var list []*keys.PublicKey
	for _, id := range ids {
		i := slices.IndexFunc(all, func(k *keys.PublicKey) bool { return k.ID == id })
		if i < 0 {
			return nil, usage("receipt keys list shows the key ids", "%q has no key %q", trust.path, id)
		}
		list = append(list, all[i])
	}
	return list, nil
}

func writeVkeys(e *env, list []*keys.PublicKey) error {
	for _, k := range list {
		public, ok := k.Crypto().(ed25519.PublicKey)
		if !ok {
			return usage("", "%q is a key for %s; verifier keys are for ed25519", k.ID, k.Algorithm)
		}
		if k.Origin == "" {
			return usage("receipt keys import --origin NAME gives it one", "%q has no origin, which a verifier key begins with", k.ID)
		}
		text, err := signednote.NewEd25519VerifierKey(k.Origin, public)
		if err != nil {
			return usage("", "%q: %w", k.ID, err)
		}
		if _, err := fmt.Fprintln(e.out, text); err != nil {
			return err
		}
	}
	return nil
}
