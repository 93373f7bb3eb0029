package rulefile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/redact/rulefile"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// config returns the gitleaks rules as detectors.
func config(t testing.TB) []secret.Detector {
	t.Helper()
	list, err := rulefile.ParseGitleaks(vectors.File(t, "secrets-gitleaks", "gitleaks.toml"))
	if err != nil || len(list) != 221 { // one of the 222 rules matches only paths
		t.Fatalf("%d rules: %v", len(list), err)
	}
	return list
}

func compile(t testing.TB, detectors []secret.Detector) *secret.Scanner {
	s, err := secret.Compile(detectors)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGitleaksSamples verifies that the gitleaks rules have the recorded matches in their samples.
//
// Two secrets belong to rules that the configuration does not contain. Two of the samples without a
// secret contain secrets in files with other names, and four belong to another rule.
func TestGitleaksSamples(t *testing.T) {
	s := compile(t, config(t))
	var samples []struct {
		Rule, Kind string
		B64        []byte
	}
	if err := json.Unmarshal(vectors.File(t, "secrets-gitleaks", "samples.b64.json"), &samples); err != nil || len(samples) < 298 {
		t.Fatalf("%d samples: %v", len(samples), err)
	}
	got := map[string]int{}
	for _, x := range samples {
		found := len(s.Scan(x.B64, nil)) > 0
		got[fmt.Sprint(x.Kind, found)]++
		if !found && x.Kind == "positive" && x.Rule != "gcp-service-account" && x.Rule != "square-secret" {
			t.Errorf("a secret of %s is not found", x.Rule)
		}
	}
	if got["positivetrue"] != 130 || got["positivefalse"] != 2 || got["negativetrue"] != 6 || got["negativefalse"] != 160 {
		t.Errorf("got %v", got)
	}
}

func TestParseGitleaks(t *testing.T) {
	list, err := rulefile.ParseGitleaks([]byte(`
title = "ours"
[allowlist]
stopwords = ["everywhere"]
[[allowlists]]
targetRules = ["two"]
regexes = ["^xx"]
[[rules]]
id = "One.Rule"
description = "an old form"
regex = '''x(y)?([a-z]+)'''
entropy = 1
keywords = ["X"]
tags = ["a"]
[rules.allowlist]
regexTarget = "line"
regexes = ["never"]
[[rules]]
id = "two"
regex = "(x+)(y+)"
secretGroup = 2
path = "\\.go$"
[[rules.allowlists]]
condition = "AND"
regexes = ["yyy"]
stopwords = ["yyyy"]
[[rules.allowlists]]
condition = "AND"
paths = ["a"]
regexes = ["y"]
[[rules.allowlists]]
commits = ["abc"]
[[rules]]
id = "three"
path = "only"
`))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if d := list[0]; d.Name != "one-rule" || d.Group != secret.FirstGroup || d.Entropy <= 1 || d.Keywords[0] != "x" || len(d.Allowed) != 2 {
		t.Errorf("got %+v", d)
	}
	if d := list[1]; d.Group != 2 || len(d.Allowed) != 3 || !d.Allowed[0].All {
		t.Errorf("got %+v", d)
	}
	one := compile(t, list[:1])
	for text, want := range map[string]int{"xabc": 1, "xaaa": 0, "xabc never": 0, "xabc\nnever": 1, "xabceverywhere": 0} {
		if got := one.Scan([]byte(text), nil); len(got) != want {
			t.Errorf("%q: got %v, want %d finds", text, got, want)
		}
	}
	two := compile(t, list[1:])
	for text, want := range map[string]int{"xy": 1, "xyyy": 1, "xyyyy": 0} {
		if got := two.Scan([]byte(text), nil); len(got) != want {
			t.Errorf("%q: got %v, want %d finds", text, got, want)
		}
	}
}

func TestParseGitleaksRefuses(t *testing.T) {
	const rule = "[[rules]]\nid = 'a'\n"
	for _, test := range []struct{ in, want string }{
		{"=", "rule file: line 1: invalid TOML: "},
		{"rules = 1", "rule file: invalid gitleaks configuration: "},
		{rule + "regexp = 'x'", `rule file: unknown key "rules.regexp"`},
		{rule + "regex = '(?=x)'", `rule file: rule "a": the pattern is invalid: invalid or unsupported Perl syntax`},
		{rule + `regex = '(x)\1'`, `rule file: rule "a": the pattern is invalid: invalid escape sequence`},
		{rule + "regex = 'x'\n" + rule + "regex = 'y'", `rule file: rule "a": another detector has that name`},
		{rule, `rule file: rule "a": the pattern matches the empty text`},
		{rule + "regex = 'x'\nsecretGroup = 3", `rule file: rule "a": the pattern has no group 3`},
		{rule + "regex = 'x'\n[rules.allowlist]\nregexTarget = 'file'", `rule file: rule "a": unknown regexTarget "file"`},
		{rule + "regex = 'x'\n[[rules.allowlists]]\ncondition = 'XOR'", `rule file: rule "a": unknown condition "XOR"`},
		{rule + "regex = 'x'\n[[rules.required]]\nid = 'b'", `rule file: rule "a": required is not supported; a rule applies to a single string`},
		{"[extend]\nuseDefault = true", "rule file: extend is not supported; combine the rules in one file"},
		{strings.Repeat(rule+"path = 'x'\n", 10_001), "rule file: there are more than 10000 rules"},
		{strings.Repeat("#", rulefile.MaxBytes+1), "rule file: it has more than 1048576 bytes"},
	} {
		list, err := rulefile.ParseGitleaks([]byte(test.in))
		var own *rulefile.Error
		if list != nil || !errors.As(err, &own) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.60q: got %v, want %s", test.in, err, test.want)
		}
	}
	if list, err := rulefile.ParseGitleaks(nil); err != nil || len(list) != 0 {
		t.Error("an empty configuration has no rules", list, err)
	}
}

// generate returns a string that matches a pattern, ignoring the assertions in the pattern.
func generate(r *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	times := func(lo, hi int) {
		if hi < 0 || hi > lo+4 {
			hi = lo + 4
		}
		for range lo + r.IntN(hi-lo+1) {
			generate(r, b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		var runes []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for c := max(re.Rune[i], ' '); c <= min(re.Rune[i+1], '~'); c++ {
				runes = append(runes, c)
			}
		}
		if len(runes) == 0 {
			runes = re.Rune[:1]
		}
		b.WriteRune(runes[r.IntN(len(runes))])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte(' ' + r.IntN(95)))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			generate(r, b, sub)
		}
	case syntax.OpAlternate:
		generate(r, b, re.Sub[r.IntN(len(re.Sub))])
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
}

// secretOf returns the part of a pattern that matches the secret, which is the first group.
func secretOf(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re
	}
	for _, sub := range re.Sub {
		if found := secretOf(sub); found != nil {
			return found
		}
	}
	return nil
}

// TestDefaultGeneralizes generates new secrets from the pattern of each gitleaks rule, and verifies
// how many of them the default detectors find. Most of the secrets that are not found have forms
// that only a pattern can generate: prefixes in capital letters, curl with control characters, and
// JWTs that are not JSON.
func TestDefaultGeneralizes(t *testing.T) {
	ours := compile(t, secret.Default())
	forms := []string{
		`NAMEToken="VALUE"`, `NAMEToken = "VALUE"`, `NAMEToken=VALUE`, `{"NAME_token": "VALUE"}`, "NAME_token: VALUE\n", "NAME_key: 'VALUE'",
		`var NAMEToken string = "VALUE"`, "NAMEToken := `VALUE`", `String NAMEToken = "VALUE";`, `"NAMEToken" => "VALUE"`, `NAME_SECRET ?= "VALUE"`,
		`NAME_TOKEN ::= "VALUE"`, `$tokens = ["NAME" => "VALUE"];`, `<NAMEToken>VALUE</NAMEToken>`, `{\"NAME_token\": \"VALUE\"}`, `System.setProperty("NAME_TOKEN", "VALUE")`,
	}
	tries, least := 20, 2000
	if testsize.Full() {
		tries, least = 200, 8000
	}
	r := rand.New(rand.NewPCG(7, 8))
	made, missed := 0, 0
	for _, d := range config(t) {
		tree, err := syntax.Parse(d.Pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		theirs := compile(t, []secret.Detector{d})
		byName := strings.Contains(d.Pattern, `?=|,)`) // the value is assigned to a name
		n, lost := 0, 0
		for range tries {
			var b strings.Builder
			if byName {
				generate(r, &b, secretOf(tree))
				text := strings.NewReplacer("NAME", d.Keywords[r.IntN(len(d.Keywords))], "VALUE", b.String()).Replace(forms[r.IntN(len(forms))])
				b.Reset()
				b.WriteString(text)
			} else {
				generate(r, &b, tree)
			}
			if text := []byte(b.String()); n < 40 && len(theirs.Scan(text, nil)) > 0 {
				if n++; len(ours.Scan(text, nil)) == 0 {
					lost++
				}
			}
		}
		made, missed = made+n, missed+lost
		if lost > 0 {
			t.Logf("%s: %d of %d", d.Name, lost, n)
		}
	}
	t.Logf("%d of %d are missed", missed, made)
	if made < least || missed*20 > made {
		t.Errorf("%d of %d are missed, more than 5 %%", missed, made)
	}
}
