package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/receipt"
)

func newKeysRevoke(e *env) *cobra.Command {
	var path, at, why string
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "stop trusting a key",
		Long: `Stop trusting a key. With --reason superseded its earlier signatures keep their
worth; with any other reason, or none, no signature of it counts any more, for
who holds a stolen key sets its clock.`,
		Example: `  receipt keys revoke key_1 --reason superseded --keys keys.json
  receipt keys revoke key_1 --reason compromised --at 2026-06-01T00:00:00Z --keys keys.json`,
		Args: exactArgs(1, "one key id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			when, err := revocationTime(e, at)
			if err != nil {
				return err
			}
			trust, err := openTrust(e, trustPath(e, path), false)
			if err != nil {
				return err
			}
			if err := trust.file.Revoke(args[0], when, why); err != nil {
				return usage("receipt keys list shows the key ids", "%q: %w", trust.path, err)
			}
			if err := trust.save(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.out, "%s revoked from %s on\n", escapeLine(args[0]), receipt.At(when))
			return err
		},
	}
	keysFlag(cmd, &path)
	cmd.Flags().StringVar(&at, "at", "", "the `TIME` (RFC 3339); now when absent")
	cmd.Flags().StringVar(&why, "reason", "", "`superseded|compromised|TEXT`")
	return cmd
}

func revocationTime(e *env, at string) (time.Time, error) {
	if at == "" {
		return e.now().Truncate(time.Second), nil
	}
	when, err := receipt.ParseTime(at)
	if err != nil {
		return time.Time{}, usage("", "--at %q: %w", at, err)
	}
	return when, nil
}
