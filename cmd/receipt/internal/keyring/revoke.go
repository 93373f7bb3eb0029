package keyring

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
)

func newKeysRevoke(e *cli.Env) *cobra.Command {
	var at time.Time
	var why, to string
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "revoke a trusted key",
		Long: `Revoke a key of a trust file. None of its signatures are accepted, under any ID,
except earlier ones with --reason superseded.`,
		Example: `  receipt keys revoke key_2026_04 --reason superseded --keys keys.json
  receipt keys revoke key_2026_05 --reason compromised --at 2026-05-01T12:00:00Z --keys keys.json`,
		Args: cli.ExactArgs(1, "one key id"),
		RunE: func(cmd *cobra.Command, args []string) error { return revoke(e, args[0], at, why, to) },
	}

	cli.TimeVar(cmd.Flags(), &at, "at", "time of revocation, RFC 3339 (default: now) (`TIME`)")
	cmd.Flags().StringVar(&why, "reason", "", "superseded, compromised, or any other text (`TEXT`)")
	cmd.Flags().StringVarP(&to, "keys", "k", "", "trust file (`FILE`)")
	cli.Alias(cmd.Flags(), "keys", "to")
	return cmd
}

func revoke(e *cli.Env, id string, at time.Time, why, to string) error {
	if at.IsZero() {
		at = e.Now()
	}
	trust, err := openTrust(e, to, false)
	if err != nil {
		return err
	}
	if _, err := trust.find(id); err != nil {
		return err
	}
	if err := trust.Revoke(id, at, why); err != nil {
		return cli.Usage("", "%q: %w", trust.path, err)
	}

	// The key is read again, because Revoke changed it.
	k, err := trust.find(id)
	if err != nil {
		return err
	}
	if err := trust.save(); err != nil {
		return err
	}

	// The holder of a stolen key can also forge the times of its signatures, so earlier signatures
	// remain valid only if the key was superseded.
	effect, label := "none of its signatures is accepted", "also ended"
	if why == receipt.ReasonSuperseded {
		effect, label = "earlier signatures are still accepted", "not ended"
	}
	fmt.Fprintf(e.Out, "%s: revoked, %s; %s\n", cli.EscapeLine(id), revocationText(k.Revoked), effect)
	if others := trust.namesakes(k); len(others) > 0 {
		fmt.Fprintf(e.Out, "%-13s%s: the same key\n", label, cli.EscapeLine(strings.Join(others, ", ")))
	}
	_, err = fmt.Fprintf(e.Out, "fingerprint  %s\n", k.Fingerprint())
	return err
}
