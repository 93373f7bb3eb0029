package receipt_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

func ptr[T any](v T) *T { return &v }

// plainDraft returns a draft that has only the members that the format requires.
func plainDraft() *receipt.Draft {
	return &receipt.Draft{
		ReceiptID:   "receipt_1",
		Subject:     receipt.ResourceRef{Object: "task", ID: "task_1"},
		Issuer:      receipt.Issuer{ID: "issuer_a", Kind: "harness"},
		IssuedAt:    receipt.At(noon),
		Identifiers: receipt.Identifiers{WorkspaceRef: "workspace_1", SessionID: "session_1", TaskID: "task_1"},
		Lifecycle:   receipt.Lifecycle{StartedAt: receipt.At(noon), CompletedAt: receipt.At(noon), FinalState: receipt.StateSucceeded},
		Trust:       receipt.TrustTiers{StartTier: "shadow", EndTier: "shadow"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none needed"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

// richDraft returns a draft that has every member, and unknown members in each of the seven open
// objects.
func richDraft() *receipt.Draft {
	d := plainDraft()
	digest := canon.Sum([]byte("x"))
	open := receipt.Object{"unknown": "kept", "n": 0.1, "list": []any{true, nil, "é😀\u2028"}, "o": map[string]any{"": 1e-7}}
	d.Issuer = receipt.Issuer{ID: "issuer_a", Kind: "agent", Name: "A", Version: "1", PublicKeyID: "a"}
	d.Identifiers = receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: "t", TenantID: "tenant", PersonaRef: "p", BranchID: "b", TraceID: "tr"}
	d.Lifecycle = receipt.Lifecycle{CreatedAt: receipt.At(noon.Add(-2 * time.Hour)), StartedAt: receipt.At(noon.Add(-time.Hour)), CompletedAt: receipt.At(noon), FinalState: receipt.StateFailed, Failure: open}
	d.Approvals = []receipt.Approval{{ApprovalID: "1", Actor: "x", Action: "y", Decision: "denied", DecidedAt: receipt.At(noon), QuorumProof: open, EvidenceHash: digest}}
	d.Trust.PolicyRef = "policy"
	d.AutonomyBudget = receipt.AutonomyBudget{
		Limit:    &receipt.Amounts{USD: ptr(2.5), InputTokens: ptr[int64](9007199254740991), OutputTokens: ptr[int64](2), ToolCalls: ptr[int64](3), WallTimeMS: ptr[int64](4)},
		Consumed: receipt.Amounts{USD: ptr(0.0), ToolCalls: ptr[int64](1)},
	}
	d.ReplayInput = receipt.ReplayInput{Determinism: "unavailable", UnavailableReason: "lost", Materials: []receipt.Material{
		{Kind: "artifact", ID: "m", URI: "u", SHA256: digest, ContentType: "text/plain", BytesBase64: "eA==", Metadata: open}}}
	d.ModelRoute.AlternativesConsidered = []receipt.Model{{Provider: "p", Model: "m", Version: "v", Reason: "r"}}
	d.Cost = receipt.Cost{Currency: "EUR", Total: 0.3, ProviderBreakdown: []receipt.ProviderCost{
		{Provider: "p", Model: "m", Amount: 0.1, InputTokens: ptr[int64](0), OutputTokens: ptr[int64](7), Metadata: open}, {Provider: "q", Amount: 0.2}}}
	d.SideEffects = receipt.SideEffects{
		FSWrites:      []receipt.FileWrite{{Path: "p", Operation: "modify", BeforeSHA256: receipt.OptionalDigest{Digest: digest}, AfterSHA256: receipt.OptionalDigest{Digest: digest}}, {Path: "q", Operation: "rename"}},
		NetworkEgress: []receipt.NetworkEgress{{Destination: "d", Purpose: "p", BytesSent: ptr[int64](1), Metadata: open}},
		ToolCalls:     []receipt.ToolCall{{Tool: "t", CallID: "c", Status: "failed", InputHash: digest, OutputHash: digest, Metadata: open}},
		A2AHandoffs:   []receipt.Handoff{{TargetAgent: "a", TaskID: "t", Status: "rejected", ReceiptID: "r"}},
	}
	d.FinalArtifacts = []receipt.Artifact{{ArtifactID: "a", Kind: "patch", URI: "u", SHA256: digest}}
	d.Deltas = []receipt.Delta{{DeltaID: "d", Operation: "remove", Path: "/x", OverrideKey: "k", EventID: "e", BeforeSHA256: receipt.OptionalDigest{Digest: digest}, AfterSHA256: receipt.OptionalDigest{Digest: digest}, ArtifactID: "a", Reason: "r"}}
	d.Redactions = []receipt.Redaction{{Field: "/x", Reason: "secret", ProofHash: digest}}
	d.Metadata = maps.Clone(open)
	d.Metadata["least"] = 5e-324 // slow to read
	return d
}

// sealAndSign seals and signs a draft, and returns the receipt.
func sealAndSign(t testing.TB, d *receipt.Draft, signers ...receipt.Signer) []byte {
	t.Helper()
	s, err := receipt.Seal(d, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	for _, signer := range signers {
		if s, err = s.Sign(context.Background(), signer); err != nil {
			t.Fatal(err)
		}
	}
	return s.JSON()
}

func verifier(t testing.TB, trust receipt.Trust, p receipt.Policy) *receipt.Verifier {
	t.Helper()
	v, err := receipt.NewVerifier(trust, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func verify(v *receipt.Verifier, data []byte) *receipt.Report {
	rep := new(receipt.Report)
	v.VerifyBytes(data, new(canon.Document), rep)
	return rep
}

// TestFileWrite verifies that null means that there is no file and that unknown digests are
// omitted.
func TestFileWrite(t *testing.T) {
	known := receipt.OptionalDigest{Digest: canon.Sum([]byte("x"))}
	text := `"` + known.String() + `"`
	for want, w := range map[string]receipt.FileWrite{
		`{"path":"p","operation":"create","before_sha256":null}`:                                     {Path: "p", Operation: "create"},
		`{"path":"p","operation":"create","before_sha256":null,"after_sha256":` + text + `}`:         {Path: "p", Operation: "create", AfterSHA256: known},
		`{"path":"p","operation":"delete","after_sha256":null}`:                                      {Path: "p", Operation: "delete"},
		`{"path":"p","operation":"delete","before_sha256":` + text + `,"after_sha256":null}`:         {Path: "p", Operation: "delete", BeforeSHA256: known},
		`{"path":"p","operation":"modify"}`:                                                          {Path: "p", Operation: "modify"},
		`{"path":"p","operation":"modify","after_sha256":` + text + `}`:                              {Path: "p", Operation: "modify", AfterSHA256: known},
		`{"path":"p","operation":"modify","before_sha256":null}`:                                     {Path: "p", Operation: "modify", BeforeSHA256: receipt.OptionalDigest{Null: true}},
		`{"path":"p","operation":"rename","before_sha256":` + text + `,"after_sha256":` + text + `}`: {Path: "p", Operation: "rename", BeforeSHA256: known, AfterSHA256: known},
	} {
		got, err := json.Marshal(w)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		var back receipt.FileWrite
		w.BeforeSHA256.Null = strings.Contains(want, `"before_sha256":null`)
		w.AfterSHA256.Null = strings.Contains(want, `"after_sha256":null`)
		if err := json.Unmarshal(got, &back); err != nil || back != w {
			t.Errorf("%s: %+v, %v", got, back, err)
		}
	}
}

// TestDeltaDigests verifies that a digest, null, and absence are three distinct states that survive
// a round trip.
func TestDeltaDigests(t *testing.T) {
	known := receipt.OptionalDigest{Digest: canon.Sum([]byte("x"))}
	for want, d := range map[string]receipt.Delta{
		`{"operation":"add","path":"/p"}`:                                             {Operation: "add", Path: "/p"},
		`{"operation":"add","path":"/p","before_sha256":null}`:                        {Operation: "add", Path: "/p", BeforeSHA256: receipt.OptionalDigest{Null: true}},
		`{"operation":"add","path":"/p","after_sha256":"` + known.String() + `"}`:     {Operation: "add", Path: "/p", AfterSHA256: known},
		`{"operation":"remove","path":"/p","before_sha256":null,"after_sha256":null}`: {Operation: "remove", Path: "/p", BeforeSHA256: receipt.OptionalDigest{Null: true}, AfterSHA256: receipt.OptionalDigest{Null: true}},
	} {
		got, err := json.Marshal(d)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		var back receipt.Delta
		if err := json.Unmarshal(got, &back); err != nil || back != d {
			t.Errorf("%s: %+v, %v", got, back, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"before_sha256":"sha256:x"}`), new(receipt.Delta)); err == nil {
		t.Error("no digest is accepted")
	}
}
