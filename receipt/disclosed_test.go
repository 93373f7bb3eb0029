package receipt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// A keeper is a receipt, together with the values to which it commits.
type keeper struct {
	sealed    *receipt.Sealed
	document  map[string]any
	committed []redact.Disclosure
}

// candidates returns fields together with their withheld values, which may be genuine or forged.
func candidates() map[string][]string {
	return map[string][]string{
		"/metadata/a":                           {`{"b":1}`, `{"b":[7]}`, `{"b":"[redacted]"}`, `{"c":1}`, `{"b":{}}`, `"[redacted]"`},
		"/metadata/a/b":                         {`1`, `2`, `[7]`, `null`},
		"/metadata/a/b/0":                       {`7`, `8`},
		"/metadata/pin":                         {`"1234"`, `"9999"`},
		"/nowhere/x":                            {`1`},
		"/receipt_id":                           {`"receipt_0"`, `"other"`},
		"/chain/receipt_hash":                   {`"sha256:00"`},
		"/cost/total":                           {`0`, `2`},
		"/side_effects":                         {`{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]}`},
		"/side_effects/tool_calls":              {`[{"input_hash":"sha256:aa","metadata":{"k":1}}]`, `[{"metadata":{}}]`, `[]`},
		"/side_effects/tool_calls/0/input_hash": {`"sha256:aa"`, `"sha256:bb"`},
		"/side_effects/tool_calls/0/metadata":   {`{"k":1}`, `{"k":2}`},
	}
}

// TestDisclosedTogether verifies runs with several receipts and disclosure files. The verdicts must
// match the results of an oracle that works on plain JSON values.
func TestDisclosedTogether(t *testing.T) {
	n := testsize.Of(1_500, 3_000, 10_000)
	counts := map[string]int{}
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 6))
		receipts := randomKeepers(t, r)
		files := randomFiles(r, receipts)
		want, got := expected(receipts, files), verdicts(t, receipts, files)
		if counts[want[:strings.Index(want, ":")]]++; got != want {
			for k, r := range receipts {
				t.Logf("receipt %d: %s", k, r.sealed.JSON())
			}
			for k, f := range files {
				t.Logf("file %d: %s", k, f.Marshal())
			}
			t.Fatalf("set %d: %s, want %s", i, got, want)
		}
	}
	for _, want := range []string{"verified", "refuted", "undecided"} {
		if counts[want] < n/20 {
			t.Errorf("%d of %d sets are %s: too few to show anything", counts[want], n, want)
		}
	}
	t.Log(counts)
}

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func randomKeepers(t *testing.T, r *rand.Rand) (list []*keeper) {
	t.Helper()
	fields := []string{}
	for f := range candidates() {
		fields = append(fields, f)
	}
	slices.Sort(fields)
	salts := 0
	head := chain.Head{}
	for i := range 1 + r.IntN(3) {
		k := &keeper{}
		d := plainDraft()
		d.ReceiptID = fmt.Sprintf("receipt_%d", i)
		d.Metadata = receipt.Object{}
		if place := oneOf[any](r, nil, nil, nil, "[redacted]", map[string]any{"b": "[redacted]"}, map[string]any{"b": "", "d": []any{}}, map[string]any{"b": 5.0}, ""); place != nil {
			d.Metadata["a"] = place
		}
		if place := oneOf[any](r, nil, nil, nil, "[redacted]", "<redacted:pin> and more", "***", "1234", 5.0); place != nil {
			d.Metadata["pin"] = place
		}
		for range r.IntN(5) {
			field := oneOf(r, fields...)
			value := oneOf(r, candidates()[field]...)
			salts++
			k.committed = append(k.committed, redact.Disclosure{Field: field, Salt: fmt.Sprintf("%032x", salts), Value: []byte(value)})
		}
		for _, c := range k.committed {
			d.Redactions = append(d.Redactions, receipt.Redaction{Field: c.Field, Reason: "test", ProofHash: c.Commitment()})
		}
		sealed, err := receipt.Seal(d, head)
		if err != nil {
			t.Fatal(err)
		}
		k.sealed, head = sealed, sealed.Head()
		if err := json.Unmarshal(sealed.JSON(), &k.document); err != nil {
			t.Fatal(err)
		}
		list = append(list, k)
	}
	return list
}

func randomFiles(r *rand.Rand, receipts []*keeper) (files []*redact.Disclosures) {
	for range 1 + r.IntN(3) {
		of := oneOf(r, receipts...)
		d := &redact.Disclosures{}
		switch r.IntN(6) {
		case 0, 1:
			d.ReceiptHash = of.sealed.Hash()
		case 2:
			if r.IntN(3) == 0 {
				d.ReceiptHash = canon.Sum([]byte("another"))
			}
		}
		for _, c := range of.committed {
			if r.IntN(3) == 0 || slices.ContainsFunc(d.Fields, func(f redact.Disclosure) bool { return f.Field == c.Field }) {
				continue
			}
			if r.IntN(15) == 0 {
				c.Value = []byte(oneOf(r, candidates()[c.Field]...))
			}
			d.Fields = append(d.Fields, c)
		}
		if other := oneOf(r, receipts...); d.ReceiptHash.IsZero() && r.IntN(3) == 0 && len(other.committed) > 0 {
			c := oneOf(r, other.committed...)
			if !slices.ContainsFunc(d.Fields, func(f redact.Disclosure) bool { return f.Field == c.Field || f.Salt == c.Salt }) {
				d.Fields = append(d.Fields, c)
			}
		}
		files = append(files, d)
	}
	return files
}

// verdicts returns the verdict on a run and the verdicts on its receipts.
func verdicts(t *testing.T, receipts []*keeper, files []*redact.Disclosures) string {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if v, err = v.With(receipt.Evidence{Disclosures: files}); err != nil {
		t.Fatal(err)
	}
	var sources []stream.Source
	for i, k := range receipts {
		data := k.sealed.JSON()
		sources = append(sources, stream.Source{Name: strconv.Itoa(i), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }})
	}
	run := stream.VerifyFiles(t.Context(), v, sources, stream.Options{})
	text := ""
	for rep := range run.Reports() {
		text += " " + rep.Verdict.String()
	}
	sum, err := run.Summary()
	if err != nil {
		t.Fatal(err)
	}
	return sum.Verdict().String() + ":" + text
}

// expected returns the result that verdicts should return, as computed by the oracle.
func expected(receipts []*keeper, files []*redact.Disclosures) string {
	text, whole := "", "verified"
	idle := false
	for _, f := range files {
		idle = idle || !useful(f, receipts)
	}
	if idle {
		whole = "undecided"
	}
	for _, k := range receipts {
		verdict := "verified"
		if k.contradicted(files) {
			verdict, whole = "refuted", "refuted"
		}
		text += " " + verdict
	}
	return whole + ":" + text
}

func (k *keeper) commits(f redact.Disclosure) bool {
	return slices.ContainsFunc(k.committed, func(c redact.Disclosure) bool {
		return c.Field == f.Field && c.Salt == f.Salt && bytes.Equal(c.Value, f.Value)
	})
}

// useful reports whether a disclosure file belongs to the receipts. It either names one of the
// receipts, or names no receipt and contains only values that belong to these receipts.
func useful(d *redact.Disclosures, receipts []*keeper) bool {
	if len(d.Fields) == 0 {
		return false
	}
	for _, f := range d.Fields {
		if !slices.ContainsFunc(receipts, func(k *keeper) bool {
			return d.ReceiptHash == k.sealed.Hash() || d.ReceiptHash.IsZero() && k.commits(f)
		}) {
			return false
		}
	}
	return true
}

// contradicted reports whether disclosures that belong to a receipt contradict it or each other.
func (k *keeper) contradicted(files []*redact.Disclosures) bool {
	var shown []redact.Disclosure
	for _, d := range files {
		for _, f := range d.Fields {
			switch {
			case d.ReceiptHash == k.sealed.Hash() && !k.commits(f):
				return true
			case d.ReceiptHash == k.sealed.Hash(), d.ReceiptHash.IsZero() && k.commits(f):
				shown = append(shown, f)
			}
		}
	}
	for _, f := range shown {
		value := decoded(f.Value)
		if !fitsPlace(k.document, f.Field, value) {
			return true
		}
		for _, above := range shown {
			if above.Field == f.Field && !reflect.DeepEqual(decoded(above.Value), value) {
				return true
			}
			if rest, below := strings.CutPrefix(f.Field, above.Field+"/"); below && !holds(decoded(above.Value), rest, f.Field, value) {
				return true
			}
		}
	}
	return false
}

func decoded(data []byte) (v any) {
	if err := json.Unmarshal(data, &v); err != nil {
		panic(err)
	}
	return v
}

// lookup follows a path through a value. The result covered reports whether a placeholder blocks
// the path.
func lookup(v any, path string) (found any, there, covered bool) {
	for token := range strings.SplitSeq(path, "/") {
		switch container := v.(type) {
		case map[string]any:
			v, there = container[token]
		case []any:
			i, err := strconv.Atoi(token)
			if there = err == nil && i < len(container); there {
				v = container[i]
			}
		case string:
			return nil, false, strings.Contains(container, "redacted")
		default:
			there = false
		}
		if !there {
			return nil, false, false
		}
	}
	return v, true, false
}

// fitsPlace reports whether the receipt's present value is possible in the place of the disclosed
// value.
func fitsPlace(document map[string]any, field string, value any) bool {
	found, there, _ := lookup(document, field[1:])
	protected := field == "/receipt_id" || field == "/chain/receipt_hash"
	if text, isText := value.(string); isText && found == "<redacted:pin> and more" {
		return strings.HasSuffix(text, " and more")
	}
	return !there && possible(document, field) || there && blank(found) || protected && reflect.DeepEqual(found, value)
}

// possible reports whether the nearest existing ancestor of an absent field could have contained
// more than it does now. A blank ancestor could have, with one exception: an empty array in
// metadata was always empty, because elements are not removed from such arrays. A scalar that is
// not blank could not have contained members.
func possible(document map[string]any, field string) bool {
	for above := field; ; {
		above = above[:strings.LastIndexByte(above, '/')]
		if above == "" {
			return true
		}
		v, there, covered := lookup(document, above[1:])
		if covered {
			return true
		}
		if _, isObject := v.(map[string]any); there {
			return isObject || v == nil || blank(v) && !(strings.HasPrefix(above, "/metadata/") && reflect.DeepEqual(v, []any{}))
		}
	}
}

func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return slices.Contains([]string{"", "[redacted]", "***"}, v)
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !blank(e) })
	case map[string]any:
		for _, e := range v {
			if !blank(e) {
				return false
			}
		}
		return true
	}
	return false
}

// holds reports whether a value disclosed for an ancestor is compatible with another disclosed
// value.
func holds(ancestor any, rest, field string, value any) bool {
	found, there, covered := lookup(ancestor, rest)
	if list, there, _ := lookup(ancestor, "tool_calls"); there && strings.HasPrefix(field, "/side_effects/tool_calls/") {
		covered = covered || reflect.DeepEqual(list, []any{}) // withholding a list empties it
	}
	switch {
	case covered:
		return true
	case !there:
		_, element, _ := lookup(ancestor, strings.TrimSuffix(rest, "/input_hash"))
		return element && field == "/side_effects/tool_calls/0/input_hash"
	case found == "[redacted]":
		return true
	case field == "/side_effects/tool_calls/0/metadata" && reflect.DeepEqual(found, map[string]any{}):
		return true
	case field == "/side_effects/tool_calls" && reflect.DeepEqual(found, []any{}):
		return true
	}
	return reflect.DeepEqual(found, value)
}
