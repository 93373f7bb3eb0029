package rulefile_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/rulefile"
)

const vectors = "../../../shared/vectors/secrets-gitleaks/"

func config(t testing.TB) []redact.Detector {
	data, err := os.ReadFile(vectors + "gitleaks.toml")
	if err != nil {
		t.Skip(err)
	}
	list, err := rulefile.ParseGitleaks(data)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

type sample struct {
	Rule, Kind string
	B64        []byte
}

// TestGitleaksSamples records what the rules of gitleaks find in their samples.
func TestGitleaksSamples(t *testing.T) {
	list := config(t)
	s, err := redact.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(vectors + "samples.b64.json")
	if err != nil {
		t.Skip(err)
	}
	var samples []sample
	if err := json.Unmarshal(data, &samples); err != nil {
		t.Fatal(err)
	}
	t.Log(len(list), len(samples))
	n := map[string]int{}
	for _, x := range samples {
		hit := ""
		for _, f := range s.Scan(x.B64, nil) {
			hit += s.Name(f.Detector) + " "
		}
		n[x.Kind]++
		if hit != "" {
			n[x.Kind+" hit"]++
		}
		if (hit == "") == (x.Kind == "positive") {
			t.Logf("%s %s %q %s", x.Kind, x.Rule, x.B64[:min(150, len(x.B64))], hit)
		}
	}
	t.Log(n)
}

var _ = base64.StdEncoding

// text writes a text that a pattern matches.
func generate(r *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	times := func(lo, hi int) {
		n := lo
		if hi < 0 {
			hi = lo + 4
		}
		if hi > lo {
			n += r.IntN(min(hi-lo, 4) + 1)
		}
		for range n {
			generate(r, b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			b.WriteRune(c)
		}
	case syntax.OpCharClass:
		n := 0
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] < 0x7f {
				n += int(min(re.Rune[i+1], 0x7e)-re.Rune[i]) + 1
			}
		}
		k := r.IntN(n)
		for i := 0; i < len(re.Rune); i += 2 {
			if m := int(min(re.Rune[i+1], 0x7e)-re.Rune[i]) + 1; k >= m {
				k -= m
			} else {
				b.WriteRune(re.Rune[i] + rune(k))
				break
			}
		}
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

// secretOf returns the part of a pattern that is the secret: the first submatch.
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

// TestDefaultGeneralizes writes new secrets for each rule of gitleaks.
func TestDefaultGeneralizes(t *testing.T) {
	theirs := config(t)
	ours, err := redact.Compile(redact.DefaultDetectors())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	forms := []string{
		`NAMEToken="VALUE"`, `NAMEToken = "VALUE"`, `NAMEToken=VALUE`, `{"NAME_token": "VALUE"}`, "NAME_token: VALUE\n", "NAME_key: 'VALUE'",
		`var NAMEToken string = "VALUE"`, "NAMEToken := `VALUE`", `String NAMEToken = "VALUE";`, `"NAMEToken" => "VALUE"`, `NAME_SECRET ?= "VALUE"`,
		`NAME_TOKEN ::= "VALUE"`, `$tokens = ["NAME" => "VALUE"];`, `<NAMEToken>VALUE</NAMEToken>`, `{\"NAME_token\": \"VALUE\"}`, `System.setProperty("NAME_TOKEN", "VALUE")`,
	}
	total, missed := 0, 0
	for _, d := range theirs {
		tree, err := syntax.Parse(d.Pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := redact.Compile([]redact.Detector{d})
		if err != nil {
			t.Fatal(err)
		}
		secret := secretOf(tree)
		n, miss, example := 0, 0, ""
		for k := 0; k < 400 && n < 40; k++ {
			var b strings.Builder
			text := ""
			if secret == nil || !strings.Contains(d.Pattern, `?=|,)`) {
				generate(r, &b, tree)
				text = b.String()
			} else {
				generate(r, &b, secret)
				text = strings.NewReplacer("NAME", d.Keywords[r.IntN(len(d.Keywords))], "VALUE", b.String()).Replace(forms[r.IntN(len(forms))])
			}
			if len(alone.Scan([]byte(text), nil)) == 0 {
				continue
			}
			n++
			if len(ours.Scan([]byte(text), nil)) == 0 {
				miss++
				example = text
			}
		}
		total, missed = total+n, missed+miss
		if n == 0 {
			t.Logf("%s: nothing made", d.Name)
		}
		if miss > 0 {
			t.Logf("%s: %d of %d missed, such as %q", d.Name, miss, n, example)
		}
	}
	t.Log(total, missed)
}

var _ = errors.As
