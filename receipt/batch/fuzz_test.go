package batch_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/batch"
)

// FuzzParseManifest verifies that an accepted manifest is written in canonical form and can be
// parsed again to the same manifest. No value may be returned together with an error.
func FuzzParseManifest(f *testing.F) {
	for n := 1; n <= 4; n++ {
		f.Add(seal(f, drafts(f, n)).Manifest.Marshal())
	}
	f.Add([]byte(manifest(canon.Digest(hash("\x00a")), batch.Entry{ReceiptID: "\u20ac\"\\\n", Leaf: [32]byte(hash("\x00a"))})))
	f.Add([]byte(`{"batch_version": 1.0, "profile": "content", "merkle_root": "sha256:", "receipts": []}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := batch.ParseManifest(text)
		if (m == nil) != (err != nil) {
			t.Fatalf("%v, %v", m, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		written := m.Marshal()
		canonical, err := canon.Transform(text)
		if err != nil || !bytes.Equal(written, append(canonical, '\n')) {
			t.Errorf("%q is written %q, expected %q, %v", text, written, canonical, err)
		}
		again, err := batch.ParseManifest(written)
		if err != nil || again.Root() != m.Root() || !slices.Equal(again.Entries(), m.Entries()) {
			t.Errorf("%q is read as another, %v", written, err)
		}
		if rootOf(m.Entries()) != m.Root() {
			t.Errorf("%q: the root is not that of the leaves", written)
		}
	})
}
