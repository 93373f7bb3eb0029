package keys

import (
	"crypto"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxIDBytes is the maximum length of a kid, in bytes.
const maxIDBytes = 1024

// A PublicKey is a key in a trust file. The embedded [receipt.Key] describes what the key may be
// used for. Algorithm and Thumbprint are computed from the key material.
//
// A caller may set Issuers, Roles, Origin, NotBefore, NotAfter, and Revoked before passing the key
// to [File.Add] or [NewSet], which check these fields.
type PublicKey struct {
	receipt.Key

	material material
	alg      string   // alg of an Ed25519 key in the file, or "" if absent
	other    []member // members that do not affect trust, in their original order
}

// FromPublic returns a PublicKey for an ed25519.PublicKey, an *ecdsa.PublicKey, an *rsa.PublicKey,
// or a *mldsa.PublicKey. If algorithm is empty, the only algorithm for this type of key is used. An
// RSA key can have six algorithms, so algorithm must not be empty.
//
// If id is empty, the ID is derived from the key material. For an Ed25519 key, it is "ed25519:" and
// the first 32 hexadecimal digits of the SHA-256 of the 32 key bytes. For other keys, it is the
// algorithm in lowercase, ":", and the first 32 hexadecimal digits of the SHA-256 of the
// SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7). This shell command prints the digits for an EC
// key in a PEM file:
//
//	openssl pkey -pubin -in key.pem -outform der | sha256sum | cut -c1-32
func FromPublic(pub crypto.PublicKey, id, algorithm string) (*PublicKey, error) {
	m, natural, err := checkMaterial(pub)
	if err != nil {
		return nil, err
	}
	k := &PublicKey{material: m, alg: jwkAlgorithm(algorithm)}
	if k.Algorithm, err = chooseAlgorithm(natural, algorithm); err != nil {
		return nil, err.of(id)
	}
	if k.ID = id; id == "" {
		k.ID = defaultID(m, k.Algorithm)
	}
	return k.checked()
}

// ParsePublic parses a public JWK. If id is not empty, it is used instead of kid. If neither is
// present, the ID is derived from the key as in [FromPublic]. algorithm is used if the JWK has no
// alg. The error is a *[SetError].
func ParsePublic(data []byte, id, algorithm string) (*PublicKey, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if !root.Member("keys").IsZero() {
		return nil, invalid("/keys", "expected one key, found a JWK Set")
	}
	k, bad := parseKey(root, id, algorithm)
	if bad != nil {
		return nil, bad
	}
	return k, nil
}

// Crypto returns the public key as a type from crypto/ed25519, crypto/ecdsa, crypto/rsa, or
// filippo.io/mldsa. The caller must not modify it.
func (k *PublicKey) Crypto() crypto.PublicKey { return k.material }

// Log returns the log that has this key and the given origin.
func (k *PublicKey) Log(origin string) (*tlog.Log, error) {
	if err := k.signsNotes(); err != nil {
		return nil, err
	}
	return tlog.NewLog(origin, k.material)
}

// Witness returns the witness that has this key and the given name.
func (k *PublicKey) Witness(name string) (*tlog.Witness, error) {
	if err := k.signsNotes(); err != nil {
		return nil, err
	}
	return tlog.NewWitness(name, k.material)
}

func (k *PublicKey) signsNotes() error {
	if k == nil || k.material == nil {
		return errNoKey
	}
	if k.Algorithm != Ed25519 && k.Algorithm != MLDSA44 {
		return fmt.Errorf("key %s is for %s, but checkpoints are signed with keys for %s and %s", quote(k.ID), k.Algorithm, Ed25519, MLDSA44)
	}
	return nil
}

// Fingerprint returns the thumbprint as 43 characters of base64url (RFC 7638 section 3.1).
func (k *PublicKey) Fingerprint() string {
	return base64.RawURLEncoding.EncodeToString(k.Thumbprint[:])
}

// MarshalJSON returns the key as a JWK.
func (k *PublicKey) MarshalJSON() ([]byte, error) {
	if k == nil || k.material == nil {
		return nil, invalid("", "key is empty")
	}
	return appendObject(nil, k.members()), nil
}

// members returns kid, the key material, the attributes that affect trust, and the other members.
func (k *PublicKey) members() []member {
	// These members are defined in RFC 7517 section 4. An Ed25519 key keeps its original alg.
	list := append([]member{text("kid", k.ID)}, jwkMembers(k.material)...)
	_, complete := parametersOf(k.Algorithm)
	switch {
	case complete: // alg is already part of the key material
	case k.Algorithm != Ed25519:
		list = append(list, text("alg", k.Algorithm))
	case k.alg != "":
		list = append(list, text("alg", k.alg))
	}

	// These members are specific to trust files.
	if k.Issuers != nil {
		list = append(list, member{"issuers", appendStrings(nil, k.Issuers)})
	}
	if k.Roles != nil {
		list = append(list, member{"roles", appendStrings(nil, k.Roles)})
	}
	if k.Origin != "" {
		list = append(list, text("origin", k.Origin))
	}

	if !k.NotBefore.IsZero() {
		list = append(list, number("nbf", k.NotBefore.Unix()))
	}
	if !k.NotAfter.IsZero() {
		list = append(list, number("exp", k.NotAfter.Unix()))
	}
	if k.Revoked != nil {
		list = append(list, member{"revoked", appendObject(nil, revocationMembers(k.Revoked))})
	}

	return append(list, k.other...)
}

func revocationMembers(r *receipt.Revocation) []member {
	list := []member{number("at", r.At.Unix())}
	if r.Reason != "" {
		list = append(list, text("reason", r.Reason))
	}
	return list
}

func number(name string, n int64) member { return member{name, strconv.AppendInt(nil, n, 10)} }

// clone returns a copy that shares no memory that a caller could modify.
func (k *PublicKey) clone() *PublicKey {
	if k == nil { // of a zero PrivateKey or Signer
		return new(PublicKey)
	}
	c := *k
	c.Issuers, c.Roles = slices.Clone(k.Issuers), slices.Clone(k.Roles)
	if k.Revoked != nil {
		revoked := *k.Revoked
		c.Revoked = &revoked
	}
	return &c
}

// checked parses the JSON of the key again, so that a key whose fields were set by a caller follows
// the same rules as a key in a file.
func (k *PublicKey) checked() (*PublicKey, error) {
	data, err := k.MarshalJSON()
	if err != nil {
		return nil, err
	}
	// The parser enforces all rules, so no rule needs to be implemented twice.
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	c, bad := parseKey(root, "", "")
	if bad != nil {
		return nil, bad
	}
	return c, nil
}

func parseJSON(data []byte) (canon.Node, error) {
	if err := recognize(data); err != nil {
		return canon.Node{}, err
	}
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: MaxSetBytes, Depth: maxDepth}); err != nil {
		return canon.Node{}, syntax(err)
	}
	return doc.Root(), nil
}
