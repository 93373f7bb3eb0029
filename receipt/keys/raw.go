package keys

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"math/big"
	"slices"

	"filippo.io/mldsa"

	"github.com/receiptkit/receiptkit/receipt"
)

// rawName describes the key that a signature refers to.
func rawName(sig *receipt.ForeignSignature) string {
	switch {
	case sig.Public != nil:
		return "the key in the receipt"
	case sig.KeyID == "":
		return "a key for " + quote(cmp.Or(sig.Issuer, string(sig.Role)))
	}
	return quote(sig.KeyID)
}

// rawKeys returns the trusted keys that may have made a signature. These are the keys that have the
// ID or the material that the signature names. If the signature does not name a key, the result
// consists of the keys for the author or the role.
func rawKeys(s *Set, sig *receipt.ForeignSignature) (list []*PublicKey) {
	if sig.Public == nil && sig.KeyID != "" {
		if k := s.byID[sig.KeyID]; k != nil {
			list = append(list, k.PublicKey)
		}
		return list
	}
	for _, k := range s.keys {
		public, ok := k.material.(ed25519.PublicKey)
		switch {
		case ok && public.Equal(ed25519.PublicKey(sig.Public)),
			sig.Public == nil && k.Has(sig.Role), // no key has the role ""
			sig.Public == nil && sig.Role == "" && slices.Contains(k.Issuers, sig.Issuer):
			list = append(list, k)
		}
	}
	return list
}

func checkRaw(k *PublicKey, message []byte, sig *receipt.ForeignSignature) *receipt.SignatureError {
	alg, ok := algorithmOf(k.Algorithm)
	switch {
	case sig.Algorithm != "" && !known(sig.Algorithm):
		return refuse(receipt.CodeUnsupportedAlgorithm, "algorithm %s is not one of the fixed list", quote(sig.Algorithm))
	case sig.Algorithm != "" && !fits(k.Algorithm, sig.Algorithm):
		return refuse(receipt.CodeAlgorithmMismatch, "%s is a key for %s, the signature names %s", quote(k.ID), k.Algorithm, quote(sig.Algorithm))
	case !ok || alg.family == familyPSS:
		return refuse(receipt.CodeUnsupportedAlgorithm, "%s is a key for %s, which receipts of other formats are not judged with", quote(k.ID), k.Algorithm)
	}
	value := sig.Value
	if sig.DER && alg.family == familyECDSA {
		value, _ = fixedWidth(value, alg.size) // nil if the signature has a different form
	}
	if alg.size > 0 && len(value) != alg.size {
		return refuse(receipt.CodeMalformedSignature, "a signature by a key for %s has %d bytes, found %d in this form", k.Algorithm, alg.size, len(sig.Value))
	}

	valid := false
	switch alg.family {
	case familyEd25519:
		valid = ed25519.Verify(k.material.(ed25519.PublicKey), message, value)
	case familyECDSA:
		half := alg.size / 2
		r, s := new(big.Int).SetBytes(value[:half]), new(big.Int).SetBytes(value[half:])
		valid = ecdsa.Verify(k.material.(*ecdsa.PublicKey), digestOf(alg, message), r, s)
	case familyPKCS1:
		valid = rsa.VerifyPKCS1v15(k.material.(*rsa.PublicKey), alg.hash, digestOf(alg, message), value) == nil
	case familyMLDSA:
		valid = mldsa.Verify(k.material.(*mldsa.PublicKey), message, value, nil) == nil
	}
	if !valid {
		return refuse(receipt.CodeSignatureInvalid, "not a signature of %s over these bytes", quote(k.ID))
	}
	return nil
}

func known(algorithm string) bool {
	_, ok := algorithmOf(algorithm)
	return ok
}

func digestOf(alg algorithm, message []byte) []byte {
	h := alg.hash.New()
	h.Write(message)
	return h.Sum(nil)
}
