package attest_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// change replaces text that must occur exactly once in data.
func change(t testing.TB, data []byte, from, to string) []byte {
	t.Helper()
	if n := bytes.Count(data, []byte(from)); n != 1 {
		t.Fatalf("%q stands %d times in the bundle", from, n)
	}
	return bytes.Replace(data, []byte(from), []byte(to), 1)
}

// TestBundleForm verifies the result for bundles that each violate one rule. Malformed bundles are
// refuted, and other kinds of bundles are undecided. The detail of the check names the violation.
func TestBundleForm(t *testing.T) {
	good := bundle(t, "valid/task.json", head, "key_2026_04")
	sig := func(b []byte) string { return between(t, b, `"sig":"`, `"`) }
	text := base64.StdEncoding.EncodeToString(payload(t, good))
	d := newDesk(t, receipt.Policy{})
	if got := outcome(d.judge(t, good)); got != "verified" {
		t.Fatal(got)
	}

	tests := []struct{ name, from, to, want, detail string }{
		// These bundles have other versions or use other features of Sigstore.
		{"version 0.2", "bundle.v0.3+json", "bundle+json;version=0.2", "undecided parse attestation_unsupported", "mediaType"},
		{"version 0.4", "bundle.v0.3+json", "bundle.v0.4+json", "undecided parse attestation_unsupported", "mediaType"},
		{"a certificate", `{"publicKey":{"hint":"key_2026_04"}}`, `{"certificate":{"rawBytes":""}}`, "undecided parse attestation_unsupported", "certificate"},
		{"a certificate, and an unknown member", `"verificationMaterial":{`, `"note":1,"verificationMaterial":{"certificate":{},`, "undecided parse attestation_unsupported", "certificate"},
		{"a chain", `{"publicKey"`, `{"x509CertificateChain":{},"publicKey"`, "undecided parse attestation_unsupported", "x509CertificateChain"},
		{"a log", `{"publicKey"`, `{"tlogEntries":[],"publicKey"`, "undecided parse attestation_unsupported", "tlogEntries"},
		{"a timestamp", `{"publicKey"`, `{"timestampVerificationData":{},"publicKey"`, "undecided parse attestation_unsupported", "timestampVerificationData"},
		{"a signature of bytes", `"dsseEnvelope":{`, `"messageSignature":{},"dsseEnvelope":{`, "undecided parse attestation_unsupported", "signs bytes"},

		// These members are missing, have the wrong type, or are unexpected.
		{"a number for a type", `"` + attest.MediaType + `"`, `3`, "refuted parse attestation_invalid", `mediaType is "3"`},
		{"one more member", `"dsseEnvelope":{`, `"note":1,"dsseEnvelope":{`, "refuted parse attestation_invalid", `unknown member "note"`},
		{"one more in the material", `{"publicKey"`, `{"note":1,"publicKey"`, "refuted parse attestation_invalid", `unknown member "note"`},
		{"one more beside the hint", `{"hint"`, `{"rawBytes":"","hint"`, "refuted parse attestation_invalid", `unknown member "rawBytes"`},
		{"one more in the envelope", `{"payload"`, `{"note":1,"payload"`, "refuted parse attestation_invalid", `unknown member "note"`},
		{"one more beside the signature", `{"sig"`, `{"cert":"","sig"`, "refuted parse attestation_invalid", `unknown member "cert"`},
		{"no key", `"publicKey":{"hint":"key_2026_04"}`, ``, "refuted parse attestation_invalid", "publicKey is missing"},
		{"no hint", `"hint":"key_2026_04"`, ``, "refuted parse attestation_invalid", "hint is missing"},
		{"an empty hint", `"hint":"key_2026_04"`, `"hint":""`, "refuted parse attestation_invalid", `hint is "\"\""`},
		{"a number for a hint", `"hint":"key_2026_04"`, `"hint":7`, "refuted parse attestation_invalid", "hint is"},
		{"a long hint", `"hint":"key_2026_04"`, `"hint":"` + strings.Repeat("k", 1025) + `"`, "refuted parse attestation_invalid", "hint is"},
		{"the longest hint", `"hint":"key_2026_04"`, `"hint":"` + strings.Repeat("k", 1024) + `"`, "undecided signatures unknown_key", "kkk"},
		{"a list for the key", `{"hint":"key_2026_04"}`, `[]`, "refuted parse attestation_invalid", "expected an object with hint"},
		{"no material", `{"publicKey":{"hint":"key_2026_04"}}`, `null`, "refuted parse attestation_invalid", "expected an object with publicKey"},
		{"no payload type", `,"payloadType":"application/vnd.in-toto+json"`, ``, "refuted parse attestation_invalid", "payloadType is missing"},
		{"null for a payload type", `"application/vnd.in-toto+json"`, `null`, "refuted parse attestation_invalid", "payloadType is"},
		{"no signature", `[{"sig":"` + sig(good) + `"}]`, `[]`, "refuted parse attestation_invalid", "expected one signature, found 0"},
		{"two signatures", `{"sig":"` + sig(good) + `"}`, `{"sig":"` + sig(good) + `"},{"sig":"` + sig(good) + `"}`, "refuted parse attestation_invalid", "expected one signature, found 2"},
		{"an object of signatures", `[{"sig":"` + sig(good) + `"}]`, `{"sig":"` + sig(good) + `"}`, "refuted parse attestation_invalid", "expected one signature"},
		{"a text for an entry", `{"sig":"` + sig(good) + `"}`, `"` + sig(good) + `"`, "refuted parse attestation_invalid", "expected an object with sig"},
		{"another keyid", `{"sig"`, `{"keyid":"key_second","sig"`, "refuted parse attestation_invalid", "keyid is"},
		{"a number for a keyid", `{"sig"`, `{"keyid":0,"sig"`, "refuted parse attestation_invalid", "keyid is"},
		{"the same keyid", `{"sig"`, `{"keyid":"key_2026_04","sig"`, "verified", ""},
		{"an empty keyid", `{"sig"`, `{"keyid":"","sig"`, "verified", ""},

		// Bytes must have exactly one encoding.
		{"no padding", sig(good), strings.TrimRight(sig(good), "="), "refuted parse attestation_invalid", "not standard base64"},
		{"unused bits", sig(good), looseBits(sig(good)), "refuted parse attestation_invalid", "not standard base64"},
		{"a line end", sig(good), sig(good)[:8] + `\n` + sig(good)[8:], "refuted parse attestation_invalid", "not standard base64"},
		{"a space", sig(good), sig(good)[:8] + ` ` + sig(good)[8:], "refuted parse attestation_invalid", "not standard base64"},
		{"the other alphabet", sig(good), "-_" + sig(good)[2:], "refuted parse attestation_invalid", "not standard base64"},
		{"an empty signature", sig(good), "", "refuted parse attestation_invalid", "not standard base64"},
		{"a long signature", sig(good), strings.Repeat("AAAA", 1104), "refuted parse attestation_invalid", "of 1 to 3309 bytes"},
		{"a line end in the payload", text, text[:80] + `\r\n` + text[80:], "refuted parse attestation_invalid", "the payload is not standard base64"},
		{"no payload", text, "", "refuted signatures signature_invalid", ""},

		// These parts are not covered by the signature.
		{"another trusted key", `"hint":"key_2026_04"`, `"hint":"key_second"`, "refuted signatures signature_invalid", `not a signature of "key_second" over the envelope`},
		{"an unknown key", `"hint":"key_2026_04"`, `"hint":"key_2026_05"`, "undecided signatures unknown_key", "key_2026_05"},
		{"a key of another algorithm", `"hint":"key_2026_04"`, `"hint":"key_es256"`, "refuted signatures signature_invalid", "key_es256"},
		{"a key that signs no envelopes", `"hint":"key_2026_04"`, `"hint":"key_rs256"`, "undecided signatures unsupported_algorithm", "RS256"},
		{"another payload type", `"application/vnd.in-toto+json"`, `"application/vnd.in-toto"`, "refuted parse signature_invalid", ""},
		{"another payload type of an unknown key", `key_2026_04"}},"dsseEnvelope":{"payload":"` + text + `","payloadType":"application/vnd.in-toto+json"`, `key_x"}},"dsseEnvelope":{"payload":"` + text + `","payloadType":"text/plain"`, "undecided parse attestation_unsupported", "payloadType is"},
	}
	for _, test := range tests {
		rep := d.judge(t, change(t, good, test.from, test.to))
		want := test.want
		if test.name == "no payload" { // the payload type is the expected one, so the invalid signature is reported first
			want = "refuted parse signature_invalid"
		}
		if got := outcome(rep); got != want || !strings.Contains(rep.Finding().Detail, test.detail) {
			t.Errorf("%s: %s: %s; want %s: %s", test.name, got, rep.Finding().Detail, want, test.detail)
		}
	}

	// A document that looks like a bundle is treated as a bundle, but a document that looks like a
	// receipt is not.
	for text, want := range map[string]string{
		`{"dsseEnvelope":7}`: "refuted parse attestation_invalid",
		`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`:                                                "refuted parse attestation_invalid",
		`{"mediaType":"application/vnd.dev.sigstore.bundle+json;version=0.1"}`:                                         "undecided parse attestation_unsupported",
		`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","receipt_id":"r","schema":"receipt-2026-04-25"}`: "refuted schema schema_invalid",
		`{"dsseEnvelope":{},"chain":{},"schema":"receipt-2026-04-25"}`:                                                 "refuted schema schema_invalid",
		`{"mediaType":"application/json"}`:                                                                             "refuted schema not_a_receipt",
	} {
		if got := outcome(d.judge(t, []byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}

	// The document is first checked to be strict JSON.
	for name, data := range map[string][]byte{
		"duplicate_name":  change(t, good, `"dsseEnvelope":{`, `"dsseEnvelope":{},"dsseEnvelope":{`),
		"duplicate_name ": change(t, good, `{"payload"`, `{"payload":"","payload"`),
		"syntax":          good[:len(good)-20],
	} {
		if got := outcome(d.judge(t, data)); got != "refuted parse "+strings.TrimSpace(name) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func between(t testing.TB, data []byte, before, after string) string {
	t.Helper()
	_, rest, found := bytes.Cut(data, []byte(before))
	text, _, ends := bytes.Cut(rest, []byte(after))
	if !found || !ends {
		t.Fatalf("nothing between %q and %q", before, after)
	}
	return string(text)
}

// looseBits sets an unused bit in the last base64 character before the padding ==.
func looseBits(text string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	at := len(text) - 3
	return text[:at] + string(alphabet[strings.IndexByte(alphabet, text[at])|1]) + text[at+1:]
}

// TestStatementForm verifies that signed statements that differ from the statement for the receipt
// are not verified. Their signatures are valid.
func TestStatementForm(t *testing.T) {
	d := newDesk(t, receipt.Policy{})
	text := string(payload(t, bundle(t, "valid/task.json", head, "key_2026_04")))
	commit := `,{"digest":{"gitCommit":"` + head + `"},"name":"git commit"}`
	other := string(read(t, "valid/minimal.json"))

	tests := []struct{ name, from, to, want, detail string }{
		{"as it is", "", "", "verified", ""},
		{"another statement type", "Statement/v1", "Statement/v0.1", "undecided parse attestation_unsupported", "_type is"},
		{"another predicate", attest.PredicateType, "https://slsa.dev/provenance/v1", "undecided parse attestation_unsupported", "predicateType is"},
		{"our predicate of another version", attest.PredicateType, "urn:receiptkit:attestation:receipt:v2", "undecided parse attestation_unsupported", "predicateType is"},
		{"no receipt", `"predicate":{"receipt":`, `"predicate":{"reciept":`, "refuted parse attestation_invalid", "contains no receipt"},
		{"more in the predicate", `"predicate":{`, `"predicate":{"note":1,`, "refuted parse attestation_invalid", "not in its one form"},
		{"more in the statement", `"predicate":{`, `"note":1,"predicate":{`, "refuted parse attestation_invalid", "not in its one form"},
		{"white space", `,"predicateType":`, `, "predicateType":`, "refuted parse attestation_invalid", "not in its one form"},
		{"another order", `"digest":{"gitCommit":"` + head + `"},"name":"git commit"`, `"name":"git commit","digest":{"gitCommit":"` + head + `"}`, "refuted parse attestation_invalid", "not in its one form"},
		{"an escape", `"git commit"`, `"git\u0020commit"`, "refuted parse attestation_invalid", "not in its one form"},
		{"a name twice", `"predicate":{`, `"predicate":{},"predicate":{`, "refuted parse duplicate_name", "not a statement"},
		{"no subject", text[strings.LastIndex(text, `"subject":`):], `"subject":[]}`, "refuted parse attestation_mismatch", "0 subjects"},
		{"one subject less", `[{"digest":{"sha256":"a4895eb44afc336fecbba6e520cd67e178dace0276655d102fceffa8e5f70570"},"name":"artifact_patch_1"},`, `[`, "refuted parse attestation_mismatch", "subject 1 is"},
		{"one subject more", `"subject":[`, `"subject":[{"digest":{"sha256":"` + strings.Repeat("0a", 32) + `"},"name":"x"},`, "refuted parse attestation_mismatch", "subject 1 is"},
		{"another file", `"name":"src/beds.rs"}`, `"name":"src/main.rs"}`, "refuted parse attestation_mismatch", "subject 2 is"},
		{"another digest", `"sha256":"a4895eb44afc336fecbba6e520cd67e178dace0276655d102fceffa8e5f70570"},"name"`, `"sha256":"a4895eb44afc336fecbba6e520cd67e178dace0276655d102fceffa8e5f70571"},"name"`, "refuted parse attestation_mismatch", "subject 1 is"},
		{"two commits", commit, commit + strings.Replace(commit, "8f", "9f", 1), "refuted parse attestation_mismatch", "subject 3 is"},
		{"a file behind the commit", commit, commit + strings.Replace(strings.Replace(commit, "gitCommit", "sha256", 1), head, strings.Repeat("0a", 32), 1), "refuted parse attestation_mismatch", "4 subjects, the receipt inside gives 2"},
		{"a commit first", `"subject":[`, `"subject":[` + commit[1:] + `,`, "refuted parse attestation_mismatch", "subject 1 is"},
		{"half a commit", head, head[:7], "refuted parse attestation_mismatch", "name of a commit"},
		{"a commit by another name", `"git commit"`, `"HEAD"`, "refuted parse attestation_mismatch", "subject 3 is"},
		{"another algorithm too", `{"gitCommit":"` + head + `"}`, `{"gitCommit":"` + head + `","sha1":"` + head + `"}`, "refuted parse attestation_mismatch", "subject 3 is"},
		{"another receipt", text[strings.Index(text, `{"receipt":`)+11 : strings.Index(text, `},"predicateType"`)], strings.TrimSpace(other), "refuted parse attestation_mismatch", "subject"},
		{"a list", text, "[]", "undecided parse attestation_unsupported", "_type is missing"},
		{"no JSON", text, "receipt", "refuted parse syntax", "not a statement"},
		{"the receipt alone", text, strings.TrimSpace(other), "undecided parse attestation_unsupported", "_type is missing"},
	}
	for _, test := range tests {
		changed := text
		if test.from != "" {
			changed = string(change(t, []byte(text), test.from, test.to))
		}
		rep := d.judge(t, signed(t, attest.PayloadType, []byte(changed), "key_2026_04"))
		if got := outcome(rep); got != test.want || !strings.Contains(rep.Finding().Detail, test.detail) {
			t.Errorf("%s: %s: %s; want %s: %s", test.name, got, rep.Finding().Detail, test.want, test.detail)
		}
	}

	// Different subjects contradict the receipt only if the key is known.
	stranger := d.judge(t, signed(t, attest.PayloadType, change(t, []byte(text), `"name":"src/beds.rs"}`, `"name":"src/main.rs"}`), "key_stranger"))
	if got := outcome(stranger); got != "undecided parse unknown_key" || !strings.Contains(stranger.Finding().Detail, "other subjects") {
		t.Errorf("%s: %s", got, stranger.Finding().Detail)
	}

	// A malformed statement is refuted, whoever signed it.
	for _, other := range []string{`"name":"src/main.rs"} `, `"name":"src/main.rs","size":9007199254740993}`} {
		rep := d.judge(t, signed(t, attest.PayloadType, change(t, []byte(text), `"name":"src/beds.rs"}`, other), "key_stranger"))
		if got := outcome(rep); got != "refuted parse attestation_invalid" {
			t.Errorf("%s: %s: %s", other, got, rep.Finding().Detail)
		}
	}

	// An altered receipt in a valid attestation is refuted in the same way as a separate altered
	// receipt.
	rep := d.judge(t, signed(t, attest.PayloadType, change(t, []byte(text), `"SUCCEEDED"`, `"CANCELED"`), "key_2026_04"))
	if got := outcome(rep); got != "refuted hash hash_mismatch" {
		t.Error(got)
	}
}

// TestEveryByte verifies that neither a bundle with a changed byte nor a truncated bundle is
// verified.
func TestEveryByte(t *testing.T) {
	good := bundle(t, "valid/minimal.json", head, "key_2026_04")
	d := newDesk(t, receipt.Policy{})
	o, v := d.o, d.v
	verdict := func(data []byte) string {
		rep := new(receipt.Report)
		o.Judge(v, data, rep)
		return rep.Verdict.String()
	}
	if got := verdict(good); got != "verified" {
		t.Fatal(got)
	}

	end := len(good) - 1 // the last byte is a line feed, which is whitespace
	for at := range end {
		bits := []byte{0x01, 0x20, 0x80}
		if !testsize.Full() {
			bits = bits[at%3 : at%3+1]
		}
		for _, bit := range bits {
			changed := bytes.Clone(good)
			changed[at] ^= bit
			if got := verdict(changed); got == "verified" {
				t.Errorf("byte %d, %q instead of %q: verified", at, changed[at], good[at])
			}
		}
	}
	for n := range end {
		if n%7 == 0 && verdict(good[:n]) == "verified" {
			t.Errorf("verified after truncation to %d bytes", n)
		}
	}
}

// TestEveryPayloadByte verifies that a bundle is not verified if a signed byte was changed inside
// the base64 encoding.
func TestEveryPayloadByte(t *testing.T) {
	good := bundle(t, "valid/minimal.json", head, "key_es256")
	d := newDesk(t, receipt.Policy{})
	data := payload(t, good)
	text := base64.StdEncoding.EncodeToString(data)
	for at := range data {
		if at%3 > 0 && !testsize.Full() {
			continue
		}
		changed := bytes.Clone(data)
		changed[at] ^= 1
		rep := new(receipt.Report)
		d.o.Judge(d.v, change(t, good, text, base64.StdEncoding.EncodeToString(changed)), rep)
		if rep.Verdict != receipt.Refuted {
			t.Errorf("byte %d, %q instead of %q: %s", at, changed[at], data[at], outcome(rep))
		}
	}
}

// TestUnwrapIsAsked verifies that, without an Opener, a bundle is not treated as a receipt and its
// content is not evaluated.
func TestUnwrapIsAsked(t *testing.T) {
	good := bundle(t, "valid/task.json", head, "key_2026_04")
	d := newDesk(t, receipt.Policy{})
	run := stream.Verify(t.Context(), d.v, bytes.NewReader(good), stream.Options{})
	for rep := range run.Reports() {
		t.Errorf("a report: %s", outcome(rep))
	}
	if sum, err := run.Summary(); err == nil || sum.Verdict() != receipt.Undecided || !strings.Contains(fmt.Sprint(err), "an attestation") {
		t.Errorf("%v, %v", sum.Verdict(), err)
	}
}

// TestLines verifies that attestations on separate lines are evaluated separately.
func TestLines(t *testing.T) {
	d := newDesk(t, receipt.Policy{})
	good := bundle(t, "valid/task.json", head, "key_2026_04")
	data := append(bytes.Clone(good), change(t, bundle(t, "valid/minimal.json", "", "key_second"), "key_second", "key_2026_04")...)
	run := stream.Verify(t.Context(), d.v, bytes.NewReader(data), stream.Options{Unwrap: d.o.Unwrap})
	var got []string
	for rep := range run.Reports() {
		got = append(got, outcome(rep))
		if want := canon.Sum(data[:len(good)-1]); rep.Index == 1 && rep.InputSHA256 != want {
			t.Errorf("the digest of line 1 is %v, want %v", rep.InputSHA256, want)
		}
	}
	if text := strings.Join(got, ", "); text != "verified, refuted signatures signature_invalid" {
		t.Error(text)
	}
}

// TestLarge verifies that an attestation that is larger than the limit for one document is
// rejected, both when it is created and when it is read.
func TestLarge(t *testing.T) {
	s, err := attest.NewStatement(sealedWith(t, `[]`, `[]`, `{"note":"`+strings.Repeat("x", 13_000_000)+`"}`), head)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := attest.Sign(t.Context(), s, keys.NewSigner(private(t, "key_second"), nil)); err == nil || e != nil || !strings.Contains(err.Error(), "at most 16777216 are read") {
		t.Errorf("%v", err)
	}

	d := newDesk(t, receipt.Policy{})
	rep := new(receipt.Report)
	good := bundle(t, "valid/minimal.json", "", "key_2026_04")
	d.o.Judge(d.v, append(bytes.Repeat([]byte(" "), attest.MaxBytes), good...), rep)
	if got := outcome(rep); got != "refuted parse size_limit" {
		t.Error(got)
	}
}
