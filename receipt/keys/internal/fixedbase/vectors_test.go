package fixedbase

import "testing"

// These tests use all keys, including keys that a trust file must not contain.

func TestWycheproof(t *testing.T) {
	var file struct {
		TestGroups []struct {
			PublicKey struct{ PK string }
			Tests     []struct {
				TcID             int
				Msg, Sig, Result string
			}
		}
	}
	readVectors(t, "sig-wycheproof/testvectors_v1", "ed25519_test.json", &file)
	n := 0
	for _, g := range file.TestGroups {
		for _, tc := range g.Tests {
			n++
			if agree(t, small(), unhex(t, g.PublicKey.PK), unhex(t, tc.Msg), unhex(t, tc.Sig)) != (tc.Result == "valid") {
				t.Errorf("%d: not %s", tc.TcID, tc.Result)
			}
		}
	}
	if n < 151 {
		t.Errorf("only %d vectors", n)
	}
}

func TestCCTV(t *testing.T) {
	var list []struct{ Key, Sig, Msg string }
	readVectors(t, "sig-cctv-ed25519", "ed25519vectors.json", &list)
	valid := 0
	for _, v := range list {
		if agree(t, small(), unhex(t, v.Key), []byte(v.Msg), unhex(t, v.Sig)) {
			valid++
		}
	}
	if len(list) != 914 || valid != 86+122 {
		t.Errorf("%d of %d valid, expected 208 of 914", valid, len(list))
	}
}

func TestSpeccheck(t *testing.T) {
	var list []struct {
		PubKey             string `json:"pub_key"`
		Message, Signature string
	}
	readVectors(t, "sig-ed25519-speccheck", "cases.json", &list)
	valid := ""
	for _, v := range list {
		if agree(t, production(), unhex(t, v.PubKey), unhex(t, v.Message), unhex(t, v.Signature)) {
			valid += "y"
		} else {
			valid += "n"
		}
	}
	if valid != "yyyynnnnnnny" {
		t.Errorf("valid are %s", valid)
	}
}
