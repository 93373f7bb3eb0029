package keys

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// CheckSignature implements [receipt.Trust]. The form is judged before the key
// is looked up, so that a damaged value is found without it.
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

	// The form first: it needs no key.
	t, err := parseToken(e, alg)
	if err == nil {
		err = s.usable(k, e)
	}
	if err != nil {
		return err
	}

	// EdDSA is Ed25519 over the input of the token, so a table serves it too.
	if table := s.tables.of(k, e.Plain); table != nil {
		return k.judged(table.Verify(t.input(message), t.signature))
	}
	return k.verifyToken(t, message)
}

// usable decides whether the entry's key is known and is for its algorithm.
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
	nativeBytes  = len(nativePrefix) + 88 // of a whole value: 64 bytes take 86 characters and ==
)

// checkNative is the hot path: it allocates only to complain.
func (s *Set) checkNative(k *trusted, message []byte, e *receipt.Entry) *receipt.SignatureError {
	var sig [66]byte // what base64.Encoding may write for 88 characters
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

// decodeNative reads the one accepted encoding. 88 characters that hold 64 bytes
// leave no room for the CR and LF that encoding/base64 skips.
func decodeNative(sig *[66]byte, value []byte) bool {
	if len(value) != nativeBytes || string(value[:len(nativePrefix)]) != nativePrefix {
		return false
	}
	n, err := base64.StdEncoding.Strict().Decode(sig[:], value[len(nativePrefix):])
	return err == nil && n == ed25519.SignatureSize
}

const (
	// tableAfter is how many signatures of a key a [Set] checks before it makes a
	// table for it. The table of the base point takes as long as about a hundred
	// checks without tables, that of a key as about thirty. So whoever is about
	// to stop has at most waited twice as long as needed, and after some two hundred
	// more the time is won back.
	tableAfter = 128

	// maxTables is how many keys of a Set get a table: those that are the first to
	// be used often.
	maxTables = 16
)

// A trusted key is one of a [Set], which may make a table for it.
type trusted struct {
	*PublicKey
	uses  atomic.Uint64 // counted until there is a table
	table atomic.Pointer[fixedbase.Key]
}

// tables makes the tables of a Set. All of them share the one of the base point.
type tables struct {
	base    func() *fixedbase.Base // once, when it is first asked for
	claimed atomic.Int64           // of maxTables; keys that came too late count too
}

// of returns the table of the key, or nil, with which nothing changes but speed. It
// counts the call as a use, and makes the table when it is time: one caller has to
// wait for that, others go without meanwhile.
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

	// One call alone has counted to tableAfter, so nobody makes the table twice.
	table, err := t.base().NewKey(k.material.(ed25519.PublicKey))
	if err != nil { // never: a set has no key that is not a point
		return nil
	}
	k.table.Store(table)
	return table
}
