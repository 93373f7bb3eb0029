package attest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

const head = "8f94139338f9404f26296befa88755fc2598c289"

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := fixtures.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func trusted(t testing.TB) *keys.Set {
	t.Helper()
	set, err := keys.ParseSet(read(t, "keys/trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func private(t testing.TB, name string) *keys.PrivateKey {
	t.Helper()
	k, err := keys.ParsePrivate(read(t, "keys/"+name+".private.json"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sealed(t testing.TB, data []byte) *receipt.Sealed {
	t.Helper()
	s, err := receipt.ParseSealed(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// statement creates the statement for a fixture.
func statement(t testing.TB, file, commit string) *attest.Statement {
	t.Helper()
	s, err := attest.NewStatement(sealed(t, read(t, file)), commit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bundle creates an attestation of a fixture with a key.
func bundle(t testing.TB, file, commit, key string) []byte {
	t.Helper()
	e, err := attest.Sign(context.Background(), statement(t, file, commit), keys.NewSigner(private(t, key), nil))
	if err != nil {
		t.Fatal(err)
	}
	return e.Bytes()
}

// signed returns a bundle that contains a payload of any type, signed with a key.
func signed(t testing.TB, payloadType string, payload []byte, key string) []byte {
	t.Helper()
	sig, err := keys.NewSigner(private(t, key), nil).Sign(context.Background(), attest.Encode(payloadType, payload))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(members{
		"mediaType":            attest.MediaType,
		"verificationMaterial": members{"publicKey": members{"hint": sig.KeyID}},
		"dsseEnvelope": members{"payload": base64.StdEncoding.EncodeToString(payload), "payloadType": payloadType,
			"signatures": []any{members{"sig": sig.Signature[len("base64:"):]}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type members = map[string]any

// A desk verifies bundles in the same way as the command.
type desk struct {
	v *receipt.Verifier
	o *attest.Opener
}

func newDesk(t testing.TB, policy receipt.Policy, asked ...attest.Subject) *desk {
	t.Helper()
	v, err := receipt.NewVerifier(trusted(t), policy)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{v, attest.NewOpener(trusted(t), policy, asked...)}
}

// judge returns the only report for an input.
func (d *desk) judge(t testing.TB, data []byte) *receipt.Report {
	t.Helper()
	run := stream.Verify(context.Background(), d.v, bytes.NewReader(data), stream.Options{Unwrap: d.o.Unwrap, Jobs: 1})
	var all []*receipt.Report
	for rep := range run.Reports() {
		all = append(all, rep.Clone())
	}
	if _, err := run.Summary(); err != nil || len(all) != 1 {
		t.Fatalf("%d reports, %v", len(all), err)
	}
	return all[0]
}

// outcome returns the verdict and the code that explains it.
func outcome(rep *receipt.Report) string {
	text := rep.Verdict.String()
	if f := rep.Finding(); f.Code != "" {
		text += " " + f.Step.String() + " " + string(f.Code)
	}
	return text
}

// payload returns the decoded payload of a bundle.
func payload(t testing.TB, bundle []byte) []byte {
	t.Helper()
	doc, err := canon.Parse(bundle)
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(doc.Root().Member("dsseEnvelope").Member("payload").String())
	if err != nil {
		t.Fatal(err)
	}
	return data
}
