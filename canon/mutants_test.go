package canon

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/mutate"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestMutants damages documents in their structure and in their bytes. For accepted documents, the
// test verifies that the output equals the reference's output. If a document is rejected, the
// reference must also reject it, unless the reason is in stricter. A Document that was reused for
// all previous inputs must behave like a new one.
func TestMutants(t *testing.T) {
	seeds := mutantSeeds(t)
	count := testsize.Of(1000, 50_000)
	var reused Document
	codes, accepted, same := map[Code]int{}, 0, 0
	for i := range count {
		text := mutant(rand.New(rand.NewPCG(8785, uint64(i))), seeds)
		out, err := Transform(text)
		if again := reused.Parse(text, Limits{}); (again == nil) != (err == nil) || err != nil && again.Error() != err.Error() {
			t.Fatalf("%d: %.2000q: a new Document returns %v, a reused one %v", i, text, err, again)
		}
		if err != nil {
			checkRefused(t, text, out, err)
			codes[err.(*SyntaxError).Code]++
			continue
		}
		accepted++
		if bytes.Equal(text, out) {
			same++
		}
		checkAccepted(t, text)
		if got := reused.AppendCanonical(nil); !bytes.Equal(got, out) || reused.Digest() != Sum(out) {
			t.Fatalf("%d: %.2000q: a new Document writes %.2000q, a reused one %.2000q", i, text, out, got)
		}
		checkLeavingOut(t, &reused, i)
	}
	if accepted < count/3 || accepted > count*9/10 || same < count/50 {
		t.Errorf("of %d documents %d are accepted, %d canonical", count, accepted, same)
	}
	for _, code := range []Code{CodeSyntax, codeDuplicateName, codeInvalidUTF8, codeLoneSurrogate, codeNumberRange, codeTrailingData, codeEmptyInput} {
		if codes[code] < count/2000 {
			t.Errorf("%d of %d documents are refused with %s", codes[code], count, code)
		}
	}
	t.Logf("%d accepted, %d of them canonical, %v", accepted, same, codes)
}

// mutantSeeds returns the documents in this package's tables and the small fixtures.
func mutantSeeds(t *testing.T) (seeds []*mutate.Value) {
	t.Helper()
	for _, test := range transforms {
		seeds = append(seeds, mutate.Parse([]byte(test.src)))
	}
	for _, folder := range []string{"valid", "edge"} {
		files, err := filepath.Glob("../fixtures/" + folder + "/*.json")
		if err != nil || len(files) < 15 {
			t.Fatalf("%d files in %s, %v", len(files), folder, err)
		}
		for _, file := range files {
			if text := readFile(t, file); len(text) < 3600 {
				seeds = append(seeds, mutate.Parse(text))
			}
		}
	}
	return append(seeds, mutate.Parse(receiptLike()))
}

func mutant(c *rand.Rand, seeds []*mutate.Value) []byte {
	pick := func() *mutate.Value { return seeds[c.IntN(len(seeds))] }
	v := pick().Clone()
	for range c.IntN(4) {
		mutate.Structure(c, v, pick())
	}
	text := v.Append(nil)
	if c.IntN(3) == 0 {
		text = mutate.Spell(c, v)
	}
	if c.IntN(4) == 0 {
		text = mutate.Text(c, text)
	}
	return text
}

// checkLeavingOut verifies that omitting root members at regular intervals produces the same output
// as a document that never contained them.
func checkLeavingOut(t *testing.T, d *Document, i int) {
	t.Helper()
	root := d.Root()
	if root.Len() == 0 || root.Kind() != KindObject {
		return
	}
	var without []Node
	rest, at := []byte("{"), 0
	for name, value := range root.Members() {
		if at++; (i+at)%3 == 0 {
			without = append(without, value)
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, name.Raw()...), ':'), value.Raw()...)
	}
	want, err := Reference(append(rest, '}'))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.AppendCanonical(nil, without...); !bytes.Equal(got, want) || d.Digest(without...) != Sum(want) {
		t.Fatalf("%d: %.2000q without %d members:\n got %.2000q\nwant %.2000q", i, d.Source(), len(without), got, want)
	}
}
