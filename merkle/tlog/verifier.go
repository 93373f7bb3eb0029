package tlog

import (
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Verifier is a public key of signed notes: a *[Log] or a *[Witness]. Its text, a verifier key
// (C2SP signed-note), is
//
//	<name>+<key ID, 8 hexadecimal digits>+<base64 of the type and the public key>
//
// The type of a log is 0x01. The type of a witness is 0x04 (Ed25519) or 0x06 (ML-DSA-44).
type Verifier interface {
	note.Verifier
	fmt.Stringer
	Key() []byte
}

func verifierKey(name string, hash uint32, kind byte, key []byte) string {
	return fmt.Sprintf("%s+%08x+%s", name, hash, base64.StdEncoding.EncodeToString(append([]byte{kind}, key...)))
}

// A VerifierError describes why a text is not a verifier key.
type VerifierError struct{ Detail string }

func (e *VerifierError) Error() string { return "merkle: " + e.Detail }

// ParseVerifier parses the text of a verifier key. The error is a *[VerifierError].
func ParseVerifier(text string) (Verifier, error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		return nil, &VerifierError{"expected a verifier key: its name, a plus, 8 hexadecimal digits, a plus, its base64"}
	}
	material, ok := strictBase64(parts[2])
	if !ok || len(material) == 0 {
		return nil, &VerifierError{"expected the base64 of a type and a public key at the end of a verifier key"}
	}

	v, err := newVerifier(parts[0], material[0], material[1:])
	if err != nil {
		return nil, &VerifierError{strings.TrimPrefix(err.Error(), "merkle: ")}
	}
	// The key ID is a hash of the name and the key, so it reveals a damaged key or a changed name.
	if parts[1] != fmt.Sprintf("%08x", v.KeyHash()) {
		return nil, &VerifierError{fmt.Sprintf("the verifier key states the key ID %.20q, but its name and key have %08x: it is damaged, or of another name", parts[1], v.KeyHash())}
	}
	return v, nil
}

func newVerifier(name string, kind byte, key []byte) (Verifier, error) {
	switch kind {
	case logSignatureType:
		return NewLog(name, key)
	case cosignatureType, postQuantumType:
		return newWitness(name, kind, key)
	}
	return nil, fmt.Errorf("the verifier key is of the type 0x%02x; expected 0x01 (a log), 0x04, or 0x06 (a witness)", kind)
}
