package foreign_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
)

// A value is a JSON value whose members keep their order and may occur repeatedly.
type value struct {
	scalar   string // "" for an array or object
	object   bool
	names    []string
	elements []*value
}

func parsed(t testing.TB, d *json.Decoder) *value {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	open, is := token.(json.Delim)
	if !is {
		return &value{scalar: compact(t, token)}
	}
	v := &value{object: open == '{'}
	for d.More() {
		if v.object {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			v.names = append(v.names, compact(t, name))
		}
		v.elements = append(v.elements, parsed(t, d))
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *value) append(dst []byte) []byte {
	if v.scalar != "" {
		return append(dst, v.scalar...)
	}
	dst = append(dst, map[bool]byte{true: '{', false: '['}[v.object])
	for i, e := range v.elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.object {
			dst = append(append(dst, v.names[i]...), ':')
		}
		dst = e.append(dst)
	}
	return append(dst, map[bool]byte{true: '}', false: ']'}[v.object])
}

// all returns v and all values inside v, at any depth.
func (v *value) all() []*value {
	list := []*value{v}
	for _, e := range v.elements {
		list = append(list, e.all()...)
	}
	return list
}

// mutate makes one change to a document: it changes a byte, or removes, repeats, replaces, renames,
// or swaps members or elements.
func mutate(t testing.TB, text string, r *rand.Rand) []byte {
	if r.IntN(3) == 0 {
		b := []byte(text)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	root := parsed(t, d)
	list := slices.DeleteFunc(root.all(), func(v *value) bool { return len(v.elements) == 0 })
	v := list[r.IntN(len(list))]
	i, j := r.IntN(len(v.elements)), r.IntN(len(v.elements))

	switch r.IntN(6) {
	case 0:
		v.elements = slices.Delete(v.elements, i, i+1)
		if v.object {
			v.names = slices.Delete(v.names, i, i+1)
		}
	case 1:
		v.elements = append(v.elements, v.elements[i])
		if v.object {
			v.names = append(v.names, v.names[j])
		}
	case 2:
		v.elements[i], v.elements[j] = v.elements[j], v.elements[i]
		if v.object && r.IntN(2) == 0 {
			v.names[i], v.names[j] = v.names[j], v.names[i] // swapping the names, too, changes only the order
		}
	case 3:
		v.elements[i] = &value{scalar: []string{"null", "0", "1.0", "-0", `""`, "true", "9007199254740993", `"EdDSA"`, `"none"`}[r.IntN(9)]}
	case 4:
		if v.object {
			v.names[i] = []string{`"x"`, `"signature"`, `"kid"`, `"alg"`, `"ext"`, `"type"`}[r.IntN(6)]
		}
	case 5:
		v.elements = append(v.elements, &value{scalar: "1"})
		if v.object {
			v.names = append(v.names, `"added"`)
		}
	}
	return root.append(nil)
}

// covered returns the canonical text of a document without the members that the report lists as not
// covered.
func covered(t testing.TB, data []byte, rep *receipt.Report) string {
	t.Helper()
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatalf("%s is %s: %v", data, rep.Verdict, err)
	}
	var without []canon.Node
	for _, n := range rep.NotChecked {
		pointer, err := canon.ParsePointer(n.Pointer)
		if err != nil {
			t.Fatal(err)
		}
		if at, found := doc.Find(pointer); found && n.Code == receipt.CodeUncovered && n.Pointer != "" {
			without = append(without, at)
		}
	}
	return string(doc.AppendCanonical(nil, without...))
}

// mutants returns the number of changes per receipt: the value of the variable MUTANTS or, without
// it, a number that depends on the size of the tests.
func mutants(t *testing.T, modest, full int) int {
	text := os.Getenv("MUTANTS")
	switch n, err := strconv.Atoi(text); {
	case text != "" && err != nil:
		t.Fatalf("MUTANTS=%s is not a number", text)
	case text != "":
		return n
	case testsize.Full():
		return full
	}
	return modest
}

// TestMutants verifies that no changed receipt is verified, unless the change affects only order,
// spelling, or members that the report lists as not covered.
func TestMutants(t *testing.T) {
	n := mutants(t, 2000, 4000)
	for name, s := range seeds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := receipt.NewVerifier(s.trust, s.policy)
			if err != nil {
				t.Fatal(err)
			}
			original := covered(t, []byte(s.text), judgeWith(v, []byte(s.text)))
			counts := map[receipt.Verdict]int{}
			for i := range n {
				text := mutate(t, s.text, rand.New(rand.NewPCG(uint64(i), 1)))
				rep := judgeWith(v, text)
				counts[rep.Verdict]++
				if rep.Verdict == receipt.Verified && covered(t, text, rep) != original {
					t.Fatalf("mutant %d is verified:\n%s\nof %s", i, text, s.text)
				}
				if info, known := receipt.Lookup(rep.Finding().Code); rep.Verdict != receipt.Verified && !known {
					t.Fatalf("mutant %d: %s, %+v", i, rep.Verdict, info)
				}
				if rep.Check(receipt.StepSignatures).Code == receipt.CodeUnsigned && rep.Check(receipt.StepParse).Status == receipt.StatusFailed {
					t.Fatalf("mutant %d was not read, but is called unsigned:\n%s", i, text)
				}
			}
			if counts[receipt.Refuted] < n/3 {
				t.Errorf("%v of %d mutants", counts, n)
			}
		})
	}
}

// TestAELMutants verifies that an artifact with a changed record is never verified.
func TestAELMutants(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "foreign"), "ael", "ael4", "counterparty_none")
	set := withLog(t, aelKeys(t, dir), strings.Trim(string(member(read(t, "ael", "ael4", "counterparty_none", "manifest.json"), "anchor", "log_key")), `"`))
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"recorders/r1.jsonl", "recorders/r2.jsonl", "counterparty.jsonl", "anchors.json"}
	counts := map[receipt.Verdict]int{}
	for i := range mutants(t, 500, 3000) {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		var parts map[string]string
		if err := json.Unmarshal(member(aelDirectory(t, dir), "ael_directory"), &parts); err != nil {
			t.Fatal(err)
		}
		name := names[r.IntN(len(names))]
		text := []byte(parts[name])
		switch at := r.IntN(len(text)); r.IntN(3) {
		case 0:
			text[at] ^= 1 << r.IntN(7)
		case 1:
			text = slices.Delete(text, at, min(len(text), at+1+r.IntN(400)))
		default:
			text = append(text, text[at:]...)
		}
		lines := slices.Compact(strings.Fields(string(text))) // the same record may occur twice in succession
		same := slices.Equal(lines, strings.Fields(parts[name]))
		parts[name] = string(text)
		rep := judgeWith(v, []byte(compact(t, map[string]any{"ael_directory": parts})))
		counts[rep.Verdict]++
		if rep.Verdict == receipt.Verified && !same && name != "anchors.json" { // anchors may be repeated or absent
			t.Fatalf("mutant %d of %s is verified:\n%s", i, name, text)
		}
	}
	if counts[receipt.Refuted] == 0 {
		t.Errorf("%v", counts)
	}
}

// FuzzAEL verifies that every artifact gets a report, and that only records from the seed are
// verified.
func FuzzAEL(f *testing.F) {
	dir := filepath.Join(vectors.Dir(f, "foreign"), "ael", "ael4", "counterparty_none")
	set := withLog(f, aelKeys(f, dir), strings.Trim(string(member(read(f, "ael", "ael4", "counterparty_none", "manifest.json"), "anchor", "log_key")), `"`))
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		f.Fatal(err)
	}
	seed := aelDirectory(f, dir)
	files := member(seed, "ael_directory")
	var parts map[string]string
	if err := json.Unmarshal(files, &parts); err != nil {
		f.Fatal(err)
	}
	f.Add(parts["manifest.json"], parts["anchors.json"], parts["recorders/r1.jsonl"], parts["counterparty.jsonl"])
	f.Fuzz(func(t *testing.T, manifest, anchors, recorder, counterparty string) {
		data := []byte(compact(t, map[string]any{"ael_directory": map[string]string{"manifest.json": manifest, "anchors.json": anchors,
			"recorders/r1.jsonl": recorder, "recorders/r2.jsonl": parts["recorders/r2.jsonl"], "counterparty.jsonl": counterparty}}))
		rep := judgeWith(v, data)
		if rep.Verdict == receipt.Verified && (recorder != parts["recorders/r1.jsonl"] || counterparty != parts["counterparty.jsonl"]) {
			t.Errorf("%s is verified", data)
		}
		if rep := judgeWith(v, []byte(recorder)); rep.Verdict == receipt.Verified && !strings.Contains(parts["recorders/r1.jsonl"]+parts["recorders/r2.jsonl"], strings.TrimRight(recorder, "\r\n")) {
			t.Errorf("%q is verified", recorder)
		}
	})
}

// fuzzFormats verifies that every string gets a report, and that a string is verified only if its
// covered members equal those of a seed.
func fuzzFormats(f *testing.F, formats ...string) {
	all := seeds(f)
	var verifiers []*receipt.Verifier
	var originals []string // the same key signs all of them
	for _, format := range formats {
		s := all[format]
		f.Add([]byte(s.text))
		v, err := receipt.NewVerifier(s.trust, s.policy)
		if err != nil {
			f.Fatal(err)
		}
		verifiers = append(verifiers, v)
		originals = append(originals, covered(f, []byte(s.text), judgeWith(v, []byte(s.text))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		for _, v := range verifiers {
			rep := judgeWith(v, data)
			if rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeFull && !slices.Contains(originals, covered(t, data, rep)) {
				t.Errorf("%s is verified", data)
			}
		}
	})
}

func FuzzA2A(f *testing.F)      { fuzzFormats(f, "a2a-card") }
func FuzzActa(f *testing.F)     { fuzzFormats(f, "acta-envelope", "acta-flat") }
func FuzzAudit(f *testing.F)    { fuzzFormats(f, "gilda-audit-record") }
func FuzzHarn(f *testing.F)     { fuzzFormats(f, "harn-provenance", "opentrustgraph") }
func FuzzObsigna(f *testing.F)  { fuzzFormats(f, "obsigna") }
func FuzzPipelock(f *testing.F) { fuzzFormats(f, "pipelock-v1", "pipelock-v2") }
func FuzzVerdict(f *testing.F)  { fuzzFormats(f, "in-toto-svr", "slsa-vsa") }
