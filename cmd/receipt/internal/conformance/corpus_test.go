package conformance_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/conformance"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/root"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

const corpus = "../../../../fixtures/corpus"

// A manifest lists the cases in the corpus.
type manifest struct {
	Vectors []struct {
		ID, File, Conditions string
		Expected             struct{ Outcome, Step, Code string }
	}
}

func readManifest(t *testing.T) (m manifest) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCorpus verifies that receipt returns the expected verdict, code, and step for every case.
func TestCorpus(t *testing.T) {
	m := readManifest(t)
	if len(m.Vectors) < 400 {
		t.Fatalf("%d cases, expected at least 400", len(m.Vectors))
	}

	verdicts := map[string]string{"verified": "valid", "refuted": "invalid", "undecided": "undecidable"}
	for _, v := range m.Vectors {
		verdict, code, step, err := conformance.Judge(t.Context(), root.Run, filepath.Join(corpus, v.File))
		if err != nil {
			t.Errorf("%s (%s): %v", v.ID, v.Conditions, err)
			continue
		}
		want := v.Expected
		if verdict != verdicts[want.Outcome] || code != want.Code || step != want.Step {
			t.Errorf("%s (%s): %s %s at step %q, expected %+v", v.ID, v.Conditions, verdict, code, step, want)
		}
	}
}

// TestFieldCorpus verifies that receipt answers the published cases with receipts in a third-party
// format, and uses the code names that the publisher's runner expects.
func TestFieldCorpus(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "foreign"), "acta-receipt-signature")
	s, err := conformance.ScoreField(t.Context(), dir, root.Run)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Verifier.VectorsExecuted; n != 20 || s.Totals.Conform != n || len(s.Totals.ReasonParityMismatch) != 0 {
		t.Errorf("20 cases expected, found %+v", s.Totals)
	}
}

// TestContext verifies that receipt gives no answer for a third-party receipt with a chain, because
// it would not check the chain.
func TestContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "receipt.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}

	keys := "AEV_RECEIPT_JWKS=" + filepath.Join("..", "..", "..", "..", "fixtures", "keys", "trust.json")
	if _, _, _, err := conformance.Judge(t.Context(), root.Run, file, keys); err != nil {
		t.Error("without a chain:", err)
	}
	if verdict, _, _, err := conformance.Judge(t.Context(), root.Run, file, keys, "AEV_RECEIPT_CONTEXT=chain.json"); err == nil {
		t.Errorf("with a chain: %s, expected no answer", verdict)
	}
}

// always returns a verifier that returns the same verdict for every file.
func always(verdict string) conformance.Verifier {
	return func(context.Context, string) (string, string, error) { return verdict, "", nil }
}
