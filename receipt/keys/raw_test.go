package keys

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestCheckRaw verifies which trusted key checks a signature of a third-party receipt, and what the
// result is.
func TestCheckRaw(t *testing.T) {
	another := func(algorithm string) *PrivateKey {
		k, err := Generate(rand.Reader, algorithm, "")
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	signers := map[string]*PrivateKey{
		"author": testKeys()[Ed25519], "first witness": testKeys()[edDSA], "second witness": another(Ed25519), "last witness": testKeys()[mldsa65],
		"ec": testKeys()[es256], "pkcs1": testKeys()[rs256], "pss": testKeys()[ps256], "checkpoints": another(MLDSA44), "stranger": another(Ed25519),
	}
	var trusted []*PublicKey
	for _, id := range []string{"author", "first witness", "second witness", "last witness", "ec", "pkcs1", "pss", "checkpoints"} {
		k := signers[id].Public()
		k.ID = id
		switch {
		case id == "author":
			k.Issuers = []string{"i"}
		case strings.HasSuffix(id, "witness"):
			k.Roles = []receipt.Role{receipt.RoleWitness}
		case id == "checkpoints":
			k.Roles, k.Origin = []receipt.Role{receipt.RoleCheckpoint}, "log.example"
		}
		trusted = append(trusted, k)
	}
	set := setOf(t, trusted...)

	const text = "any bytes"
	sign := func(by string) []byte { // in the form of JOSE
		alg, _ := algorithmOf(signers[by].algorithm)
		value, err := signRaw(context.Background(), local(signers[by].key), alg, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	der, err := inDER(sign("ec"))
	if err != nil {
		t.Fatal(err)
	}
	public := func(id string) []byte { return signers[id].Public().Crypto().(ed25519.PublicKey) }

	type signature = receipt.ForeignSignature
	const witness, malformed, wrong, unknown = receipt.RoleWitness, receipt.CodeMalformedSignature, receipt.CodeSignatureInvalid, receipt.CodeUnknownKey
	const mismatch, unsupported = receipt.CodeAlgorithmMismatch, receipt.CodeUnsupportedAlgorithm
	for name, tc := range map[string]struct {
		sig    signature
		id     string // of the key that checks
		code   receipt.Code
		detail string
	}{
		"by ID":                     {signature{KeyID: "author", Value: sign("author")}, "author", "", ""},
		"by ID, of another key":     {signature{KeyID: "author", Value: sign("first witness")}, "author", wrong, `not a signature of "author" over these bytes`},
		"by ID, unknown":            {signature{KeyID: "nobody", Value: sign("author")}, "", unknown, `"nobody" is not among the trusted keys (8)`},
		"by ID, not by author":      {signature{KeyID: "nobody", Issuer: "i", Value: sign("author")}, "", unknown, `"nobody" is`},
		"by ID, not by role":        {signature{KeyID: "nobody", Role: witness, Value: sign("first witness")}, "", unknown, `"nobody" is`},
		"by key":                    {signature{Public: public("second witness"), Value: sign("second witness")}, "second witness", "", ""},
		"by key, not by ID":         {signature{Public: public("second witness"), KeyID: "author", Value: sign("second witness")}, "second witness", "", ""},
		"by key, unknown":           {signature{Public: public("stranger"), Value: sign("stranger")}, "", unknown, "the key in the receipt is not among"},
		"by key, not by author":     {signature{Public: public("stranger"), Issuer: "i", Value: sign("author")}, "", unknown, "the key in the receipt is"},
		"by key, not by role":       {signature{Public: public("stranger"), Role: witness, Value: sign("first witness")}, "", unknown, "the key in the receipt is"},
		"by an empty key":           {signature{Public: []byte{}, Value: sign("ec")}, "", unknown, "the key in the receipt is"},
		"by author":                 {signature{Issuer: "i", Value: sign("author")}, "author", "", ""},
		"by author, of another key": {signature{Issuer: "i", Value: sign("ec")}, "author", wrong, `"author"`},
		"by author, unknown":        {signature{Issuer: "j", Value: sign("author")}, "", unknown, `a key for "j" is not among`},
		"by role, the second":       {signature{Role: witness, Value: sign("second witness")}, "second witness", "", ""},
		"by role, of no such key":   {signature{Role: witness, Issuer: "i", Value: sign("author")}, "first witness", wrong, `"first witness"`},
		"by role, unknown":          {signature{Role: "observer", Value: sign("author")}, "", unknown, `a key for "observer" is`},
		"by nothing":                {signature{Value: sign("author")}, "", unknown, "is not among"},

		"alg of the key":         {signature{KeyID: "author", Algorithm: edDSA, Value: sign("author")}, "author", "", ""},
		"alg of another key":     {signature{KeyID: "author", Algorithm: es256, Value: sign("author")}, "author", mismatch, `names "ES256"`},
		"alg that is not known":  {signature{KeyID: "author", Algorithm: "HS256", Value: sign("author")}, "author", unsupported, `"HS256"`},
		"a short signature":      {signature{KeyID: "author", Value: sign("author")[:63]}, "author", malformed, "has 64 bytes, found 63"},
		"ML-DSA":                 {signature{KeyID: "last witness", Value: sign("last witness")}, "last witness", "", ""},
		"ML-DSA, damaged":        {signature{KeyID: "last witness", Value: flip(sign("last witness"), 9)}, "last witness", wrong, ""},
		"ECDSA":                  {signature{KeyID: "ec", Value: sign("ec")}, "ec", "", ""},
		"ECDSA, damaged":         {signature{KeyID: "ec", Value: flip(sign("ec"), 9)}, "ec", wrong, ""},
		"ECDSA, unexpected DER":  {signature{KeyID: "ec", Value: der}, "ec", malformed, ""},
		"ECDSA in DER":           {signature{KeyID: "ec", Value: der, DER: true}, "ec", "", ""},
		"ECDSA not in DER":       {signature{KeyID: "ec", Value: sign("ec"), DER: true}, "ec", malformed, ""},
		"Ed25519 is never DER":   {signature{KeyID: "author", Value: sign("author"), DER: true}, "author", "", ""},
		"PKCS #1":                {signature{KeyID: "pkcs1", Value: sign("pkcs1")}, "pkcs1", "", ""},
		"PKCS #1, damaged":       {signature{KeyID: "pkcs1", Value: flip(sign("pkcs1"), 9)}, "pkcs1", wrong, ""},
		"PSS":                    {signature{KeyID: "pss", Value: sign("pss")}, "pss", unsupported, "is a key for PS256"},
		"a key for checkpoints":  {signature{KeyID: "checkpoints", Value: sign("author")}, "checkpoints", unsupported, "is a key for ML-DSA-44"},
		"a signature of nothing": {signature{KeyID: "ec"}, "ec", malformed, "found 0"},
	} {
		k, err := set.CheckRaw([]byte(text), &tc.sig)
		id, code, detail := "", receipt.Code(""), ""
		if k != nil {
			id = k.ID
		}
		if err != nil {
			code, detail = err.Code, err.Detail
		}
		if id != tc.id || code != tc.code || !strings.Contains(detail, tc.detail) {
			t.Errorf("%s: key %q, %s: %s; want key %q, %s: %s", name, id, code, detail, tc.id, tc.code, tc.detail)
		}
	}
}
