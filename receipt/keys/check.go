package keys

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// CheckSignature implements [receipt.Trust]. It checks the value's form before it looks up the key,
// so that a damaged value is detected even if the key is unknown.
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

	// Check the form first, because this requires no key.
	t, err := parseToken(e, alg)
	if err == nil {
		err = s.usable(k, e)
	}
	if err != nil {
		return err
	}

	// EdDSA is Ed25519 over the JWS signing input, so a table can also be used for it.
	if table := s.tables.of(k, e.Plain); table != nil {
		return k.judged(table.Verify(t.input(message), t.signature))
	}
	return k.verifyToken(t, message)
}

// usable checks that the entry's key is known and matches its algorithm.
func (s *Set) usable(k *trusted, e *receipt.Entry) *receipt.SignatureError {
	if k == nil {
		return refuse(receipt.CodeUnknownKey, "%s is not among the %d trusted keys", quote(e.KeyID), len(s.keys))
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
	nativeBytes  = len(nativePrefix) + 88 // a complete value: 64 bytes take 86 characters and ==
)

// checkNative is the hot path. It allocates memory only for errors.
func (s *Set) checkNative(k *trusted, message []byte, e *receipt.Entry) *receipt.SignatureError {
	var sig [66]byte // the maximum that base64.Encoding writes for 88 characters
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

// decodeNative decodes a signature in its only accepted encoding. A value of 88 characters that
// decodes to 64 bytes cannot contain the CR and LF that encoding/base64 skips.
func decodeNative(sig *[66]byte, value []byte) bool {
	if len(value) != nativeBytes || string(value[:len(nativePrefix)]) != nativePrefix {
		return false
	}
	n, err := base64.StdEncoding.Strict().Decode(sig[:], value[len(nativePrefix):])
	return err == nil && n == ed25519.SignatureSize
}

const (
	// tableAfter is the number of signatures that a [Set] checks with a key before it computes a
	// table for that key. Computing the base point's table takes as long as about a hundred checks
	// without tables, and computing a key's table takes as long as about thirty checks. A run that
	// ends soon afterward has therefore taken at most twice as long as without tables, and about
	// two hundred further checks compensate for the cost.
	tableAfter = 128

	// maxTables is the maximum number of keys in a Set that can have a table: the first keys that
	// are used often.
	maxTables = 16
)

// A trusted is a key in a [Set], which may compute a table for the key.
type trusted struct {
	*PublicKey
	uses  atomic.Uint64 // incremented until the table exists
	table atomic.Pointer[fixedbase.Key]
}

// tables computes a Set's tables, which share the base point's table.
type tables struct {
	base    func() *fixedbase.Base // computed once, on first use
	claimed atomic.Int64           // number of requests for a table, including requests beyond maxTables
}

// of returns the key's table, or nil. A check without a table has the same result and is only
// slower. The call counts as a use. If this use reaches the limit, the call computes the table and
// waits for it, while concurrent calls continue without a table.
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

	// Only one call can reach exactly tableAfter, so the table is not computed twice.
	table, err := t.base().NewKey(k.material.(ed25519.PublicKey))
	if err != nil { // cannot happen, because every key in a set is a point
		return nil
	}
	k.table.Store(table)
	return table
}
