package receipt_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// A bench verifies each distinct document only once.
type bench struct {
	comparer
	judgment
	done map[string]bool
}

func newBench(t *testing.T) *bench {
	return &bench{comparer{tb: t, forger: newForger(t), seen: census{}}, judgments(t)[0], map[string]bool{}}
}

func (b *bench) judge(name string, m mutant) {
	if text := string(m.text); !b.done[text] {
		b.done[text] = true
		b.compare(name, b.judgment, m)
	}
}

// put verifies a receipt in which the given text replaces a member. If the result is still a
// receipt, it is sealed and signed again.
func (b *bench) put(name string, text string, path ...string) {
	tree := b.forger.seeds[0].Clone()
	at := tree
	for _, step := range path[:len(path)-1] {
		at = at.Member(step)
	}
	at.Set(path[len(path)-1], &mutate.Value{Text: text})
	signed := &mutate.Bytes{Left: []byte{7, 1}}
	m := mutant{sealed: b.forger.seal(signed, tree)}
	m.text = tree.Append(nil)
	b.judge(name+" as "+strings.Join(path, "/"), m)
}

// filesBelow returns all files below a directory.
func filesBelow(t *testing.T, dir string, least int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = text
		return err
	})
	if err != nil || len(files) < least {
		t.Fatalf("%d files below %s, expected %d, %v", len(files), dir, least, err)
	}
	return files
}

// TestEveryFixture verifies all fixture files, including keys, the manifest, and source code, and
// checks how many files have each result.
func TestEveryFixture(t *testing.T) {
	b := newBench(t)
	for name, text := range filesBelow(t, "../fixtures", 200) {
		m := mutant{text: text}
		if canonical, err := canon.Transform(text); err == nil && !strings.Contains(name, "malicious") {
			if inner := mutate.Parse(canonical).Member("chain"); inner != nil {
				m.sealed = strings.Trim(inner.Member("receipt_hash").Text, `"`)
			}
		}
		b.judge(name, m)
	}
	for what, least := range map[string]int{"verified": 50, "refuted": 180, "step parse": 50, "step schema": 60, "step hash": 10, "step signatures": 30} {
		if b.seen[what] < least {
			t.Errorf("%d of %d files are %s, expected %d", b.seen[what], len(b.done), what, least)
		}
	}
}

// TestEveryVector verifies every file in the public test data, both as a document and as a value
// inside a receipt.
func TestEveryVector(t *testing.T) {
	b := newBench(t)
	for name, text := range filesBelow(t, filepath.Dir(vectors.Dir(t, "harn")), 400) {
		name = filepath.Base(name)
		b.judge(name, mutant{text: text})
		if strings.HasSuffix(name, ".json") && len(text) < 300_000 {
			b.put(name, `{"x":`+string(text)+`}`, "metadata")
		}
	}
	if b.seen["verified"] < 150 || b.seen["step parse"] < 400 {
		t.Errorf("%d verified, %d refuted as no JSON", b.seen["verified"], b.seen["step parse"])
	}
}

// TestEveryInstance verifies receipts that contain the values from JSON Schema test suites, each in
// several places.
func TestEveryInstance(t *testing.T) {
	b, turn, part := newBench(t), 0, testsize.Of(32, 5, 1)
	for _, dir := range []string{"json-schema-suite", "json-patch-tests", "cbor-appendix-a", "jcs-cyberphone", "jcs-gowebpki"} {
		for name, text := range filesBelow(t, vectors.Dir(t, dir), 3) {
			suite := mutate.Parse(text)
			if suite == nil {
				continue
			}
			for _, value := range instances(suite) {
				instance := string(value.Append(nil))
				b.judge(name, mutant{text: []byte(instance)})
				turn++
				for i, place := range [][]string{{"metadata"}, {"metadata", "x"}, {"receipt_id"}, {"issued_at"}, {"cost", "total"}, {"chain", "previous_receipt_hash"}, {"signatures"}} {
					if (i+turn)%part == 0 {
						b.put(filepath.Base(name), instance, place...)
					}
				}
			}
		}
	}
	if len(b.done) < 6000/part || b.seen["verified"] < 1500/part || b.seen["step schema"] < 3500/part {
		t.Errorf("%d texts, %d verified, %d do not fit the schema", len(b.done), b.seen["verified"], b.seen["step schema"])
	}
}

// instances returns the members that contain the tested values in test cases.
func instances(v *mutate.Value) (list []*mutate.Value) {
	for _, name := range []string{"data", "doc", "value", "expected", "decoded", "const"} {
		if m := v.Member(name); m != nil {
			list = append(list, m)
		}
	}
	for _, item := range v.Items {
		list = append(list, instances(item)...)
	}
	return list
}

// TestEveryNumber verifies receipts that contain decimal strings that are difficult to parse.
func TestEveryNumber(t *testing.T) {
	b := newBench(t)
	step := testsize.Of(24, 5, 1)
	for name, text := range filesBelow(t, vectors.Dir(t, "numbers-parse-fxx"), 3) {
		if !strings.HasSuffix(name, ".txt") {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i := 0; i < len(lines); i += step {
			if columns := strings.Fields(lines[i]); len(columns) == 4 {
				b.put(name, columns[3], "cost", "total")
			}
		}
	}
	if len(b.done) < 5000/step || b.seen["verified"] < len(b.done)/2 || b.seen["step parse"] < 100/step {
		t.Errorf("%d texts, %d verified, %d refuted as no JSON", len(b.done), b.seen["verified"], b.seen["step parse"])
	}
}
