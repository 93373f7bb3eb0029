package redact_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// TestCompileRefuses verifies that rules that match nothing or everything are rejected (numbers
// 210, 217, 221). An error must quote nothing from the policy except the name of a detector.
func TestCompileRefuses(t *testing.T) {
	detector := func(pattern string) redact.Rules {
		return redact.Rules{Detectors: []secret.Detector{{Name: "x", Pattern: pattern}}}
	}
	for _, c := range []struct {
		rules redact.Rules
		want  string
	}{
		{redact.Rules{}, "redact: policy: policy has no rules, so nothing would be withheld"},
		{redact.Rules{Name: "mine", References: true}, "redact: policy: policy has no rules, so nothing would be withheld"},
		{redact.Rules{URLs: 3}, "redact: URLs: expected one of the constants"},
		{redact.Rules{URLs: -1}, "redact: URLs: expected one of the constants"},
		{redact.Rules{Pointers: []string{"/metadata", "metadata"}}, `redact: pointer 1: expected a JSON Pointer (RFC 6901): at byte 0: expected "/" at the start, or nothing at all`},
		{redact.Rules{Pointers: []string{"/a~b"}}, `redact: pointer 0: expected a JSON Pointer (RFC 6901): at byte 2: expected ~0 (for "~") or ~1 (for "/")`},
		{redact.Rules{Pointers: []string{"/~2"}}, `redact: pointer 0: expected a JSON Pointer (RFC 6901): at byte 1: expected ~0 (for "~") or ~1 (for "/")`},
		{redact.Rules{Pointers: []string{"/a~"}}, `redact: pointer 0: expected a JSON Pointer (RFC 6901): at byte 2: expected ~0 (for "~") or ~1 (for "/")`},
		{redact.Rules{Names: []string{"a", "*"}}, "redact: name 1: expected a letter or a digit; every name would match"},
		{redact.Rules{Names: []string{"_-"}}, "redact: name 0: expected a letter or a digit; every name would match"},
		{redact.Rules{Names: []string{""}}, "redact: name 0: expected a letter or a digit; every name would match"},
	} {
		p, err := c.rules.Compile()
		var rule *redact.RuleError
		if p != nil || !errors.As(err, &rule) || err.Error() != c.want || rule.Code != redact.CodeInvalidRule {
			t.Errorf("%+v: %v, %v\nwant %s", c.rules, p, err, c.want)
		}
	}
	for _, pattern := range []string{`(`, `a{2000}`, `(?=x)`, `.*`, `a?`, `(?s).{0,9}`, ``, `|x`} {
		p, err := detector(pattern).Compile()
		var bad *secret.DetectorError
		if p != nil || !errors.As(err, &bad) || bad.Index != 0 {
			t.Errorf("%s: %v, %v", pattern, p, err)
		}
	}
	for _, pointer := range []string{"", "/schema", "/receipt_id", "/subject", "/subject/id", "/issuer", "/issuer/name", "/issued_at", "/identifiers/x", "/chain",
		"/chain/receipt_hash", "/lifecycle", "/lifecycle/final_state", "/lifecycle/final_state/x", "/redactions", "/redactions/0", "/redactions/0/reason"} {
		p, err := redact.Rules{Pointers: []string{pointer}}.Compile()
		var rule *redact.RuleError
		if p != nil || !errors.As(err, &rule) || rule.Code != redact.CodeProtectedField || rule.Rule != "pointer 0" {
			t.Errorf("%s: %v, %v", pointer, p, err)
		}
	}

	// A pointer with a wildcard is compared with a draft.
	for pointer, in := range map[string]string{"/issuer/*": `{"issuer":{"name":"x"}}`, "/chain/**": `{"chain":{"merkle_root":"x"}}`} {
		p := compile(t, redact.Rules{Pointers: []string{pointer}})
		redacted(t, p, `{"metadata":{"a":1}}`)
		var refused *redact.RefusedError
		if _, err := p.Redact(parse(t, in), newSalts()); !errors.As(err, &refused) || refused.Problems[0].Code != redact.CodeProtectedField {
			t.Errorf("%s: %v", pointer, err)
		}
	}
}

// TestPointers verifies the invalid inputs 217 to 220. Each document contains only metadata, unless the case
// specifies a complete document.
func TestPointers(t *testing.T) {
	for _, c := range []struct{ pointers, in, want, entries string }{
		{"/metadata/a", `{"a":1,"b":2}`, `{"a":"[redacted]","b":2}`, "/metadata/a"},
		{"/metadata", `{"a":1}`, `{}`, "/metadata"},
		{"/metadata/a~1b", `{"a/b":1,"a":{"b":2}}`, `{"a":{"b":2},"a/b":"[redacted]"}`, "/metadata/a~1b"},
		{"/metadata/m~0n", `{"m~n":1}`, `{"m~n":"[redacted]"}`, "/metadata/m~0n"},
		{"/metadata/~01", `{"~1":1,"/":2}`, `{"/":2,"~1":"[redacted]"}`, "/metadata/~01"},
		{"/metadata/", `{"":1}`, `{"":"[redacted]"}`, "/metadata/"},
		{"/metadata/ʼ", `{"ʼ":1,"'":2}`, `{"'":2,"ʼ":"[redacted]"}`, "/metadata/ʼ"},
		{"/metadata/\"\n", `{"\"\n":1}`, `{"\"\n":"[redacted]"}`, "/metadata/\"\n"},
		{"/metadata/__proto__ /metadata/constructor", `{"__proto__":1,"constructor":2}`, `{"__proto__":"[redacted]","constructor":"[redacted]"}`, "/metadata/__proto__ /metadata/constructor"},
		{"/metadata/a/1", `{"a":[1,2,3]}`, `{"a":[1,"[redacted]",3]}`, "/metadata/a/1"},
		{"/metadata/a/0 /metadata/a/1 /metadata/a/2", `{"a":[1,2,3,4]}`, `{"a":["[redacted]","[redacted]","[redacted]",4]}`, "/metadata/a/0 /metadata/a/1 /metadata/a/2"},
		{"/metadata/a/10", `{"a":[0,1,2,3,4,5,6,7,8,9,10,11]}`, `{"a":[0,1,2,3,4,5,6,7,8,9,"[redacted]",11]}`, "/metadata/a/10"},
		// if several pointers match, only the outermost value is withheld
		{"/metadata/a /metadata/a/b", `{"a":{"b":1}}`, `{"a":"[redacted]"}`, "/metadata/a"},
		{"/metadata/a/b /metadata/a", `{"a":{"b":1}}`, `{"a":"[redacted]"}`, "/metadata/a"},
		{"/metadata/a /metadata/a", `{"a":{"b":1}}`, `{"a":"[redacted]"}`, "/metadata/a"},
		// wildcards
		{"/metadata/*", `{"a":1,"b":{"c":2}}`, `{"a":"[redacted]","b":"[redacted]"}`, "/metadata/a /metadata/b"},
		{"/metadata/**", `{"a":1,"b":{"c":2}}`, `{"a":"[redacted]","b":"[redacted]"}`, "/metadata/a /metadata/b"},
		{"/metadata/**/pin", `{"pin":1,"b":{"c":[{"pin":2}]},"d":{"pin":{"pin":3}}}`, `{"b":{"c":[{"pin":"[redacted]"}]},"d":{"pin":"[redacted]"},"pin":"[redacted]"}`, "/metadata/b/c/0/pin /metadata/d/pin /metadata/pin"},
		{"/**/pin", `{"b":{"pin":2}}`, `{"b":{"pin":"[redacted]"}}`, "/metadata/b/pin"},
		{"/**/**/b/*/**/d", `{"b":{"x":{"d":1},"d":2}}`, `{"b":{"d":2,"x":{"d":"[redacted]"}}}`, "/metadata/b/x/d"},
		{"/metadata/*/c", `{"a":1,"b":{"c":2},"d":[{"c":3}],"c":4}`, `{"a":1,"b":{"c":"[redacted]"},"c":4,"d":[{"c":3}]}`, "/metadata/b/c"},
		{"/metadata/*", `{"*":1}`, `{"*":"[redacted]"}`, "/metadata/*"},
		{"/metadata/**/missing", `{"a":1}`, `{"a":1}`, ""},
		// null and values that were already withheld do not change
		{"/metadata/a", `{"a":null}`, `{"a":null}`, ""},
		{"/metadata/a /metadata/b", `{"a":"[redacted]","b":"[withheld]"}`, `{"a":"[redacted]","b":"[withheld]"}`, ""},
		{"/metadata", `{}`, `{}`, ""},
	} {
		p := compile(t, redact.Rules{Pointers: strings.Split(c.pointers, " ")})
		r := redacted(t, p, `{"metadata":`+c.in+`}`)
		if got := string(parse(t, string(r.Draft.Source())).Root().Member("metadata").AppendCanonical(nil)); got != c.want {
			t.Errorf("%s of %s:\n%s\nwant\n%s", c.pointers, c.in, got, c.want)
		}
		var entries []string
		for _, e := range r.Entries {
			entries = append(entries, e.Field)
			if e.Reason != "pointer" {
				t.Errorf("%s: %s", e.Field, e.Reason)
			}
		}
		if got := strings.Join(entries, " "); got != c.entries {
			t.Errorf("%s of %s: %s, want %s", c.pointers, c.in, got, c.entries)
		}
		again(t, p, r)
	}
}

// TestMissingPointer verifies that a pointer without a value is rejected, unless the entry of an
// earlier redaction states that the value was withheld (number 218).
func TestMissingPointer(t *testing.T) {
	for _, c := range []struct{ pointer, in string }{
		{"/metadata/b", `{"metadata":{"a":1}}`},
		{"/metadata/a/b", `{"metadata":{"a":1}}`},
		{"/metadata/a/-", `{"metadata":{"a":[1]}}`},
		{"/metadata/a/01", `{"metadata":{"a":[1,2]}}`},
		{"/metadata/a/1e0", `{"metadata":{"a":[1,2]}}`},
		{"/metadata/a/1", `{"metadata":{"a":[1]}}`},
		{"/metadata/a/18446744073709551616", `{"metadata":{"a":[1]}}`},
		{"/", `{"metadata":{}}`},
		{"/foo", `{"metadata":{},"redactions":[{"field":"/fo","reason":"x"},{"field":"","reason":"x"}]}`},
	} {
		r, err := compile(t, redact.Rules{Pointers: []string{c.pointer}}).Redact(parse(t, c.in), newSalts())
		var refused *redact.RefusedError
		if r != nil || !errors.As(err, &refused) || refused.Problems[0] != (redact.Problem{Code: redact.CodeNoSuchPath, Pointer: c.pointer}) {
			t.Errorf("%s: %v", c.pointer, err)
		}
	}
	for _, field := range []string{"/metadata/a", "/metadata/a/b", "/metadata"} {
		p := compile(t, redact.Rules{Pointers: []string{"/metadata/a"}})
		redacted(t, p, `{"redactions":[{"field":"`+field+`","reason":"x"}]}`)
	}
}

// TestNames verifies the invalid inputs 181 to 187.
func TestNames(t *testing.T) {
	everyday := compile(t, redact.Default())
	for name, want := range map[string]string{
		"accessToken": "name", "ACCESS_TOKEN": "name", "access-token": "name", "access.token": "name", "access token": "name", "api key": "name", "authoriZation": "name",
		"max_tokens": "", "input_tokens": "", "tokenizer": "", "next_page_token": "name", "tokens": "",
		"password": "name", "db_password": "name", "passwords": "", "Authorization": "name", "Set-Cookie": "name", "x_api_key": "name", "X-Amz-Security-Token": "name",

		// Full-width and Cyrillic letters are not treated as the corresponding Latin letters. A
		// zero-width space is not ignored.
		"ｐａｓｓｗｏｒｄ": "", "pаssword": "", "pass\u200bword": "", "PASSWORD": "name",
		"primary": "name", "persisted_path": "name", "key": "", "secretary": "", "client_secret": "name", "": "",
	} {
		for value, withheld := range map[string]bool{`"x"`: true, `""`: true, `{"a":1}`: true, `{}`: true, `[1]`: true, `1`: true, `true`: true, `null`: false,
			`"[redacted]"`: false, `"${NPM_TOKEN}"`: false, `"${npm"`: true, `"${1}"`: true,
			`"$az_09AZ"`: false, `"$"`: true, `"$0a"`: true, `"$9a"`: true, `"$a/b"`: true, `"$a:b"`: true, `"$a@b"`: true, `"$a[b"`: true, "\"$a`b\"": true, `"$a{b"`: true,
			`{"type":"string","minLength":8}`: false, `{"type":"mine"}`: true, `{"type":"string","default":"x"}`: true, `{"title":"x"}`: true} {
			doc := `{"metadata":{"in":[{` + quote(name) + `:` + value + `}]}}`
			r := redacted(t, everyday, doc)
			wantFields, wantValue := "", string(parse(t, value).AppendCanonical(nil))
			if want != "" && withheld {
				wantFields, wantValue = "/metadata/in/0/"+name+": "+want, `"[redacted]"`
			}
			left, _ := parse(t, string(r.Draft.Source())).Find(pointer(t, "/metadata/in/0/"+name))
			if fields(r) != wantFields || string(left.AppendCanonical(nil)) != wantValue {
				t.Errorf("%q: %s: %s, %s", name, value, fields(r), r.Draft.Source())
			}
			again(t, everyday, r)
		}
	}
	// The upstream format also withholds references, and does not support headers.
	r := redacted(t, compile(t, redact.Upstream()), `{"metadata":{"npm_token":"${NPM_TOKEN}","headers":{"x-signature":"x"}}}`)
	if fields(r) != "/metadata/npm_token: name" {
		t.Error(fields(r))
	}
	// The index of an element is not a name.
	r = redacted(t, compile(t, redact.Rules{Names: []string{"0"}}), `{"metadata":{"a":["x"],"0":"y"}}`)
	if fields(r) != "/metadata/0: name" {
		t.Error(fields(r))
	}
}

// TestHeaders verifies the invalid inputs 181 to 183 and 195.
func TestHeaders(t *testing.T) {
	p := compile(t, redact.Default())
	for name, want := range map[string]string{
		"Content-Type": "", "user-agent": "", "X-Request-Id": "", "x_request_id": "", "X-GitHub-Event": "", "X-Slack-Request-Timestamp": "", "Accept": "",
		"X-Hub-Signature-256": "header", "x-slack-signature": "header", "X_Hub_Signature_256": "header", " X-Signature ": "header",
		"monkey-business": "header", "x-idempotency-key": "header", // known false positives
		"Authorization": "name", "Proxy-Authorization": "name", "cookie": "name", "Cookie2": "header",
	} {
		for _, object := range []string{"headers", "request_headers", "responseHeaders"} {
			r := redacted(t, p, `{"metadata":{"`+object+`":{`+quote(name)+`:"Digest x"}}}`)
			wantFields := ""
			if want != "" {
				wantFields = "/metadata/" + object + "/" + name + ": " + want
			}
			if fields(r) != wantFields {
				t.Errorf("%s: %s, want %s", name, fields(r), wantFields)
			}
		}
	}
	if r := redacted(t, p, `{"metadata":{"header":{"x-signature":"x"},"headers":[{"x-signature":"x"}]}}`); len(r.Entries) != 0 {
		t.Error(fields(r))
	}
}

// TestRedactionsAreNoValues verifies that detectors apply to redactions[], but rules by pointer and
// by name do not. A detector searches each token of a field separately.
func TestRedactionsAreNoValues(t *testing.T) {
	p := compile(t, redact.Rules{Pointers: []string{"/**/reason", "/**/0"}, Names: []string{"field", "reason", "proof_hash"}, Detectors: []secret.Detector{{Name: "k", Pattern: `k-[0-9]+`}, {Name: "two", Pattern: `b/[0-9]`}}})
	in := `{"redactions":[{"field":"/a","reason":"why"},{"field":"/k-1/x","reason":"a k-12 b"},{"field":"/k-~01","reason":"pattern k"},{"field":"/b/0","reason":"pattern two"}],"metadata":{"k":"k-1"}}`
	r := redacted(t, p, in)
	want := "/metadata/k: pattern k; /redactions/1/field: pattern k; /redactions/1/reason: pattern k"
	if fields(r) != want {
		t.Errorf("%s, want %s", fields(r), want)
	}
	again(t, p, r)
	for _, list := range []string{`{}`, `"x"`, `1`} {
		var refused *redact.RefusedError
		if _, err := p.Redact(parse(t, `{"redactions":`+list+`,"metadata":{"k":"k-1"}}`), newSalts()); !errors.As(err, &refused) || refused.Problems[0].Code != redact.CodeSchemaBreak {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// TestPrivateJWK verifies that the private members of a JWK are withheld. No member of a public key
// or of another object may be withheld.
func TestPrivateJWK(t *testing.T) {
	const value = "q7Zk2mXw9Rb4TcVn8Jd5Ph3Lg6Fs1YaGxKuEoWiDtMz"
	without := redact.Default()
	without.Detectors = slices.DeleteFunc(without.Detectors, func(d secret.Detector) bool { return d.Name == "jwk_private_key" })
	p, other := compile(t, redact.Default()), compile(t, without)
	for _, c := range []struct{ in, want string }{
		{`{"key":{"kty":"OKP","crv":"Ed25519","x":"` + value + `","d":"` + value + `"}}`, "/metadata/key/d: pattern jwk_private_key"},
		{`{"keys":[{"kty":"oct","k":"` + value + `"}]}`, "/metadata/keys/0/k: pattern jwk_private_key"},
		{`{"keys":[{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}]}`, "/metadata/keys/0/k: pattern jwk_private_key"}, // RFC 7517, Appendix A.3
		{`{"key":{"kty":"RSA","n":"` + value + `","qi":"` + value + `"}}`, "/metadata/key/qi: pattern jwk_private_key"},
		{`{"key":{"kty":"EC","x":"` + value + `","y":"` + value + `"}}`, ""},
		{`{"key":{"kty":"EC","d":"short"}}`, ""},
		{`{"key":{"kty":1,"d":"` + value + `"}}`, ""},
		{`{"d":"` + value + `"}`, ""},
	} {
		r := redacted(t, p, draft(t, "metadata", c.in))
		if got := fields(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
		again(t, p, r)
		if got := fields(redacted(t, other, draft(t, "metadata", c.in))); got != "" {
			t.Errorf("%s, without the detector: %s", c.in, got)
		}
	}
}
