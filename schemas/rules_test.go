package schemas_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/schemas"
)

// A rule tests a single kind of keyword in a separate schema.
type rule struct {
	t       *testing.T
	s       *schemas.Schema
	yes, no int // number of strings that the acceptor accepted, and number that it left to the library
}

func newRule(t *testing.T, schema string) *rule {
	t.Helper()
	s, err := schemas.CompileText("urn:rule", []byte(schema), schemas.Embedded{})
	if err != nil {
		t.Fatal(err)
	}
	return &rule{t: t, s: s}
}

// holds tests the acceptor with a string. The acceptor must accept only strings that the library
// accepts. It must also accept every valid string in a usual form, because the library would be
// slower.
func (r *rule) holds(text string, usual bool) {
	r.t.Helper()
	d, err := canon.Parse([]byte(text))
	if err != nil {
		return
	}
	switch fits := r.s.Reference(d.Root()).Total == 0; {
	case schemas.Accepts(r.s, d.Root()):
		if r.yes++; !fits {
			r.t.Errorf("%.300q is accepted, but does not fit", text)
		}
	default:
		if r.no++; fits && usual {
			r.t.Errorf("%.300q is usual and valid, but is not accepted without the library", text)
		}
	}
}

// tried fails if the acceptor accepted fewer strings than expected, or left fewer strings than
// expected to the library.
func (r *rule) tried(yes, no int) {
	r.t.Helper()
	if r.yes < yes || r.no < no {
		r.t.Errorf("%d texts accepted, %d not; expected %d and %d", r.yes, r.no, yes, no)
	}
}

// neighbors returns all strings that differ from the given string in one byte, which is changed,
// removed, repeated, or inserted.
func neighbors(text string) (list []string) {
	for i := range len(text) + 1 {
		for c := byte(0x20); c < 0x7f; c++ {
			list = append(list, text[:i]+string(c)+text[i:])
			if i < len(text) {
				list = append(list, text[:i]+string(c)+text[i+1:])
			}
		}
		for _, odd := range []string{`\n`, `\u0000`, "é", "１", "\u017f", "\u212a", `\u005a`, `\u0030`} {
			list = append(list, text[:i]+odd+text[i:])
			if i < len(text) {
				list = append(list, text[:i]+odd+text[i+1:])
			}
		}
		list = append(list, text[:i])
	}
	return list
}

// quote adds quotation marks without escaping the text, so that the text may contain escapes.
func quote(text string) string { return `"` + text + `"` }

func TestRuleTime(t *testing.T) {
	r := newRule(t, `{"type":"string","format":"date-time"}`)
	for _, base := range []string{"2026-04-25T19:17:33Z", "2024-02-29T23:59:59.25Z", "2016-12-31T23:59:60Z", "2026-04-25T19:17:33+02:00"} {
		for _, text := range neighbors(base) {
			_, err := time.Parse("2006-01-02T15:04:05Z", text)
			r.holds(quote(text), err == nil && !strings.Contains(text, ","))
		}
	}
	for _, year := range []string{"0000", "0004", "0100", "0400", "1900", "1999", "2000", "2024", "2026", "2100", "9999"} {
		for month := range 14 {
			for day := range 33 {
				r.holds(fmt.Sprintf(`"%s-%02d-%02dT00:00:00Z"`, year, month, day), true)
			}
		}
	}
	for part, form := range []string{`"2026-12-31T%02d:59:59Z"`, `"2026-12-31T23:%02d:59Z"`, `"2026-12-31T23:59:%02dZ"`, `"2026-12-31T12:00:%02dZ"`} {
		for n := range 100 {
			r.holds(fmt.Sprintf(form, n), part < 2 || n < 60)
		}
	}
	for n := range 40 {
		r.holds(`"2026-04-25T19:17:33.`+strings.Repeat("7", n)+`Z"`, n > 0 && n < 10)
	}
	r.tried(4000, 10_000)
}

func TestRuleTexts(t *testing.T) {
	for _, c := range []struct {
		schema, base string
		yes          int
	}{
		{`{"type":"string","pattern":"^sha256:[0-9a-f]{64}$"}`, digest, 900},
		{`{"type":["string","null"],"pattern":"^sha256:[0-9a-f]{64}$"}`, digest, 900},
		{`{"type":"string","pattern":"^[A-Z]{3}$"}`, "EUR", 70},
		{`{"type":"string","minLength":1}`, "x", 100},
		{`{"const":"receipt-2026-04-25"}`, "receipt-2026-04-25", 2},
		{`{"type":"string","enum":["act_with_approval","act_auto","shadow","suggest"]}`, "act_auto", 2},
		{`{"type":"string","enum":["task","event","artifact","tool_call"]}`, "task", 2},
	} {
		r := newRule(t, c.schema)
		for _, text := range append(neighbors(c.base), "", " ", strings.ToUpper(c.base), strings.ToLower(c.base), c.base+c.base) {
			r.holds(quote(text), !strings.Contains(text, `\`))
		}
		for _, other := range []string{"null", "0", "true", "[]", "{}", "[" + quote(c.base) + "]"} {
			r.holds(other, true)
		}
		r.tried(c.yes, 5)
	}
}

func TestRuleNumbers(t *testing.T) {
	spellings := []string{"0", "-0", "0.0", "-0.0", "0e5", "-0e5", "1", "1.0", "1e0", "1E+2", "1e-2", "100e-2", "1.5", "0.1", "0.5e1", "-1", "-1.0", "-0.1", "-1e-400", "1e-400", "5e-324", "-5e-324",
		"9007199254740991", "9007199254740991.0", "9007199254740991.5", "4503599627370497.5", "9007199254740992", "9007199254740993", "1e300", "1.5e300", "-1e300", "123456789012345678901234567890", "0.9999999999999999999999",
		"1.0000000000000000000001", "-0.0000000000000000000001", "true", "null", `"1"`, "[]", "{}"}
	for i := range 200 {
		spellings = append(spellings, strconv.Itoa(i*i*i), fmt.Sprintf("%d.%d", i, i), fmt.Sprintf("-%d", i), fmt.Sprintf("%de-%d", i*100, i%5))
	}
	for schema, yes := range map[string]int{
		`{"type":"integer","minimum":0}`: 250,
		`{"type":"number","minimum":0}`:  600,
		`{"type":"number","minimum":1}`:  500,
		`{"type":"number"}`:              800,
		`{"type":"integer"}`:             400,
	} {
		r := newRule(t, schema)
		for _, text := range spellings {
			r.holds(text, !strings.ContainsAny(text, "eE-") && len(text) < 17)
		}
		r.tried(yes, 5)
	}
}

// TestRuleObjects verifies all objects that have up to four of six members, in every order, with
// valid and invalid values.
func TestRuleObjects(t *testing.T) {
	members := []string{`"a":"x"`, `"b":1`, `"c":null`, `"a":1`, `"d":1`, `"\u0061b":{}`}
	for _, c := range []struct {
		rest    string
		yes, no int
	}{
		{`"additionalProperties":false`, 10, 300},
		{`"additionalProperties":true`, 50, 200},
		{`"additionalProperties":false,"anyOf":[{"required":["b"]},{"required":["c"]}]`, 8, 300},
	} {
		r := newRule(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":["object","null"]}},"required":["a"],`+c.rest+`}`)
		var try func(chosen []string)
		try = func(chosen []string) {
			r.holds("{"+strings.Join(chosen, ",")+"}", true)
			for _, m := range members {
				if len(chosen) < 4 && !slices.Contains(chosen, m) {
					try(append(slices.Clip(chosen), m))
				}
			}
		}
		try(nil)
		r.tried(c.yes, c.no)
	}
	r := newRule(t, `{"type":"array","items":{"type":"object","properties":{"a":{"const":"x"}},"required":["a"],"additionalProperties":false}}`)
	for _, text := range []string{"[]", `[{"a":"x"}]`, `[{"a":"x"},{"a":"x"}]`} {
		r.holds(text, true)
	}
	for _, text := range []string{"{}", "null", `[{}]`, `[{"a":"x"},{}]`, `[{},{"a":"x"}]`, `[[]]`, `[null]`, `[{"a":"x"},{"a":"y"}]`, `[{"a":"x","b":0}]`, `[[{"a":"x"}]]`} {
		r.holds(text, true)
	}
	r.tried(3, 10)
}

// TestRuleEveryField verifies every sample, and every neighbor of the field's own example, in every
// field of a receipt that has all members. Unless tests run at full size, only some of these values
// are tested for each field.
func TestRuleEveryField(t *testing.T) {
	s := must(t, schemas.Receipt)
	whole := mutate.Parse([]byte(text(t, fullReceipt(t))))
	accepted, all, part := 0, 0, 8
	if testsize.Full() {
		part = 1
	}
	for i, f := range fields(t)[1:] {
		parent := whole
		for _, step := range f.parent() {
			parent = childOf(parent, step)
		}
		was := *childOf(parent, f.name())
		at := childOf(parent, f.name())
		for j, other := range fieldTexts(t, f) {
			if (i+j)%part != 0 {
				continue
			}
			*at = mutate.Value{Text: other}
			src := whole.Append(nil)
			d, err := canon.Parse(src)
			if err != nil {
				continue
			}
			all++
			if schemas.Accepts(s, d.Root()) {
				accepted++
				if r := s.Reference(d.Root()); r.Total != 0 {
					t.Errorf("%s as %s is accepted, but %v", other, f.pointer(), r.Problems)
				}
			}
		}
		*at = was
	}
	if d, err := canon.Parse(whole.Append(nil)); err != nil || !schemas.Accepts(s, d.Root()) {
		t.Errorf("the receipt with all members is not accepted without the library, %v", err)
	}
	if accepted < 1000/part || all < accepted+8000/part {
		t.Errorf("%d of %d receipts accepted", accepted, all)
	}
}

func childOf(v *mutate.Value, step string) *mutate.Value {
	if v.Open == '[' {
		return v.Items[0]
	}
	return v.Member(step)
}

// fieldTexts returns the samples for a field, and some neighbors of the field's example.
func fieldTexts(t *testing.T, f field) (list []string) {
	t.Helper()
	for _, v := range samples {
		list = append(list, text(t, v))
	}
	example, _ := example(f).(string)
	near := neighbors(example)
	for i := 0; i < len(near); i += 1 + len(near)/60 {
		list = append(list, quote(near[i]))
	}
	return list
}

// TestUsualReceiptsAreAccepted verifies that the acceptor accepts every valid receipt, regardless
// of its layout, order, and escapes, so that only unusual receipts need the library.
func TestUsualReceiptsAreAccepted(t *testing.T) {
	s := must(t, schemas.Receipt)
	c := rand.New(rand.NewPCG(7, 7))
	tried := 0
	for name, src := range receiptTexts(t, "valid") {
		seed := mutate.Parse(src)
		for range 30 {
			spelled := mutate.Spell(c, seed.Clone())
			d, err := canon.Parse(spelled)
			if err != nil {
				t.Fatal(err)
			}
			if tried++; !schemas.Accepts(s, d.Root()) {
				t.Errorf("%s is not accepted without the library if it is spelled %s", name, bytes.TrimSpace(spelled))
			}
		}
	}
	if tried < 450 {
		t.Errorf("only %d receipts", tried)
	}
}

// TestUnusualReceipts verifies that, of the unusual fixtures, only those that contain a time in
// another form need the library.
func TestUnusualReceipts(t *testing.T) {
	s := must(t, schemas.Receipt)
	left := 0
	for name, src := range receiptTexts(t, "edge") {
		d, err := canon.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if schemas.Accepts(s, d.Root()) {
			continue
		}
		if left++; !slices.Contains([]string{"leap-second.json", "lower-case-time.json", "offset-time.json"}, name) {
			t.Errorf("%s is not accepted without the library", name)
		}
	}
	t.Logf("%d edge cases are left to the library", left)
}

// TestAcceptsNoMutant verifies that the acceptor accepts no invalid receipt. The receipts have a
// changed structure.
func TestAcceptsNoMutant(t *testing.T) {
	s := must(t, schemas.Receipt)
	c := rand.New(rand.NewPCG(8, 8))
	var seeds []*mutate.Value
	for _, src := range receiptTexts(t, "valid") {
		seeds = append(seeds, mutate.Parse(src))
	}
	count, accepted, left := 8000, 0, 0
	if !testsize.Full() {
		count = 800
	}
	for range count {
		v := seeds[c.IntN(len(seeds))].Clone()
		for range 1 + c.IntN(2) {
			mutate.Structure(c, v, seeds[c.IntN(len(seeds))])
		}
		d, err := canon.Parse(v.Append(nil))
		if err != nil {
			continue
		}
		if fits := s.Reference(d.Root()).Total == 0; schemas.Accepts(s, d.Root()) {
			if accepted++; !fits {
				t.Errorf("%s is accepted, but does not fit", d.Source())
			}
		} else if fits {
			left++
		}
	}
	if accepted < count/10 || left > accepted/10 {
		t.Errorf("of %d mutants %d are accepted, %d that fit are not", count, accepted, left)
	}
}
