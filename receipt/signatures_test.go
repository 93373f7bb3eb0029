package receipt_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestSignatureResults verifies the status, the role, and the code for each entry.
func TestSignatureResults(t *testing.T) {
	for _, c := range []struct {
		signers, named string
		policy         receipt.Policy
		want           string
	}{
		{"a w1", "", receipt.Policy{}, "valid issuer , valid witness "},
		{"a2 a", "a", receipt.Policy{}, "valid issuer , valid issuer "},
		{"b a", "", receipt.Policy{}, "invalid  issuer_mismatch, valid issuer "},
		{"free a", "", receipt.Policy{}, "not_checked  issuer_unbound, valid issuer "},
		{"free", "", receipt.Policy{Issuer: "issuer_b"}, "invalid  issuer_mismatch"},
		{"freeboth a", "", receipt.Policy{}, "valid witness , valid issuer "},
		{"bothb a", "", receipt.Policy{}, "valid witness , valid issuer "},
		{"late wlate", "", receipt.Policy{}, "invalid  key_expired, invalid  key_expired"},
		{"log w2", "", receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1, Keys: []string{"w1"}}}, "invalid  role_mismatch, invalid  role_mismatch"},
	} {
		keys := testKeys()
		var signers []*member
		for _, id := range strings.Fields(c.signers) {
			signers = append(signers, keys[id])
		}
		d := plainDraft()
		d.Issuer.PublicKeyID = c.named
		var found []string
		for _, s := range verify(verifier(t, keys, c.policy), forge(t, d, keep, signers...)).Signatures {
			found = append(found, fmt.Sprint(s.Status, " ", s.Role, " ", s.Code))
			if (s.Code == "") != (s.Detail == "") {
				t.Errorf("%s: code %q with detail %q", c.signers, s.Code, s.Detail)
			}
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.signers, got, c.want)
		}
	}
}

// TestFirstReasonIsTold verifies that the finding is the first of several reasons of the same kind.
func TestFirstReasonIsTold(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	for signers, want := range map[string]outcome{
		"late stolen": refuted(receipt.StepSignatures, "key_expired", "/signatures/0"),
		"stolen late": refuted(receipt.StepSignatures, receipt.CodeKeyRevoked, "/signatures/0"),
	} {
		var list []*member
		for _, id := range strings.Fields(signers) {
			list = append(list, keys[id])
		}
		if got := outcomeOf(verify(v, forge(t, plainDraft(), keep, list...))); got != want {
			t.Errorf("%s: %v, want %v", signers, got, want)
		}
	}
}

// TestFirstCheckpointIsTold verifies that, if no checkpoint counts as a signature, the report
// contains the reason for the first one.
func TestFirstCheckpointIsTold(t *testing.T) {
	keys := logKeys()
	data := forge(t, plainDraft(), keep)
	for first, second := range map[string]string{"ownlate": "ownstolen", "ownstolen": "ownlate"} {
		v := with(t, verifier(t, keys, receipt.Policy{}), proofs(keys.prove(t, data, first), keys.prove(t, data, second)))
		if list := verify(v, data).Signatures; len(list) != 1 || list[0].KeyID != first || list[0].Code == "" {
			t.Errorf("%s, %s: %+v", first, second, list)
		}
	}
}

// TestSignatureOfOtherContent verifies that a valid signature of the stated hash does not pass if
// the content has another hash. The report still states who signed the stated hash.
func TestSignatureOfOtherContent(t *testing.T) {
	keys := testKeys()
	data := bytes.Replace(forge(t, plainDraft(), keep, keys["w1"], keys["a"]), []byte(`"metadata":{}`), []byte(`"metadata":{"a":1}`), 1)
	c := verify(verifier(t, keys, receipt.Policy{}), data).Check(receipt.StepSignatures)
	if c.Status != receipt.StatusNotChecked || c.Code != "step_not_reached" || !strings.HasPrefix(c.Detail, `"a" signed`) {
		t.Errorf("%+v", c)
	}
}

func TestSignatureTexts(t *testing.T) {
	keys := testKeys()
	keys.add(receipt.Key{ID: "many", Issuers: []string{"i1", "i2", "i3", "i4", "i5"}}, "many")
	keys.add(receipt.Key{ID: "three", Issuers: []string{"i1", "i2", "i3"}}, "three")
	for signers, want := range map[string]string{
		"":      "the receipt has no signature",
		"w1":    "only witnesses signed, not the issuer",
		"wlate": "only witnesses signed, not the issuer",
		"many":  `"many" may speak for "i1", "i2", "i3" and 2 more, not for "issuer_a"`,
		"three": `"three" may speak for "i1", "i2", "i3", not for "issuer_a"`,
	} {
		var list []*member
		for _, id := range strings.Fields(signers) {
			list = append(list, keys[id])
		}
		rep := verify(verifier(t, keys, receipt.Policy{}), forge(t, plainDraft(), keep, list...))
		if got := rep.Finding().Detail; got != want {
			t.Errorf("%s: %q, want %q", signers, got, want)
		}
	}
}

// TestSealProblemCodes verifies that an input that is not a draft is rejected for that reason, and
// not for problems in the receipt that would result.
func TestSealProblemCodes(t *testing.T) {
	d := plainDraft()
	d.Approvals = []receipt.Approval{{Actor: "x", Action: "y", Decision: "denied"}}
	_, err := receipt.Seal(d, chain.Head{})
	if found := problems(t, err); len(found) != 1 || found["/approvals/0"] != receipt.CodeSchemaInvalid {
		t.Errorf("%v", found)
	}
	many := []byte(`{`)
	for i := range 30 {
		many = fmt.Appendf(many, `"x%d":1,`, i)
	}
	for in, want := range map[string]struct {
		code receipt.Code
		text string
	}{
		`[]`:                           {receipt.CodeNotObject, ""},
		`{"chain":{"receipt_hash":1}}`: {receipt.CodeSchemaInvalid, "cannot be sealed again"},
		string(many) + `"y":1}`:        {receipt.CodeSchemaInvalid, "more places"},
	} {
		doc, err := canon.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		_, err = receipt.SealDocument(doc, chain.Head{})
		if found := problems(t, err); len(found) == 0 || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v", in, err)
		} else {
			for at, code := range found {
				if code != want.code {
					t.Errorf("%s: %s at %q, want %s", in, code, at, want.code)
				}
			}
		}
	}
}
