package custodytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"fmt"
)

// Key returns the key with a name, the same each time: ed25519, p256, p384, or with
// "other-" before it one that is not the same. An RSA key is new each time.
func Key(name string) (crypto.Signer, error) {
	seed := sha512.Sum512([]byte(name))
	switch name {
	case "ed25519", "other-ed25519":
		return ed25519.NewKeyFromSeed(seed[:32]), nil
	case "p256", "other-p256":
		return ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:32])
	case "p384", "other-p384":
		return ecdsa.ParseRawPrivateKey(elliptic.P384(), seed[:48])
	case "rsa":
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return nil, fmt.Errorf("there is no key %q", name)
}
