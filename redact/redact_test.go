package redact_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// TestSealed verifies that a sealed document cannot be redacted but can be searched.
func TestSealed(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"pin"}})
	for in, want := range map[string]string{
		`{"chain":{"receipt_hash":"x"}}`:                             "/chain/receipt_hash",
		`{"chain":{"receipt_hash":null},"metadata":{"pin":1}}`:       "/chain/receipt_hash",
		`{"signatures":[]}`:                                          "/signatures",
		`{"\u0073ignatures":null}`:                                   "/signatures",
		`{"signatures":[],"chain":{"receipt_hash":1},"metadata":{}}`: "/chain/receipt_hash /signatures",
	} {
		r, err := p.Redact(parse(t, in), newSalts())
		var refused *redact.RefusedError
		if r != nil || !errors.As(err, &refused) {
			t.Errorf("%s: %v", in, err)
			continue
		}
		var got []string
		for _, problem := range refused.Problems {
			got = append(got, problem.Pointer)
			if problem.Code != redact.CodeAlreadySealed {
				t.Errorf("%s: %v", in, problem)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", in, got, want)
		}
	}
	for _, in := range []string{`[]`, `null`, `"x"`, `1`} {
		var refused *redact.RefusedError
		if _, err := p.Redact(parse(t, in), newSalts()); !errors.As(err, &refused) || refused.Problems[0].Code != redact.CodeNotObject {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`{}`, `{"chain":{"previous_receipt_hash":null,"merkle_root":"x"}}`, `{"metadata":{"signatures":[],"receipt_hash":1}}`} {
		if r := redacted(t, p, in); len(r.Entries) != 0 || string(r.Draft.Source()) != string(parse(t, in).AppendCanonical(nil)) {
			t.Errorf("%s: %s", in, r.Draft.Source())
		}
	}
}

// TestFixtures verifies that policies find nothing in the fixture receipts. The only exception is
// the strict policy, which reports free text.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("../fixtures/valid/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	strict := compile(t, redact.Strict())
	for _, rules := range []redact.Rules{redact.Upstream(), redact.Default()} {
		p := compile(t, rules)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := parse(t, string(text))
			if found := p.Find(d); len(found) != 0 {
				t.Errorf("%s: %v", file, found)
			}
			if found := strict.Find(d); len(found) == 0 {
				t.Errorf("strict finds nothing in %s", file)
			}
		}
	}
}

// TestStrict verifies which additional values are withheld by the strict rules.
func TestStrict(t *testing.T) {
	in := draft(t,
		"lifecycle.failure", `{"code":"timeout","message":"m","details":{"n":1}}`,
		"replay_input.unavailable_reason", `"u"`,
		"replay_input.materials", `[{"kind":"event_log","bytes_base64":"AAAA","sha256":"`+digest("\x00\x00\x00")+`","content_type":"text/plain"}]`,
		"side_effects.tool_calls.0.metadata", `{"args":{"a":1},"n":1,"none":null,"args_hash":"x"}`,
		"deltas", `[{"operation":"add","path":"/x","reason":"r"}]`,
		"metadata", `{"source":"x","title":"t","usage":{"stdout":"o","text":null,"count":1}}`)
	p := compile(t, redact.Strict())
	r := redacted(t, p, in)
	want := strings.Join([]string{
		"/deltas/0/reason: pointer",
		"/lifecycle/failure/details: pointer",
		"/lifecycle/failure/message: name",
		"/metadata/title: name",
		"/metadata/usage/stdout: name",
		"/model_route/alternatives_considered/0/reason: pointer",
		"/model_route/route_policy_reason: pointer",
		"/replay_input/materials/0/bytes_base64: pointer",
		"/replay_input/materials/0/sha256: hash of a withheld value",
		"/replay_input/unavailable_reason: pointer",
		"/side_effects/network_egress/0/purpose: pointer",
		"/side_effects/tool_calls/0/input_hash: hash of a withheld value",
		"/side_effects/tool_calls/0/metadata/args: pointer",
		"/side_effects/tool_calls/0/metadata/args_hash: pointer",
		"/side_effects/tool_calls/0/metadata/n: pointer",
	}, "\n")
	// The input_hash in the example is also the digest of its artifact.
	got := strings.ReplaceAll(strings.ReplaceAll(fields(r), "; ", "\n"), "/final_artifacts/0/sha256: hash of a withheld value\n", "")
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if p := problems(t, receiptSchema(t), r.Draft.Source()); p != "" {
		t.Error(p)
	}
	again(t, p, r)
}

// TestSurvivors verifies that strings that only resemble secrets are kept (numbers 205 and 206).
func TestSurvivors(t *testing.T) {
	p := compile(t, redact.Default())
	for _, text := range []string{
		"da39a3ee5e6b4b0d3255bfef95601890afd80709", // a git commit
		"123e4567-e89b-12d3-a456-426614174000",
		digest("x"), strings.TrimPrefix(digest("x"), "sha256:"),
		"max_tokens=200", "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 by user_robin",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"AKIAIOSFODNN7EXAMPLE", "${NPM_TOKEN}", "token=${NPM_TOKEN}", "pub const Token = struct {",
		"base64:7fQhdPW/9M3eWHrDkaOeEykpufu1AggNUa40lKaTJLudUgCMEze+r2rBHKBNnnRe09pIaeJbbF+OJfk32MH/Bg==",
		"key_2026_04", "ed25519:0123456789abcdef0123456789abcdef", "persona_reviewer@v2", "https://EXAMPLE.com", "an edit within budget takes the small coding model",
		"2026-04-25T19:17:33Z", "artifact://llm_call_1", "gpt-5.3-codex", "workspace.patch.apply", "src/beds.rs",
	} {
		checkRules(t, p, text, text, "none")
	}
	for _, name := range []string{"max_tokens", "key_id", "public_key_id", "commit", "signature"} {
		if r := redacted(t, p, `{"metadata":{"`+name+`":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}}`); len(r.Entries) != 0 {
			t.Error(fields(r))
		}
	}
}

// TestHomePaths verifies the invalid inputs 202 and 193 to 195 with the complete default policy.
func TestHomePaths(t *testing.T) {
	p := compile(t, redact.Default())
	for in, want := range map[string]string{
		"/home/alice/src/x.rs":            "/home/<redacted:home_path>/src/x.rs",
		"file:///home/alice":              "file:///home/<redacted:home_path>",
		`C:\Users\bob b\x`:                `C:\Users\<redacted:home_path> b\x`,
		`C:\\Users\\bob\\x`:               `C:\\Users\\<redacted:home_path>\\x`,
		"in /Users/bob, and /home/alice:": "in /Users/<redacted:home_path>, and /home/<redacted:home_path>:",
		"/Users/Shared/x":                 "/Users/Shared/x",
		"https://h/home/index.html":       "https://h/home/index.html",
		"src/home/x.rs":                   "src/home/x.rs",
		"/home/":                          "/home/",
	} {
		rules := "pattern home_path"
		if in == want {
			rules = "none"
		}
		checkRules(t, p, in, want, rules)
	}
	for _, in := range []string{"Basic dXNlcjpwYXNzd29yZA==", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0", "x bearer\tabcdef012345", "ghp%5Fq7Zk2Vw9Xb4Lm1Nc8Rt5Yh3Jd6Ps0Gf2Ae7U", `{"password":"hunter2xyz"}`} {
		if r := redacted(t, p, `{"metadata":{"t":`+quote(in)+`}}`); len(r.Entries) != 1 {
			t.Errorf("%q: %s", in, fields(r))
		}
	}
}

// TestNothingLeaks verifies that drafts, entries, summaries, findings, and errors contain neither a
// secret nor a part of one (numbers 223 and 224).
func TestNothingLeaks(t *testing.T) {
	token := githubToken
	secrets := []string{token, "hunter2hunter2", "s3cr3tvalue", "4711"}
	leaks := func(where, text string) {
		t.Helper()
		for _, s := range secrets {
			for _, part := range []string{s, s[:min(len(s), 6)], s[max(0, len(s)-6):]} {
				if strings.Contains(text, part) {
					t.Errorf("%s: %q is in %s", where, part, text)
				}
			}
		}
	}
	for _, rules := range []redact.Rules{redact.Upstream(), redact.Default(), redact.Strict()} {
		p := compile(t, rules)
		in := draft(t, "metadata", `{"password":"hunter2hunter2","pin_token":4711,"log":"use `+token+` now","url":"https://u:s3cr3tvalue@h/?token=4711",
			"map":{"`+token+`":1},"list":["Authorization: Bearer hunter2hunter2",{"`+token+`/x":"4711"}]}`,
			"redactions", `[{"field":"/old","reason":"it was `+token+`"}]`)
		r := redacted(t, p, in)
		leaks("draft", string(r.Draft.Source()))
		leaks("summary", r.Summary())
		leaks("entries", fmt.Sprintf("%+v", r.Entries))
		leaks("result", fmt.Sprintf("%+v %v", r.Disclosures, r.Disclosures.Fields))
		leaks("findings", fmt.Sprintf("%+v", p.Find(parse(t, in))))
		if pr := problems(t, receiptSchema(t), r.Draft.Source()); pr != "" {
			t.Error(pr)
		}
		if !strings.Contains(string(r.Disclosures.Marshal()), token) {
			t.Error("the disclosures have no token")
		}
		again(t, p, r)
		for _, in := range []string{
			`{"issuer":{"name":"` + token + `"}}`, `{"` + token + `":1}`, `{"identifiers":{"` + token + `":"x"}}`,
			`{"cost":{"currency":"` + token + `"}}`, `{"cost":{"` + token + `":{"a":1}}}`, `{"redactions":{"` + token + `":"` + token + `"}}`,
			`{"lifecycle":{"started_at":"` + token + `"}}`, `{"chain":{"receipt_hash":"` + token + `"}}`,
		} {
			_, err := p.Redact(parse(t, in), newSalts())
			if err == nil {
				t.Errorf("%s is accepted", in)
				continue
			}
			leaks("error", err.Error())
			leaks("findings", fmt.Sprintf("%+v", p.Find(parse(t, in))))
		}
	}
}

// TestSpelling verifies that the withheld values do not depend on the order, whitespace, and
// escapes in a draft (number 330).
func TestSpelling(t *testing.T) {
	p := compile(t, redact.Default())
	a := redacted(t, p, `{"metadata":{"a":{"password":"x"},"b":"Bearer abcdef012345678"},"redactions":[],"approvals":[]}`)
	b := redacted(t, p, ` { "approvals":[ ], "redactions":[],"metadata":{ "b":"\u0042earer abcdef012345678",`+"\n"+`"a":{"p\u0061ssword":"x"}} } `)
	if string(a.Draft.Source()) != string(b.Draft.Source()) || fields(a) != fields(b) || string(a.Disclosures.Marshal()) != string(b.Disclosures.Marshal()) || len(a.Entries) != 2 {
		t.Errorf("%s\n%s", a.Draft.Source(), b.Draft.Source())
	}
}

// TestSummary verifies the line that reports how many values were withheld by each rule.
func TestSummary(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"pin"}, Detectors: []secret.Detector{kDigits()}})
	for in, want := range map[string]string{
		`{}`:                     "nothing to withhold",
		`{"metadata":{"pin":1}}`: "withheld 1 value by rule: name 1",
		`{"metadata":{"pin":1,"pin_hash":"x","a":"k-1","b":{"pin":2}}}`: "withheld 4 values by rule: hash of a withheld value 1, name 2, pattern k 1",
	} {
		if got := redacted(t, p, in).Summary(); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestErrorsAreShort verifies that the length of an error is limited, and that all problems are
// counted.
func TestErrorsAreShort(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"id"}})
	in := `{"issuer":{"` + strings.Repeat("\x7f", 5000) + `":[` + strings.Repeat(`{"id":1},`, 999) + `{"id":1}]}}`
	_, err := p.Redact(parse(t, in), newSalts())
	var refused *redact.RefusedError
	if !errors.As(err, &refused) || refused.Total != 1000 || len(refused.Problems) != redact.MaxProblems || len(err.Error()) > 64<<10 || strings.Contains(err.Error(), "\x7f") {
		t.Errorf("%d bytes", len(err.Error()))
	}
}

// TestLongPointers verifies that a draft is rejected if a name of one megabyte would occur in the
// pointers of many values, because the redacted draft would be gigabytes long.
func TestLongPointers(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"pin"}})
	in := `{"metadata":{"` + strings.Repeat("a", 1<<20) + `":[` + strings.Repeat(`{"pin":1},`, 9999) + `{"pin":1}]}}`
	_, err := p.Redact(parse(t, in), newSalts())
	var refused *redact.RefusedError
	if !errors.As(err, &refused) || refused.Total != 1 || refused.Problems[0].Code != redact.CodeSizeLimit {
		t.Errorf("%T", err)
	}
	if found := p.Find(parse(t, in)); len(found) != 1 || found[0].Pointer != "" {
		t.Errorf("%d findings", len(found))
	}
}

// TestManyValues verifies that the processing time is linear in the size of a draft.
func TestManyValues(t *testing.T) {
	n := 5_000
	if testing.Short() {
		n = 2_000
	} else if testsize.Full() {
		n = 20_000
	}
	var b strings.Builder
	b.WriteString(`{"deltas":[`)
	for i := range n {
		fmt.Fprintf(&b, `{"path":"/metadata/%d/pin","before_sha256":"%s"},`, i, digest(fmt.Sprint(i)))
	}
	b.WriteString(`{}],"metadata":{"pin":"x"`)
	for i := range n {
		fmt.Fprintf(&b, `,"%d":{"pin":%d,"pin_hash":"x"},"hash%d":1`, i, i, i)
	}
	b.WriteString(`}}`)
	r := redacted(t, compile(t, redact.Rules{Names: []string{"pin"}}), b.String())
	if len(r.Entries) != 4*n+1 { // the name hash7 denotes a hash of member 7
		t.Errorf("%d entries", len(r.Entries))
	}
}

// TestDeep verifies that drafts have the same limit on nesting as documents in package canon.
func TestDeep(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 499) + `{"pin":1}` + strings.Repeat(`]}`, 499)
	r := redacted(t, compile(t, redact.Default()), `{"metadata":`+deep+`}`)
	if len(r.Entries) != 0 {
		t.Error(fields(r))
	}
	r = redacted(t, compile(t, redact.Rules{Names: []string{"pin"}}), `{"metadata":`+deep+`}`)
	if len(r.Entries) != 1 {
		t.Error(len(r.Entries))
	}
}

// TestLaterPolicy verifies that a draft that was redacted with one policy can be redacted again
// with another policy.
func TestLaterPolicy(t *testing.T) {
	first := redacted(t, compile(t, redact.Rules{Detectors: []secret.Detector{kDigits()}}), `{"metadata":{"a":"x k-12 y"}}`)
	second := redacted(t, compile(t, redact.Rules{Pointers: []string{"/metadata/a"}}), string(first.Draft.Source()))
	if got := fields(second); got != "/metadata/a: pointer" {
		t.Error(got)
	}
	receipt := parse(t, string(second.Draft.Source()))
	if n := receipt.Root().Member("redactions").Len(); n != 2 {
		t.Errorf("%d entries", n)
	}
	for _, d := range []*redact.Disclosures{first.Disclosures, second.Disclosures} {
		if err := d.Check(receipt); err != nil {
			t.Error(err)
		}
	}
	if got := string(first.Disclosures.Fields[0].Value); got != `"x k-12 y"` {
		t.Error(got)
	}
}

// TestPolicyIsShared verifies that concurrent use of a Policy, and of a document that is only read,
// is safe.
func TestPolicyIsShared(t *testing.T) {
	p := compile(t, redact.Default())
	d := parse(t, `{"metadata":{"password":"x","log":"Bearer abcdef012345678"}}`)
	done := make(chan []redact.Finding)
	for range 8 {
		go func() { done <- p.Find(d) }()
	}
	for range 8 {
		if f := <-done; len(f) != 2 {
			t.Error(f)
		}
	}
}
