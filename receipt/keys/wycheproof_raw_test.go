package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

type rawFile struct {
	NumberOfTests int
	TestGroups    []rawGroup
}

type rawGroup struct {
	Type         string
	Sha, MgfSha  string
	SLen         int
	PublicKey    struct{ PK string }
	PublicKeyDer string
	PublicKeyPem string
	PublicKeyJwk object
	Tests        []rawTest
}

type rawTest struct {
	TcID     int
	Comment  string
	Flags    []string
	Msg, Sig string
	Result   string
}

func readRaw(t *testing.T, file string, atLeast int) []rawGroup {
	t.Helper()
	var f rawFile
	readVectors(t, "sig-wycheproof/testvectors_v1", file, &f)
	n := 0
	for _, g := range f.TestGroups {
		n += len(g.Tests)
	}
	if n != f.NumberOfTests || n < atLeast {
		t.Fatalf("%s: %d tests, the file states %d, expected %d", file, n, f.NumberOfTests, atLeast)
	}
	return f.TestGroups
}

// TestWycheproofEd25519 verifies that the public API returns the results stated in the file
// (reliability #123).
func TestWycheproofEd25519(t *testing.T) {
	for _, g := range readRaw(t, "ed25519_test.json", 151) {
		set := mustSet(t, ed25519JWK(t, "k", g.PublicKey.PK))
		for _, tc := range g.Tests {
			got := codeOf(set, unhex(t, tc.Msg), entry("k", Ed25519, native(unhex(t, tc.Sig))))
			if (got == "") != (tc.Result == "valid") {
				t.Errorf("%d %s: %q, want %s", tc.TcID, tc.Comment, got, tc.Result)
			}
		}
	}
}

// The files below sign their messages directly, whereas a JWS signs the encoded form. The tests
// therefore call the signature check directly, with keys that this package parsed.

func TestWycheproofECDSA(t *testing.T) {
	valid, highS := 0, 0
	for _, g := range readRaw(t, "ecdsa_secp256r1_sha256_p1363_test.json", 262) {
		k, err := ParsePublicPEM([]byte(g.PublicKeyPem), "k", "")
		if err != nil {
			t.Fatal(err)
		}
		key := k.Crypto().(*ecdsa.PublicKey)
		half := new(big.Int).Rsh(key.Params().N, 1)
		for _, tc := range g.Tests {
			sig, digest := unhex(t, tc.Sig), sha256.Sum256(unhex(t, tc.Msg))
			ok := len(sig) == 64 && // parseToken
				ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
			if ok != (tc.Result == "valid") {
				t.Errorf("%d %s: %v, want %s", tc.TcID, tc.Comment, ok, tc.Result)
			}
			if ok {
				valid++
				if new(big.Int).SetBytes(sig[32:]).Cmp(half) > 0 {
					highS++
				}
			}
		}
	}
	if valid != 173 || highS != 70 {
		t.Errorf("%d valid, of which %d with a high S; expected 173 and 70 (#152)", valid, highS)
	}
}

// TestWycheproofPSS verifies that the results match those in the files if the parameters are
// supported. RFC 7518 section 3.5 requires MGF1 and a salt as long as the hash. Valid signatures
// with other parameters are rejected. One signature that its file declares invalid is accepted,
// because its salt has 32 bytes.
func TestWycheproofPSS(t *testing.T) {
	hashes := map[string]crypto.Hash{"SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512}
	for _, f := range []struct {
		name     string
		tests    int
		refused  int // valid with the file's parameters
		accepted int // invalid with the file's parameters
		skipped  int // SHA-1, SHA-224, and truncated SHA-512, which no supported algorithm uses
	}{
		{"rsa_pss_2048_sha256_mgf1_32_test.json", 108, 0, 0, 0},
		{"rsa_pss_3072_sha256_mgf1_32_test.json", 108, 0, 0, 0},
		{"rsa_pss_4096_sha256_mgf1_32_test.json", 108, 0, 0, 0},
		{"rsa_pss_2048_sha256_mgf1_0_test.json", 103, 61, 1, 0},
		{"rsa_pss_2048_sha256_mgf1sha1_20_test.json", 108, 63, 0, 0},
		{"rsa_pss_misc_test.json", 150, 87, 0, 60},
	} {
		refused, accepted, skipped := 0, 0, 0
		for _, g := range readRaw(t, f.name, f.tests) {
			hash := hashes[g.Sha]
			if hash == 0 {
				skipped += len(g.Tests)
				continue
			}
			key, err := ParsePublicPEM([]byte(g.PublicKeyPem), "k", ps256)
			if err != nil {
				t.Fatal(err)
			}
			ours := g.MgfSha == g.Sha && g.SLen == hash.Size()
			for _, tc := range g.Tests {
				ok := verifySalt(key.Crypto(), hash, unhex(t, tc.Msg), unhex(t, tc.Sig))
				switch {
				case ok == (tc.Result == "valid"):
				case ours:
					t.Errorf("%s %d %s: %v, want %s", f.name, tc.TcID, tc.Comment, ok, tc.Result)
				case ok && tc.Comment == "s_len changed to 32":
					accepted++
				case ok:
					t.Errorf("%s %d %s: accepted, want %s", f.name, tc.TcID, tc.Comment, tc.Result)
				default:
					refused++
				}
			}
		}
		if refused != f.refused || accepted != f.accepted || skipped != f.skipped {
			t.Errorf("%s: %d refused, %d accepted, %d skipped; expected %d, %d and %d", f.name, refused, accepted, skipped, f.refused, f.accepted, f.skipped)
		}
	}
}

// TestWycheproofPKCS1 verifies that the results match those in the files, with two exceptions. Keys
// with the exponent 3 are rejected (#173). In each file, the only test with the result
// "acceptable", a DigestInfo without NULL, is rejected, too.
func TestWycheproofPKCS1(t *testing.T) {
	for _, f := range []struct {
		name        string
		tests       int
		exponent3   int
		withoutNull int
	}{
		{"rsa_signature_2048_sha256_test.json", 259, 2, 1},
		{"rsa_signature_3072_sha256_test.json", 259, 1, 1},
		{"rsa_signature_4096_sha256_test.json", 258, 0, 1},
		{"rsa_signature_8192_sha256_test.json", 258, 0, 1},
	} {
		exponent3, withoutNull := 0, 0
		for _, g := range readRaw(t, f.name, f.tests) {
			key, err := ParsePublicPEM([]byte(g.PublicKeyPem), "k", rs256)
			if err != nil {
				wantRefused(t, err, receipt.CodeWeakKey, "exponent is 3")
				exponent3 += len(g.Tests)
				continue
			}
			for _, tc := range g.Tests {
				digest := sha256.Sum256(unhex(t, tc.Msg))
				err := rsa.VerifyPKCS1v15(key.Crypto().(*rsa.PublicKey), crypto.SHA256, digest[:], unhex(t, tc.Sig))
				if (err == nil) != (tc.Result == "valid") {
					t.Errorf("%s %d %s: %v, want %s", f.name, tc.TcID, tc.Comment, err, tc.Result)
				}
				if tc.Result == "acceptable" {
					withoutNull++
				}
			}
		}
		if exponent3 != f.exponent3 || withoutNull != f.withoutNull {
			t.Errorf("%s: %d keys with exponent 3, %d acceptable; expected %d and %d", f.name, exponent3, withoutNull, f.exponent3, f.withoutNull)
		}
	}
}
