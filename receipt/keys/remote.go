package keys

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
)

// A ContextSigner is a private key that may be in a KMS or an HSM. It is a
// crypto.Signer with a context instead of a source of randomness.
//
// SignContext gets what opts asks for: with crypto.Hash(0), for Ed25519, the
// message itself; with another hash its digest. An ECDSA signature is returned
// in ASN.1 DER, as crypto.Signer does; an RSA signature is PKCS #1 v1.5, or PSS
// when opts is an *rsa.PSSOptions, with a salt as long as the hash.
//
// A service that takes the message and hashes it itself, as an ssh-agent does, also
// has the method
//
//	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
//
// which then is called in place of SignContext, with the message whatever opts asks
// for: it is to crypto.MessageSigner what this is to crypto.Signer.
type ContextSigner interface {
	Public() crypto.PublicKey
	SignContext(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error)
}

// A messageSigner is a ContextSigner that hashes what it signs.
type messageSigner interface {
	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
}

// FromCryptoSigner adapts a crypto.Signer. It cannot be interrupted: the context
// is looked at before the call and after it. The randomness given to it is
// crypto/rand's, which the keys of the standard library use anyway.
func FromCryptoSigner(s crypto.Signer) ContextSigner { return localSigner{s} }

type localSigner struct{ signer crypto.Signer }

func (s localSigner) Public() crypto.PublicKey { return s.signer.Public() }

func (s localSigner) SignContext(_ context.Context, data []byte, opts crypto.SignerOpts) ([]byte, error) {
	return s.signer.Sign(rand.Reader, data, opts)
}

// signRaw returns the signature over input as JWS writes it (RFC 7518 section
// 3); for ed25519 that is the signature of RFC 8032.
func signRaw(ctx context.Context, s ContextSigner, alg algorithm, input []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// Ed25519 signs the message itself (RFC 8032), the others its digest.
	data, sign := input, s.SignContext
	var opts crypto.SignerOpts = alg.hash
	if m, ok := s.(messageSigner); ok {
		sign = m.SignMessageContext
	} else if alg.hash != 0 {
		h := alg.hash.New()
		h.Write(input)
		data = h.Sum(nil)
	}
	// RFC 7518 section 3.5: the salt is as long as the hash.
	if alg.family == familyPSS {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: alg.hash}
	}

	sig, err := sign(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// RFC 7518 section 3.4: an ECDSA signature in JWS is r and s, and not DER.
	switch alg.family {
	case familyEd25519:
		if len(sig) != ed25519.SignatureSize {
			return nil, fmt.Errorf("the signer returned %d bytes, an Ed25519 signature has %d", len(sig), ed25519.SignatureSize)
		}
	case familyECDSA:
		return fixedWidth(sig, alg.size)
	}

	return sig, nil
}

// fixedWidth turns Ecdsa-Sig-Value (RFC 3279 section 2.2.3) into r and s of
// equal width (RFC 7518 section 3.4).
func fixedWidth(der []byte, size int) ([]byte, error) {
	var sig struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &sig)
	half := size / 2
	if err != nil || len(rest) > 0 || sig.R.Sign() <= 0 || sig.S.Sign() <= 0 || sig.R.BitLen() > 8*half || sig.S.BitLen() > 8*half {
		return nil, errors.New("the signer returned no ASN.1 ECDSA signature")
	}
	out := make([]byte, size)
	sig.R.FillBytes(out[:half])
	sig.S.FillBytes(out[half:])
	return out, nil
}
