package keys

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// CheckSignature implements [receipt.Trust]. It checks the form of the value before it checks that
// the key is known, so that a malformed value is detected even if the key is unknown.
func (s *Set) CheckSignature(message []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	k := s.byID[string(e.KeyID)]
	err := s.check(k, message, e)
	if k == nil {
		return nil, err
	}
	return &k.Key, err
}

func (s *Set) check(k *trusted, message []byte, e *receipt.Entry) *receipt.SignatureError {
	if isEnvelope(message) {
		return checkEnvelope(s, k, message, e)
	}

	alg, ok := algorithmOf(e.Algorithm)
	if !ok {
		return refuse(receipt.CodeUnsupportedAlgorithm, "algorithm %s is not one of the fixed list", quote(e.Algorithm))
	}
	if alg.name == Ed25519 {
		return s.checkNative(k, message, e)
	}

	// Parse the token first, because this requires no key.
	t, err := parseToken(e, alg)
	if err == nil {
		err = s.usable(k, e)
	}
	if err != nil {
		return err
	}

	// An EdDSA signature is an Ed25519 signature of the JWS signing input, so the table can be used
	// for it, too.
	if table := s.tables.of(k, e.Plain); table != nil {
		return k.judged(table.Verify(t.input(message), t.signature))
	}
	return k.verifyToken(t, message)
}

// usable checks that the key of an entry is known and has the algorithm that the entry names.
func (s *Set) usable(k *trusted, e *receipt.Entry) *receipt.SignatureError {
	if k == nil {
		return refuse(receipt.CodeUnknownKey, "%s is not among the trusted keys (%d)", quote(e.KeyID), len(s.keys))
	}
	if !fits(k.Algorithm, string(e.Algorithm)) {
		return refuse(receipt.CodeAlgorithmMismatch, "%s is a key for %s, the signature names %s", quote(k.ID), k.Algorithm, e.Algorithm)
	}
	return nil
}

func refuse(code receipt.Code, format string, args ...any) *receipt.SignatureError {
	return &receipt.SignatureError{Code: code, Detail: fmt.Sprintf(format, args...)}
}

const (
	nativePrefix = "base64:"
	nativeBytes  = len(nativePrefix) + 88 // complete value: 64 bytes are encoded as 86 characters and ==
)

// checkNative must be fast, because it is called for most signatures. It allocates memory only if
// it returns an error.
func (s *Set) checkNative(k *trusted, message []byte, e *receipt.Entry) *receipt.SignatureError {
	var sig [66]byte // the maximum number of bytes that base64.Encoding writes for 88 characters
	if !decodeNative(&sig, e.Signature) {
		return refuse(receipt.CodeMalformedSignature, `expected "base64:" and the 88 characters of padded base64 that stand for 64 bytes`)
	}
	if k == nil || k.Algorithm != Ed25519 {
		return s.usable(k, e)
	}
	if table := s.tables.of(k, e.Plain); table != nil {
		return k.judged(table.Verify(message, sig[:ed25519.SignatureSize]))
	}
	return k.judged(ed25519.Verify(k.material.(ed25519.PublicKey), message, sig[:ed25519.SignatureSize]))
}

// decodeNative decodes a native signature, and accepts only one encoding of it. encoding/base64
// ignores line breaks, but 88 characters that decode to 64 bytes cannot contain any.
func decodeNative(sig *[66]byte, value []byte) bool {
	if len(value) != nativeBytes || string(value[:len(nativePrefix)]) != nativePrefix {
		return false
	}
	n, err := base64.StdEncoding.Strict().Decode(sig[:], value[len(nativePrefix):])
	return err == nil && n == ed25519.SignatureSize
}

const (
	// tableAfter is the number of signatures that a [Set] checks with a key before it computes a
	// table for that key. Computing the table of the base point takes as long as about 100 checks
	// without tables. Computing the table of a key takes as long as about 30 such checks. A program
	// that ends soon after the tables have been computed therefore takes at most twice as long as
	// without them. About 200 more checks make up for the cost of the tables.
	tableAfter = 128

	// maxTables is the maximum number of keys in a Set for which tables are computed. The tables
	// are computed for the first keys that are used often.
	maxTables = 16
)

// trusted contains a key of a [Set], and its table if one has been computed.
type trusted struct {
	*PublicKey
	uses  atomic.Uint64 // number of uses, until the table exists
	table atomic.Pointer[fixedbase.Key]
}

// tables computes the tables of the keys in a Set. These tables all use the same table of the base
// point.
type tables struct {
	base    func() *fixedbase.Base // computed once, on first use
	claimed atomic.Int64           // number of tables requested, which may exceed maxTables
}

// of returns a key's table, or nil if the key has no table. A check without a table returns the
// same result but takes longer. Each call is counted as one use of the key. The call that reaches
// the limit computes the table and returns it; concurrent calls continue without a table.
func (t *tables) of(k *trusted, plain bool) *fixedbase.Key {
	if plain || k.Algorithm != Ed25519 {
		return nil
	}
	if table := k.table.Load(); table != nil {
		return table
	}
	if k.uses.Add(1) != tableAfter || t.claimed.Add(1) > maxTables {
		return nil
	}

	// Only one call reaches exactly tableAfter, so the table is not computed twice.
	table, err := t.base().NewKey(k.material.(ed25519.PublicKey))
	if err != nil { // cannot happen, because every key in a set is a point
		return nil
	}
	k.table.Store(table)
	return table
}
