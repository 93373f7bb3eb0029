package receipt_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// ring is a Trust with real Ed25519 keys, so that these tests do not need package keys. Its
// algorithm "ed25519" is real. The algorithm "other" is supported, but no key uses it.
type ring map[string]*member

type member struct {
	receipt.Key
	private func() ed25519.PrivateKey // generated on first use, because most keys in a ring are never used
	checked sync.Map                  // caches whether a signature of a message is valid, because most signatures are checked often
}

// newRing generates a key for each ID. The same seed always results in the same key material.
func newRing(keys ...receipt.Key) ring {
	r := ring{}
	for _, k := range keys {
		r.add(k, k.ID)
	}
	return r
}

func (r ring) add(k receipt.Key, material string) {
	seed := sha256.Sum256([]byte(material))
	k.Thumbprint = seed
	r[k.ID] = &member{Key: k, private: sync.OnceValue(func() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(seed[:]) })}
}

func (r ring) Len() int { return len(r) }

func (r ring) NoteKeys() (list []receipt.NoteKey) {
	for _, m := range r {
		list = append(list, receipt.NoteKey{Key: &m.Key, Public: m.private().Public().(ed25519.PublicKey)})
	}
	return list
}

func (r ring) CheckSignature(message []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	if alg := string(e.Algorithm); alg != "ed25519" && alg != "other" {
		return nil, &receipt.SignatureError{Code: receipt.CodeUnsupportedAlgorithm, Detail: "algorithm not supported"}
	}
	text, ok := bytes.CutPrefix(e.Signature, []byte("base64:"))
	value, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if !ok || err != nil || len(value) != 64 {
		return nil, &receipt.SignatureError{Code: receipt.CodeMalformedSignature, Detail: "malformed"}
	}
	m := r[string(e.KeyID)]
	switch {
	case m == nil:
		return nil, &receipt.SignatureError{Code: receipt.CodeUnknownKey, Detail: "not trusted"}
	case string(e.Algorithm) != "ed25519":
		return &m.Key, &receipt.SignatureError{Code: receipt.CodeAlgorithmMismatch, Detail: "not the key's algorithm"}
	case !m.signed(message, value):
		return &m.Key, &receipt.SignatureError{Code: receipt.CodeSignatureInvalid, Detail: "false"}
	}
	return &m.Key, nil
}

// signed reports whether value is the member's signature of a message.
func (m *member) signed(message, value []byte) bool {
	of := string(value) + string(message)
	holds, known := m.checked.Load(of)
	if !known {
		holds = ed25519.Verify(m.private().Public().(ed25519.PublicKey), message, value)
		m.checked.Store(of, holds)
	}
	return holds.(bool)
}

// Sign implements receipt.Signer.
func (m *member) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	if err := ctx.Err(); err != nil {
		return receipt.Signature{}, err
	}
	value := base64.StdEncoding.EncodeToString(ed25519.Sign(m.private(), message))
	return receipt.Signature{KeyID: m.ID, Algorithm: "ed25519", Signature: "base64:" + value, SignedAt: receipt.At(noon)}, nil
}

var noon = time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
