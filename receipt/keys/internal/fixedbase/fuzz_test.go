package fixedbase

import (
	"crypto/ed25519"
	"testing"
)

// FuzzTable verifies that the verdict matches that of crypto/ed25519 for any key, message, and
// signature.
func FuzzTable(f *testing.F) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	message := []byte("message")
	f.Add([]byte(private.Public().(ed25519.PublicKey)), message, ed25519.Sign(private, message))
	for j := range 8 {
		low := torsion(f, j).Bytes()
		f.Add(low, message, append(append([]byte{}, low...), make([]byte, 32)...))
	}
	f.Fuzz(func(t *testing.T, public, message, sig []byte) {
		if len(public) != ed25519.PublicKeySize { // crypto/ed25519 panics
			if k, err := small().NewKey(public); k != nil || err == nil {
				t.Fatalf("%x is no key", public)
			}
			return
		}
		agree(t, small(), public, message, sig)
	})
}
