package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysList(e *env) *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "list [FILE]",
		Short: "list the trusted keys",
		Long:  "List the trusted keys: what each may be used for, and its RFC 7638 fingerprint.",
		Example: `  receipt keys list --keys keys.json
  receipt keys list keys.json --format json`,
		Args: optionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if path != "" {
					return usage("", "the file is named twice: %q and --keys %q", args[0], path)
				}
				path = args[0]
			}
			trust, err := openTrust(e, trustPath(e, path), false)
			if err != nil {
				return err
			}
			switch format {
			case "text":
				return listKeys(e, trust)
			case "json":
				return listKeysJSON(e, trust)
			}
			return usage("", "--format is text or json, found %q", format)
		},
	}
	keysFlag(cmd, &path)
	cmd.Flags().StringVar(&format, "format", "text", "`text|json`")
	return cmd
}

func listKeys(e *env, trust *editedTrust) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tALGORITHM\tROLES\tISSUERS\tSTATUS\tFINGERPRINT")
	for _, k := range trust.file.Keys() {
		issuers := "(named by --issuer)"
		if len(k.Issuers) > 0 {
			issuers = strings.Join(k.Issuers, ",")
		} else if !k.Has(receipt.RoleIssuer) {
			issuers = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", escapeLine(k.ID), k.Algorithm, roleNames(k), escapeLine(issuers), keyStatus(k, e.now()), k.Fingerprint())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := e.out.Write(b.Bytes())
	return err
}

func roleNames(k *keys.PublicKey) string {
	if len(k.Roles) == 0 {
		return string(receipt.RoleIssuer)
	}
	names := make([]string, len(k.Roles))
	for i, r := range k.Roles {
		names[i] = string(r)
	}
	return strings.Join(names, ",")
}

// keyStatus says what a key is worth now.
func keyStatus(k *keys.PublicKey, now time.Time) string {
	switch {
	case k.Revoked != nil && k.Revoked.Reason == receipt.ReasonSuperseded:
		return "superseded " + receipt.At(k.Revoked.At).String()
	case k.Revoked != nil:
		return "revoked " + receipt.At(k.Revoked.At).String()
	case !k.NotBefore.IsZero() && now.Before(k.NotBefore):
		return "valid from " + receipt.At(k.NotBefore).String()
	case !k.NotAfter.IsZero() && !now.Before(k.NotAfter):
		return "expired " + receipt.At(k.NotAfter).String()
	case !k.NotAfter.IsZero():
		return "valid until " + receipt.At(k.NotAfter).String()
	}
	return "valid"
}

// listedKey is one key of `keys list --format json`.
type listedKey struct {
	KeyID       string         `json:"key_id"`
	Algorithm   string         `json:"algorithm"`
	Roles       []receipt.Role `json:"roles"`
	Issuers     []string       `json:"issuers"`
	Origin      string         `json:"origin,omitzero"`
	Status      string         `json:"status"`
	Fingerprint string         `json:"fingerprint"`
}

func listKeysJSON(e *env, trust *editedTrust) error {
	list := []listedKey{}
	for _, k := range trust.file.Keys() {
		roles := k.Roles
		if len(roles) == 0 {
			roles = []receipt.Role{receipt.RoleIssuer}
		}
		list = append(list, listedKey{k.ID, k.Algorithm, roles, append([]string{}, k.Issuers...), k.Origin, keyStatus(k, e.now()), k.Fingerprint()})
	}
	text, err := json.MarshalIndent(map[string]any{"keys": list}, "", "  ")
	if err != nil {
		return err
	}
	_, err = e.out.Write(append(text, '\n'))
	return err
}
