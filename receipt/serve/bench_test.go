package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// chained returns signed receipts from one stream, one per line. Each receipt is about 11 KB long.
func chained(t testing.TB, n int) []byte {
	t.Helper()
	private, err := keys.ParsePrivate(fixture(t, "keys/key_2026_04.private.json"))
	if err != nil {
		t.Fatal(err)
	}
	signer := keys.NewSigner(private, nil)
	var head chain.Head
	var out []byte
	for i := range n {
		at := receipt.At(noon().AddDate(0, -1, 0))
		d := &receipt.Draft{
			ReceiptID:   fmt.Sprint("receipt_", i),
			Subject:     receipt.ResourceRef{Object: "task", ID: "task"},
			Issuer:      receipt.Issuer{ID: "harness_example_cloud", Kind: "harness"},
			IssuedAt:    at,
			Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: "t"},
			Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: "SUCCEEDED"},
			Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
			ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
			ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
			Cost:        receipt.Cost{Currency: "USD"},
		}
		for k := range 60 {
			d.FinalArtifacts = append(d.FinalArtifacts, receipt.Artifact{ArtifactID: fmt.Sprint("artifact_", k), Kind: "file",
				URI: fmt.Sprintf("https://example.com/%d/%d", i, k), SHA256: canon.Sum(fmt.Append(nil, i, k))})
		}
		sealed, err := receipt.Seal(d, head)
		if err != nil {
			t.Fatal(err)
		}
		if sealed, err = sealed.Sign(context.Background(), signer); err != nil {
			t.Fatal(err)
		}
		head = sealed.Head()
		out = append(append(out, sealed.JSON()...), '\n')
	}
	return out
}

// BenchmarkStream compares the verification of lines over HTTP with their verification in the same
// process, as in the command. The times per operation should differ by at most a quarter.
func BenchmarkStream(b *testing.B) {
	body := chained(b, 2000)
	judge, err := receipt.NewVerifier(trusted(b), receipt.Policy{Now: noon()})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			sum, err := stream.VerifyFiles(b.Context(), judge, []stream.Source{sourceOf("body", stream.Lines, body)}, stream.Options{}).Summary()
			if err != nil || sum.Verdict() != receipt.Verified {
				b.Fatal(err, sum)
			}
		}
	})
	b.Run("http", func(b *testing.B) {
		h := start(b, options(b))
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			res, err := h.client.Post("http://"+h.addr+"/v1/verify", "application/x-ndjson", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(text[len(text)-2000:], []byte(`{"summary":{"report_version":1,"verdict":"verified"`)) {
				b.Fatalf("%v %.500s", err, text)
			}
		}
	})
}
