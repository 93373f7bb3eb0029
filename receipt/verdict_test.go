package receipt_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// forge edits a sealed receipt as JSON, and then updates its hash and its signatures with the given
// keys, so that only the edited content is wrong.
func forge(t testing.TB, d *receipt.Draft, edit func(map[string]any), signers ...*member) []byte {
	t.Helper()
	o := map[string]any{}
	if err := json.Unmarshal(sealAndSign(t, d), &o); err != nil {
		t.Fatal(err)
	}
	edit(o)
	return rehash(t, o, signers...)
}

func rehash(t testing.TB, o map[string]any, signers ...*member) []byte {
	t.Helper()
	text := func() []byte {
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	inner, ok := o["chain"].(map[string]any)
	if !ok {
		return text()
	}
	doc, err := canon.Parse(text())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := chain.Hash(doc)
	if err != nil {
		t.Fatal(err)
	}
	inner["receipt_hash"] = hash.String()
	list := []any{}
	for _, m := range signers {
		s, err := m.Sign(t.Context(), []byte(hash.String()))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	o["signatures"] = list
	return text()
}

func keep(map[string]any) {}

// testKeys returns the keys for the truth table.
func testKeys() ring {
	r := newRing(
		receipt.Key{ID: "a", Issuers: []string{"issuer_a"}},
		receipt.Key{ID: "a2", Issuers: []string{"issuer_z", "issuer_a"}},
		receipt.Key{ID: "b", Issuers: []string{"issuer_b"}},
		receipt.Key{ID: "free"},
		receipt.Key{ID: "early", Issuers: []string{"issuer_a"}, NotBefore: noon.Add(time.Second)},
		receipt.Key{ID: "onset", Issuers: []string{"issuer_a"}, NotBefore: noon, NotAfter: noon.Add(1)},
		receipt.Key{ID: "late", Issuers: []string{"issuer_a"}, NotAfter: noon},
		receipt.Key{ID: "stolen", Issuers: []string{"issuer_a"}, Revoked: &receipt.Revocation{At: noon.Add(time.Hour), Reason: "compromised"}},
		receipt.Key{ID: "gone", Issuers: []string{"issuer_a"}, Revoked: &receipt.Revocation{At: noon.Add(time.Hour)}},
		receipt.Key{ID: "old", Issuers: []string{"issuer_a"}, Revoked: &receipt.Revocation{At: noon, Reason: receipt.ReasonSuperseded}},
		receipt.Key{ID: "aging", Issuers: []string{"issuer_a"}, Revoked: &receipt.Revocation{At: noon.Add(1), Reason: receipt.ReasonSuperseded}},
		receipt.Key{ID: "w1", Roles: []receipt.Role{receipt.RoleWitness}},
		receipt.Key{ID: "w2", Roles: []receipt.Role{receipt.RoleWitness}},
		receipt.Key{ID: "wlate", Roles: []receipt.Role{receipt.RoleWitness}, NotAfter: noon},
		receipt.Key{ID: "both", Issuers: []string{"issuer_a"}, Roles: []receipt.Role{receipt.RoleIssuer, receipt.RoleWitness}},
		receipt.Key{ID: "bothb", Issuers: []string{"issuer_b"}, Roles: []receipt.Role{receipt.RoleIssuer, receipt.RoleWitness}},
		receipt.Key{ID: "log", Issuers: []string{"issuer_a"}, Roles: []receipt.Role{receipt.RoleCheckpoint}},
	)
	r.add(receipt.Key{ID: "w1bis", Roles: []receipt.Role{receipt.RoleWitness}}, "w1")
	r.add(receipt.Key{ID: "awitlate", Roles: []receipt.Role{receipt.RoleWitness}, NotAfter: noon}, "a")
	r.add(receipt.Key{ID: "w1late", Roles: []receipt.Role{receipt.RoleWitness}, NotAfter: noon}, "w1")
	r.add(receipt.Key{ID: "freeboth", Roles: []receipt.Role{receipt.RoleIssuer, receipt.RoleWitness}}, "freeboth")
	r.add(receipt.Key{ID: "awitness", Roles: []receipt.Role{receipt.RoleWitness}}, "a")
	return r
}

type outcome struct {
	verdict receipt.Verdict
	step    receipt.Step
	code    receipt.Code
	pointer string
}

func (o outcome) String() string {
	return fmt.Sprintf("%v %v %s at %q", o.verdict, o.step, o.code, o.pointer)
}

func verified() outcome { return outcome{verdict: receipt.Verified} }

func refuted(s receipt.Step, c receipt.Code, at string) outcome {
	return outcome{receipt.Refuted, s, c, at}
}

func undecided(s receipt.Step, c receipt.Code, at string) outcome {
	return outcome{receipt.Undecided, s, c, at}
}

func outcomeOf(rep *receipt.Report) outcome {
	f := rep.Finding()
	return outcome{rep.Verdict, f.Step, f.Code, f.Pointer}
}

// TestSignaturePolicy contains the truth table for signatures and policies.
func TestSignaturePolicy(t *testing.T) {
	sig := receipt.StepSignatures
	witnesses := func(n int, keys ...string) receipt.Policy {
		return receipt.Policy{Witnesses: receipt.Quorum{Threshold: n, Keys: keys}}
	}
	for _, c := range []struct {
		name    string
		signers string // key IDs; "stranger" is in no key set
		named   string // issuer.public_key_id
		policy  receipt.Policy
		want    outcome
	}{
		{"issuer", "a", "", receipt.Policy{}, verified()},
		{"one of two issuers", "a2", "", receipt.Policy{}, verified()},
		{"named", "a", "a", receipt.Policy{}, verified()},
		{"named and another", "a a2", "a2", receipt.Policy{}, verified()},
		{"other than named", "a", "a2", receipt.Policy{}, undecided(sig, "named_key_missing", "/issuer/public_key_id")},
		{"named is unknown", "a", "stranger", receipt.Policy{}, undecided(sig, "named_key_missing", "/issuer/public_key_id")},
		{"other than named, expired", "late", "a2", receipt.Policy{}, undecided(sig, "named_key_missing", "/issuer/public_key_id")},
		{"other than named, unbound", "free", "a2", receipt.Policy{}, undecided(sig, "named_key_missing", "/issuer/public_key_id")},
		{"named, expired", "late", "late", receipt.Policy{}, refuted(sig, "key_expired", "/signatures/0")},
		{"named, unbound", "free", "free", receipt.Policy{}, undecided(sig, "issuer_unbound", "/signatures/0")},
		{"both roles, unbound", "freeboth", "", receipt.Policy{}, undecided(sig, "issuer_unbound", "/signatures/0")},
		{"both roles, unbound, beside", "a freeboth", "", witnesses(1), verified()},
		{"both roles, asked for", "freeboth", "", receipt.Policy{Issuer: "issuer_a"}, verified()},
		{"both roles, of another issuer", "bothb", "", receipt.Policy{}, undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"both roles, of another issuer, named", "bothb", "bothb", receipt.Policy{}, refuted(sig, receipt.CodeIssuerMismatch, "/signatures/0")},
		{"none", "", "", receipt.Policy{}, undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"stranger", "stranger", "", receipt.Policy{}, undecided(sig, receipt.CodeUnknownKey, "/signatures/0")},
		{"stranger beside", "stranger a", "", receipt.Policy{}, verified()},
		{"other issuer", "b", "", receipt.Policy{}, refuted(sig, receipt.CodeIssuerMismatch, "/signatures/0")},
		{"other issuer, named", "b", "b", receipt.Policy{}, refuted(sig, receipt.CodeIssuerMismatch, "/signatures/0")},
		{"other issuer beside", "b a", "", receipt.Policy{}, verified()},
		{"unbound", "free", "", receipt.Policy{}, undecided(sig, "issuer_unbound", "/signatures/0")},
		{"unbound, issuer asked for", "free", "", receipt.Policy{Issuer: "issuer_a"}, verified()},
		{"unbound, other asked for", "free", "", receipt.Policy{Issuer: "issuer_b"}, refuted(sig, receipt.CodeIssuerMismatch, "/issuer/id")},
		{"bound, other asked for", "a", "", receipt.Policy{Issuer: "issuer_b"}, refuted(sig, receipt.CodeIssuerMismatch, "/issuer/id")},
		{"bound, asked for", "a", "", receipt.Policy{Issuer: "issuer_a"}, verified()},
		{"not yet valid", "early", "", receipt.Policy{}, refuted(sig, "key_not_yet_valid", "/signatures/0")},
		{"not yet valid beside", "early a", "", receipt.Policy{}, verified()},
		{"valid for an instant", "onset", "", receipt.Policy{}, verified()},
		{"expired", "late", "", receipt.Policy{}, refuted(sig, "key_expired", "/signatures/0")},
		{"expired, judged before", "late", "", receipt.Policy{At: noon.Add(-1)}, verified()},
		{"valid, judged after", "onset", "", receipt.Policy{At: noon.Add(1)}, refuted(sig, "key_expired", "/signatures/0")},
		{"compromised", "stolen", "", receipt.Policy{}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/0")},
		{"compromised, judged before", "stolen", "", receipt.Policy{At: noon.Add(-time.Hour)}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/0")},
		{"revoked without reason", "gone", "", receipt.Policy{}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/0")},
		{"compromised beside", "stolen a", "", receipt.Policy{}, verified()},
		{"superseded", "old", "", receipt.Policy{}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/0")},
		{"superseded later", "aging", "", receipt.Policy{}, verified()},
		{"superseded later, judged then", "aging", "", receipt.Policy{At: noon.Add(1)}, refuted(sig, receipt.CodeKeyRevoked, "/signatures/0")},
		{"log key", "log", "", receipt.Policy{}, refuted(sig, "role_mismatch", "/signatures/0")},
		{"log key beside", "log a", "", receipt.Policy{}, verified()},
		{"witness alone", "w1", "", receipt.Policy{}, undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"witness named as issuer", "w1", "w1", receipt.Policy{}, refuted(sig, "role_mismatch", "/signatures/0")},
		{"witness named as issuer, unsigned", "", "w1", receipt.Policy{}, undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"witness named as issuer, another signed", "a", "w1", receipt.Policy{}, undecided(sig, "named_key_missing", "/issuer/public_key_id")},
		{"witness named as issuer, another witness signed", "w2", "w1", receipt.Policy{}, undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"log key named as issuer, another signed", "a", "log", receipt.Policy{}, undecided(sig, "named_key_missing", "/issuer/public_key_id")},
		{"witness beside", "a w1", "", receipt.Policy{}, verified()},
		{"expired witness beside", "a wlate", "", receipt.Policy{}, verified()},
		{"both roles", "both", "", receipt.Policy{}, verified()},

		{"one of one", "a w1", "", witnesses(1), verified()},
		{"none of one", "a", "", witnesses(1), undecided(sig, "threshold_not_met", "/signatures")},
		{"two of two", "a w1 w2", "", witnesses(2), verified()},
		{"the same twice", "a w1 w1", "", witnesses(2), undecided(sig, "threshold_not_met", "/signatures")},
		{"the same material twice", "a w1 w1bis", "", witnesses(2), undecided(sig, "threshold_not_met", "/signatures")},
		{"issuer is no witness", "a both", "", witnesses(1), undecided(sig, "threshold_not_met", "/signatures")},
		{"issuer's material is no witness", "a awitness", "", witnesses(1), undecided(sig, "threshold_not_met", "/signatures")},
		{"other issuer's witness", "a bothb", "", witnesses(1), verified()},
		{"witnesses without issuer", "w1 w2", "", witnesses(2), undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"expired witness needed", "a wlate", "", witnesses(1), refuted(sig, "key_expired", "/signatures/1")},
		{"expired witness not enough", "a wlate", "", witnesses(2), undecided(sig, "threshold_not_met", "/signatures")},
		{"the same expired witness twice", "a wlate wlate", "", witnesses(2), undecided(sig, "threshold_not_met", "/signatures")},
		{"one witness, valid and expired", "a w1 w1late", "", witnesses(2), undecided(sig, "threshold_not_met", "/signatures")},
		{"issuer's material is no expired witness", "a awitlate", "", witnesses(1), undecided(sig, "threshold_not_met", "/signatures")},
		{"another issuer key's material is no witness", "a2 a awitness", "a2", witnesses(1), undecided(sig, "threshold_not_met", "/signatures")},
		{"one witness, expired and valid", "a w1late w1", "", witnesses(1), verified()},
		{"listed witness", "a w1", "", witnesses(1, "w1", "w2"), verified()},
		{"stranger is no witness", "a stranger", "", witnesses(1), undecided(sig, "threshold_not_met", "/signatures")},
		{"unlisted witness", "a w2", "", witnesses(1, "w1"), undecided(sig, "threshold_not_met", "/signatures")},
		{"unlisted, expired witness", "a wlate", "", witnesses(1, "w1"), undecided(sig, "threshold_not_met", "/signatures")},
		{"unlisted witness beside an expired one", "a w2 wlate", "", witnesses(2, "w1", "wlate"), undecided(sig, "threshold_not_met", "/signatures")},
		{"unlisted witness beside a listed one", "a w2 w1", "", witnesses(1, "w1"), verified()},
		{"unlisted witness alone", "w2", "", witnesses(1, "w1"), undecided(sig, receipt.CodeUnsigned, "/signatures")},
		{"unlisted witness, named", "w2", "w2", witnesses(1, "w1"), refuted(sig, "role_mismatch", "/signatures/0")},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys := testKeys()
			strangers := newRing(receipt.Key{ID: "stranger"})
			var signers []*member
			for _, id := range strings.Fields(c.signers) {
				m := keys[id]
				if m == nil {
					m = strangers[id]
				}
				signers = append(signers, m)
			}
			d := plainDraft()
			d.Issuer.PublicKeyID = c.named
			rep := verify(verifier(t, keys, c.policy), forge(t, d, keep, signers...))
			if got := outcomeOf(rep); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if len(rep.Signatures) != len(signers) {
				t.Errorf("%d signature results, want %d", len(rep.Signatures), len(signers))
			}
		})
	}
}

// TestNobodyRefutesByAdding verifies that added entries do not refute an undecided receipt, unless
// an entry is invalid, malformed, or signed with a key that is expired, revoked, or bound to
// another issuer. The hash does not cover signature entries, so anyone who forwards a receipt can
// add some. (There is one exception: an expired witness's signature refutes a receipt if only that
// witness is missing. Adding the signature of another valid witness can cause this.)
func TestNobodyRefutesByAdding(t *testing.T) {
	keys := testKeys()
	strangers := newRing(receipt.Key{ID: "stranger"})
	sign := func(m *member, hash string) receipt.Signature {
		s, err := m.Sign(t.Context(), []byte(hash))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	policies := []receipt.Policy{
		{}, {Issuer: "issuer_a"}, {At: noon.Add(time.Hour)}, {Strict: true},
		{Witnesses: receipt.Quorum{Threshold: 1}},
		{Witnesses: receipt.Quorum{Threshold: 2}},
		{Witnesses: receipt.Quorum{Threshold: 1, Keys: []string{"w1"}}},
		{Witnesses: receipt.Quorum{Threshold: 2, Keys: []string{"w1", "wlate"}}},
	}
	undecided := 0
	for _, policy := range policies {
		v := verifier(t, keys, policy)
		for _, named := range []string{"", "a", "stranger", "a2"} {
			d := plainDraft()
			d.Issuer.PublicKeyID = named
			for _, signers := range []string{"", "a", "w1", "w2", "stranger", "free", "a wlate", "a w2"} {
				var list []*member
				for _, id := range strings.Fields(signers) {
					list = append(list, cmp.Or(keys[id], strangers[id]))
				}
				o := map[string]any{}
				if err := json.Unmarshal(forge(t, d, keep, list...), &o); err != nil {
					t.Fatal(err)
				}
				before := verify(v, marshal(t, o))
				if before.Verdict != receipt.Undecided {
					continue
				}
				undecided++
				hash := o["chain"].(map[string]any)["receipt_hash"].(string)
				other := sign(strangers["stranger"], hash)
				other.Algorithm = "none"
				added := []receipt.Signature{sign(strangers["stranger"], hash), other}
				for _, id := range []string{"w1", "w2", "w1bis", "awitness", "bothb", "freeboth"} {
					if id != named {
						added = append(added, sign(keys[id], hash))
					}
				}
				was := o["signatures"].([]any)
				for _, entry := range added {
					if counts := policy.Witnesses.Keys == nil || entry.KeyID == "w1"; counts && strings.Contains(signers, "wlate") {
						continue
					}
					for _, list := range [][]any{append([]any{entry}, was...), append(slices.Clip(was), entry)} {
						o["signatures"] = list
						if rep := verify(v, marshal(t, o)); rep.Verdict == receipt.Refuted {
							t.Errorf("%+v, named %q, signed by %q, and then by %q: %v, before %v", policy, named, signers, entry.KeyID, outcomeOf(rep), outcomeOf(before))
						}
					}
				}
			}
		}
	}
	if undecided < 50 {
		t.Errorf("%d receipts were undecided, want 50 at least", undecided)
	}
}

// TestFalseEntryRefutes verifies that an invalid or malformed entry refutes a receipt regardless of
// who added the entry, and that an entry that cannot be checked does not refute it.
func TestFalseEntryRefutes(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	good := forge(t, plainDraft(), keep, keys["a"], keys["a2"])
	for name, c := range map[string]struct {
		edit func(entry map[string]any)
		want outcome
	}{
		"false":              {func(e map[string]any) { e["key_id"] = "w1" }, refuted(receipt.StepSignatures, receipt.CodeSignatureInvalid, "/signatures/1")},
		"malformed":          {func(e map[string]any) { e["signature"] = "base64:MEUCIQDexample" }, refuted(receipt.StepSignatures, receipt.CodeMalformedSignature, "/signatures/1")},
		"another algorithm":  {func(e map[string]any) { e["algorithm"] = "other" }, refuted(receipt.StepSignatures, receipt.CodeAlgorithmMismatch, "/signatures/1")},
		"unknown algorithm":  {func(e map[string]any) { e["algorithm"] = "none" }, verified()},
		"unknown key":        {func(e map[string]any) { e["key_id"] = "stranger" }, verified()},
		"malformed, unknown": {func(e map[string]any) { e["key_id"], e["signature"] = "stranger", "x" }, refuted(receipt.StepSignatures, receipt.CodeMalformedSignature, "/signatures/1")},
		"signed_at changed":  {func(e map[string]any) { e["signed_at"] = "1970-01-01T00:00:00Z" }, verified()},
	} {
		o := map[string]any{}
		if err := json.Unmarshal(good, &o); err != nil {
			t.Fatal(err)
		}
		c.edit(o["signatures"].([]any)[1].(map[string]any))
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		rep := verify(v, data)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if !slices.ContainsFunc(rep.NotChecked, func(n receipt.Note) bool { return n.Code == "unauthenticated_members" }) {
			t.Errorf("%s: the report does not say that entries are unauthenticated", name)
		}
	}
}

func TestTooManySignatures(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	signers := slices.Repeat([]*member{keys["a"]}, 100)
	if got := outcomeOf(verify(v, forge(t, plainDraft(), keep, signers...))); got != verified() {
		t.Errorf("at the limit: %v", got)
	}
	want := undecided(receipt.StepSignatures, "signature_limit", "/signatures")
	if got := outcomeOf(verify(v, forge(t, plainDraft(), keep, append(signers, keys["a"])...))); got != want {
		t.Errorf("above the limit: %v, want %v", got, want)
	}
	for _, id := range []string{"w1", "late", "free"} { // the decisive entry may come after the limit
		signers = append(slices.Repeat([]*member{keys[id]}, 100), keys["a"])
		rep := verify(v, forge(t, plainDraft(), keep, signers...))
		if got := outcomeOf(rep); got != want || len(rep.Signatures) != 100 {
			t.Errorf("%s up to the limit: %v with %d results, want %v", id, got, len(rep.Signatures), want)
		}
	}
}

// TestEveryCode verifies that each code can result from a verification.
func TestEveryCode(t *testing.T) {
	keys := testKeys()
	good := forge(t, plainDraft(), keep, keys["a"])
	text := func(s string) []byte { return []byte(s) }
	meta := func(raw string) []byte {
		return bytes.Replace(good, []byte(`"metadata":{}`), []byte(`"metadata":{`+raw+`}`), 1)
	}
	edit := func(f func(o map[string]any)) []byte { return forge(t, plainDraft(), f, keys["a"]) }
	stated := func(hash string) []byte {
		return bytes.Replace(good, text(`"receipt_hash":"sha256:`), text(`"receipt_hash":"`+hash), 1)
	}
	parse, schema := receipt.StepParse, receipt.StepSchema
	low := receipt.Policy{Limits: canon.Limits{Bytes: 100}}
	shallow := receipt.Policy{Limits: canon.Limits{Depth: 2}}
	cases := []struct {
		name   string
		data   []byte
		policy receipt.Policy
		want   outcome
	}{
		{"good", good, receipt.Policy{}, verified()},
		{"syntax", text("{"), receipt.Policy{}, refuted(parse, receipt.CodeSyntax, "")},
		{"duplicate", meta(`"a":1,"a":1`), receipt.Policy{}, refuted(parse, "duplicate_name", "/metadata/a")},
		{"utf-8", meta("\"a\":\"\xff\""), receipt.Policy{}, refuted(parse, receipt.CodeInvalidUTF8, "/metadata/a")},
		{"surrogate", meta(`"a":"\ud800"`), receipt.Policy{}, refuted(parse, receipt.CodeLoneSurrogate, "/metadata/a")},
		{"range", meta(`"a":1e400`), receipt.Policy{}, refuted(parse, "number_range", "/metadata/a")},
		{"precision", meta(`"a":9007199254740993`), receipt.Policy{}, refuted(parse, receipt.CodeNumberPrecision, "/metadata/a")},
		{"precision, exponent", meta(`"a":-1e300`), receipt.Policy{}, refuted(parse, receipt.CodeNumberPrecision, "/metadata/a")},
		{"precision, fraction", meta(`"a":9007199254740992.0`), receipt.Policy{}, refuted(parse, receipt.CodeNumberPrecision, "/metadata/a")},
		{"depth 128", edit(func(o map[string]any) { o["metadata"] = map[string]any{"d": deep(125)} }), receipt.Policy{}, verified()},
		{"depth 129", edit(func(o map[string]any) { o["metadata"] = map[string]any{"d": deep(126)} }), receipt.Policy{}, refuted(parse, receipt.CodeDepthLimit, ("/metadata/d" + strings.Repeat("/0", 126))[:256]+"…")},
		{"size", append(bytes.Clone(good), bytes.Repeat([]byte{' '}, receipt.MaxBytes)...), receipt.Policy{}, refuted(parse, receipt.CodeSizeLimit, "")},
		{"size, caller's", good, low, undecided(parse, receipt.CodeSizeLimit, "")},
		{"size, both", append(bytes.Clone(good), bytes.Repeat([]byte{' '}, receipt.MaxBytes)...), low, refuted(parse, receipt.CodeSizeLimit, "")},
		{"depth, caller's", good, shallow, undecided(parse, receipt.CodeDepthLimit, "/autonomy_budget/consumed")},
		{"trailing", append(bytes.Clone(good), "{}"...), receipt.Policy{}, refuted(parse, receipt.CodeTrailingData, "")},
		{"empty", nil, receipt.Policy{}, refuted(parse, "empty_input", "")},
		{"array", text("[]"), receipt.Policy{}, refuted(parse, receipt.CodeNotObject, "")},
		{"other document", text(`{"a":1}`), receipt.Policy{}, refuted(schema, receipt.CodeNotAReceipt, "")},
		{"newer", bytes.Replace(good, text("receipt-2026-04-25"), text("receipt-2027-01-01"), 1), receipt.Policy{}, undecided(schema, "unsupported_schema", "/schema")},
		{"schema", edit(func(o map[string]any) { o["x"] = 1 }), receipt.Policy{}, refuted(schema, receipt.CodeSchemaInvalid, "/x")},
		{"malformed hash", stated("SHA256:"), receipt.Policy{}, refuted(schema, receipt.CodeSchemaInvalid, "/chain/receipt_hash")},
		{"mismatch", meta(`"a":1`), receipt.Policy{}, refuted(receipt.StepHash, receipt.CodeHashMismatch, "/chain/receipt_hash")},
		{"zero predecessor", edit(func(o map[string]any) {
			o["chain"].(map[string]any)["previous_receipt_hash"] = canon.Digest{}.String()
		}), receipt.Policy{}, refuted(receipt.StepLink, receipt.CodeChainBreak, "/chain/previous_receipt_hash")},
		{"integrity only", good, receipt.Policy{IntegrityOnly: true}, verified()},
		{"merkle root", edit(func(o map[string]any) { o["chain"].(map[string]any)["merkle_root"] = canon.Sum(nil).String() }), receipt.Policy{}, verified()},
		{"merkle root of itself", selfRooted(good), receipt.Policy{}, refuted(receipt.StepHash, receipt.CodeHashMismatch, "/chain/receipt_hash")},
		{"rich", forge(t, richDraft(), keep, keys["a"]), receipt.Policy{}, verified()},
		{"strict, the first receipt", good, receipt.Policy{Strict: true}, verified()},
		{"strict, a predecessor", edit(func(o map[string]any) {
			o["chain"].(map[string]any)["previous_receipt_hash"] = canon.Sum([]byte("x")).String()
		}), receipt.Policy{Strict: true}, undecided(receipt.StepLink, receipt.CodeLinkNotChecked, "")},
		{"strict, more not checked", forge(t, richDraft(), keep, keys["a"]), receipt.Policy{Strict: true}, undecided(receipt.StepRedactions, "redactions_not_checked", "")},
		{"contradictions", edit(func(o map[string]any) {
			o["issued_at"] = "2030-01-01T00:00:00Z"
			o["lifecycle"].(map[string]any)["created_at"] = "2040-01-01T00:00:00Z"
			o["lifecycle"].(map[string]any)["failure"] = map[string]any{}
			o["cost"].(map[string]any)["provider_breakdown"] = []any{map[string]any{"provider": "p", "amount": 0.000002}}
			o["autonomy_budget"].(map[string]any)["consumed"] = map[string]any{"tool_calls": 1}
			o["replay_input"].(map[string]any)["unavailable_reason"] = "none"
			o["final_artifacts"] = []any{map[string]any{"artifact_id": "x", "kind": "k"}, map[string]any{"artifact_id": "x", "kind": "k"}}
			o["redactions"] = []any{map[string]any{"field": "/x", "reason": "r", "proof_hash": canon.Sum(nil).String()},
				map[string]any{"field": "/x", "reason": "r", "proof_hash": canon.Sum([]byte{1}).String()}}
		}), receipt.Policy{Now: noon}, verified()},
	}
	reached := map[receipt.Code]bool{}
	report, err := schemas.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		trust := receipt.Trust(keys)
		if c.policy.IntegrityOnly {
			trust = nil
		}
		rep := verify(verifier(t, trust, c.policy), c.data)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for _, check := range rep.Checks {
			reached[check.Code] = true
		}
		for _, n := range append(slices.Clone(rep.NotChecked), rep.Warnings...) {
			reached[n.Code] = true
		}
		checkReport(t, c.name, report, rep)
		c.policy.Plain = true
		plain := verify(verifier(t, trust, c.policy), c.data)
		if got, want := marshal(t, plain), marshal(t, rep); !bytes.Equal(got, want) {
			t.Errorf("%s: the plain path reports\n%s\nthe fast one\n%s", c.name, got, want)
		}
	}
	// Other tests cover these codes: TestSignaturePolicy, TestFalseEntryRefutes, and
	// TestTooManySignatures.
	elsewhere := []receipt.Code{
		receipt.CodeTrustUnavailable, // TestSnapshotDown
		receipt.CodeUnsigned, receipt.CodeUnknownKey, receipt.CodeUnsupportedAlgorithm, receipt.CodeMalformedSignature, receipt.CodeAlgorithmMismatch,
		receipt.CodeSignatureInvalid, "issuer_unbound", receipt.CodeIssuerMismatch, "role_mismatch", "named_key_missing",
		"threshold_not_met", "key_not_yet_valid", "key_expired", receipt.CodeKeyRevoked, "signature_limit",
		receipt.CodeWeakKey, receipt.CodeInvalidKeySet, // package keys
		receipt.CodeStreamMismatch,                                                   // the command
		receipt.CodeProofInvalid, receipt.CodeCheckpointInvalid, "unknown_cosigners", // TestProofs
		"checkpoint_required",                          // TestCheckpointRule
		receipt.CodeMerkleRootMismatch, "not_in_batch", // TestBatches
		"material_mismatch", "material_not_found", // TestInlineMaterial, TestFiles
		"disclosure_mismatch", "disclosure_unknown", "disclosure_unbound", // TestDisclosures
		"protected_field",                                                                                                            // package redact
		receipt.CodeAttestationInvalid, receipt.CodeAttestationMismatch, receipt.CodeAttestationUnsupported, receipt.CodeNotAttested, // package attest
		receipt.CodeTimestampInvalid, receipt.CodeTimeSelfAsserted, // package timestamp, TestTimestamps
		// package statement
		receipt.CodeStatementMalformed, receipt.CodeStatementUnsupported, receipt.CodeStatementFork, receipt.CodeStatementMissing, receipt.CodeAfterEnd,
		receipt.CodeTimeContradicted, receipt.CodeStreamOpen, receipt.CodeSilence, receipt.CodeNotFromStart,
		// package replay
		receipt.CodeReplaySourceMismatch, receipt.CodeDeltaMissing, receipt.CodeDeltaUnexpected, receipt.CodeDeltaMismatch, receipt.CodeOverrideHashMismatch,
		receipt.CodeMaterialSubstituted, receipt.CodeReplayEffect, receipt.CodeReplayUnavailable, receipt.CodeReplayDiffers, receipt.CodeReplayNotChecked,
		// package stream
		receipt.CodeChainFork, receipt.CodeDuplicateID, receipt.CodeTruncated, receipt.CodeHeadMismatch, receipt.CodeCountMismatch, receipt.CodeTornTail, receipt.CodeForeignReceipt, receipt.CodeUncovered, receipt.CodeStatementNotChecked, receipt.CodeDecisionReversed, receipt.CodeEvidenceUnused,
		receipt.CodeValidityNotChecked, receipt.CodeNotRead, // package headline, the command
		"non_deterministic_cbor", "tail_not_checked", "ids_not_checked", "parts_overlap", receipt.CodePartsNotJoined, receipt.CodeCopyNotChecked, receipt.CodeAskedNotRecorded, "envelope_not_checked", "identical_copy",
	}
	for _, info := range receipt.Codes() {
		if !reached[info.Code] && !slices.Contains(elsewhere, info.Code) {
			t.Errorf("no case reaches %s", info.Code)
		}
		if info.Meaning == "" || info.Next == "" || info.Where == "" {
			t.Errorf("%s is not explained", info.Code)
		}
		delete(reached, info.Code)
	}
	delete(reached, "")
	for code := range reached {
		t.Errorf("%s is not in the registry", code)
	}
}

// selfRooted sets the merkle_root of a receipt to its stated hash, as in the upstream fixtures. The
// hash then never matches, because it covers the merkle_root.
func selfRooted(data []byte) []byte {
	const before = `"receipt_hash":`
	at := bytes.Index(data, []byte(before)) + len(before)
	hash := data[at : at+len(`""`)+71]
	return slices.Concat(data[:at], hash, []byte(`,"merkle_root":`), hash, data[at+len(hash):])
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkReport verifies properties that every report must have.
func checkReport(t *testing.T, name string, schema *schemas.Schema, rep *receipt.Report) {
	t.Helper()
	text := marshal(t, rep)
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range schema.Check(doc.Root()).Problems {
		t.Errorf("%s: the report does not fit its schema at %s: %s", name, p.Pointer, p.Detail)
	}
	again := new(receipt.Report)
	if err := json.Unmarshal(text, again); err != nil {
		t.Errorf("%s: %v", name, err)
	} else if !bytes.Equal(marshal(t, again), text) {
		t.Errorf("%s: the report changes when read back", name)
	}
	for s := receipt.StepParse; s <= receipt.StepRedactions; s++ { // every step must be present and in order
		if !slices.ContainsFunc(rep.Checks, func(c receipt.Check) bool { return c.Step == s }) {
			t.Errorf("%s: step %v is not reported", name, s)
		}
		if s > receipt.StepParse && !slices.IsSortedFunc(rep.Checks, func(a, b receipt.Check) int { return int(a.Step) - int(b.Step) }) {
			t.Errorf("%s: the steps are out of order", name)
		}
	}
	for _, c := range rep.Checks { // checks that were not made must be listed
		if c.Status == receipt.StatusNotChecked && !slices.ContainsFunc(rep.NotChecked, func(n receipt.Note) bool { return n.Code == c.Code }) {
			t.Errorf("%s: %v was not checked, and the report does not say so", name, c.Step)
		}
	}
	clone := rep.Clone()
	for i := range clone.Checks {
		clone.Checks[i].Detail = "changed"
	}
	for i := range clone.Signatures {
		clone.Signatures[i].Detail = "changed"
	}
	for i := range clone.NotChecked {
		clone.NotChecked[i].Detail = "changed"
	}
	for i := range clone.Warnings {
		clone.Warnings[i].Detail = "changed"
	}
	copy(clone.ReceiptID, "changed")
	if !bytes.Equal(marshal(t, rep), text) {
		t.Errorf("%s: a clone shares memory", name)
	}
}

func TestMalformedHashIsAFailedStep(t *testing.T) {
	keys := testKeys()
	good := forge(t, plainDraft(), keep, keys["a"])
	for _, bad := range []string{"SHA256:", "sha256-", "sha512:", ""} {
		data := bytes.Replace(good, []byte(`"receipt_hash":"sha256:`), []byte(`"receipt_hash":"`+bad), 1)
		if c := verify(verifier(t, keys, receipt.Policy{}), data).Check(receipt.StepHash); c.Status != receipt.StatusFailed || c.Code != "malformed_hash" {
			t.Errorf("%q: %v %s, want a failed step", bad, c.Status, c.Code)
		}
	}
}

func TestOpen(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	good := forge(t, plainDraft(), keep, keys["a"])
	r, err := v.Open(good)
	if err != nil || r.Report().Verdict != receipt.Verified || r.Issuer.ID != "issuer_a" || !r.IssuedAt.Equal(noon) {
		t.Errorf("%+v, %v", r, err)
	}
	r.JSON()[0] = 'x'
	if r.JSON()[0] != '{' {
		t.Error("JSON gives away its memory")
	}
	var wrong *receipt.RefutedError
	if r, err := v.Open([]byte("{")); r != nil || !errors.As(err, &wrong) || wrong.Report.Verdict != receipt.Refuted {
		t.Errorf("%v, %v; want nil and a *RefutedError", r, err)
	}
	var open *receipt.UndecidedError
	if r, err := v.Open(forge(t, plainDraft(), keep)); r != nil || !errors.As(err, &open) || open.Report.Verdict != receipt.Undecided {
		t.Errorf("%v, %v; want nil and an *UndecidedError", r, err)
	}
	var zero receipt.Report
	if zero.Verdict != receipt.Undecided {
		t.Error("an empty report is not undecided")
	}
}

func TestNewVerifierRefuses(t *testing.T) {
	keys := testKeys()
	for name, c := range map[string]struct {
		trust  receipt.Trust
		policy receipt.Policy
	}{
		"no trust":                 {nil, receipt.Policy{}},
		"no keys":                  {ring{}, receipt.Policy{}},
		"negative threshold":       {keys, receipt.Policy{Witnesses: receipt.Quorum{Threshold: -1}}},
		"keys, threshold zero":     {keys, receipt.Policy{Witnesses: receipt.Quorum{Keys: []string{"w1"}}}},
		"threshold above keys":     {keys, receipt.Policy{Witnesses: receipt.Quorum{Threshold: 2, Keys: []string{"w1"}}}},
		"integrity with issuer":    {nil, receipt.Policy{IntegrityOnly: true, Issuer: "x"}},
		"integrity with witnesses": {nil, receipt.Policy{IntegrityOnly: true, Witnesses: receipt.Quorum{Threshold: 1}}},
		"integrity, in a log":      {nil, receipt.Policy{IntegrityOnly: true, Checkpoint: receipt.CheckpointRule{Required: true}}},
		"integrity, cosigned":      {nil, receipt.Policy{IntegrityOnly: true, Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: 1}}}},
		"negative cosigners":       {keys, receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: -1}}}},
		"cosigners, no threshold":  {keys, receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true, Cosigners: receipt.Quorum{Keys: []string{"w1"}}}}},
		"cosigners above keys":     {keys, receipt.Policy{Checkpoint: receipt.CheckpointRule{Cosigners: receipt.Quorum{Threshold: 2, Keys: []string{"w1"}}}}},
	} {
		if v, err := receipt.NewVerifier(c.trust, c.policy); err == nil || v != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestTimeOfIssueNotTold verifies that, if the time of issue is a placeholder, a report does not
// present it as the time for which the keys were checked.
func TestTimeOfIssueNotTold(t *testing.T) {
	keys := testKeys()
	for _, c := range []struct {
		untold string
		policy receipt.Policy
		says   bool
	}{
		{"/issued_at", receipt.Policy{}, true},
		{"/lifecycle/started_at", receipt.Policy{}, false},
		{"/issued_at", receipt.Policy{At: noon}, false},
	} {
		d := plainDraft()
		d.Metadata = receipt.Object{"unreported": []any{c.untold}}
		rep := verify(verifier(t, keys, c.policy), forge(t, d, keep, keys["early"]))
		f := rep.Finding()
		if says := strings.HasSuffix(f.Detail, ", which stands for a time of issue that the source did not tell"); f.Code != "key_not_yet_valid" || says != c.says {
			t.Errorf("%s is not reported, with the policy time %s: %s, %s", c.untold, c.policy.At, f.Code, f.Detail)
		}
	}
}
