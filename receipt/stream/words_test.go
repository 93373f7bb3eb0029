package stream_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// wordless replaces the text in a JSON document that is intended for people.
func wordless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name == "detail" || name == "hint" {
				v[name] = "x"
			} else {
				v[name] = wordless(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = wordless(v[i])
		}
	}
	return v
}

// retold writes a summary, removes its text for people, and reads it again.
func retold(t *testing.T, s *stream.Summary) *stream.Summary {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(wordless(tree)); err != nil {
		t.Fatal(err)
	}
	again := new(stream.Summary)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return again
}

// sameMeaning compares all parts of two summaries on which a program may rely.
func sameMeaning(t *testing.T, name string, a, b *stream.Summary) {
	t.Helper()
	if a.Verdict() != b.Verdict() || a.Receipts != b.Receipts || a.Verified != b.Verified || a.Refuted != b.Refuted || a.Undecided != b.Undecided || a.Copies != b.Copies {
		t.Errorf("%s: %v %+v\nwithout words %v %+v", name, a.Verdict(), a, b.Verdict(), b)
	}
	if !maps.Equal(a.Codes, b.Codes) || !maps.Equal(a.Heads(), b.Heads()) {
		t.Errorf("%s: %v %v\nwithout words %v %v", name, a.Codes, a.Heads(), b.Codes, b.Heads())
	}
	causes := func(s *stream.Summary) (list []string) {
		for _, f := range s.Findings {
			list = append(list, string(f.Code)+" "+string(f.Cause)+" "+f.Stated+" "+f.Computed)
		}
		for _, n := range s.NotChecked {
			list = append(list, "not checked "+string(n.Code)+" "+n.Pointer)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	if x, y := causes(a), causes(b); !slices.Equal(x, y) {
		t.Errorf("%s: %q\nwithout words %q", name, x, y)
	}
}

// TestWordsDecideNothing verifies that summaries have the same verdicts if they differ only in
// details and hints. Merging them must have the same result.
func TestWordsDecideNothing(t *testing.T) {
	list := newWriter(t, "a").many(6)
	fork := newWriter(t, "a")
	fork.n = 100
	first, _ := receipt.ParseSealed(list[1])
	branch := fork.seal(first.Head())
	second := newWriter(t, "a")
	second.n = 200

	parts := map[string]*stream.Summary{
		"begin":     part(t, stream.Options{}, list[:2]...),
		"end":       part(t, stream.Options{}, list[3:]...),
		"middle":    part(t, stream.Options{}, list[2]),
		"selection": part(t, stream.Options{Partial: true}, list[4], list[1]),
		"overlap":   part(t, stream.Options{}, list[1:4]...),
		"branch":    part(t, stream.Options{}, branch),
		"second":    part(t, stream.Options{}, second.many(1)...),
		"altered":   part(t, stream.Options{}, with(list, 2, altered(list[2]))...),
	}
	decided := map[receipt.Verdict]int{}
	for one, a := range parts {
		sameMeaning(t, one, a, retold(t, a))
		for two, b := range parts {
			if one == two {
				continue
			}
			want, err := a.Merge(b)
			got, wrong := retold(t, a).Merge(retold(t, b))
			if err != nil || wrong != nil {
				t.Fatal(one, two, err, wrong)
			}
			decided[want.Verdict()]++
			sameMeaning(t, one+" and "+two, want, got)
			sameMeaning(t, one+" and "+two+", merged", want, retold(t, want))
		}
	}
	if decided[receipt.Refuted] == 0 || decided[receipt.Undecided] == 0 {
		t.Errorf("the parts merge to %v only", decided)
	}
}

// TestSavedSummaries verifies that saved summaries can still be read if they are older than the
// causes of findings.
func TestSavedSummaries(t *testing.T) {
	want := map[string]receipt.Verdict{"verified.json": receipt.Verified, "refuted.json": receipt.Refuted, "finding.json": receipt.Refuted}
	saved := map[string]*stream.Summary{}
	for name, verdict := range want {
		text, err := os.ReadFile(filepath.Join("testdata", "saved", name))
		if err != nil {
			t.Fatal(err)
		}
		s := new(stream.Summary)
		if err := json.Unmarshal(text, s); err != nil || s.Verdict() != verdict {
			t.Fatalf("%s: %v, %v", name, s.Verdict(), err)
		}
		if again, err := json.Marshal(s); err != nil || string(again) != string(bytes.TrimSpace(text)) {
			t.Errorf("%s: %v\n%s\nis written again as\n%s", name, err, text, again)
		}
		saved[name] = s
	}
	m, err := saved["verified.json"].Merge(saved["refuted.json"])
	if err != nil || m.Verdict() != receipt.Refuted || m.Verified < saved["verified.json"].Verified {
		t.Errorf("%v: %+v", err, m)
	}
}
