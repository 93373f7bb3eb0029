package terms

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Flags specifies the requirements for receipts, the heads that the input must continue, and the
// heads that it must end with or contain.
type Flags struct {
	keys, issuer, policy, at string
	integrityOnly, strict    bool
	previous, expectHead     string
	count                    *pflag.Flag
	partial                  bool
	checkpoint               string
}

// Register adds the flags to a set.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.keys, "keys", "k", "", "trusted keys, as a JWK Set `FILE`")
	flags.StringVar(&f.issuer, "issuer", "", "required `ID` of the issuer")
	flags.StringVar(&f.policy, "policy", "", "additional requirements, JSON or a tlog-policy `FILE`")
	flags.StringVar(&f.at, "at", "", "evaluate keys at this `TIME` (RFC 3339) instead of issued_at")
	flags.BoolVar(&f.integrityOnly, "integrity-only", false, "check content and hash, but no signatures")
	flags.BoolVar(&f.strict, "strict", false, "undecided if any applicable step was not checked")
	flags.StringVar(&f.previous, "previous", "", "`HASH|REPORT` of the receipts that the input continues")
	flags.StringVar(&f.expectHead, "expect-head", "", "required head as a `HASH`, or a REPORT whose heads the input must contain")
	flags.Uint64("expect-count", 0, "the stream must have `N` receipts")
	f.count = flags.Lookup("expect-count")
	flags.BoolVar(&f.partial, "partial", false, "the input is a selection: do not check absent predecessors")
	flags.StringVar(&f.checkpoint, "checkpoint", "", "signed checkpoint `FILE` over all receipts, in input order")
}

// Continuity returns the heads that the input must continue and end with, and the checkpoint that
// covers the input.
func (f *Flags) Continuity() (o stream.Options, err error) {
	o.Partial = f.partial
	if f.count.Changed {
		n, err := strconv.ParseUint(f.count.Value.String(), 10, 64)
		if err != nil {
			return o, fmt.Errorf("--expect-count: %w", err)
		}
		o.Continuity.Count = &n
	}
	if f.previous != "" {
		if o.Continuity.Previous, o.Continuity.After, err = readKnown(f.previous); err != nil {
			return o, fmt.Errorf("--previous: %w", err)
		}
	}
	if f.expectHead != "" {
		if o.Continuity.Head, o.Continuity.Expect, err = readKnown(f.expectHead); err != nil {
			return o, fmt.Errorf("--expect-head: %w", err)
		}
	}
	if f.checkpoint != "" {
		if o.Checkpoint, err = readCheckpoint(f.checkpoint); err != nil {
			return o, fmt.Errorf("--checkpoint: %w", err)
		}
	}
	return o, nil
}

// Terms contains the requirements for receipts as values that can be sent to other machines.
type Terms struct {
	Policy receipt.Policy
	Set    []byte // trusted keys (JWK Set); nil if only integrity is required
	Path   string // path of the file with the trusted keys
	Logs   []byte // keys that the policy contains (JWK Set); nil if there are none
}

// Read reads the files that the flags specify. If --keys is absent, Read uses $RECEIPT_KEYS.
func (f *Flags) Read(getenv func(string) string, now time.Time) (t Terms, err error) {
	if f.integrityOnly && (f.keys != "" || f.issuer != "" || f.policy != "") {
		return t, errors.New("--integrity-only checks no signatures, so it excludes --keys, --issuer, and --policy")
	}
	if t.Policy, t.Logs, err = f.requirements(now); err != nil || f.integrityOnly {
		return t, err
	}

	t.Path = f.keys
	if t.Path == "" {
		t.Path = getenv("RECEIPT_KEYS")
	}
	if t.Path == "" {
		return t, errors.New("no trusted keys: specify --keys, $RECEIPT_KEYS, or --integrity-only")
	}
	t.Set, err = readBounded(t.Path, keys.MaxSetBytes)
	return t, err
}

// requirements returns the policy that the flags specify and the keys of logs and witnesses in the
// policy file.
func (f *Flags) requirements(now time.Time) (p receipt.Policy, stated []byte, err error) {
	if f.policy != "" {
		data, err := readBounded(f.policy, keys.MaxPolicyBytes)
		if err != nil {
			return p, nil, err
		}
		var trusted []*keys.PublicKey
		if p, trusted, err = keys.ParsePolicy(data); err != nil {
			return p, nil, fmt.Errorf("%q: %w", f.policy, err)
		}
		if stated, err = marshal(trusted); err != nil {
			return p, nil, fmt.Errorf("%q: %w", f.policy, err)
		}
	}

	// Flags may add to the policy in a file but must not contradict it.
	if f.issuer != "" {
		if p.Issuer != "" && p.Issuer != f.issuer {
			return p, nil, fmt.Errorf("--issuer is %q, but the issuer in the policy %q is %q", f.issuer, f.policy, p.Issuer)
		}
		p.Issuer = f.issuer
	}
	if f.at != "" {
		if p.At, err = receipt.ParseTime(f.at); err != nil {
			return p, nil, fmt.Errorf("--at %q: %w", f.at, err)
		}
	}
	p.Now, p.IntegrityOnly, p.Strict = now, f.integrityOnly, f.strict
	return p, stated, nil
}

// marshal returns a JWK Set, or nil if the list is empty.
func marshal(list []*keys.PublicKey) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var file keys.File
	if err := file.Add(list...); err != nil {
		return nil, err
	}
	return file.Marshal()
}

// Verifier returns the verifier for the terms, and a description of its keys, which is nil if only
// integrity is required.
func (t *Terms) Verifier() (*receipt.Verifier, *stream.Keys, error) {
	if t.Policy.IntegrityOnly {
		v, err := receipt.NewVerifier(nil, t.Policy)
		return v, nil, err
	}
	set, err := keys.ParseSet(t.Set)
	if err != nil {
		return nil, nil, fmt.Errorf("%q: %w", t.Path, err)
	}
	all := set
	if t.Logs != nil {
		stated, err := keys.ParseSet(t.Logs)
		if err != nil {
			return nil, nil, err
		}
		if all, err = set.With(stated.Keys()...); err != nil {
			return nil, nil, fmt.Errorf("%q: %w", t.Path, err)
		}
	}
	v, err := receipt.NewVerifier(all, t.Policy)
	if err != nil {
		return nil, nil, err
	}
	return v, &stream.Keys{Path: t.Path, SHA256: canon.Sum(t.Set), Count: set.Len()}, nil
}
