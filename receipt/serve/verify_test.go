package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestFixtures verifies that the response for each fixture has the status 200 and contains the
// library's report. Each fixture is sent as JSON and, if it can be archived, as CBOR. A malformed
// receipt must be refuted instead of causing an error response. Reliability 310.
func TestFixtures(t *testing.T) {
	manifest, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, options(t))
	judge, err := receipt.NewVerifier(trusted(t), receipt.Policy{Now: noon()})
	if err != nil {
		t.Fatal(err)
	}
	archived := 0

	// If a document is not a receipt, the response names its kind and suggests what to send
	// instead.
	hints := map[string][2]string{
		"malicious/missing-chain.json": {`"missing member \"chain\"","hint":""`, `"missing member \"chain\"","hint":"this is a draft, which nobody has sealed: ask its author to seal and sign it"`},
		"malicious/two-documents.json": {"there are two documents in one file; give each a file of its own", "several receipts are sent as application/x-ndjson, one a line"},
	}
	for _, c := range manifest.Cases {
		text := fixture(t, c.File)
		got := h.post("/v1/verify", "application/json", text)
		var rep receipt.Report
		if err := json.Unmarshal(got.body, &rep); err != nil || got.status != 200 {
			t.Errorf("%s: %d %v %.200s", c.File, got.status, err, got.body)
			continue
		}
		named := slices.ContainsFunc(rep.Checks, func(k receipt.Check) bool { return k.Step.String() == c.Step && k.Code == c.Code })
		if rep.Verdict != c.Verdict || c.Step != "" && !named {
			t.Errorf("%s: %v %s, expected %v %s", c.File, rep.Verdict, rep.Finding().Code, c.Verdict, c.Code)
		}
		want, n := reportOf(t, judge, text, stream.JSON) // package stream splits an array into its elements
		want = strings.Replace(want, hints[c.File][0], hints[c.File][1], 1)
		if n == 1 && !bytes.HasPrefix(text, []byte("[")) && string(got.body) != want {
			t.Errorf("%s:\ngot  %swant %s", c.File, got.body, want)
		}
		doc, err := canon.Parse(text)
		if err != nil {
			continue
		}
		item, err := archive.NewCodec().Append(nil, doc)
		if err != nil || doc.Root().Kind() != canon.KindObject {
			continue
		}
		archived++
		packed := h.post("/v1/verify", archive.MediaType, item)
		if want, _ := reportOf(t, judge, item, stream.CBOR); packed.status != 200 || string(packed.body) != want {
			t.Errorf("%s as CBOR: %d\ngot  %swant %s", c.File, packed.status, packed.body, want)
		}
	}
	if len(manifest.Cases) < 100 || archived < 50 {
		t.Errorf("%d fixtures, %d archived", len(manifest.Cases), archived)
	}
}

// sourceOf returns a source that contains the text.
func sourceOf(name string, kind stream.Kind, text []byte) stream.Source {
	s := stream.From(name, bytes.NewReader(text))
	s.Kind = kind
	return s
}

// reportOf returns the report of package stream for a body and the number of documents in the body.
func reportOf(t testing.TB, v *receipt.Verifier, text []byte, kind stream.Kind) (line string, n int) {
	t.Helper()
	run := stream.VerifyFiles(context.Background(), v, []stream.Source{sourceOf("body", kind, text)}, stream.Options{})
	for rep := range run.Reports() {
		out, err := receipt.AppendJSON(nil, rep)
		if err != nil {
			t.Fatal(err)
		}
		line = string(out) + "\n"
		n++
	}
	return line, n
}

// TestDocumentForms verifies that the same document always gets the same report, regardless of its
// form.
func TestDocumentForms(t *testing.T) {
	h := start(t, options(t))
	good := fixture(t, "valid/minimal.json")
	doc, err := canon.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, media, body, want string }{
		{"receipt", "application/json", string(good), "verified"},
		{"receipt, other name", "application/vnd.harn.receipt+json", string(good), "verified"},
		{"utf-8", "application/json; charset=UTF-8", string(good), "verified"},
		{"in its resource", "application/json", `{"object":"receipt","wire":{"payload":` + string(good) + `}}`, "verified"},
		{"white space", "application/json", "\n\n \t" + string(good), "verified"},
		{"nothing", "application/json", "", "refuted empty_input"},
		{"blank", "application/json", " \n", "refuted empty_input"},
		{"array", "application/json", "[" + string(good) + "]", "refuted not_object"},
		{"page", "application/json", `{"object":"list","data":[` + string(good) + `]}`, "verified"},
		{"page of two", "application/json", `{"object":"list","data":[` + string(good) + "," + string(good) + `]}`, "refuted not_a_receipt"},
		{"empty page", "application/json", `{"object":"list","data":[]}`, "refuted not_a_receipt"},
		{"an attestation", "application/json", string(attested(t, good, "key_2026_04")), "verified"},
		{"an attestation of no receipt", "application/json", `{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`, "refuted attestation_invalid"},
		{"an attestation of another version", "application/json", `{"mediaType":"application/vnd.dev.sigstore.bundle.v9+json"}`, "undecided attestation_unsupported"},
		{"a statement", "application/json", `{"_type":"https://in-toto.io/Statement/v1"}`, "refuted not_a_receipt"},
		{"two documents", "application/json", string(good) + string(good), "refuted trailing_data"},
		{"gzip", "application/json", "\x1f\x8b\x08\x00\x00\x00\x00\x00", "refuted syntax"},
		{"CBOR as JSON", "application/json", string(item), "refuted syntax"},
		{"CBOR", "application/cbor", string(item), "verified"},
		{"archive", "application/vnd.harn.receipt+cbor", string(item), "verified"},
		{"no CBOR", "application/cbor", "", "refuted empty_input"},
		{"two items", "application/cbor", string(item) + string(item), "refuted trailing_data"},
		{"JSON as CBOR", "application/cbor", string(good), "refuted "},
		{"gzip as CBOR", "application/cbor", "\x1f\x8b\x08\x00", "refuted "},
		{"cut CBOR", "application/cbor", string(item[:100]), "refuted syntax"},
		{"integer", "application/cbor", "\x01", "refuted "},
		{"an array in CBOR", "application/cbor", "\x81" + string(item), "refuted not_object"},
		{"an empty array in CBOR", "application/cbor", "\x80", "refuted not_object"},
		{"a tag", "application/cbor", "\xd9\xd9\xf7" + string(item), "refuted non_deterministic_cbor"},
		{"white space before a resource", "application/json", " \n" + `{"object":"receipt","wire":{"payload":` + string(good) + `}}`, "verified"},
	} {
		got := h.post("/v1/verify", c.media, []byte(c.body))
		var rep receipt.Report
		if err := json.Unmarshal(got.body, &rep); err != nil || got.status != 200 {
			t.Errorf("%s: %d %v %s", c.name, got.status, err, got.body)
			continue
		}
		text := strings.TrimSpace(fmt.Sprintf("%v %s", rep.Verdict, rep.Finding().Code))
		if !strings.HasPrefix(text, c.want) || strings.HasSuffix(c.want, "verified") && text != c.want {
			t.Errorf("%s: %s, expected %s", c.name, text, c.want)
		}
		if rep.Verdict != receipt.Verified && rep.Finding().Code == "" {
			t.Errorf("%s: no code: %s", c.name, got.body)
		}
	}
}

// TestParameters verifies that each parameter has an effect, and that the error for an invalid
// parameter names the parameter.
func TestParameters(t *testing.T) {
	h := start(t, options(t))
	good := fixture(t, "valid/minimal.json")
	for _, c := range []struct{ query, want string }{
		{"", "verified full"},
		{"?scope=full", "verified full"},
		{"?scope=integrity", "verified integrity"},
		{"?issuer=somebody", "refuted full issuer_mismatch"},
		{"?at_time=2026-11-01T00:00:00Z", "verified full"},
		{"?at_time=1999-11-01T00:00:00%2B02:00", "verified full"},
		{"?at_time=tomorrow", "400 at_time"},
		{"?at_time=2026-11-01T00:00:00Z&at_time=2026-11-01T00:00:00Z", "400 at_time"},
		{"?at_time=", "400 at_time"},
		{"?scope=none", "400 scope"},
		{"?scope=integrity&issuer=x", "400 issuer"},
		{"?Scope=full", "400 Scope"},
		{"?unknown=1", "400 unknown"},
		{"?%zz", "400 "},
		{"?scope=full;issuer=x", "400 "},
		{"?expect_head=sha256:" + strings.Repeat("a", 64), "400 expect_head"},
		{"?expect_count=1", "400 expect_count"},
		{"?partial=true", "400 partial"},
		{"?" + strings.Repeat("a", 5000), "400 "},
	} {
		got := h.post("/v1/verify"+c.query, "application/json", good)
		text := fmt.Sprintf("%d %s", got.status, got.param())
		if got.status == 200 {
			var rep receipt.Report
			if err := json.Unmarshal(got.body, &rep); err != nil {
				t.Fatal(err)
			}
			text = strings.TrimSpace(fmt.Sprintf("%v %v %s", rep.Verdict, rep.Scope, rep.Finding().Code))
			if strings.Contains(c.query, "1999") && rep.At.String() != "1999-10-31T22:00:00Z" {
				t.Errorf("%s: judged at %v", c.query, rep.At)
			}
		} else if got.code() != "invalid_request" {
			t.Errorf("%.60q: %s", c.query, got.body)
		}
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%.60q: %s, expected %s", c.query, text, c.want)
		}
	}
}

// TestPolicy verifies that a request can make the server's policy stricter, but never less strict.
func TestPolicy(t *testing.T) {
	good := fixture(t, "valid/minimal.json")
	doc, err := canon.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	issuer := doc.Root().Member("issuer").Member("id").String()
	for _, c := range []struct {
		policy receipt.Policy
		query  string
		want   string
	}{
		{receipt.Policy{Issuer: issuer}, "", "verified"},
		{receipt.Policy{Issuer: issuer}, "?issuer=" + issuer, "verified"},
		{receipt.Policy{Issuer: issuer}, "?issuer=other", "400"},
		{receipt.Policy{Issuer: "other"}, "?issuer=" + issuer, "400"},
		{receipt.Policy{Strict: true}, "", "verified"},
		{receipt.Policy{Strict: true}, "?scope=integrity", "verified"},
		{receipt.Policy{Witnesses: receipt.Quorum{Threshold: 2}}, "?issuer=" + issuer, "undecided"},
		{receipt.Policy{IntegrityOnly: true}, "", "verified"},
		{receipt.Policy{IntegrityOnly: true}, "?scope=integrity", "verified"},
		{receipt.Policy{IntegrityOnly: true}, "?scope=full", "400"},
		{receipt.Policy{IntegrityOnly: true}, "?issuer=" + issuer, "400"},
		{receipt.Policy{Limits: canon.Limits{Bytes: 100}}, "", "undecided"},
	} {
		o := options(t)
		v := verifierOf(t, c.policy)
		o.Verifier = func() *serve.Verifier { return v }
		got := start(t, o).post("/v1/verify"+c.query, "application/json", good)
		text := fmt.Sprint(got.status)
		if got.status == 200 {
			text, _ = got.object(t)["verdict"].(string)
		}
		if text != c.want {
			t.Errorf("%+v %s: %s, expected %s: %s", c.policy, c.query, text, c.want, got.body)
		}
	}

	// No disclosures are given, so the withheld values in this receipt are not checked.
	o, v := options(t), verifierOf(t, receipt.Policy{Strict: true})
	o.Verifier = func() *serve.Verifier { return v }
	if got := start(t, o).post("/v1/verify", "application/json", fixture(t, "valid/task.json")); got.object(t)["verdict"] != "undecided" {
		t.Errorf("strict, with withheld values: %s", got.body)
	}
}

// TestSameTwice verifies that equal requests get equal responses and have no lasting effect.
// Reliability 323.
func TestSameTwice(t *testing.T) {
	h := start(t, options(t))
	for _, path := range []string{"valid/minimal.json", "malicious/changed-cost.json", "malicious/cut-off.json"} {
		for _, media := range []string{"application/json", "application/x-ndjson"} {
			text := fixture(t, path)
			one, two := h.post("/v1/verify", media, text), h.post("/v1/verify", media, text)
			if one.status != 200 || !bytes.Equal(one.body, two.body) || len(one.body) == 0 {
				t.Errorf("%s as %s: %d\n%s\n%s", path, media, one.status, one.body, two.body)
			}
		}
	}
}
