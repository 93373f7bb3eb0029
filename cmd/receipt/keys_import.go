package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type importOptions struct {
	trustFlags
	id, algorithm, to string
	anyIssuer         bool
}

func newKeysImport(e *env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE --issuer ID",
		Short: "trust a public key",
		Long: `Trust a public key: PEM, an OpenSSH public key, a JWK or a JWK Set. Say by --issuer
for whom it may speak, or by --any-issuer that it speaks for whichever issuer a
verification names. What a JWK itself says about issuers and roles is not
believed.

Compare the printed fingerprint with the issuer's, over another way than the one
the file came by.`,
		Example: `  receipt keys import issuer.pem --id key_1 --issuer my_harness --keys keys.json
  receipt keys import jwks.json --issuer my_harness --keys keys.json`,
		Args: exactArgs(1, "one file with a public key"),
		RunE: func(cmd *cobra.Command, args []string) error { return importKeys(e, args[0], &o) },
	}
	o.add(cmd)
	keysFlag(cmd, &o.to)
	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "the key id that receipts name; needed for PEM and OpenSSH unless it is the default")
	f.StringVar(&o.algorithm, "alg", "", "the `ALGORITHM` of a key that does not say it, such as PS256 for RSA")
	f.BoolVar(&o.anyIssuer, "any-issuer", false, "let the key speak for the issuer that a verification names")
	return cmd
}

func importKeys(e *env, path string, o *importOptions) error {
	switch {
	case o.anyIssuer && len(o.issuers) > 0:
		return usage("", "--issuer and --any-issuer exclude each other")
	case !o.anyIssuer && len(o.issuers) == 0 && !o.noIssuerNeeded():
		return usage("--any-issuer leaves it open", "--issuer is missing: for whom may the key speak?")
	}
	trust, err := openTrust(e, trustPath(e, o.to), true)
	if err != nil {
		return err
	}
	data, err := readBounded(e, path, keys.MaxSetBytes+1)
	if err != nil {
		return err
	}
	list, err := parsePublicKeys(data, o)
	if err != nil {
		return usage("", "%q: %w", path, err)
	}
	for _, k := range list {
		if len(o.roles) == 0 && !k.Has(receipt.RoleIssuer) {
			return usage("say by --role what it may be used for", "%q: the key %q is not one for issuers", path, k.ID)
		}
		k.Roles = nil // the caller decides whom to trust for what, not the file
		if err := o.apply(k); err != nil {
			return err
		}
	}
	if err := trust.add(list...); err != nil {
		return err
	}
	for _, k := range list {
		if _, err := fmt.Fprintln(e.out, describeKey(k)); err != nil {
			return err
		}
	}
	return nil
}

// parsePublicKeys reads whichever form of public key data is in.
func parsePublicKeys(data []byte, o *importOptions) ([]*keys.PublicKey, error) {
	text := bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return parseJWKs(text, o)
	case isOpenSSH(text):
		return one(parseOpenSSH(text, o.id, o.algorithm))
	}
	return one(keys.ParsePublicPEM(data, o.id, o.algorithm))
}

func one(k *keys.PublicKey, err error) ([]*keys.PublicKey, error) {
	if err != nil {
		return nil, err
	}
	return []*keys.PublicKey{k}, nil
}

func parseJWKs(text []byte, o *importOptions) ([]*keys.PublicKey, error) {
	doc, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}
	set := doc.Root().Member("keys")
	if set.IsZero() {
		return one(keys.ParsePublic(text, o.id, o.algorithm))
	}
	if o.id != "" && set.Len() != 1 {
		return nil, fmt.Errorf("--id names one key, the set has %d", set.Len())
	}
	file, err := keys.ParseFile(text)
	if err != nil {
		return nil, err
	}
	list := file.Keys()
	if o.id != "" {
		list[0].ID = o.id
	}
	return list, nil
}
