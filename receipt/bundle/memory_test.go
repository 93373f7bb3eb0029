package bundle_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// TestLarge verifies that processing 64 MB takes less than three seconds on one core, and that the
// peak memory use is less than four times that size.
func TestLarge(t *testing.T) {
	if !testsize.Full() || runtime.GOOS != "linux" {
		t.Skip("it takes seconds and 250 MB")
	}
	if os.Getenv("BUNDLE_LARGE") == "" {
		inOwnProcess(t)
		return
	}

	large := largeBundle(t, 64<<20)
	runtime.GC()
	before := processTime(t)
	text, err := bundle.Sanitize(parse(t, large), bundle.Sanitized, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text.WriteTo(discard{}); err != nil {
		t.Fatal(err)
	}
	took := processTime(t) - before
	if t.Logf("%v of processor time, %d entries", took, len(text.Entries)); took > 3*time.Second {
		t.Errorf("%d bytes took %v", len(large), took)
	}
	if peak := peakMemory(t); peak > 4*int64(len(large)) {
		t.Errorf("%d bytes took %d bytes of memory, more than four times as much", len(large), peak)
	}
}

// inOwnProcess runs the test in a separate process, so that its memory use can be measured.
func inOwnProcess(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "BUNDLE_LARGE=1", "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLimits verifies that input that is too large is rejected before it is read.
func TestLimits(t *testing.T) {
	var wrong *bundle.Error
	refused := func(what string, err error) {
		t.Helper()
		if !errors.As(err, &wrong) || wrong.Kind != bundle.TooLarge {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := bundle.Parse(make([]byte, bundle.MaxBytes+1))
	refused("one byte more than a bundle has", err)
	_, err = bundle.Parse([]byte("[" + strings.Repeat("1,", 2<<20) + "1]"))
	refused("digits", err)

	// A readable bundle may become too large to write, because each level of nesting adds
	// indentation.
	deep := strings.Repeat("[", 900) + strings.Repeat("1,", 150_000) + "1" + strings.Repeat("]", 900)
	run := []byte(`{"id": "r", "workflow_id": "w", "task": "", "status": "completed", "finished_at": "2026-05-04T10:00:00Z", "x": ` + deep + `}`)
	_, err = bundle.Export(run, bundle.Options{ID: "b"})
	refused("indents", err)
	_, err = bundle.Export(run, bundle.Options{})
	refused("indents, and an id of it", err)

	// The list of removals may also become too large, because each path contains the names of all
	// levels.
	deep = strings.Repeat(`{"`+strings.Repeat("x", 100)+`":`, 900) + "[" + strings.Repeat(`{"token":1},`, 2_950) + "1]" + strings.Repeat("}", 900)
	run = []byte(`{"id": "r", "workflow_id": "w", "task": "", "status": "completed", "finished_at": "2026-05-04T10:00:00Z", "content": ` + deep + `}`)
	_, err = bundle.Export(run, bundle.Options{ID: "b", Mode: bundle.ReplayOnly})
	refused("paths", err)
}
