package attest_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
)

// FuzzJudge verifies that a bundle is verified only if its payload is, byte for byte, a payload
// that was signed.
func FuzzJudge(f *testing.F) {
	ours := map[string]bool{}
	for file, key := range map[string]string{"valid/minimal.json": "key_second", "valid/task.json": "key_2026_04", "valid/signed-es256.json": "key_es256"} {
		for _, commit := range []string{"", head} {
			data := bundle(f, file, commit, key)
			ours[string(payload(f, data))] = true
			f.Add(data)
			f.Add(bytes.ReplaceAll(data, []byte(key), []byte("key_stranger")))
		}
	}

	// These bundles are signed, but do not contain a statement for a receipt.
	f.Add(signed(f, attest.PayloadType, []byte(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"x","subject":[]}`), "key_second"))
	f.Add(signed(f, "text/plain", payload(f, bundle(f, "valid/minimal.json", head, "key_second")), "key_second"))
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","dsseEnvelope":{"payload":"` + base64.StdEncoding.EncodeToString([]byte("{}")) + `"}}`))

	d := newDesk(f, receipt.Policy{})
	f.Fuzz(func(t *testing.T, data []byte) {
		rep := new(receipt.Report)
		d.o.Judge(d.v, data, rep)
		if rep.Verdict != receipt.Verified {
			if rep.Finding().Code == "" {
				t.Errorf("%s without a reason: %+v", rep.Verdict, rep.Checks)
			}
			return
		}
		if !ours[string(payload(t, data))] {
			t.Errorf("verified without a valid signature: %s", data)
		}
	})
}

// FuzzStatement verifies that a string is accepted as a statement only if it is exactly the
// statement that the embedded receipt and the commit determine.
func FuzzStatement(f *testing.F) {
	for _, commit := range []string{"", head} {
		for _, file := range []string{"valid/minimal.json", "valid/task.json"} {
			f.Add(payload(f, bundle(f, file, commit, "key_second")))
		}
	}
	f.Add([]byte(`{"_type":"https://in-toto.io/Statement/v1","predicate":{"receipt":{}},"predicateType":"urn:receiptkit:attestation:receipt:v1","subject":[]}`))

	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := canon.Parse(signedBy(text))
		if err != nil {
			t.Fatal(err)
		}
		e, err := attest.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Open()
		if err != nil {
			return
		}
		if !bytes.Equal(s.Bytes(), text) || len(s.Subjects) == 0 || !bytes.Contains(text, s.Receipt()) {
			t.Errorf("opened as another: %s", text)
		}
	})
}

// signedBy returns a bundle that contains the given text and a signature that no key created.
func signedBy(text []byte) []byte {
	return []byte(`{"mediaType":"` + attest.MediaType + `","verificationMaterial":{"publicKey":{"hint":"k"}},"dsseEnvelope":{"payload":"` +
		base64.StdEncoding.EncodeToString(text) + `","payloadType":"` + attest.PayloadType + `","signatures":[{"sig":"AA=="}]}}`)
}
