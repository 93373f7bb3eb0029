package keys_test

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestRevokedUnderEveryID verifies how a revocation under one ID affects the material's other IDs.
// In particular, a revocation under another ID must not reduce the effect for an ID that is
// superseded.
func TestRevokedUnderEveryID(t *testing.T) {
	const x = `"kty":"OKP","crv":"Ed25519","x":"GoaI0-jLySXPIsxuDmnLk87heabpbSiCv-Rqb5aMQvk"`
	const stolen = `{"kid":"a",` + x + `,"revoked":{"at":2000,"reason":"compromised"}}`
	for other, want := range map[string]string{
		``:                                       "2000 compromised, exp -",
		`,"revoked":{"at":3000}`:                 "2000 compromised, exp -",
		`,"revoked":{"at":1000}`:                 "1000 , exp -",
		`,"revoked":{"at":1000,"reason":"lost"}`: "1000 lost, exp -",
		`,"revoked":{"at":2000,"reason":"lost"}`: "2000 lost, exp -",
		`,"revoked":{"at":1000,"reason":"superseded"}`:            "2000 compromised, exp 1000",
		`,"exp":900,"revoked":{"at":1000,"reason":"superseded"}`:  "2000 compromised, exp 900",
		`,"exp":1100,"revoked":{"at":1000,"reason":"superseded"}`: "2000 compromised, exp 1000",
		`,"nbf":1000,"revoked":{"at":1000,"reason":"superseded"}`: "1000 compromised, exp -",
		`,"nbf":3000,"revoked":{"at":3000,"reason":"superseded"}`: "2000 compromised, exp -",
	} {
		set, err := keys.ParseSet([]byte(`{"keys":[` + stolen + `,{"kid":"b",` + x + other + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		b := set.Keys()[1]
		exp := "-"
		if !b.NotAfter.IsZero() {
			exp = fmt.Sprint(b.NotAfter.Unix())
		}
		if got := fmt.Sprintf("%d %s, exp %s", b.Revoked.At.Unix(), b.Revoked.Reason, exp); got != want {
			t.Errorf("%s: %s, want %s", other, got, want)
		}
	}
}
