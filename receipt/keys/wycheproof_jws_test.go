package keys

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

type jwsFile struct {
	NumberOfTests int
	TestGroups    []struct {
		Comment string
		Public  object
		Private object
		Tests   []struct {
			TcID    int
			Comment string
			JWS     json.RawMessage
			Result  string
			Flags   []string
		}
	}
}

// publicOf returns the JWK Set for a verifier. It removes the private members of asymmetric keys,
// because the file contains public keys for only some of them.
func publicOf(tb testing.TB, public, private object) []byte {
	tb.Helper()
	key := public
	if key == nil {
		key = private
	}
	list, ok := key["keys"].([]any)
	if !ok {
		list = []any{map[string]any(key)}
	}
	var keys []any
	for _, k := range list {
		k := object(k.(map[string]any))
		keys = append(keys, k.with(object{"d": nil, "p": nil, "q": nil, "dp": nil, "dq": nil, "qi": nil}))
	}
	return setJSON(tb, keys...)
}

// checkAttached uses CheckSignature to check a token with an attached payload. The payload becomes
// the message, and the token becomes detached.
func checkAttached(set *Set, jws []byte) (receipt.Code, string) {
	var compact string
	if json.Unmarshal(jws, &compact) != nil {
		compact = string(jws) // a JSON serialization, which this package does not treat as a token
	}
	kid, alg := "", ""
	parts := strings.Split(compact, ".")
	if header, err := decodeURL([]byte(parts[0])); err == nil {
		var h struct {
			Alg any
			Kid any
		}
		_ = json.Unmarshal(header, &h)
		kid, _ = h.Kid.(string)
		alg, _ = h.Alg.(string)
	}
	message := []byte{}
	if len(parts) == 3 {
		payload, err := decodeURL([]byte(parts[1]))
		if err != nil {
			return receipt.CodeMalformedSignature, "payload"
		}
		message, parts[1] = payload, ""
	}
	e := entry(kid, alg, tokenPrefix+strings.Join(parts, "."))
	if _, err := checkBoth(set, message, e); err != nil {
		return err.Code, err.Detail
	}
	return "", ""
}

// A divergence maps tests to the reasons why their results differ from those in the file.
type divergence map[int]string

func runWycheproof(t *testing.T, file string, atLeast int, reasons divergence) map[int]string {
	t.Helper()
	var f jwsFile
	readVectors(t, "sig-wycheproof/testvectors_v1", file, &f)
	verdicts := map[int]string{} // a code, or the reason why the key file was rejected
	diverged := 0
	for _, g := range f.TestGroups {
		set, err := ParseSet(publicOf(t, g.Public, g.Private))
		for _, tc := range g.Tests {
			verdict := ""
			if err != nil {
				verdict = err.Error()
			} else if code, detail := checkAttached(set, tc.JWS); code != "" {
				verdict = string(code) + ": " + detail
			}
			verdicts[tc.TcID] = verdict
			if (verdict == "") == (tc.Result == "valid") {
				continue
			}
			diverged++
			if verdict == "" {
				t.Errorf("%s %d %s: accepted, but the file states %s", g.Comment, tc.TcID, tc.Comment, tc.Result)
			} else if reason := reasons[tc.TcID]; reason == "" || !strings.Contains(verdict, reason) {
				t.Errorf("%s %d %s: refused, but the file states valid: %s", g.Comment, tc.TcID, tc.Comment, verdict)
			}
		}
	}
	if len(verdicts) != f.NumberOfTests || len(verdicts) < atLeast {
		t.Fatalf("%s: ran %d tests, the file has %d, expected %d", file, len(verdicts), f.NumberOfTests, atLeast)
	}
	if diverged != len(reasons) {
		t.Errorf("%s: %d divergences, expected %d", file, diverged, len(reasons))
	}
	return verdicts
}

// TestWycheproofJWS verifies that nothing that the file declares invalid is accepted (reliability
// #143 to #146). The constants are the reasons why some tokens are rejected although the file
// declares them valid.
func TestWycheproofJWS(t *testing.T) {
	const (
		mac      = "belongs to a private or symmetric key" // shared secrets do not authenticate receipts
		oneAlg   = "algorithm_mismatch"                    // the key specifies PS256 and the token PS384, and the key decides
		noSuch   = `alg is "ES521"`                        // a misspelling of ES512 in the file (RFC 7518 section 3.1)
		inverted = mac                                     // tests 372 and 373: valid according to the file, despite an illegal character
	)
	verdicts := runWycheproof(t, "json_web_signature_test.json", 401, divergence{
		1: mac, 348: mac, 352: mac, 357: mac, 358: mac, 359: mac, 376: mac, 377: mac,
		372: inverted, 373: inverted,
		346: oneAlg, 350: oneAlg,
		347: noSuch, 351: noSuch,
	})
	want := map[int]string{} // the reason, if it matters
	for id := 281; id <= 286; id++ {
		want[id] = "signature_invalid" // #144: salt lengths that differ from the hash length
	}
	for id := 332; id <= 340; id += 2 {
		want[id] = "algorithm_mismatch" // #145
	}
	want[353], want[354] = "use is \"enc\"", "use is \"enc\"" // #146
	want[355], want[356] = "key_ops does not contain", "key_ops does not contain"
	for id, part := range want {
		if !strings.Contains(verdicts[id], part) {
			t.Errorf("%d: refused with %q, want %q", id, verdicts[id], part)
		}
	}
}

func TestWycheproofJWK(t *testing.T) {
	const mac = "belongs to a private or symmetric key"
	verdicts := runWycheproof(t, "json_web_key_test.json", 26, divergence{2: mac, 13: mac, 14: mac, 15: mac})
	for id, part := range map[int]string{
		1: "symmetric", // a mixed set
		6: "use is",
		7: "CVE-2017-15361", 8: "1024 bits", 9: "exponent is 1",
		19: "alg is", 20: "alg is", 21: "use is", 22: "not a point", 23: "x has 32 bytes", 24: "expected n",
	} {
		if !strings.Contains(verdicts[id], part) {
			t.Errorf("%d: refused with %q, want %q", id, verdicts[id], part)
		}
	}
}
