package kind_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/kind"
)

func TestOf(t *testing.T) {
	tests := []struct {
		head string
		kind kind.Kind
		what string
	}{
		{"%PDF-1.7\n%\xe2\xe3", kind.Document, "a PDF document"},
		{`{\rtf1\ansi`, kind.Document, "an RTF document"},
		{"PK\x03\x04\x14\x00", kind.Archive, "a ZIP archive, or a document that is one"},
		{strings.Repeat("\x00", 257) + "ustar\x00", kind.Archive, "a tar archive"},
		{"\x89PNG\r\n\x1a\n\x00", kind.Image, "a PNG image"},
		{"\xff\xd8\xff\xe0", kind.Image, "a JPEG image"},
		{"RIFF\x00\x00\x00\x00WEBPVP8 ", kind.Image, "a WebP image"},
		{"SQLite format 3\x00\x10", kind.Database, "an SQLite database, and not a ledger"},
		{"SQLite format 3\x00" + strings.Repeat("\x00", 52) + "rcpt\x00", kind.Ledger, "a ledger"},
		{"receiptkit/consistency-proof@v1\nfrom 1 AA", kind.Consistency, "a proof that a checkpoint extends an earlier one"},
		{"\x7fELF\x02", "program", "a program"},
		{"\ufeff <!DOCTYPE html><p>", "page", "a web page (HTML)"},
		{"<!doctype html>\n<title>Audit report of receipts: verified</title>", "page", "an audit report, for people to read"},
		{"<?xml version=\"1.0\"?><svg>", kind.Image, "an SVG image"},
		{"<?xml version=\"1.0\"?>\n<testsuites>", "xml", "an XML document"},
		{"From: a@example.com\nSubject: your receipt\n\nattached", "mail", "an e-mail"},
		{"eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.c2ln\n", "token", "a JSON Web Token"},
		{"Dear auditor,\n\nplease find the receipt attached.\n", kind.Text, "a text without any receipt in it"},
		{"-----BEGIN PUBLIC KEY-----\nMCow", kind.Keys, "a public key or a certificate"},
		{"-----BEGIN PRIVATE KEY-----\nMC4C", kind.PrivateKey, "a private key"},
		{"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl", kind.Packed, "an encrypted file (age)"},
		{"age-encryption.org/v1\n-> scrypt a 18\n", kind.Packed, "an encrypted file (age)"},
		{`{"kty":"OKP","d":"AA","x":"AA"}`, kind.PrivateKey, "a private key"},
		{"ssh-ed25519 AAAA me", kind.Keys, "a public key of OpenSSH"},
		{`{"keys":[{"kty":"OKP"}]}`, kind.Keys, "a set of keys"},
		{"example.com/log\n12\nAAAA\n\n\u2014 example.com/log AAAA\n", kind.Checkpoint, "a signed checkpoint of a log"},
		{"c2sp.org/tlog-proof@v1\nindex 3\n", kind.Proof, "a proof that a receipt is in a checkpoint"},
		{`{"disclosures_version":1,"fields":[]}`, kind.Disclosures, "disclosed values"},
		{`{"schema":"timestamp-2026-11"}`, kind.Timestamp, "a timestamp"},
		{`{"batch_version":1}`, kind.Batch, "the manifest of a batch"},
		{"{\n\"reports\":[],\"summary\":{}}", kind.Report, "a report of a verification"},
		{`{"witnesses":{"required":1}}`, kind.Policy, "a policy"},
		{`{"schema":"receipt-2026-04-25","receipt_id":"r","issuer":{"id":"i"}}`, kind.Draft, "a draft, which nobody has sealed"},
		{`{"schema":"receipt-2026-04-25","receipt_id":"r","issuer":{"id":"i"},"chain":{"previous_receipt_hash":null}}`, kind.Draft, "a draft, which nobody has sealed"},
		{`{"type":"summary","leafUuid":"x"}` + "\n", kind.Transcript, "a transcript of Claude Code"},
		{`{"type":"user","sessionId":"x","message":{}}` + "\n", kind.Transcript, "a transcript of Claude Code"},
		{`{"type":"system","session_id":"x"}` + "\n", kind.Transcript, "a stream of Claude Code"},
		{`{"timestamp":"t","type":"session_meta","payload":{}}` + "\n", kind.Transcript, "a rollout of Codex"},
		{`{"id":"x","timestamp":"t","instructions":null}` + "\n", kind.Transcript, "a rollout of Codex"},
		{`{"session":{"timestamp":"t","id":"x","instructions":""},"items":[]}`, kind.Transcript, "a rollout of Codex"},
		{`{"resourceSpans":[]}`, kind.Transcript, "telemetry (OTLP)"},
		{`{"_type":"harn_session_bundle","schema_version":1}`, kind.Bundle, "a session bundle"},
		{`{"id":"r","_type":"run_record"}`, kind.Run, "a run record"},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n", kind.Frames, "a log of the frames of a bridge"},
		{`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"pub`, kind.Attestation, "an attestation (a Sigstore bundle)"},
		{`{"mediaType":"application/vnd.dev.sigstore.bundle+json;version=0.1"}`, kind.Attestation, "an attestation (a Sigstore bundle)"},
		{`{"dsseEnvelope":{"payload":"eyJ`, kind.Attestation, "an attestation (a Sigstore bundle)"},
		{`{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[]}`, "statement", "a signed envelope (DSSE) without the bundle that names its key"},
		{`{"_type":"https://in-toto.io/Statement/v1","subject":[]}`, "statement", "an in-toto statement, which nobody signed"},

		// Anything that may be a receipt is left to the verifier, regardless of damage.
		{`{"mediaType":"application/json","receipt_id":"r"}`, kind.Unknown, ""},
		{`{"dsseEnvelope":{},"receipt_id":"r"}`, kind.Unknown, ""},
		{"", kind.Unknown, ""},
		{" \n", kind.Unknown, ""},
		{`"receipt"`, kind.Unknown, ""},
		{`{"hello":"world"}`, kind.Unknown, ""},
		{`{"schema":"receipt-2026-04-25","receipt_id":"r","issuer":{"id":"i"},"signatures":[]}`, kind.Unknown, ""},
		{`{"schema":"receipt-2026-04-25","receipt_id":"r","issuer":{"id":"i"},"cost":`, kind.Unknown, ""},
		{`{"keys":[],"chain":{"receipt_hash":"x"}}`, kind.Unknown, ""},
		{"> {\"receipt_id\": \"quoted in a mail\"}", kind.Unknown, ""},
		{"Here is your receipt: {\"receipt_id\": 1}", kind.Unknown, ""},
		{"\x1f\x8b\x08", kind.Unknown, ""},
		{"\xa1\x61\x61\x01", kind.Unknown, ""},
	}
	for _, test := range tests {
		got := kind.Of([]byte(test.head), true)
		if got.Kind != test.kind || got.What != test.what {
			t.Errorf("%.60q: %q, %q; want %q, %q", test.head, got.Kind, got.What, test.kind, test.what)
		}
		if (got.Kind == kind.Unknown) != (got.Next == "") {
			t.Errorf("%.60q: hint: %q", test.head, got.Next)
		}
	}
}

// TestPartOfDraft verifies that an incomplete draft is not recognized as a draft, because a
// signature may follow.
func TestPartOfDraft(t *testing.T) {
	draft, err := os.ReadFile("../../docs/draft.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := kind.Of(draft, true); got.Kind != kind.Draft {
		t.Errorf("a draft is %+v", got)
	}
	for _, part := range []kind.Found{kind.Of(draft, false), kind.Of(draft[:len(draft)/2], true), kind.Of(append(draft, "{}"...), true)} {
		if part.Kind != kind.Unknown {
			t.Errorf("a part of a draft, or more than one, is %+v", part)
		}
	}
}

// TestReceiptsAreJudged verifies that no fixture, even if damaged, and no beginning of a fixture is
// recognized as another kind. The fixture without a chain differs from a draft only in its history.
func TestReceiptsAreJudged(t *testing.T) {
	m, err := fixtures.Load()
	if err != nil || len(m.Cases) < 150 {
		t.Fatalf("%d fixtures, %v", len(m.Cases), err)
	}
	for _, c := range m.Cases {
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(text), len(text) / 2, min(len(text), 100)} {
			if got := kind.Of(text[:n], n == len(text)); got.Kind != kind.Unknown && c.File != "malicious/missing-chain.json" {
				t.Errorf("%s, %d bytes: %+v", c.File, n, got)
			}
		}
	}
	keys, err := fixtures.Read("keys/trust.json")
	if got := kind.Of(keys, true); err != nil || got.Kind != kind.Keys || !got.Kind.Beside() {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLogs verifies that logs that a recorder can read are distinguished from receipts.
func TestLogs(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../receipt/record/testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		want := kind.Events
		if strings.HasSuffix(path, ".frames.jsonl") {
			want = kind.Frames
		}
		if got := kind.Of(text, true); got.Kind != want {
			t.Errorf("%s: %+v", path, got)
		}
		return err
	})
	if err != nil || seen < 6 {
		t.Errorf("%d logs, %v", seen, err)
	}
}

// FuzzOf verifies that Of accepts any input, and that each kind that it recognizes has a
// description.
func FuzzOf(f *testing.F) {
	for _, head := range []string{"%PDF-", `{"keys":[1]}`, `{"a":{"b":[{}]},"schema":"receipt-`, "-----BEGIN ", "a\n1\nb\n\n\u2014 c", strings.Repeat("[", 1000)} {
		f.Add([]byte(head), true)
	}
	f.Fuzz(func(t *testing.T, head []byte, whole bool) {
		got := kind.Of(head, whole)
		if (got.Kind == kind.Unknown) != (got.What == "" && got.Next == "") {
			t.Errorf("%+v", got)
		}
	})
}
