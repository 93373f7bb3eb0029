package archive_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// TestByHand verifies that the encoder in the package documentation, which shares no code with this
// package, produces the same result for all fixtures.
func TestByHand(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	run := exec.Command(python, "-c", documented(t))
	all := fixtureArray(t)
	run.Stdin, run.Stderr = bytes.NewReader(all), os.Stderr
	got, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := encode(t, archive.NewCodec(), all); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// documented returns the source code of the program in the package documentation.
func documented(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "as archive.py:\n//\n")
	program, _, end := strings.Cut(rest, "//\n// Its input")
	if !found || !end {
		t.Fatal("the documentation has no program")
	}
	program = strings.ReplaceAll(program, "//\t", "")
	return strings.ReplaceAll(program, "//\n", "\n")
}

// fixtureArray returns the canonical JSON of an array that contains some numbers and every fixture
// that can be archived inside an array.
func fixtureArray(t *testing.T) []byte {
	t.Helper()
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := []byte("[0.5,1.1,0.00006103515625,5e-324,1.401298464324817e-45,-9007199254740991,4294967296,-25")
	count := 0
	for _, file := range m.Cases {
		doc, err := canon.Parse(read(t, file.File))
		if err != nil || doc.Depth() > 100 {
			continue
		}
		if _, lossy := doc.LossyInteger(); lossy {
			continue
		}
		b = doc.AppendCanonical(append(b, ','))
		count++
	}
	if count < 170 {
		t.Fatalf("only %d fixtures", count)
	}
	return append(b, ']')
}
