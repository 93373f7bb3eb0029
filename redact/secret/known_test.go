package secret

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact/secret/internal/match"
)

var update = flag.Bool("update", false, "write known.txt anew")

// TestKnown verifies that the detectors' precomputed data matches the result of compiling them.
func TestKnown(t *testing.T) {
	var want strings.Builder
	seen, digests := map[digest]bool{}, digester{}
	if !*update {
		if n := len(knowledgeOf()); n < 400 {
			t.Fatalf("%d are known", n)
		}
	}
	for _, d := range slices.Concat(Default(), Upstream(), []Detector{HomePath()}) {
		of := digests.of(&d)
		unknown := func(int) (by match.Knowledge, ok bool) { return by, false }
		s, err := match.Compile([]match.Detector{match.Detector(d)}, unknown)
		if err != nil {
			t.Fatal(err)
		}
		if seen[of] {
			continue
		}
		seen[of] = true
		fmt.Fprintf(&want, "%x", of)
		by := s.Knowledge(0)
		texts := by.Anchors
		if len(texts) == 0 && len(by.Keywords) > 0 {
			texts = append([]string{""}, by.Keywords...)
		}
		for _, text := range texts {
			quoted := strconv.Quote(text)
			want.WriteString("\t" + quoted[1:len(quoted)-1])
		}
		want.WriteByte('\n')
		if *update {
			continue
		}
		if got, ok := knowledgeOf()[of]; !ok || !slices.Equal(got.Anchors, by.Anchors) || !slices.Equal(got.Keywords, by.Keywords) {
			t.Errorf("%s: %q are known, want %q", d.Name, got, by)
		}
	}
	if *update {
		if err := os.WriteFile("known.txt", []byte(want.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if knownText != want.String() {
		t.Error("known.txt is not what compiling finds: go generate writes it anew")
	}
	if len(knowledgeOf()) != len(seen) {
		t.Errorf("%d are known, of %d", len(knowledgeOf()), len(seen))
	}
}

// TestDigest verifies that a change to a detector changes its digest, unless only the name changed,
// and that lists that divide the same text differently have different digests.
func TestDigest(t *testing.T) {
	base := Detector{Pattern: "ab", Keywords: []string{"ab", "c"}, Allow: []string{"x"}, StopWords: []string{"y"},
		Allowed: []Allowance{{Patterns: []string{"p"}, StopWords: []string{"w"}}}}
	changed := []func(*Detector){
		func(d *Detector) {},
		func(d *Detector) { d.Pattern = "abc" },
		func(d *Detector) { d.Group = FirstGroup },
		func(d *Detector) { d.Entropy = 0.5 },
		func(d *Detector) { d.Keywords = []string{"a", "bc"} },
		func(d *Detector) { d.Keywords = []string{"abc"} },
		func(d *Detector) { d.Keywords = nil },
		func(d *Detector) { d.Allow, d.StopWords = []string{"x", "y"}, nil },
		func(d *Detector) { d.Allow, d.StopWords = nil, []string{"x", "y"} },
		func(d *Detector) { d.Allow = []string{"("} },
		func(d *Detector) { d.Allowed = nil },
		func(d *Detector) { d.Allowed = []Allowance{{Patterns: []string{"p", "w"}}} },
		func(d *Detector) { d.Allowed = []Allowance{{StopWords: []string{"p", "w"}}} },
		func(d *Detector) { d.Allowed = slices.Clone(d.Allowed); d.Allowed[0].Target = TargetLine },
		func(d *Detector) { d.Allowed = slices.Clone(d.Allowed); d.Allowed[0].All = true },
		func(d *Detector) { d.Allowed = append(slices.Clone(d.Allowed), Allowance{}) },
	}
	seen, digests := map[digest]int{}, digester{memory: []byte("memory")}
	for i, change := range changed {
		d := base
		change(&d)
		of := digests.of(&d)
		if j, ok := seen[of]; ok {
			t.Errorf("changes %d and %d have one digest", j, i)
		}
		seen[of] = i
	}
	named := digests.of(&Detector{Name: "other", Pattern: "ab"})
	if same := digests.of(&Detector{Name: "one", Pattern: "ab"}); same != named {
		t.Error("the name counts")
	}

	// A list that extends the previous list is a different list.
	long := base
	long.StopWords, long.Allowed = []string{"y", "z"}, []Allowance{base.Allowed[0], {}}
	short := long
	short.StopWords, short.Allowed = long.StopWords[:1], long.Allowed[:1]
	digests.of(&long)
	if digests.of(&short) != new(digester).of(&base) || digests.of(&long) != new(digester).of(&long) {
		t.Error("a digest depends on those before it")
	}
}

// TestKnownIsChecked verifies that a modified default detector is checked like any other detector.
func TestKnownIsChecked(t *testing.T) {
	list := Default()
	list[3].Allow = append(slices.Clone(list[3].Allow), "(")
	if _, err := Compile(list); err == nil {
		t.Error("an invalid pattern is accepted")
	}
}
