package trust

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/timestamp"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// ClockTolerance is the maximum accepted difference between clocks.
const ClockTolerance = time.Minute

// timestampFlags specifies timestamps, and the root certificates of their authorities.
type timestampFlags struct {
	files []string
	roots string

	read       []string                    // paths of the timestamps of receipts and checkpoints
	Statements map[canon.Digest]*Timestamp // timestamps of statements, indexed by the digest of the statement
	Missing    []receipt.Note              // timestamps that match nothing
}

// A Timestamp is a verified timestamp from a file.
type Timestamp struct {
	receipt.Timestamp
	Path string
}

func (f *timestampFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "timestamp", nil, "timestamp; repeatable (`FILE`)")
	flags.StringVar(&f.roots, "timestamp-roots", "", "trusted timestamp authorities, in PEM (`FILE`)")
}

// apply verifies the timestamps. An invalid timestamp is reported as a finding, and does not end
// the run.
func (f *timestampFlags) apply(e *cli.Env, file *KeyFile, findings *[]stream.Finding) (list []receipt.Timestamp, err error) {
	if len(f.files) == 0 && f.roots == "" {
		return nil, nil
	}
	if len(f.files) == 0 || f.roots == "" {
		return nil, cli.Usage("receipt timestamp request --help describes how to get a timestamp", "both --timestamp FILE and --timestamp-roots FILE are required")
	}
	roots, err := ReadRoots(e, f.roots)
	if err != nil {
		return nil, err
	}

	f.Statements = map[canon.Digest]*Timestamp{}
	for _, path := range f.files {
		s, err := ReadTimestamp(e, path)
		if err != nil {
			return nil, err
		}
		proven, err := Proven(s, roots, e.Now(), file)
		var missing *timestamp.MissingError
		var invalid *timestamp.InvalidError
		switch {
		case errors.As(err, &missing):
			f.Missing = append(f.Missing, receipt.Note{Code: receipt.Code(missing.Code), Detail: fmt.Sprintf("%s: %s", cli.SourceName(path), missing.Detail)})
		case errors.As(err, &invalid):
			*findings = append(*findings, stream.Finding{Code: receipt.CodeTimestampInvalid, Source: cli.SourceName(path), Detail: invalid.Detail})
		case err != nil:
			return nil, err
		case s.Kind == timestamp.Statement:
			f.keep(&Timestamp{proven, path})
		default:
			list, f.read = append(list, proven), append(f.read, path)
		}
	}
	return list, nil
}

// keep stores the earliest timestamp of each statement, in any order of calls.
func (f *timestampFlags) keep(t *Timestamp) {
	if known := f.Statements[t.Digest]; known == nil || t.Time.Before(known.Time.Time) {
		f.Statements[t.Digest] = t
	}
}

// ReadTimestamp reads a timestamp from a file.
func ReadTimestamp(e *cli.Env, path string) (*timestamp.Stamp, error) {
	data, err := input.ReadBounded(e, path, timestamp.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	s, err := timestamp.Parse(data)
	if err != nil {
		return nil, cli.Usage("use a file from receipt timestamp request", "%q: %w", cli.SourceName(path), err)
	}
	return s, nil
}

// ReadRoots reads the root certificates of authorities.
func ReadRoots(e *cli.Env, path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, cli.Usage("ask the authority for its root certificate", "missing root certificates of the authority (PEM)")
	}
	data, err := input.ReadBounded(e, path, 16<<20)
	if err != nil {
		return nil, err
	}
	roots, err := timestamp.ParseRoots(data)
	if err != nil {
		return nil, cli.Usage("", "%q: %w", cli.SourceName(path), err)
	}
	return roots, nil
}

// Proven verifies a timestamp. If the certificate chain of the authority shares key material with
// the trust file, the authority is not independent, because the holder of a stolen key could act as
// its own authority. If file is nil, no keys are checked.
func Proven(s *timestamp.Stamp, roots *x509.CertPool, now time.Time, file *KeyFile) (receipt.Timestamp, error) {
	p, err := s.Verify(roots, now.Add(ClockTolerance))
	if err != nil {
		return receipt.Timestamp{}, err
	}
	for _, cert := range p.Chain {
		alg := ""
		if cert.PublicKeyAlgorithm == x509.RSA {
			alg = "PS256" // any algorithm can be used, because the thumbprint does not depend on it
		}
		k, err := keys.FromPublic(cert.PublicKey, "", alg)
		if err != nil || file == nil {
			continue
		}
		for _, known := range file.Set.Keys() {
			if known.Thumbprint == k.Thumbprint {
				return receipt.Timestamp{}, &timestamp.MissingError{Code: string(receipt.CodeUnknownKey), Detail: fmt.Sprintf("the authority has the key material of %q, so it is not independent", known.ID)}
			}
		}
	}
	return receipt.Timestamp{Digest: s.Digest, ProvenTime: receipt.ProvenTime{Time: receipt.At(p.Before()), Authority: p.Authority}}, nil
}
