package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// attested returns an attestation of a receipt, signed with a key from the fixtures.
func attested(t testing.TB, text []byte, key string) []byte {
	t.Helper()
	sealed, err := receipt.ParseSealed(text)
	if err != nil {
		t.Fatal(err)
	}
	private, err := keys.ParsePrivate(fixture(t, "keys/"+key+".private.json"))
	if err != nil {
		t.Fatal(err)
	}
	statement, err := attest.NewStatement(sealed, "")
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := attest.Sign(context.Background(), statement, keys.NewSigner(private, nil))
	if err != nil {
		t.Fatal(err)
	}
	return envelope.Bytes()
}

// TestAttestations verifies that the server's report on an attestation equals that of the command
// "receipt verify", for a single attestation and in a stream, and for all policy options.
func TestAttestations(t *testing.T) {
	good := attested(t, fixture(t, "valid/task.json"), "key_2026_04")
	bodies := map[string][]byte{
		"good":         good,
		"stranger":     attested(t, fixture(t, "valid/task.json"), "key_stranger"),
		"other issuer": attested(t, fixture(t, "valid/task.json"), "key_other_issuer"),
		"false":        bytes.Replace(good, []byte(`"sig":"`), []byte(`"sig":"AAAA`), 1),
		"cut":          bytes.Replace(good, []byte(`"payload":"`), []byte(`"payload":"e30=`), 1),
		"nothing":      []byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`),
		"of others":    []byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v9+json"}`),
	}
	h := start(t, options(t))
	seen := map[receipt.Verdict]int{}
	for name, body := range bodies {
		for query, policy := range map[string]receipt.Policy{
			"":                              {Now: noon()},
			"?scope=integrity":              {IntegrityOnly: true},
			"?issuer=harness_example_other": {Now: noon(), Issuer: "harness_example_other"},
		} {
			v, err := receipt.NewVerifier(trusted(t), policy)
			if err != nil {
				t.Fatal(err)
			}
			var want *receipt.Report
			run := stream.VerifyFiles(context.Background(), v, []stream.Source{stream.From("body", bytes.NewReader(body))}, stream.Options{Unwrap: attest.NewOpener(trusted(t), policy).Unwrap})
			for rep := range run.Reports() {
				want = rep.Clone()
			}
			seen[want.Verdict]++

			alone := h.post("/v1/verify"+query, "application/json", body)
			lines := h.post("/v1/verify"+query, "application/x-ndjson", ndjson(body, fixture(t, "valid/minimal.json"))).lines()
			for n, text := range [][]byte{alone.body, []byte(lines[0])} {
				var got receipt.Report
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatalf("%s %s: %v in %s", name, query, err, text)
				}
				if a, b := judgement(&got), judgement(want); a != b {
					t.Errorf("%s %s, %d:\n%s\nwant\n%s", name, query, n, a, b)
				}
			}
		}
	}
	for _, v := range []receipt.Verdict{receipt.Verified, receipt.Refuted, receipt.Undecided} {
		if seen[v] == 0 {
			t.Errorf("nothing was %v", v)
		}
	}
}

// TestLargeAttestation verifies that a large attestation is not opened, because it cannot be
// determined how much memory its content needs.
func TestLargeAttestation(t *testing.T) {
	h := start(t, options(t))
	body := append(append([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","dsseEnvelope":{"payload":"`), bytes.Repeat([]byte("W1tb"), 1<<18)...), `"}}`...)
	for media, want := range map[string]string{"application/json": `"verdict":"undecided"`, "application/x-ndjson": `"verdict":"undecided"`} {
		got := h.post("/v1/verify", media, body)
		if text := string(got.body); got.status != 200 || !strings.Contains(text, want) || !strings.Contains(text, "it is opened here up to 1048576 bytes, and has 10486") {
			t.Errorf("%s: %d %.600s", media, got.status, text)
		}
	}
}

// judgement returns the parts of a report that do not depend on the source of the receipt.
func judgement(r *receipt.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v %s %v\n", r.Verdict, r.Scope, r.ReceiptID, r.ReceiptHash)
	for _, c := range r.Checks {
		if c.Step != receipt.StepLink { // the link cannot be checked for a single receipt
			fmt.Fprintf(&b, "%v %v %s %s %s\n", c.Step, c.Status, c.Code, c.Pointer, c.Detail)
		}
	}
	for _, s := range r.Signatures {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	return b.String()
}
