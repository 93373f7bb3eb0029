package input

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Known contains what a hash, a receipt, or an earlier report states about streams.
type Known struct {
	Hash    canon.Digest
	ID      string // receipt_id; only for a receipt
	Stream  *chain.Stream
	Summary *stream.Summary
}

// ReadKnown reads an argument of the form HASH|FILE|REPORT. All failures have exit code 2, because
// nothing can be compared with a damaged argument.
func ReadKnown(e *cli.Env, arg string) (Known, error) {
	k, err := readKnown(e, arg)
	var f *cli.Failure
	if errors.As(err, &f) {
		err = &cli.Failure{Code: cli.ExitUsage, Err: f.Err, Hint: f.Hint}
	}
	return k, err
}

func readKnown(e *cli.Env, arg string) (Known, error) {
	if d, err := canon.ParseDigest([]byte(arg)); err == nil {
		if d.IsZero() {
			// As a value of the flag, the zero hash would mean that there is no requirement.
			return Known{}, cli.Usage("omit the flag if there is no such receipt", "%q is not the hash of a receipt", arg)
		}
		return Known{Hash: d}, nil
	}

	if _, err := os.Stat(arg); err != nil && strings.HasPrefix(arg, "sha256:") {
		return Known{}, cli.Usage("a hash consists of sha256: and 64 lowercase hexadecimal digits", "%q is not a hash", arg)
	}

	if _, _, ok := Address(arg); ok {
		data, err := ReadReceipt(e, arg)
		if err != nil {
			return Known{}, err
		}
		return knownReceipt(arg, data)
	}

	data, err := ReadBounded(e, arg, MaxReportBytes+1)
	if err != nil {
		return Known{}, err
	}

	if packed(data) {
		if data, err = onlyOne(arg, data); err != nil {
			return Known{}, err
		}
	}

	// The file is first read as a report. ReadReport returns ErrNotReport for any other file.
	report, err := ReadReport(data)
	if err != nil && !errors.Is(err, ErrNotReport) {
		return Known{}, cli.Usage("", "%q: %w", arg, err)
	}
	if err == nil {
		return Known{Summary: report.Summary}, nil
	}

	return knownReceipt(arg, data)
}

// knownReceipt returns what a receipt states. ParseSealed verifies that the content matches the
// stated hash.
func knownReceipt(arg string, data []byte) (Known, error) {
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		if wrong := WrongKind(arg, data, "a receipt, or a report", Receipt, kind.Report); wrong != nil {
			return Known{}, wrong
		}
		if holdsSeveral(arg, data) {
			return Known{}, several(arg)
		}
		return Known{}, cli.Usage("use a hash (sha256:…), a receipt, or a report of verify", "%q: %w", arg, err)
	}
	s := sealed.Stream()
	return Known{Hash: sealed.Hash(), ID: sealed.ID(), Stream: &s}, nil
}

// StreamText formats the name of a stream, which consists of the issuer, the tenant if there is
// one, and the workspace.
func StreamText(s chain.Stream) string {
	text := s.Issuer + " / " + s.Workspace
	if s.HasTenant {
		text = s.Issuer + " / " + s.Tenant + " / " + s.Workspace
	}
	return fmt.Sprintf("%q", text)
}
