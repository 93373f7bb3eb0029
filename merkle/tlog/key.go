package tlog

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"filippo.io/mldsa"
)

// These are the types of signatures in notes (C2SP signed-note, tlog-cosignature). A signature of
// type 0x01 is an Ed25519 signature of the text of the note. For any other type, the payload
// consists of a time (the number of seconds since 1970, in eight big-endian bytes) and a signature
// that covers the time.
const (
	logType         = 0x01
	cosignatureType = 0x04
	postQuantumType = 0x06
)

// A noteKey is the public key of a log or a witness, together with its name. The zero noteKey is
// invalid.
type noteKey struct {
	name   string
	hash   uint32
	kind   byte
	public crypto.PublicKey // ed25519.PublicKey or *mldsa.PublicKey
}

// A NameError indicates that a name is not valid for a note key, because it is empty, is too long,
// is not valid UTF-8, or contains a space or a plus sign (C2SP signed-note).
type NameError struct{ Name string }

// Error returns a message with the name, which is truncated after 80 characters.
func (e *NameError) Error() string {
	return fmt.Sprintf("merkle: the name %.80q of a note key is empty, or has a space or a plus", e.Name)
}

// errKey indicates that a key is not of a type that can sign notes.
var errKey = errors.New("merkle: signed notes require a key for Ed25519 or ML-DSA-44")

// newNoteKey returns a noteKey with the given name and public key. The argument kind is the type of
// an Ed25519 key; an ML-DSA-44 key has its own type.
func newNoteKey(name string, kind byte, public crypto.PublicKey) (*noteKey, error) {
	k := &noteKey{name: name, kind: kind, public: public}
	switch p := public.(type) {
	case ed25519.PublicKey:
		if len(p) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("merkle: public key has %d bytes, expected %d", len(p), ed25519.PublicKeySize)
		}
	case *mldsa.PublicKey:
		if k.kind = postQuantumType; p.Parameters() != mldsa.MLDSA44() {
			return nil, errKey
		}
	default:
		return nil, errKey
	}

	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsSpace) || strings.Contains(name, "+") {
		return nil, &NameError{name}
	}
	if k.kind == postQuantumType && len(name) > math.MaxUint8 { // the length is encoded in one byte of the message
		return nil, &NameError{name}
	}

	// The key ID consists of the first four bytes of SHA-256(name ‖ LF ‖ type ‖ public key).
	sum := sha256.Sum256(append(append([]byte(name), '\n', k.kind), k.raw()...))
	k.hash = binary.BigEndian.Uint32(sum[:])
	return k, nil
}

// decodePublic returns the public key that is encoded in a verifier key.
func decodePublic(kind byte, raw []byte) (crypto.PublicKey, error) {
	switch kind {
	case logType, cosignatureType:
		return ed25519.PublicKey(raw), nil
	case postQuantumType:
		public, err := mldsa.NewPublicKey(mldsa.MLDSA44(), raw)
		if err != nil {
			return nil, fmt.Errorf("ML-DSA-44 public key of %d bytes: %w", len(raw), err)
		}
		return public, nil
	}
	return nil, fmt.Errorf("the verifier key is of the type 0x%02x; expected 0x01 (a log), 0x04 (a witness), or 0x06 (either)", kind)
}

// Name returns the name of the key. The name of a log's key is the log's origin.
func (k *noteKey) Name() string { return k.name }

// KeyHash returns the key ID.
func (k *noteKey) KeyHash() uint32 { return k.hash }

// Public returns the public key, which is an ed25519.PublicKey or a *mldsa.PublicKey. To count
// witnesses, compare their keys, never their names.
func (k *noteKey) Public() crypto.PublicKey { return k.public }

// HasKey reports whether the key has the given public key.
func (k *noteKey) HasKey(public crypto.PublicKey) bool {
	if p, ok := k.public.(*mldsa.PublicKey); ok {
		return p.Equal(public)
	}
	return k.public.(ed25519.PublicKey).Equal(public)
}

// String returns the verifier key.
func (k *noteKey) String() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.hash, base64.StdEncoding.EncodeToString(append([]byte{k.kind}, k.raw()...)))
}

func (k *noteKey) raw() []byte {
	if p, ok := k.public.(*mldsa.PublicKey); ok {
		return p.Bytes()
	}
	return k.public.(ed25519.PublicKey)
}

// Verify reports whether payload contains a valid signature by the key for the text of a note.
func (k *noteKey) Verify(text, payload []byte) bool {
	seconds, signature := uint64(0), payload
	if k.kind != logType {
		if len(payload) < 8 {
			return false
		}
		seconds, signature = binary.BigEndian.Uint64(payload), payload[8:]
	}

	message, ok := k.message(text, seconds)
	if !ok {
		return false
	}
	if p, ok := k.public.(*mldsa.PublicKey); ok {
		return mldsa.Verify(p, message, signature, nil) == nil
	}
	return ed25519.Verify(k.public.(ed25519.PublicKey), message, signature)
}

// message returns the bytes that the key signs for the text of a note and a time. With Ed25519, a
// log signs the text, and a witness signs
//
//	cosignature/v1
//	time <seconds>
//	<the text>
//
// An ML-DSA-44 key (FIPS 204, without a context) signs
//
//	"subtree/v1" LF NUL
//	length of the name, name           one byte each for the lengths
//	time                               eight bytes big-endian, like the numbers below
//	length of the origin, origin
//	start (0), end (the size)
//	root hash
//
// which does not include extension lines. A signature with time 0 is not a statement about other
// trees of the log.
func (k *noteKey) message(text []byte, seconds uint64) ([]byte, bool) {
	switch {
	case seconds > math.MaxInt64:
		return nil, false
	case k.kind == logType:
		return text, true
	case k.kind == cosignatureType:
		return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", seconds), text...), true
	}

	c, err := parseText(string(text))
	if err != nil || len(c.Origin) > math.MaxUint8 {
		return nil, false
	}
	m := append([]byte("subtree/v1\n\x00"), byte(len(k.name)))
	m = append(m, k.name...)
	m = binary.BigEndian.AppendUint64(m, seconds)
	m = append(append(m, byte(len(c.Origin))), c.Origin...)
	m = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(m, 0), c.Size)
	return append(m, c.Root[:]...), true
}

// sign returns the payload of a signature line for the text of a note. It calls signer to create
// the signature.
func (k *noteKey) sign(ctx context.Context, text []byte, seconds uint64, signer func(context.Context, []byte) ([]byte, error)) ([]byte, error) {
	message, ok := k.message(text, seconds)
	if !ok {
		return nil, errors.New("the origin or the time does not fit into the message of an ML-DSA-44 signature")
	}
	payload, err := signer(ctx, message)
	if err != nil {
		return nil, err
	}
	if k.kind != logType {
		payload = append(binary.BigEndian.AppendUint64(nil, seconds), payload...)
	}
	if !k.Verify(text, payload) { // the signature is damaged or was created by another key
		return nil, fmt.Errorf("signer returned a signature that the key of %q does not verify", k.name)
	}
	return payload, nil
}
