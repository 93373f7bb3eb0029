package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// trustFlags say what a receipt must show.
type trustFlags struct {
	keys, issuer, policy, at string
	integrityOnly, strict    bool
}

func (f *trustFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.keys, "keys", "k", "", "trusted keys, a JWK Set `FILE`")
	flags.StringVar(&f.issuer, "issuer", "", "the `ID` of the issuer that receipts must have")
	flags.StringVar(&f.policy, "policy", "", "what more is demanded, a JSON `FILE`: issuer, witnesses, checkpoint")
	flags.StringVar(&f.at, "at", "", "judge keys at this `TIME` (RFC 3339) instead of issued_at")
	flags.BoolVar(&f.integrityOnly, "integrity-only", false, "check content and hash, not signatures")
	flags.BoolVar(&f.strict, "strict", false, "undecided when any applicable step was not checked")
}

// verifier makes the verifier of the flags, and names the file of keys that it uses.
func (f *trustFlags) verifier(s *surroundings, noDigests bool) (*receipt.Verifier, *stream.Keys, error) {
	if f.integrityOnly && (f.keys != "" || f.issuer != "" || f.policy != "") {
		return nil, nil, errors.New("--integrity-only looks at no signatures, so it excludes --keys, --issuer and --policy")
	}
	policy, err := f.requirements(s)
	if err != nil {
		return nil, nil, err
	}
	policy.NoInputDigest = noDigests
	if f.integrityOnly {
		v, err := receipt.NewVerifier(nil, policy)
		return v, nil, err
	}

	path := f.keys
	if path == "" {
		path = s.getenv("RECEIPT_KEYS")
	}
	if path == "" {
		return nil, nil, errors.New("no trusted keys were given: name them by --keys or $RECEIPT_KEYS, or ask for --integrity-only")
	}
	data, err := readBounded(path, keys.MaxSetBytes)
	if err != nil {
		return nil, nil, err
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%q: %w", path, err)
	}
	v, err := receipt.NewVerifier(set, policy)
	if err != nil {
		return nil, nil, err
	}
	return v, &stream.Keys{Path: path, SHA256: canon.Sum(data), Count: set.Len()}, nil
}

func (f *trustFlags) requirements(s *surroundings) (p receipt.Policy, err error) {
	if f.policy != "" {
		data, err := readBounded(f.policy, keys.MaxPolicyBytes)
		if err != nil {
			return p, err
		}
		if p, err = keys.ParsePolicy(data); err != nil {
			return p, fmt.Errorf("%q: %w", f.policy, err)
		}
	}

	// Flags may add to the policy of a file, and never contradict it.
	if f.issuer != "" {
		if p.Issuer != "" && p.Issuer != f.issuer {
			return p, fmt.Errorf("--issuer says %q, the policy %q says %q", f.issuer, f.policy, p.Issuer)
		}
		p.Issuer = f.issuer
	}
	if f.at != "" {
		if p.At, err = receipt.ParseTime(f.at); err != nil {
			return p, fmt.Errorf("--at %q: %w", f.at, err)
		}
	}
	p.Now, p.IntegrityOnly, p.Strict = s.now(), f.integrityOnly, f.strict
	return p, nil
}
