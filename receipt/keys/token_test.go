package keys

import (
	"bytes"
	"context"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

// forge returns a token with the given header, signed by the key.
func forge(tb testing.TB, k *PrivateKey, header string) string {
	tb.Helper()
	alg, _ := algorithmOf(k.algorithm)
	first := encodeURL([]byte(header))
	sig, err := signRaw(context.Background(), local(k.key), alg, []byte(first+"."+encodeURL([]byte(hashText))))
	if err != nil {
		tb.Fatal(err)
	}
	return tokenPrefix + first + ".." + encodeURL(sig)
}

// TestHeaders verifies that tokens with unacceptable headers are rejected although their signatures
// are correct (reliability #147, #153 to #158, #163 to #168).
func TestHeaders(t *testing.T) {
	k, err := newPrivate(testKeys()[es256].key, "k", es256)
	if err != nil {
		t.Fatal(err)
	}
	set := setOf(t, k.Public())
	for _, tc := range []struct {
		name, header string
		want         receipt.Code
	}{
		{"plain", `{"alg":"ES256","kid":"k"}`, valid},
		{"another order", `{"kid":"k","alg":"ES256"}`, valid},
		{"white space inside", `{ "alg" : "ES256", "kid":"k" }`, valid},
		{"escaped", `{"\u0061lg":"ES\u003256","kid":"k"}`, valid},
		{"iat", `{"alg":"ES256","kid":"k","iat":1777144653}`, valid},
		{"147 none", `{"alg":"none","kid":"k"}`, malformed},
		{"147 nOnE", `{"alg":"nOnE","kid":"k"}`, malformed},
		{"147 empty", `{"alg":"","kid":"k"}`, malformed},
		{"147, 157 missing", `{"kid":"k"}`, malformed},
		{"145 another", `{"alg":"ES384","kid":"k"}`, malformed},
		{"no kid", `{"alg":"ES256"}`, malformed},
		{"another kid", `{"alg":"ES256","kid":"K"}`, malformed},
		{"kid number", `{"alg":"ES256","kid":1}`, malformed},
		{"153 jwk", `{"alg":"ES256","kid":"k","jwk":{"kty":"EC"}}`, malformed},
		{"153 jku", `{"alg":"ES256","kid":"k","jku":"http://127.0.0.1:1/"}`, malformed},
		{"153 x5u", `{"alg":"ES256","kid":"k","x5u":"http://127.0.0.1:1/"}`, malformed},
		{"153 x5c", `{"alg":"ES256","kid":"k","x5c":["AAAA"]}`, malformed},
		{"155 crit unknown", `{"alg":"ES256","kid":"k","crit":["x"],"x":1}`, malformed},
		{"155 crit empty", `{"alg":"ES256","kid":"k","crit":[]}`, malformed},
		{"155 crit twice", `{"alg":"ES256","kid":"k","crit":["b64","b64"],"b64":true}`, malformed},
		{"155 crit absent", `{"alg":"ES256","kid":"k","crit":["exp"]}`, malformed},
		{"156 b64", `{"alg":"ES256","kid":"k","b64":false}`, malformed},
		{"156 b64 and crit", `{"alg":"ES256","kid":"k","b64":false,"crit":["b64"]}`, malformed},
		{"165 20 KB of white space", `{"alg":"ES256","kid":"k"` + strings.Repeat(" ", 20_000) + `}`, malformed},
		{"166 duplicate", `{"alg":"ES256","alg":"ES256","kid":"k"}`, malformed},
		{"166 duplicate, escaped", `{"alg":"ES256","\u0061lg":"none","kid":"k"}`, malformed},
		{"166 BOM", "\xef\xbb\xbf" + `{"alg":"ES256","kid":"k"}`, malformed},
		{"166 trailing space", `{"alg":"ES256","kid":"k"} `, valid},
		{"166 leading newline", "\n" + `{"alg":"ES256","kid":"k"}`, valid},
		{"166 both, and inside", "\t\r\n" + `{ "alg":"ES256","kid" :"k" }` + " \n", valid},
		{"166 no-break space", "\u00a0" + `{"alg":"ES256","kid":"k"}`, malformed},
		{"166 array", `["ES256"]`, malformed},
		{"166 string", `"ES256"`, malformed},
		{"166 null", `null`, malformed},
		{"166 alg array", `{"alg":["ES256"],"kid":"k"}`, malformed},
		{"166 alg null", `{"alg":null,"kid":"k"}`, malformed},
		{"166 deep", `{"alg":"ES256","kid":"k","x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, malformed},
		{"166 truncated", `{"alg":"ES256","kid":"k"`, malformed},
		{"166 two values", `{"alg":"ES256","kid":"k"}{}`, malformed},
		{"167 typ", `{"alg":"ES256","kid":"k","typ":"JWT"}`, malformed},
		{"167 cty", `{"alg":"ES256","kid":"k","cty":"JWT"}`, malformed},
		{"168 JWE", `{"alg":"PBES2-HS256+A128KW","kid":"k","enc":"A128GCM","p2c":2147483647}`, malformed},
		{"168 enc", `{"alg":"ES256","kid":"k","enc":"A128GCM"}`, malformed},
		{"178 exp", `{"alg":"ES256","kid":"k","exp":1}`, malformed},
		{"iat text", `{"alg":"ES256","kid":"k","iat":"1777144653"}`, malformed},
		{"iat null", `{"alg":"ES256","kid":"k","iat":null}`, malformed},
		{"iat fraction", `{"alg":"ES256","kid":"k","iat":1777144653.0}`, malformed},
		{"iat exponent", `{"alg":"ES256","kid":"k","iat":1e9}`, malformed},
		{"iat beyond int64", `{"alg":"ES256","kid":"k","iat":99999999999999999999}`, malformed},
		{"surrogate", `{"alg":"ES256","kid":"k","\ud800":1}`, malformed},
		{"empty object", `{}`, malformed},
		{"empty", ``, malformed},
	} {
		if code := codeOf(set, []byte(hashText), entry("k", es256, forge(t, k, tc.header))); code != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, code, tc.want)
		}
	}
}

// TestHeaderOfNoKey verifies that a header without a string kid is malformed, even if the entry
// names no key.
func TestHeaderOfNoKey(t *testing.T) {
	k := testKeys()[es256]
	set := setOf(t, k.Public())
	for _, header := range []string{`{"alg":"ES256","kid":1}`, `{"alg":"ES256","kid":null}`, `{"alg":"ES256"}`} {
		if code := codeOf(set, []byte(hashText), entry("", es256, forge(t, k, header))); code != malformed {
			t.Errorf("%s: %q", header, code)
		}
	}
	if code := codeOf(set, []byte(hashText), entry("", es256, forge(t, k, `{"alg":"ES256","kid":""}`))); code != receipt.CodeUnknownKey {
		t.Errorf("an empty kid: %q", code)
	}
}

// TestIssuedAt verifies that signed_at, which is not covered by the signature, must not contradict
// iat, which is covered.
func TestIssuedAt(t *testing.T) {
	k, err := newPrivate(testKeys()[edDSA].key, "k", edDSA)
	if err != nil {
		t.Fatal(err)
	}
	set := setOf(t, k.Public())
	with := forge(t, k, `{"alg":"EdDSA","kid":"k","iat":1777144653}`)
	without := forge(t, k, `{"alg":"EdDSA","kid":"k"}`)
	for _, tc := range []struct {
		value, at string
		want      receipt.Code
	}{
		{with, "2026-04-25T19:17:33Z", valid},
		{with, "2026-04-25T19:17:33.999Z", valid},
		{with, "2026-04-25T21:17:33+02:00", valid},
		{with, "2026-04-25T19:16:60.5-00:00", malformed},
		{with, "2026-04-25T19:17:34Z", malformed},
		{with, "2026-04-25T19:17:32.999Z", malformed},
		{with, "yesterday", malformed},
		{with, "", valid},
		{without, "2020-01-01T00:00:00Z", valid},
	} {
		e := entry("k", edDSA, tc.value)
		if tc.at != "" {
			e.SignedAt = []byte(tc.at)
		}
		if code := codeOf(set, []byte(hashText), e); code != tc.want {
			t.Errorf("%q: %q, want %q", tc.at, code, tc.want)
		}
	}
}

// TestTokenForm verifies that malformed tokens are rejected (reliability #150, #151, #159 to #165,
// #169).
func TestTokenForm(t *testing.T) {
	k, err := newPrivate(testKeys()[es256].key, "k", es256)
	if err != nil {
		t.Fatal(err)
	}
	set := setOf(t, k.Public())
	good := forge(t, k, `{"alg":"ES256","kid":"k"}`)
	header, signature, _ := strings.Cut(strings.TrimPrefix(good, tokenPrefix), "..")
	raw, pack := rawSignature(t, good)
	der, err := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])})
	if err != nil {
		t.Fatal(err)
	}
	much, dots := maxToken+1, maxToken+1
	if testsize.Full() {
		much, dots = 100<<20, 10_000_000
	}
	next := func(s string) string { return s[:len(s)-1] + string(s[len(s)-1]+1) }
	payload := encodeURL([]byte(hashText))
	for _, tc := range []struct{ name, value string }{
		{"no prefix", good[4:]},
		{"JWS:", "JWS:" + good[4:]},
		{"base64:", "base64:" + good[4:]},
		{"169 attached", tokenPrefix + header + "." + payload + "." + signature},
		{"169 another payload", tokenPrefix + header + ".e30." + signature},
		{"164 two parts", tokenPrefix + header + "." + signature},
		{"164 four parts", good + "."},
		{"164 leading dot", tokenPrefix + "." + good[4:]},
		{"164 empty header", tokenPrefix + ".." + signature},
		{"164 empty signature", tokenPrefix + header + ".."},
		{"164 only dots", tokenPrefix + ".."},
		{"164 nothing", tokenPrefix},
		{"162 header", tokenPrefix + next(header) + ".." + signature},
		{"162 signature", next(good)},
		{"163 padding", good + "=="},
		{"163 padding of the header", tokenPrefix + header + "=.." + signature},
		{"163 alphabet", tokenPrefix + "+/" + header[2:] + ".." + signature},
		{"161 LF in the header", tokenPrefix + header[:5] + "\n" + header[5:] + ".." + signature},
		{"161 CR in the signature", tokenPrefix + header + ".." + signature[:5] + "\r" + signature[5:]},
		{"161 space", good + " "},
		{"161 tab", tokenPrefix + "\t" + good[4:]},
		{"161 NBSP", good + "\u00a0"},
		{"150 DER", pack(der)},
		{"150 63", pack(raw[:63])},
		{"150 65", pack(append(bytes.Clone(raw), 0))},
		{"150 128", pack(append(bytes.Clone(raw), raw...))},
		{"159 flattened", tokenPrefix + `{"protected":"` + header + `","signature":"` + signature + `"}`},
		{"160 general", tokenPrefix + `{"signatures":[{"protected":"` + header + `","signature":"` + signature + `"}]}`},
		{"165 dots", tokenPrefix + strings.Repeat(".", dots)},
		{"165 dots within the limit", tokenPrefix + strings.Repeat(".", 16_000)},
		{"165 many bytes", tokenPrefix + strings.Repeat("A", much)},
		{"168 JWE", tokenPrefix + "a.b.c.d.e"},
		{"NUL", tokenPrefix + "\x00.." + signature},
	} {
		for _, kid := range []string{"k", "unknown"} {
			e := entry(kid, es256, tc.value)
			_, err := checkBoth(set, []byte(hashText), e)
			if err == nil || err.Code != malformed {
				t.Errorf("%s, key %s: %v", tc.name, kid, err)
			} else if long := len(tc.value) > maxToken; long != strings.Contains(err.Error(), "at most 16384") {
				t.Errorf("%s, key %s: %v, of %d bytes", tc.name, kid, err, len(tc.value))
			}
		}
	}
	wantCode(t, set, hashText, entry("k", es256, good), valid)
	wantCode(t, set, strings.Replace(hashText, "sha256", "SHA256", 1), entry("k", es256, good), untrue) // #171
	wantCode(t, set, `"`+hashText+`"`, entry("k", es256, good), untrue)                                 // #169
}

// TestECDSAEdges verifies that an ECDSA signature is invalid if r or s is out of range, if they are
// swapped, or if r is negated. A signature with a negated s must be valid (reliability #151, #152).
func TestECDSAEdges(t *testing.T) {
	k, err := newPrivate(testKeys()[es256].key, "k", es256)
	if err != nil {
		t.Fatal(err)
	}
	set := setOf(t, k.Public())
	raw, pack := rawSignature(t, forge(t, k, `{"alg":"ES256","kid":"k"}`))
	curve, _ := curveOf("P-256")
	n := curve.Params().N
	r, s := new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])
	zero := new(big.Int)
	value := func(r, s *big.Int) string {
		b := make([]byte, 64)
		r.FillBytes(b[:32])
		s.FillBytes(b[32:])
		return pack(b)
	}
	for name, v := range map[string]string{
		"0, 0": value(zero, zero), "r, 0": value(r, zero), "0, s": value(zero, s), "n, n": value(n, n),
		"n, s": value(n, s), "r, n": value(r, n), "s, r": value(s, r), "n-r, s": value(new(big.Int).Sub(n, r), s),
		"ff…": pack(bytes.Repeat([]byte{0xff}, 64)),
	} {
		if code := codeOf(set, []byte(hashText), entry("k", es256, v)); code != untrue {
			t.Errorf("(%s): %q", name, code)
		}
	}
	wantCode(t, set, hashText, entry("k", es256, value(r, new(big.Int).Sub(n, s))), valid)
}
