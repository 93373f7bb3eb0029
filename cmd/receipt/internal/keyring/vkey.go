package keyring

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// Types of verifier keys of signed notes (C2SP signed-note and tlog-cosignature).
const (
	logType     = 0x01
	witnessType = 0x04
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
	if witness {
		list = append(list, verifierKey(name, witnessType, public))
	}
	if !witness || k.Has(receipt.RoleCheckpoint) && k.Origin != "" {
		list = append(list, verifierKey(name, logType, public))
	}
	if list[0] == "" {
		return nil, cli.Usage("a name is not empty and has no spaces and no plus sign", "the origin %q of the key %q cannot name a verifier key", name, k.ID)
	}
	return list, nil
}

// verifierKey returns name+hash+base64(type ‖ key), or "" if the name is not valid in notes.
func verifierKey(name string, kind byte, public ed25519.PublicKey) string {
	hash, err := noteHash(name, kind, public)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s+%08x+%s", name, hash, base64.StdEncoding.EncodeToString(append([]byte{kind}, public...)))
}

// noteHash returns the key ID of a verifier key.
func noteHash(name string, kind byte, public ed25519.PublicKey) (uint32, error) {
	if kind == witnessType {
		w, err := tlog.NewWitness(name, public)
		if err != nil {
			return 0, err
		}
		return w.KeyHash(), nil
	}
	l, err := tlog.NewLog(name, public)
	if err != nil {
		return 0, err
	}
	return l.KeyHash(), nil
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
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("expected a verifier key: its name, a plus, 8 hexadecimal digits, a plus, its base64")
	}
	material, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(material) != 1+ed25519.PublicKeySize {
		return nil, errors.New("expected the base64 of 33 bytes at the end of a verifier key: its type and an Ed25519 key")
	}

	// The key ID is a hash of the name and the key, so it reveals a damaged key or a changed name.
	kind, public := material[0], ed25519.PublicKey(material[1:])
	if kind != logType && kind != witnessType {
		return nil, fmt.Errorf("the verifier key is of the type 0x%02x; expected 0x01 (a log) or 0x04 (a witness)", kind)
	}
	hash, err := noteHash(parts[0], kind, public)
	if err != nil {
		return nil, err
	}
	if parts[1] != fmt.Sprintf("%08x", hash) {
		return nil, fmt.Errorf("the verifier key states the key ID %.20q, but its name and key have %08x: it is damaged, or of another name", parts[1], hash)
	}

	k, err := keys.FromPublic(public, id, "")
	if err != nil {
		return nil, err
	}
	if k.Origin = parts[0]; kind == witnessType {
		k.Roles = []receipt.Role{receipt.RoleWitness}
	} else {
		k.Roles = []receipt.Role{receipt.RoleCheckpoint}
	}
	return k, nil
}
