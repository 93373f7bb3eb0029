package logs

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/statement"
	"github.com/receiptkit/receiptkit/internal/timestamp"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// NewTimestamp returns the command "receipt timestamp".
func NewTimestamp(e *cli.Env) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "timestamp COMMAND",
		Short: "show that receipts existed before a time (RFC 3161)",
		Long: `Send the query that request writes to a timestamp authority, and attach its
answer.`,
		Example: `  receipt timestamp request receipt.json --query query.tsq -o receipt.timestamp
  receipt timestamp attach receipt.timestamp answer.tsr --roots roots.pem`,
	}, newTimestampRequest(e), newTimestampAttach(e), newTimestampVerify(e))
}

func newTimestampRequest(e *cli.Env) *cobra.Command {
	var query, policy string
	var output cli.OutputFlags
	cmd := &cobra.Command{
		Use:   "request FILE --query QUERY -o TIMESTAMP",
		Short: "write the query for an authority",
		Long: `Write a query about a receipt, a checkpoint, or the last statement of a file.
TIMESTAMP contains the data that attach and verify need.`,
		Example: `  receipt timestamp request receipt.json --query query.tsq -o receipt.timestamp
  receipt timestamp request checkpoint.txt --query query.tsq -o checkpoint.timestamp`,
		Args: cli.ExactArgs(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if query == "" || output.Path == "" {
				return cli.Usage("", "both --query QUERY and --output TIMESTAMP are required")
			}
			if cli.SameFile(query, output.Path) {
				return cli.Usage("", "--query and --output are the same file, %q", query)
			}
			kind, digests, err := stampable(e, args[0])
			if err != nil {
				return err
			}
			s, err := timestamp.New(rand.Reader, kind, digests[len(digests)-1], policy)
			if err != nil {
				return cli.Usage("", "--tsa-policy: %w", err)
			}
			der, err := s.Query()
			if err != nil {
				return err
			}
			text, err := s.JSON()
			if err != nil {
				return err
			}
			if err := output.Check(); err != nil {
				return err
			}
			if err := cli.WriteOutput(e, query, der, 0o644, output.Force); err != nil {
				return err
			}
			return output.Write(e, text, 0o600) // the file contains the salt
		},
	}
	f := cmd.Flags()
	f.StringVar(&query, "query", "", "query to send (`FILE`)")
	f.StringVar(&policy, "tsa-policy", "", "required policy (`OID`)")
	output.Register(f, "timestamp file (`FILE`)")
	return cmd
}

// stampable returns the kind and the digests of the objects to be timestamped in a file: a receipt,
// a checkpoint, or statements.
func stampable(e *cli.Env, path string) (kind string, digests []canon.Digest, err error) {
	data, err := input.ReadInput(e, path)
	if err != nil {
		return "", nil, err
	}
	if c, err := tlog.OpenSigned(data, nil, nil); err == nil {
		return timestamp.Checkpoint, []canon.Digest{canon.Sum([]byte(c.String()))}, nil
	}
	var torn error
	for _, s := range statement.ParseFile(data, func(line int, fault error) {
		torn = cmp.Or(torn, cli.Usage("", "%q, line %d: %w", cli.SourceName(path), line, fault))
	}) {
		digests = append(digests, s.Digest)
	}
	if len(digests) > 0 {
		return timestamp.Statement, digests, torn
	}
	sealed, err := receipt.ParseSealed(bytes.TrimSpace(data))
	if err != nil {
		return "", nil, cli.Usage("use a receipt, a checkpoint, or a file of statements", "%q: %w", cli.SourceName(path), err)
	}
	return timestamp.Receipt, []canon.Digest{sealed.Hash()}, nil
}

func newTimestampAttach(e *cli.Env) *cobra.Command {
	var roots string
	var force bool
	cmd := &cobra.Command{
		Use:   "attach TIMESTAMP ANSWER --roots ROOTS",
		Short: "store the answer of an authority",
		Long:  `Add an answer to TIMESTAMP if it is verified.`,
		Example: `  receipt timestamp attach receipt.timestamp answer.tsr --roots roots.pem
  receipt timestamp attach receipt.timestamp answer.tsr --roots roots.pem --force`,
		Args: cli.ExactArgs(2, "a timestamp file and an answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := trust.ReadTimestamp(e, args[0])
			if err != nil {
				return err
			}
			earlier := s.Token
			answer, err := input.ReadBounded(e, args[1], timestamp.MaxBytes+1)
			if err == nil {
				err = s.Attach(answer)
			}
			if err != nil {
				return refusedTimestamp(args[1], err)
			}
			if earlier != nil && !bytes.Equal(earlier, s.Token) && !force {
				return cli.Usage("replace it with --force", "%q already contains a different answer", args[0])
			}
			proven, err := provenTimestamp(e, s, roots, args[1])
			if err != nil {
				return err
			}
			if err := printTimestamp(e, s, proven); err != nil {
				return err
			}
			text, err := s.JSON()
			if err != nil {
				return err
			}
			return cli.ReplaceFile(args[0], text, 0o600)
		},
	}
	f := cmd.Flags()
	f.StringVar(&roots, "roots", "", "trusted roots, in PEM (`FILE`)")
	f.BoolVarP(&force, "force", "f", false, "replace an earlier answer")
	return cmd
}

func newTimestampVerify(e *cli.Env) *cobra.Command {
	var roots string
	cmd := &cobra.Command{
		Use:   "verify TIMESTAMP FILE --roots ROOTS",
		Short: "verify a timestamp",
		Long:  `Verify a timestamp of a file. For the receipts of a checkpoint, use receipt verify.`,
		Example: `  receipt timestamp verify receipt.timestamp receipt.json --roots roots.pem
  receipt timestamp verify receipt.timestamp receipt.json --roots roots.pem >/dev/null`,
		Args: cli.ExactArgs(2, "a timestamp file, and the file that it dates"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := trust.ReadTimestamp(e, args[0])
			if err != nil {
				return err
			}
			kind, digests, err := stampable(e, args[1])
			if err != nil {
				return err
			}

			// Only an authentic timestamp can contradict the file.
			proven, err := provenTimestamp(e, s, roots, args[0])
			switch {
			case err != nil:
				return err
			case kind != s.Kind || !slices.Contains(digests, s.Digest):
				return cli.Refuted("", "%s: %q is not a timestamp of %q", receipt.CodeTimestampInvalid, args[0], cli.SourceName(args[1]))
			}
			return printTimestamp(e, s, proven)
		},
	}
	cmd.Flags().StringVar(&roots, "roots", "", "trusted roots, in PEM (`FILE`)")
	return cmd
}

// provenTimestamp verifies a timestamp against the roots in a file.
func provenTimestamp(e *cli.Env, s *timestamp.Stamp, path, source string) (t receipt.Timestamp, err error) {
	roots, err := trust.ReadRoots(e, path)
	if err != nil {
		return t, err
	}
	if t, err = trust.Proven(s, roots, e.Now(), nil); err != nil {
		return t, refusedTimestamp(source, err)
	}
	return t, nil
}

// printTimestamp prints the time that a timestamp proves.
func printTimestamp(e *cli.Env, s *timestamp.Stamp, proven receipt.Timestamp) error {
	_, err := fmt.Fprintf(e.Out, "verified: the %s existed before %v (authority %s)\n", s.Kind, proven.Time, cli.EscapeLine(fmt.Sprintf("%q", proven.Authority)))
	return err
}

// refusedTimestamp returns the failure for a response or a timestamp that was not accepted.
func refusedTimestamp(path string, err error) error {
	var missing *timestamp.MissingError
	var invalid *timestamp.InvalidError
	switch {
	case errors.As(err, &missing):
		return cli.Undecided("", "%q: %s: %s", cli.SourceName(path), missing.Code, missing.Detail)
	case errors.As(err, &invalid):
		return cli.Refuted("request a new timestamp", "%q: %s: %s", cli.SourceName(path), receipt.CodeTimestampInvalid, invalid.Detail)
	}
	return err
}
