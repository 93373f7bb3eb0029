package keys_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// One party generates a key and signs a receipt, and the other party trusts the key and verifies
// the receipt.
func Example() {
	seed := bytes.NewReader(make([]byte, 32)) // a fixed seed for the example; use crypto/rand.Reader
	private, err := keys.Generate(seed, keys.Ed25519, "key_2026_04")
	if err != nil {
		panic(err)
	}
	signer := keys.NewSigner(private, func() time.Time { return time.Unix(1777144653, 0) })
	message := []byte("sha256:6dda1c76c5adc8c210892ba1b7e566dd3b6e3644f7ab6b0dcd14ae34a0b323a7")
	sig, err := signer.Sign(context.Background(), message)
	if err != nil {
		panic(err)
	}

	public := private.Public()
	public.Issuers = []string{"harness_burin_cloud"}
	var file keys.File
	if err := file.Add(public); err != nil {
		panic(err)
	}
	data, err := file.Marshal()
	if err != nil {
		panic(err)
	}
	trust, err := keys.ParseSet(data)
	if err != nil {
		panic(err)
	}
	key, bad := trust.CheckSignature(message, &receipt.Entry{
		KeyID: []byte(sig.KeyID), Algorithm: []byte(sig.Algorithm), Signature: []byte(sig.Signature),
	})
	fmt.Println(key.ID, key.Issuers, bad == nil, sig.SignedAt)
	// Output: key_2026_04 [harness_burin_cloud] true 2026-04-25T19:17:33Z
}
