package keyring

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"errors"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// verifierKeys returns the verifier keys for a trusted key: type 0x04 for a witness, because its
// cosignatures have that type, and type 0x01 for a log. A key with both roles has both.
func verifierKeys(k *keys.PublicKey) (list []string, err error) {
	public, ok := k.Crypto().(ed25519.PublicKey)
	witness := k.Has(receipt.RoleWitness)
	switch {
	case !ok:
		return nil, cli.Usage("", "key %q is for %s, but signed notes require Ed25519 keys", k.ID, k.Algorithm)
	case k.Origin == "" && !witness:
		return nil, cli.Usage("set an origin with receipt keys import FILE --role checkpoint --origin NAME", "the key %q has no origin, the name of its verifier key", k.ID)
	}

	name := cmp.Or(k.Origin, k.ID)
	w, err := tlog.NewWitness(name, public)
	if err != nil {
		return nil, cli.Usage("use a name without spaces and plus signs", "the origin %q of the key %q cannot name a verifier key", name, k.ID)
	}
	if witness {
		list = append(list, w.String())
	}
	if !witness || k.Has(receipt.RoleCheckpoint) && k.Origin != "" {
		l, err := tlog.NewLog(name, public)
		if err != nil {
			return nil, err
		}
		list = append(list, l.String())
	}
	return list, nil
}

// isVerifierKey reports whether data begins with a verifier key.
func isVerifierKey(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	name, rest, ok := strings.Cut(string(line), "+")
	hash, _, more := strings.Cut(rest, "+")
	return ok && more && len(hash) == 8 && !strings.ContainsAny(name, " {\t")
}

// parseVerifierKeys parses verifier keys, one per line. Each key gets its name as the origin and
// the role of its type.
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
	role := receipt.RoleCheckpoint
	if _, witness := v.(*tlog.Witness); witness {
		role = receipt.RoleWitness
	}
	if len(v.Key()) != ed25519.PublicKeySize {
		return nil, errors.New("the verifier key is for ML-DSA-44; trust files support only Ed25519 keys of witnesses")
	}

	k, err := keys.FromPublic(ed25519.PublicKey(v.Key()), id, "")
	if err != nil {
		return nil, err
	}
	k.Origin, k.Roles = v.Name(), []receipt.Role{role}
	return k, nil
}
