package redact_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// kDigits returns a test detector that matches k- followed by digits.
func kDigits() secret.Detector { return secret.Detector{Name: "k", Pattern: `k-[0-9]+`} }

// TestTexts verifies the invalid inputs 190, 191, 211, and 212. These inputs concern encodings,
// placeholders, and text that matches only after another match has been removed.
func TestTexts(t *testing.T) {
	p := compile(t, redact.Rules{URLs: redact.URLsAnywhere, Detectors: []secret.Detector{
		kDigits(),
		{Name: "pair", Pattern: `pw=[^ ]+`},
		{Name: "quoted", Pattern: `"pin": *"[0-9]+"`},
		{Name: "grow", Pattern: `^x`},
		{Name: "word", Pattern: `redacted`},
	}})
	for _, c := range []struct{ in, want, rules string }{
		{`a k-12 b`, `a <redacted:k> b`, "pattern k"},
		{`k-12`, `<redacted:k>`, "pattern k"},
		{`k-12k-34 k-5`, `<redacted:k><redacted:k> <redacted:k>`, "pattern k"},
		{`é k-1 é`, `é <redacted:k> é`, "pattern k"},
		// these secrets have one level of encoding
		{`a%20k%2D12%20b`, `a%20<redacted:k>%20b`, "pattern k"},
		{`%6b-%31%32y`, `<redacted:k>y`, "pattern k"},
		{`k%252D12`, `k%252D12`, ""}, // twice: not found
		{`%k-12%zz`, `%<redacted:k>%zz`, "pattern k"},
		{`k-%31%j2%3j`, `<redacted:k>%j2%3j`, "pattern k"},
		{`\u006b-12\n`, `<redacted:k>\n`, "pattern k"},
		{`{\"pin\":\"1234\"}`, `{<redacted:quoted>}`, "pattern quoted"},
		{`\ud83d\u006b-1 \ud83d\ude00`, `\ud83d<redacted:k> \ud83d\ude00`, "pattern k"}, // half of a surrogate pair affects only itself
		{`\ude00\u006b-1`, `\ude00<redacted:k>`, "pattern k"},
		{`{\"a\":\"\ud83d\ude00k-1\ud83d\"}`, `{\"a\":\"\ud83d\ude00<redacted:k>\ud83d\"}`, "pattern k"},
		{`\\u006b-12`, `\\u006b-12`, ""}, // twice: not found
		{`\u00e9\u006`, `\u00e9\u006`, ""},
		{`\`, `\`, ""},
		{`%`, `%`, ""},
		// with URLs
		{`https://h/?token=k-12&a=k-3`, `https://h/?token=%5Bredacted%5D&a=<redacted:k>`, "url, pattern k"},
		{`https://h/?a=b&pw=c`, `https://h/?a=b&<redacted:pair>`, "pattern pair"},
		{`pw=https://u:p@h`, `<redacted:pair>`, "url, pattern pair"},
		{`see https://h/?token=pw=c&b=d`, `see https://h/?token=<redacted:pair>`, "url, pattern pair"},
		{`https://k-1:p@h/k-2`, `https://h/<redacted:k>`, "url, pattern k"},
		// placeholders are not treated as secrets unless the detector in the placeholder is unknown
		{`[redacted]`, `[redacted]`, ""},
		{`[withheld]`, `[withheld]`, ""},
		{`<redacted:k>`, `<redacted:k>`, ""},
		{`<redacted:k:12>`, `<redacted:k:12>`, ""},
		{`a [redacted] <redacted:k:12> %5Bredacted%5D`, `a [redacted] <redacted:k:12> %5Bredacted%5D`, ""},
		{`pw=<redacted:k>`, `pw=<redacted:k>`, ""},
		{`pw=ab<redacted:k>`, `<redacted:pair><redacted:k>`, "pattern pair"},
		{`<redacted:k-12>`, `<<redacted:word>:<redacted:k>>`, "pattern word, pattern k"},
		{`<redacted:k:k-1>`, `<<redacted:word>:k:<redacted:k>>`, "pattern word, pattern k"},
		{`<redacted:k`, `<<redacted:word>:k`, "pattern word"},
		{`redacted`, `<redacted:word>`, "pattern word"},
		// remainders
		{`xxx`, `<redacted:grow><redacted:grow><redacted:grow>`, "pattern grow"},
		{strings.Repeat("x", 9), `[redacted]`, "pattern grow"},
		// these secrets are not detected, because they are split across two values or have other
		// encodings
		{`ay0xMg==`, `ay0xMg==`, ""},
	} {
		rules := c.rules
		if rules == "" {
			rules = "none"
		}
		checkRules(t, p, c.in, c.want, rules)
	}
}

func checkRules(t *testing.T, p *redact.Policy, in, want, rules string) {
	t.Helper()
	r := redacted(t, p, `{"metadata":{"t":`+quote(in)+`}}`)
	got := parse(t, string(r.Draft.Source())).Root().Member("metadata").Member("t").String()
	found := make(map[string]bool)
	for _, e := range r.Entries {
		for _, rule := range strings.Split(e.Reason, ", ") {
			found[rule] = true
		}
	}
	same := true
	for _, rule := range strings.Split(rules, ", ") {
		same = same && (found[rule] || rules == "none" && len(found) == 0)
	}
	if got != want || !same || rules != "none" && len(found) != len(strings.Split(rules, ", ")) {
		t.Errorf("%.200q: %.200q by %v\nwant %.200q by %s", in, got, found, want, rules)
	}
	again(t, p, r)
}

// TestLongTexts verifies that a secret is found exactly once at any position in a long text (number
// 207).
func TestLongTexts(t *testing.T) {
	p := compile(t, redact.Default())
	const token = githubToken
	const window = 256 << 10
	places := []int{0, 1, window - 50, window - 40, window - 10, window - 1, window, window + 1, 2*window - 10, 1<<20 - 41}
	if testing.Short() {
		places = []int{0, window - 10, 1<<20 - 41}
	}
	for _, at := range places {
		text := strings.Repeat("x ", 1<<19)
		text = text[:at] + " " + token + " " + text[at:]
		r := redacted(t, p, `{"metadata":{"t":"`+text+`"}}`)
		want := strings.Replace(text, token, "<redacted:github_token>", 1)
		if got := parse(t, string(r.Draft.Source())).Root().Member("metadata").Member("t").String(); got != want || len(r.Entries) != 1 {
			t.Errorf("at %d: %d entries, %d bytes, want %d", at, len(r.Entries), len(got), len(want))
		}
	}
}

// TestHostileTexts verifies that redaction with the complete policy takes linear time (numbers 207
// and 208). With a quadratic algorithm, each of these strings would take hours. A secret at the end
// of the text must still be found.
func TestHostileTexts(t *testing.T) {
	p := compile(t, redact.Default())
	sizes := map[string]int{"eyJ": 1 << 20, "-----BEGIN ": 11 * 100_000, "Bearer ": 7 * 100_000, "token=": 1 << 20, "x y. ": 1 << 20}
	if testsize.Full() {
		sizes["x y. "] = 10 << 20
	}
	for unit, size := range sizes {
		if testing.Short() {
			size = 1 << 16
		}
		text := strings.Repeat(unit, size/len(unit)) + " " + githubToken
		found := p.Find(parse(t, `{"metadata":{"t":`+quote(text)+`}}`))
		if len(found) != 1 || !strings.Contains(found[0].Rule, "github_token") {
			t.Errorf("%q: %v", unit, found)
		}
	}
}

// TestRepeated verifies that redacting a string with many secrets also takes linear time.
func TestRepeated(t *testing.T) {
	p := compile(t, redact.Default())
	size := 1 << 14
	if testing.Short() {
		size = 1 << 12
	}
	for _, unit := range []string{"password=", "password=a1! ", `{"password":"a1b2c3d4"},`, "%70assword=", `\u0070assword=`, "//u:p@h ", "https://h/?token=a&", "ghp_", githubToken + " ", "DB_PASS=x1y2z3\n", "https://u:p@h?token=x#password=a1! "} {
		if !testsize.Linear(size, func(size int) func() {
			draft := parse(t, `{"metadata":{"t":`+quote(strings.Repeat(unit, size/len(unit)))+`}}`)
			return func() { p.Find(draft) }
		}) {
			t.Errorf("%q takes more than linear time", unit)
		}
	}
}

// TestMemberNames verifies that an object is withheld if the name of one of its members contains a
// secret (number 189).
func TestMemberNames(t *testing.T) {
	p := compile(t, redact.Rules{URLs: redact.URLsAnywhere, Names: []string{"pin"}, Detectors: []secret.Detector{kDigits()}})
	for _, c := range []struct{ in, want, entries string }{
		{`{"a":{"k-12":1,"b":2}}`, `{"a":"[redacted]"}`, "/metadata/a: pattern k in a member name"},
		{`{"k-12":1}`, `{}`, "/metadata: pattern k in a member name"},
		{`{"a":[{"k\u002d12":{"k-13":1}},{"b":1}]}`, `{"a":["[redacted]",{"b":1}]}`, "/metadata/a/0: pattern k in a member name"},
		{`{"a":{"b%6B-1":1}}`, `{"a":"[redacted]"}`, "/metadata/a: pattern k in a member name"},
		{`{"a":{"https://u:p@h":1}}`, `{"a":"[redacted]"}`, "/metadata/a: url in a member name"},
		{`{"a":{"x":"k-1","k-2":"k-3","pin":1}}`, `{"a":"[redacted]"}`, "/metadata/a: pattern k in a member name"},
		{`{"pin":{"k-12":1}}`, `{"pin":"[redacted]"}`, "/metadata/pin: name"},
		{`{"<redacted:k>":1,"[redacted]":2}`, `{"<redacted:k>":1,"[redacted]":2}`, ""},
	} {
		r := redacted(t, p, `{"metadata":`+c.in+`}`)
		if got := string(parse(t, string(r.Draft.Source())).Root().Member("metadata").AppendCanonical(nil)); got != c.want || fields(r) != c.entries {
			t.Errorf("%s: %s by %s\nwant %s by %s", c.in, got, fields(r), c.want, c.entries)
		}
		again(t, p, r)
	}
	// In some places, the object cannot be withheld.
	for in, want := range map[string]redact.Problem{
		`{"k-12":1}`:                                   {Code: redact.CodeProtectedField, Pointer: "", Rule: "pattern k in a member name"},
		`{"issuer":{"a":{"k-12":1}}}`:                  {Code: redact.CodeProtectedField, Pointer: "/issuer/a", Rule: "pattern k in a member name"},
		`{"lifecycle":{"k-12":1}}`:                     {Code: redact.CodeProtectedField, Pointer: "/lifecycle", Rule: "pattern k in a member name"},
		`{"redactions":[{"k-12":1}]}`:                  {Code: redact.CodeProtectedField, Pointer: "/redactions/0", Rule: "pattern k in a member name"},
		`{"cost":{"k-12":1}}`:                          {Code: redact.CodeSchemaBreak, Pointer: "/cost", Rule: "pattern k in a member name"},
		`{"side_effects":{"tool_calls":[{"k-12":1}]}}`: {Code: redact.CodeSchemaBreak, Pointer: "/side_effects/tool_calls/0", Rule: "pattern k in a member name"},
	} {
		_, err := p.Redact(parse(t, in), newSalts())
		var refused *redact.RefusedError
		if !errors.As(err, &refused) || refused.Problems[0] != want || strings.Contains(err.Error(), "k-12") {
			t.Errorf("%s: %v, want %v", in, err, want)
		}
	}
}

// TestTypedPlaces verifies how detectors affect members that cannot contain arbitrary text.
func TestTypedPlaces(t *testing.T) {
	p := compile(t, redact.Rules{Detectors: []secret.Detector{{Name: "digits", Pattern: `[0-9]{4,}`}, {Name: "modify", Pattern: `modify`}}})
	r := redacted(t, p, `{"lifecycle":{"created_at":"2026-04-25T19:16:10Z"}, "final_artifacts":[{"sha256":"sha256:1234000000000000000000000000000000000000000000000000000000000001"}]}`)
	if fields(r) != "/lifecycle/created_at: pattern digits" || strings.Contains(string(r.Draft.Source()), "created_at\":") {
		t.Errorf("%s: %s", fields(r), r.Draft.Source())
	}
	for in, code := range map[string]redact.Code{
		`{"lifecycle":{"started_at":"2026-04-25T19:16:10Z"}}`:     redact.CodeSchemaBreak,
		`{"side_effects":{"fs_writes":[{"operation":"modify"}]}}`: redact.CodeSchemaBreak,
		`{"identifiers":{"task_id":"12345"}}`:                     redact.CodeProtectedField,
		`{"issued_at":"2026-04-25T19:16:10Z"}`:                    redact.CodeProtectedField,
		`{"chain":{"merkle_root":"12345"}}`:                       redact.CodeProtectedField,
	} {
		_, err := p.Redact(parse(t, in), newSalts())
		var refused *redact.RefusedError
		if !errors.As(err, &refused) || refused.Problems[0].Code != code {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestBytes verifies that the bytes of a material are searched, and that they cannot be withheld
// only in part.
func TestBytes(t *testing.T) {
	p := compile(t, redact.Rules{Detectors: []secret.Detector{kDigits()}})
	s := receiptSchema(t)
	r := redacted(t, p, draft(t, "replay_input.materials", `[{"kind":"event_log","id":"m","bytes_base64":"ay0xMjM0","sha256":"sha256:0000000000000000000000000000000000000000000000000000000000000001"}]`))
	const want = `{"id":"m","kind":"event_log","metadata":{}}`
	got, _ := parse(t, string(r.Draft.Source())).Find(pointer(t, "/replay_input/materials/0"))
	if string(got.AppendCanonical(nil)) != want || problems(t, s, r.Draft.Source()) != "" ||
		fields(r) != "/replay_input/materials/0/bytes_base64: pattern k; /replay_input/materials/0/sha256: hash of a withheld value" {
		t.Errorf("%s by %s: %s", got.AppendCanonical(nil), fields(r), problems(t, s, r.Draft.Source()))
	}
	again(t, p, r)
}
