package schemas_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/schemas"
)

func ed25519Key() map[string]any {
	return map[string]any{
		"kty": "OKP", "kid": "key_2026_04", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
		"issuers": []any{"harness_burin_cloud"}, "roles": []any{"issuer", "checkpoint"}, "origin": "log.example/2026",
		"nbf": 1_767_225_600, "exp": 1_798_761_600, "revoked": map[string]any{"at": 1_780_000_000, "reason": "superseded"},
	}
}

func TestKeys(t *testing.T) {
	s := must(t, "keys")
	type change = map[string]any
	gone := struct{}{}
	for _, c := range []struct {
		change change
		want   string // pointers of the problems; none if the document is accepted
	}{
		{change{}, ""},
		{change{"use": "sig", "key_ops": []any{"verify"}, "alg": "EdDSA", "x5t": "unknown members are allowed", "ext": true}, ""},
		{change{"issuers": gone, "roles": gone, "origin": gone, "nbf": gone, "exp": gone, "revoked": gone}, ""},
		{change{"roles": []any{"witness"}}, ""},
		{change{"revoked": map[string]any{"at": 0}}, ""},
		{change{"nbf": number("1.0"), "exp": number("1e9")}, ""},
		{change{"kty": "EC", "crv": "P-256", "y": "A", "alg": "ES256"}, ""},
		{change{"kty": "RSA", "crv": gone, "x": gone, "n": "A", "e": "AQAB", "alg": "PS256"}, ""},
		{change{"kty": gone}, "/keys/0"},
		{change{"kid": gone}, "/keys/0"},
		{change{"kid": ""}, "/keys/0/kid"},
		{change{"kid": 1}, "/keys/0/kid"},
		{change{"kty": "oct"}, "/keys/0/kty"},
		{change{"x": gone}, "/keys/0"},
		{change{"crv": "X25519"}, "/keys/0/crv /keys/0/crv"},
		{change{"crv": "P-256"}, "/keys/0/crv"},
		{change{"alg": "none"}, "/keys/0/alg /keys/0/alg"},
		{change{"alg": "ES256"}, "/keys/0/alg"},
		{change{"kty": "EC", "crv": "P-256"}, "/keys/0"},
		{change{"kty": "RSA", "crv": gone, "x": gone, "n": "A", "e": "AQAB"}, "/keys/0"},
		{change{"use": "enc"}, "/keys/0/use"},
		{change{"key_ops": []any{}}, "/keys/0/key_ops"},
		{change{"key_ops": []any{"sign", "encrypt"}}, "/keys/0/key_ops"},
		{change{"issuers": []any{}}, "/keys/0/issuers"},
		{change{"issuers": []any{"a", ""}}, "/keys/0/issuers/1"},
		{change{"issuers": []any{"a", "a"}}, "/keys/0/issuers"},
		{change{"issuers": "a"}, "/keys/0/issuers"},
		{change{"issuers": nil}, "/keys/0/issuers"},
		{change{"roles": []any{}}, "/keys/0/roles"},
		{change{"roles": []any{"admin"}}, "/keys/0/roles/0"},
		{change{"roles": []any{"issuer", "issuer"}}, "/keys/0/roles"},
		{change{"origin": ""}, "/keys/0/origin"},
		{change{"nbf": "2026-01-01T00:00:00Z"}, "/keys/0/nbf"},
		{change{"exp": number("1.5")}, "/keys/0/exp"},
		{change{"exp": -1}, "/keys/0/exp"},
		{change{"exp": number("253402300800")}, "/keys/0/exp"},
		{change{"revoked": true}, "/keys/0/revoked"},
		{change{"revoked": map[string]any{}}, "/keys/0/revoked"},
		{change{"revoked": map[string]any{"at": 1, "by": "x"}}, "/keys/0/revoked/by"},
	} {
		key := ed25519Key()
		maps.Copy(key, c.change)
		maps.DeleteFunc(key, func(_ string, v any) bool { return v == any(gone) })
		got := check(t, s, text(t, map[string]any{"keys": []any{key}}))
		var at []string
		for _, p := range got.Problems {
			at = append(at, p.Pointer)
		}
		if joined := strings.Join(at, " "); joined != c.want {
			t.Errorf("%v: %v, want problems at %q", c.change, got.Problems, c.want)
		}
	}
}

// TestNoPrivateMembers verifies that private members (RFC 7518 sections 6.2.2, 6.3.2, and 6.4, RFC
// 8037 section 2) are rejected. The message must name the member without showing any part of its
// value.
func TestNoPrivateMembers(t *testing.T) {
	s := must(t, "keys")
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		for _, v := range []any{"SECRET", []any{"SECRET"}, map[string]any{"SECRET": "SECRET"}, nil} {
			key := ed25519Key()
			key[name] = v
			got := check(t, s, text(t, map[string]any{"keys": []any{key}}))
			want := schemas.Problem{Pointer: "/keys/0/" + name, Keyword: "properties", Detail: `member "` + name + `" is not allowed`}
			if !slices.Equal(got.Problems, []schemas.Problem{want}) {
				t.Errorf("%v, want %v", got.Problems, want)
			}
		}
	}
}

func TestKeySet(t *testing.T) {
	s := must(t, "keys")
	for src, want := range map[string]string{
		`{}`:           `missing member "keys"`,
		`[]`:           `expected object, found array`,
		`{"keys": []}`: `expected at least 1 element, found 0`,
		`{"keys": {}}`: `expected array, found object`,
		`{"kty": "OKP", "crv": "Ed25519", "x": "A", "d": "SECRET"}`: `missing member "keys"`,
	} {
		got := check(t, s, src)
		if got.Total != 1 || got.Problems[0].Detail != want {
			t.Errorf("%s: %v, want %s", src, got, want)
		}
	}
	if got := check(t, s, text(t, map[string]any{"keys": []any{ed25519Key()}, "note": "unknown members are allowed"})); got.Total != 0 {
		t.Error(got)
	}
}
