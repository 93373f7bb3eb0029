package main

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

type generateOptions struct {
	trustFlags
	id, algorithm, private, public string
	force                          bool
}

func newKeysGenerate(e *env) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate --issuer ID --private FILE --public FILE",
		Short: "make a key pair",
		Long: `Make a key pair. The private key goes to --private, readable by its owner only;
the public key is added to the trust file --public, which is made when it does
not exist. Without --id the key is named after its material.`,
		Example: `  receipt keys generate --issuer my_harness --private me.private.json --public keys.json
  receipt keys generate --alg ES256 --id key_2 --issuer my_harness --private two.private.json --public keys.json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error { return generateKey(e, &o) },
	}
	o.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "the key id that receipts will name")
	f.StringVar(&o.algorithm, "alg", keys.Ed25519, "the `ALGORITHM`: "+strings.Join(keys.Algorithms(), " "))
	f.StringVar(&o.private, "private", "", "write the private key to this `FILE`")
	f.StringVar(&o.public, "public", "", "add the public key to this trust `FILE`")
	f.BoolVar(&o.force, "force", false, "overwrite the private file")
	return cmd
}

func generateKey(e *env, o *generateOptions) error {
	switch {
	case o.private == "" || o.public == "":
		return usage("receipt keys generate --help shows examples", "--private and --public are both needed")
	case len(o.issuers) == 0 && !o.noIssuerNeeded():
		return usage("a key speaks for the issuers that are listed with it", "--issuer is missing")
	case !slices.Contains(keys.Algorithms(), o.algorithm):
		return usage("", "--alg is one of %s, found %q", strings.Join(keys.Algorithms(), ", "), o.algorithm)
	}
	trust, err := openTrust(e, o.public, true)
	if err != nil {
		return err
	}
	private, err := keys.Generate(rand.Reader, o.algorithm, o.id)
	if err != nil {
		return usage("", "%w", err)
	}
	public := private.Public()
	if err := o.apply(public); err != nil {
		return err
	}
	text, err := private.MarshalPrivate()
	if err != nil {
		return err
	}
	const owner fs.FileMode = 0o600
	if err := writeOutput(e, o.private, text, owner, o.force); err != nil {
		return err
	}
	if err := trust.add(public); err != nil {
		os.Remove(o.private) // a private key whose public one is nowhere is of no use
		return err
	}
	_, err = fmt.Fprintf(e.out, "%s\nprivate key: %s\ntrusted in: %s\n", describeKey(public), escapeLine(o.private), escapeLine(o.public))
	return err
}
