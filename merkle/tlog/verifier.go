package tlog

import (
	"crypto"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Verifier is a public key that verifies signed notes: a *[Log] or a *[Witness]. Its string form,
// a verifier key (C2SP signed-note), is
//
//	<name>+<key ID, 8 hexadecimal digits>+<base64 of the type and the public key>
//
// The type is 0x01 (Ed25519, for a log), 0x04 (Ed25519, for a witness), or 0x06 (ML-DSA-44, for
// either).
type Verifier interface {
	note.Verifier
	fmt.Stringer
	Public() crypto.PublicKey
}

// A VerifierError describes why a string is not a verifier key.
type VerifierError struct{ Detail string }

// Error returns the detail.
func (e *VerifierError) Error() string { return "merkle: " + e.Detail }

// ParseVerifier parses the string form of a verifier key. A key of type 0x06 is returned as a
// *[Witness], although it may be the key of a log. The error is a *[VerifierError].
func ParseVerifier(text string) (Verifier, error) {
	k, err := parseNoteKey(text)
	if err != nil {
		return nil, err
	}
	if k.kind == logType {
		return &Log{*k}, nil
	}
	return &Witness{*k}, nil
}

func parseNoteKey(text string) (*noteKey, error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		return nil, &VerifierError{"expected a verifier key: its name, a plus, 8 hexadecimal digits, a plus, its base64"}
	}
	material, ok := strictBase64(parts[2])
	if !ok || len(material) == 0 {
		return nil, &VerifierError{"expected the base64 of a type and a public key at the end of a verifier key"}
	}

	public, err := decodePublic(material[0], material[1:])
	if err != nil {
		return nil, &VerifierError{err.Error()}
	}
	k, err := newNoteKey(parts[0], material[0], public)
	if err != nil {
		return nil, &VerifierError{strings.TrimPrefix(err.Error(), "merkle: ")}
	}

	// The key ID is computed from the name and the key, so a damaged key or a changed name is
	// detected.
	if parts[1] != fmt.Sprintf("%08x", k.hash) {
		return nil, &VerifierError{fmt.Sprintf("the verifier key states the key ID %.20q, but its name and key have %08x: it is damaged, or of another name", parts[1], k.hash)}
	}
	return k, nil
}
