package receipt_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A forger creates mutants of valid receipts. It has the private keys of the fixtures, so it can
// seal and sign a mutant again. The hash then matches, so the verdict depends on the schema and the
// policy.
type forger struct {
	seeds   []*mutate.Value
	small   []*mutate.Value // seeds that can be verified quickly
	private map[string]ed25519.PrivateKey
	genuine map[string]bool // hashes of all seeds
}

// forgeryKeys returns the IDs of the fixture keys that sign mutants.
func forgeryKeys() []string {
	return []string{"key_2026_04", "key_eddsa", "key_second", "key_other_issuer", "key_unbound", "key_expired", "key_future", "key_compromised", "key_revoked",
		"key_superseded", "key_superseded_later", "witness_1", "witness_2", "log_1", "key_stranger"}
}

func newForger(tb testing.TB) *forger {
	tb.Helper()
	f := &forger{private: map[string]ed25519.PrivateKey{}, genuine: map[string]bool{}}
	for _, id := range forgeryKeys() {
		f.private[id] = fixtureKey(tb, id)
	}
	for _, name := range []string{"minimal", "signed-eddsa", "signed-es256", "signed-ps256", "task-failed", "task-replay", "task-canceled", "task", "witnessed", "full"} {
		text, err := fixtures.Read("valid/" + name + ".json")
		if err != nil {
			tb.Fatal(err)
		}
		f.genuine[f.plant(tb, text).Member("chain").Member("receipt_hash").Text] = true
	}
	for _, d := range []*receipt.Draft{plainDraft(), richDraft()} {
		f.plant(tb, sealAndSign(tb, d)).Member("issuer").Set("id", &mutate.Value{Text: `"harness_example_cloud"`})
	}
	return f
}

// fixtureKey reads a key without using any of the packages under test.
func fixtureKey(tb testing.TB, id string) ed25519.PrivateKey {
	tb.Helper()
	text, err := fixtures.Read("keys/" + id + ".private.json")
	if err != nil {
		tb.Fatal(err)
	}
	var jwk struct{ D string }
	if err := json.Unmarshal(text, &jwk); err != nil {
		tb.Fatal(err)
	}
	seed, err := base64.RawURLEncoding.DecodeString(jwk.D)
	if err != nil || len(seed) != ed25519.SeedSize {
		tb.Fatalf("%s is no Ed25519 key: %v", id, err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

func (f *forger) plant(tb testing.TB, text []byte) *mutate.Value {
	tb.Helper()
	seed := mutate.Parse(text)
	if seed == nil {
		tb.Fatalf("a seed is no JSON: %.100q", text)
	}
	if f.seeds = append(f.seeds, seed); len(text) < 2000 {
		f.small = append(f.small, seed)
	}
	return seed
}

// A mutant is a document, together with the hash under which it was sealed, or "" if it was not
// sealed.
type mutant struct {
	text   []byte
	sealed string
	holds  bool // the hash must match, because only the spelling was changed
}

// mutant applies one to three changes to a seed.
func (f *forger) mutant(c mutate.Choices) (m mutant) {
	tree, donor := f.small[c.IntN(len(f.small))].Clone(), f.seeds[c.IntN(len(f.seeds))]
	if c.IntN(3) == 0 {
		tree = donor.Clone()
	}
	entries, texts, changed := 0, 0, false
	for range 1 + max(c.IntN(4)-1, 0) {
		switch c.IntN(10) {
		case 0:
			texts++
		case 1:
			entries++
		case 2: // respelled below
		default:
			mutate.Structure(c, tree, donor)
			changed = true
		}
	}
	if c.IntN(2) == 0 {
		m.sealed = f.seal(c, tree)
	}
	for range entries {
		if list := tree.Member("signatures"); list != nil {
			changeEntry(c, list, donor)
			changed = true
		}
	}
	if !changed || c.IntN(4) == 0 {
		m.holds = !changed && texts == 0 && (m.sealed != "" || f.genuine[tree.Member("chain").Member("receipt_hash").Text])
		m.text = mutate.Spell(c, tree)
	} else {
		m.text = tree.Append(nil)
	}
	for range texts {
		m.text = mutate.Text(c, m.text)
	}
	return m
}

// seal updates the hash of a mutant and signs the mutant, usually as its issuer would. A document
// that is not JSON or has no chain is not changed.
func (f *forger) seal(c mutate.Choices, tree *mutate.Value) (hash string) {
	inner := tree.Member("chain")
	doc, err := canon.Parse(tree.Append(nil))
	if inner == nil || err != nil || inner.Open != '{' {
		return ""
	}
	digest, err := chain.Hash(doc)
	if err != nil {
		return ""
	}
	hash = digest.String()
	inner.Set("receipt_hash", &mutate.Value{Text: `"` + hash + `"`})
	list := &mutate.Value{Open: '['}
	for _, id := range f.signers(c) {
		list.Items = append(list.Items, f.entry(c, id, hash))
	}
	if len(list.Items) > 0 || c.IntN(2) == 0 {
		tree.Set("signatures", list)
	}
	return hash
}

func (f *forger) signers(c mutate.Choices) []string {
	some := func() string { return forgeryKeys()[c.IntN(len(forgeryKeys()))] }
	switch c.IntN(9) {
	case 0:
		return nil
	case 1:
		return []string{some()}
	case 2:
		return []string{"key_2026_04", some()}
	case 4:
		return []string{"key_2026_04", "key_eddsa"}
	case 3:
		return []string{"key_2026_04", "witness_1"}
	}
	return []string{"key_2026_04"}
}

func (f *forger) entry(c mutate.Choices, id, hash string) *mutate.Value {
	algorithm, value := "ed25519", "base64:"+base64.StdEncoding.EncodeToString(ed25519.Sign(f.private[id], []byte(hash)))
	if id == "key_eddsa" || c.IntN(6) == 0 { // an Ed25519 key supports both algorithms
		algorithm, value = "EdDSA", f.token(c, id, hash)
	}
	return mutate.Parse([]byte(`{"key_id":"` + id + `","algorithm":"` + algorithm + `","signature":"` + value + `","signed_at":"2026-04-25T19:18:33Z"}`))
}

// token returns a detached JWS. In half of the cases, the header or the signature is slightly
// wrong.
func (f *forger) token(c mutate.Choices, id, hash string) string {
	headers := []string{
		`{"alg":"EdDSA","kid":"key_eddsa","iat":1777144713}`, `{"kid":"key_eddsa","alg":"EdDSA"}`, ` { "alg" : "EdDSA" , "kid" : "key_eddsa" } `, `{"alg":"E\u0064DSA","kid":"key_eddsa"}`,
		`{"alg":"EdDSA"}`, `{"alg":"Ed25519","kid":"key_eddsa"}`, `{"alg":"none","kid":"key_eddsa"}`, `{"alg":"EdDSA","kid":"key_second"}`, `{"alg":"EdDSA","kid":"key_eddsa","b64":false,"crit":["b64"]}`,
		`{"alg":"EdDSA","kid":"key_eddsa","iat":1777144713.0}`, `{"alg":"EdDSA","kid":"key_eddsa","iat":0}`, `{"alg":"EdDSA","alg":"EdDSA","kid":"key_eddsa"}`, `{"alg":"EdDSA","kid":"key_eddsa","typ":"JWT"}`,
	}
	header, url := `{"alg":"EdDSA","kid":"key_eddsa"}`, base64.RawURLEncoding
	if c.IntN(2) == 0 {
		header = headers[c.IntN(len(headers))]
	}
	header = strings.ReplaceAll(header, "key_eddsa", id)
	head := url.EncodeToString([]byte(header))
	signature := ed25519.Sign(f.private[id], []byte(head+"."+url.EncodeToString([]byte(hash))))
	if c.IntN(4) == 0 {
		signature = changeSignature(c, signature)
	}
	return "jws:" + head + ".." + url.EncodeToString(signature)
}

// changeEntry changes the list of signatures: it replaces the key or algorithm in an entry, damages
// the entry's value, or changes the list in another way.
func changeEntry(c mutate.Choices, list, donor *mutate.Value) {
	if len(list.Items) == 0 || c.IntN(2) == 0 {
		mutate.Structure(c, list, donor)
		return
	}
	entry := list.Items[c.IntN(len(list.Items))]
	set := func(member, text string) { entry.Set(member, &mutate.Value{Text: `"` + text + `"`}) }
	switch c.IntN(3) {
	case 0:
		set("key_id", forgeryKeys()[c.IntN(len(forgeryKeys()))])
	case 1:
		algorithms := append(keys.Algorithms(), "none", "HS256")
		set("algorithm", algorithms[c.IntN(len(algorithms))])
	default:
		if m := entry.Member("signature"); m != nil {
			value, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.Trim(m.Text, `"`), "base64:"))
			if err == nil && len(value) == ed25519.SignatureSize {
				set("signature", "base64:"+base64.StdEncoding.EncodeToString(changeSignature(c, value)))
			}
		}
	}
}

// changeSignature returns an Ed25519 signature that differs slightly from value. Either its point
// has small order or a different encoding, or its scalar is at least the order of the group.
func changeSignature(c mutate.Choices, value []byte) []byte {
	value = bytes.Clone(value)
	point, scalar := value[:32], value[32:]
	order, _ := hex.DecodeString("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
	points := []string{
		"0100000000000000000000000000000000000000000000000000000000000000", "0100000000000000000000000000000000000000000000000000000000000080",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "0000000000000000000000000000000000000000000000000000000000000000",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"0200000000000000000000000000000000000000000000000000000000000000",
	}
	switch c.IntN(6) {
	case 0:
		value[c.IntN(64)] ^= 1 << c.IntN(8)
	case 1:
		small, _ := hex.DecodeString(points[c.IntN(len(points))])
		copy(point, small)
	case 2: // the same scalar plus the group order
		carry := 0
		for i := range scalar {
			carry += int(scalar[i]) + int(order[i])
			scalar[i], carry = byte(carry), carry>>8
		}
	case 3:
		clear(scalar)
	case 4:
		copy(scalar, order)
	case 5:
		point[31] ^= 0x80
	}
	return value
}

// allows returns the reason why a mutant must not be verified, or "" if there is none. The stated
// hash must match the content, as canonicalized by an independent implementation. In addition, a
// key must have signed that hash, unless only integrity is checked.
func (f *forger) allows(m mutant, integrity bool) string {
	var o map[string]any
	d := json.NewDecoder(bytes.NewReader(m.text))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return err.Error()
	}
	inner, ok := o["chain"].(map[string]any)
	if !ok {
		return "no chain"
	}
	stated := inner["receipt_hash"]
	delete(inner, "receipt_hash")
	delete(o, "signatures")
	text, err := json.Marshal(o)
	if err == nil {
		text, err = canon.Reference(text)
	}
	if err != nil {
		return err.Error()
	}
	hash := canon.Digest(sha256.Sum256(text)).String()
	switch {
	case stated != hash:
		return "the content has the hash " + hash
	case !integrity && hash != m.sealed && !f.genuine[`"`+hash+`"`]:
		return "nobody signed " + hash
	}
	return ""
}

// A judgment is a policy, with one verifier for each path.
type judgment struct {
	name        string
	policy      receipt.Policy
	fast, plain *receipt.Verifier
}

func judgments(tb testing.TB) []judgment {
	tb.Helper()
	text, err := fixtures.Read("keys/trust.json")
	if err != nil {
		tb.Fatal(err)
	}
	trust, err := keys.ParseSet(text)
	if err != nil {
		tb.Fatal(err)
	}
	list := []judgment{
		{name: "default"},
		{name: "integrity", policy: receipt.Policy{IntegrityOnly: true}},
		{name: "strict", policy: receipt.Policy{Strict: true}},
		{name: "issuer", policy: receipt.Policy{Issuer: "harness_example_cloud", At: noon, Now: noon}},
		{name: "witness", policy: receipt.Policy{Witnesses: receipt.Quorum{Threshold: 1}}},
		{name: "witnesses", policy: receipt.Policy{Witnesses: receipt.Quorum{Threshold: 2, Keys: []string{"witness_1", "witness_2"}}}},
	}
	for i := range list {
		j := &list[i]
		if j.fast, err = receipt.NewVerifier(trust, j.policy); err != nil {
			tb.Fatal(err)
		}
		j.policy.Plain = true
		if j.plain, err = receipt.NewVerifier(trust, j.policy); err != nil {
			tb.Fatal(err)
		}
	}
	return list
}

// judged returns the default judgment in most cases.
func judged(c mutate.Choices, list []judgment) judgment {
	return list[max(c.IntN(len(list)+6)-6, 0)]
}

func describe(rep *receipt.Report) string {
	var b strings.Builder
	b.WriteString(rep.Verdict.String())
	for _, c := range rep.Checks {
		b.WriteString("\n\t" + c.Step.String() + " " + c.Status.String() + " " + string(c.Code) + " at " + c.Pointer + ": " + c.Detail)
	}
	for _, s := range rep.Signatures {
		b.WriteString("\n\tsignature " + s.KeyID + " " + string(s.Status) + " " + string(s.Code))
	}
	return b.String()
}
