package keyring

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysList(e *cli.Env) *cobra.Command {
	path, format := "", "text"
	cmd := &cobra.Command{
		Use:   "list [FILE]",
		Short: "list the trusted keys",
		Long: `List the keys of a trust file: ID, algorithm, issuers, roles, validity, current
status, and RFC 7638 fingerprint.`,
		Example: `  receipt keys list keys.json
  receipt keys list --format json keys.json`,
		Args: cli.OptionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && path != "" {
				return cli.Usage("", "FILE and --keys exclude each other")
			}
			if len(args) > 0 {
				path = args[0]
			}
			trust, err := openTrust(e, path, false)
			if err != nil {
				return err
			}
			if format == "json" {
				return listJSON(e.Out, trust.Keys(), e.Now())
			}

			var table bytes.Buffer
			if err := listText(&table, trust.Keys(), e.Now()); err != nil {
				return err
			}

			// A folded table is difficult to read, so a narrow terminal gets one block per key.
			if e.Terminal && e.Width > 0 && widest(table.String()) > e.Width {
				return listBlocks(e.Text(), trust.Keys(), e.Now())
			}
			_, err = e.Out.Write(table.Bytes())
			return err
		},
	}

	cmd.Flags().StringVarP(&path, "keys", "k", "", "trust file (`FILE`)")
	cli.Choose(cmd.Flags(), &format, "format", "output format (`FORMAT`)", "text", "json")
	return cmd
}

func listText(w io.Writer, list []*keys.PublicKey, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tALGORITHM\tISSUERS\tROLES\tVALID\tSTATUS\tFINGERPRINT")
	for _, k := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cli.EscapeLine(k.ID), k.Algorithm, issuersText(k), cli.RolesText(k),
			validityText(k), statusText(k, now), k.Fingerprint())
	}
	return t.Flush()
}

// widest returns the length of the longest line in characters.
func widest(text string) (most int) {
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(line)-1)
	}
	return most
}

// listBlocks writes the list for a narrow terminal, with one block per key.
func listBlocks(w io.Writer, list []*keys.PublicKey, now time.Time) error {
	for i, k := range list {
		var b print.Block
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", cli.EscapeLine(k.ID))
		b.Row("algorithm", k.Algorithm)
		b.Row("issuers", issuersText(k))
		b.Row("roles", cli.RolesText(k))
		b.Row("valid", validityText(k))
		b.Row("status", statusText(k, now))
		b.Row("fingerprint", k.Fingerprint())
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func validityText(k *keys.PublicKey) string {
	var parts []string
	if !k.NotBefore.IsZero() {
		parts = append(parts, "from "+receipt.At(k.NotBefore).String())
	}
	if !k.NotAfter.IsZero() {
		parts = append(parts, "until "+receipt.At(k.NotAfter).String())
	}
	if len(parts) == 0 {
		return "always"
	}
	return strings.Join(parts, " ")
}

func statusText(k *keys.PublicKey, now time.Time) string {
	text := strings.ReplaceAll(cli.KeyStatus(k, now), "_", " ")
	if r := k.Revoked; r != nil {
		text += ", " + revocationText(r)
	}
	return text
}

func revocationText(r *receipt.Revocation) string {
	if r.Reason == "" {
		return "no reason, at " + receipt.At(r.At).String()
	}
	return cli.EscapeLine(r.Reason) + " at " + receipt.At(r.At).String()
}

type listedKey struct {
	ID          string            `json:"id"`
	Algorithm   string            `json:"algorithm"`
	Issuers     []string          `json:"issuers"`
	Roles       []string          `json:"roles"`
	Origin      string            `json:"origin,omitempty"`
	NotBefore   receipt.Time      `json:"not_before,omitzero"`
	NotAfter    receipt.Time      `json:"not_after,omitzero"`
	Revoked     *listedRevocation `json:"revoked,omitempty"`
	Status      string            `json:"status"`
	Fingerprint string            `json:"fingerprint"`
}

type listedRevocation struct {
	At     receipt.Time `json:"at"`
	Reason string       `json:"reason"`
}

func listJSON(w io.Writer, list []*keys.PublicKey, now time.Time) error {
	all := make([]listedKey, 0, len(list))
	for _, k := range list {
		l := listedKey{ID: k.ID, Algorithm: k.Algorithm, Issuers: append([]string{}, k.Issuers...), Roles: strings.Split(cli.RolesText(k), ", "),
			Origin: k.Origin, Status: cli.KeyStatus(k, now), Fingerprint: k.Fingerprint()}
		if !k.NotBefore.IsZero() {
			l.NotBefore = receipt.At(k.NotBefore)
		}
		if !k.NotAfter.IsZero() {
			l.NotAfter = receipt.At(k.NotAfter)
		}
		if r := k.Revoked; r != nil {
			l.Revoked = &listedRevocation{receipt.At(r.At), r.Reason}
		}
		all = append(all, l)
	}

	return print.NewJSONWriter(w).Write(`{"keys":`, all, "}\n")
}
