package receipt_test

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// TestTrackEvidence verifies that disclosures and files are reported as unused until a receipt
// needs them. Tests of the command cover proofs and batches.
func TestTrackEvidence(t *testing.T) {
	sealed, all := redacted(t)
	plain := sealAndSign(t, plainDraft())
	named := plainDraft()
	digest := canon.Sum([]byte("a file"))
	named.FinalArtifacts = []receipt.Artifact{{ArtifactID: "a", Kind: "k", SHA256: digest}}
	withFile := sealAndSign(t, named)
	other := &redact.Disclosures{ReceiptHash: canon.Sum(nil), Fields: all.Fields}
	empty := &redact.Disclosures{ReceiptHash: all.ReceiptHash}
	files := fakeMaterials{digest: digest}
	for name, c := range map[string]struct {
		given receipt.Evidence
		seen  [][]byte
		idle  string
	}{
		"nothing judged":     {receipt.Evidence{Disclosures: []*redact.Disclosures{all}, Materials: files}, nil, "[disclosure file 1 the files to look up]"},
		"disclosed":          {receipt.Evidence{Disclosures: []*redact.Disclosures{all}}, [][]byte{sealed}, "[]"},
		"another's beside":   {receipt.Evidence{Disclosures: []*redact.Disclosures{all, other}}, [][]byte{sealed}, "[disclosure file 2]"},
		"another's alone":    {receipt.Evidence{Disclosures: []*redact.Disclosures{other}}, [][]byte{sealed}, "[disclosure file 1]"},
		"of nothing":         {receipt.Evidence{Disclosures: []*redact.Disclosures{empty}}, [][]byte{sealed}, "[disclosure file 1]"},
		"no file named":      {receipt.Evidence{Materials: files}, [][]byte{plain}, "[the files to look up]"},
		"a file named":       {receipt.Evidence{Materials: files}, [][]byte{plain, withFile}, "[]"},
		"a file not there":   {receipt.Evidence{Materials: fakeMaterials{}}, [][]byte{withFile}, "[]"},
		"two kinds, one use": {receipt.Evidence{Materials: files, Disclosures: []*redact.Disclosures{all}}, [][]byte{sealed}, "[the files to look up]"},
	} {
		v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if v, err = v.With(c.given); err != nil {
			t.Fatal(err)
		}
		watching, idle := v.TrackEvidence()
		for _, data := range c.seen {
			watching.VerifyBytes(data, new(canon.Document), new(receipt.Report))
		}
		if got := fmt.Sprint(idle()); got != c.idle {
			t.Errorf("%s: idle %s, want %s", name, got, c.idle)
		}
		v.VerifyBytes(sealed, new(canon.Document), new(receipt.Report)) // without a watcher
		if got := fmt.Sprint(idle()); got != c.idle {
			t.Errorf("%s: a verifier that is not watched changed it: %s", name, got)
		}
	}
	if v, idle := new(receipt.Verifier).TrackEvidence(); v == nil || len(idle()) > 0 {
		t.Error("a verifier without evidence returned unused evidence")
	}
}

// fakeMaterials contains at most one file.
type fakeMaterials struct{ digest canon.Digest }

func (f fakeMaterials) Lookup(d canon.Digest) (canon.Digest, bool) { return d, d == f.digest }
