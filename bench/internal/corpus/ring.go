package corpus

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// keyCount is the number of keys that sign for the issuer.
const keyCount = 8

// A ring contains the keys of a seed.
type ring struct {
	file    *keys.File
	signers map[string]*keys.Signer
}

func newRing(seed uint64) (*ring, error) {
	r := &ring{new(keys.File), map[string]*keys.Signer{}}
	for i := range keyCount {
		k, err := newKey(seed, i, r.id(i))
		if err != nil {
			return nil, err
		}
		public := k.Public()
		public.Issuers = []string{issuerID}
		if err := r.file.Add(public); err != nil {
			return nil, err
		}
		r.signers[r.id(i)] = keys.NewSigner(k, nil) // the generator sets signed_at
	}
	return r, nil
}

// newKey derives a private key that anyone can derive, for example in a shell:
//
//	printf 'TEST KEY of a corpus, NEVER TRUST IT: seed 1, key 0' | sha256sum
func newKey(seed uint64, i int, id string) (*keys.PrivateKey, error) {
	secret := sha256.Sum256(fmt.Appendf(nil, "TEST KEY of a corpus, NEVER TRUST IT: seed %d, key %d", seed, i))
	return keys.Generate(bytes.NewReader(secret[:]), keys.Ed25519, id)
}

// id returns the ID of key i. All seeds use the same IDs.
func (*ring) id(i int) string { return fmt.Sprintf("test_key_%d", i+1) }

func (r *ring) signer(id string) *keys.Signer { return r.signers[id] }
