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

// A PublicKey is one key in a trust file. The embedded [receipt.Key] states what the key may be
// used for. Algorithm and Thumbprint are derived from the key material.
//
// A caller may set Issuers, Roles, Origin, NotBefore, NotAfter, and Revoked before it passes the
// key to [File.Add] or [NewSet], which check these fields.
type PublicKey struct {
	receipt.Key

	material material
	alg      string   // for an Ed25519 key, its name in the file, or "" if absent
	other    []member // members that do not affect trust, in source order
}

// FromPublic returns the PublicKey for an ed25519.PublicKey, an *ecdsa.PublicKey, an
// *rsa.PublicKey, or a *mldsa.PublicKey. If algorithm is empty, the key's only algorithm is used.
// algorithm must not be empty for an RSA key, which has six algorithms.
//
// If id is empty, the ID is derived from the key material: "ed25519:" and 32 hexadecimal digits,
// the first half of the SHA-256 of the 32 key bytes. For other keys, the ID is the algorithm in
// lowercase, ":", and the same digits of the SHA-256 of the SubjectPublicKeyInfo (RFC 5280 section
// 4.1.2.7). In a shell, this command prints the digits for the PEM file of an EC key:
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

// ParsePublic parses a public JWK. A non-empty id replaces the JWK's kid. If both are missing, the
// ID is chosen as in [FromPublic]. A non-empty algorithm is used if the JWK has no alg. The error
// is a *[SetError].
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

// Crypto returns the key as a type from crypto/ed25519, crypto/ecdsa, crypto/rsa, or
// filippo.io/mldsa. It must not be modified.
func (k *PublicKey) Crypto() crypto.PublicKey { return k.material }

// Log returns the key as the note key of the log with the given origin.
func (k *PublicKey) Log(origin string) (*tlog.Log, error) {
	if err := k.signsNotes(); err != nil {
		return nil, err
	}
	return tlog.NewLog(origin, k.material)
}

// Witness returns the key as the note key of the witness with the given name.
func (k *PublicKey) Witness(name string) (*tlog.Witness, error) {
	if err := k.signsNotes(); err != nil {
		return nil, err
	}
	return tlog.NewWitness(name, k.material)
}

func (k *PublicKey) signsNotes() error {
	if k.Algorithm != Ed25519 && k.Algorithm != MLDSA44 {
		return fmt.Errorf("key %s is for %s, but checkpoints are signed with keys for %s and %s", quote(k.ID), k.Algorithm, Ed25519, MLDSA44)
	}
	return nil
}

// Fingerprint returns the thumbprint in the encoding of RFC 7638 section 3.1: 43 characters of
// base64url.
func (k *PublicKey) Fingerprint() string {
	return base64.RawURLEncoding.EncodeToString(k.Thumbprint[:])
}

// MarshalJSON returns the JWK.
func (k *PublicKey) MarshalJSON() ([]byte, error) {
	if k.material == nil {
		return nil, invalid("", "key is empty")
	}
	return appendObject(nil, k.members()), nil
}

// members returns kid, the key material, its trust attributes, and the other members.
func (k *PublicKey) members() []member {
	// RFC 7517 section 4. An Ed25519 key keeps its original alg.
	list := append([]member{text("kid", k.ID)}, jwkMembers(k.material)...)
	_, complete := parametersOf(k.Algorithm)
	switch {
	case complete: // alg is part of the key material
	case k.Algorithm != Ed25519:
		list = append(list, text("alg", k.Algorithm))
	case k.alg != "":
		list = append(list, text("alg", k.alg))
	}

	// The members of the trust file.
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

// clone returns a copy that shares no memory that a caller could write to.
func (k *PublicKey) clone() *PublicKey {
	c := *k
	c.Issuers, c.Roles = slices.Clone(k.Issuers), slices.Clone(k.Roles)
	if k.Revoked != nil {
		revoked := *k.Revoked
		c.Revoked = &revoked
	}
	return &c
}

// checked parses the key again from its JSON form, so that a key filled in by a caller follows the
// file's rules.
func (k *PublicKey) checked() (*PublicKey, error) {
	data, err := k.MarshalJSON()
	if err != nil {
		return nil, err
	}
	// The parser enforces the file's rules, so no rule is implemented twice.
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
