package keyring

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// verifierKeys returns the verifier keys for a trusted key. There is one verifier key for the role
// of a witness, because cosignatures have a separate type, and one for the role of a log. If a key
// has both roles, both verifier keys are returned unless they are equal.
func verifierKeys(k *keys.PublicKey) (list []string, err error) {
	name, witness := cmp.Or(k.Origin, k.ID), k.Has(receipt.RoleWitness)
	w, err := k.Witness(name)
	unnamed := errors.As(err, new(*tlog.NameError))
	switch {
	case err != nil && !unnamed:
		return nil, cli.Usage("", "%w", err)
	case k.Origin == "" && !witness:
		return nil, cli.Usage("set an origin with receipt keys import FILE --role checkpoint --origin NAME", "the key %q has no origin, the name of its verifier key", k.ID)
	case unnamed:
		return nil, cli.Usage("use a name without spaces and plus signs", "the origin %q of the key %q cannot name a verifier key", name, k.ID)
	}
	if witness {
		list = append(list, w.String())
	}
	if !witness || k.Has(receipt.RoleCheckpoint) && k.Origin != "" {
		l, err := k.Log(name)
		if err != nil {
			return nil, err
		}
		list = append(list, l.String())
	}
	return slices.Compact(list), nil
}

// isVerifierKey reports whether data begins with a verifier key.
func isVerifierKey(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	name, rest, ok := strings.Cut(string(line), "+")
	hash, _, more := strings.Cut(rest, "+")
	return ok && more && len(hash) == 8 && !strings.ContainsAny(name, " {\t")
}

// parseVerifierKeys parses verifier keys, one per line. The name in each verifier key becomes the
// origin of the key, and the type of the key determines its roles.
func parseVerifierKeys(data []byte, id string) (found []*keys.PublicKey, err error) {
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		k, err := parseVerifierKey(text, id)
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, nil
}

func parseVerifierKey(text, id string) (*keys.PublicKey, error) {
	v, err := tlog.ParseVerifier(text)
	if bad := (*tlog.VerifierError)(nil); errors.As(err, &bad) {
		return nil, errors.New(bad.Detail)
	}
	k, err := keys.FromPublic(v.Public(), id, "")
	if err != nil {
		return nil, err
	}

	// An ML-DSA-44 key may belong to a log or to a witness.
	k.Origin, k.Roles = v.Name(), []receipt.Role{receipt.RoleWitness}
	if _, log := v.(*tlog.Log); log {
		k.Roles = []receipt.Role{receipt.RoleCheckpoint}
	}
	if k.Algorithm == keys.MLDSA44 {
		k.Roles = []receipt.Role{receipt.RoleWitness, receipt.RoleCheckpoint}
	}
	return k, nil
}
