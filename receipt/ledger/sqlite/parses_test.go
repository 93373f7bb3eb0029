package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// TestParses verifies that a receipt is parsed once when it is sealed and once more when it is
// signed. The check for secrets and the store must not parse the receipt again. The test counts the
// parses in a separate process, using the coverage profile of package canon.
func TestParses(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv("LEDGER_PARSES")); err == nil {
		issuer := &ledger.Issuer{Store: create(t), Signer: signer(t)}
		for i := range n {
			if _, err := issuer.Issue(context.Background(), draft(fmt.Sprint("receipt_", i), "w")); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if !testsize.Full() {
		t.Skip("builds this package a second time; CI=true runs it")
	}
	binary := filepath.Join(t.TempDir(), "ledger.test")
	build := exec.Command("go", "test", "-c", "-covermode=atomic", "-coverpkg=github.com/receiptkit/receiptkit/canon", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Data that is parsed only once, such as a schema, is included in both counts.
	few, many := parses(t, binary, 10), parses(t, binary, 110)
	if each := float64(many-few) / 100; each < 1 || each > 3 {
		t.Errorf("%v parses for each receipt", each)
	} else {
		t.Logf("%v parses for each receipt", each)
	}
}

// parses returns the number of calls of the parser in package canon while a process issues n
// receipts.
func parses(t *testing.T, binary string, n int) int {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.Command(binary, "-test.run=^TestParses$", "-test.coverprofile="+profile)
	cmd.Env = append(os.Environ(), fmt.Sprint("LEDGER_PARSES=", n))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	source, err := os.ReadFile("../../../canon/document.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), "\nfunc (d *Document) Parse(")
	if !found {
		t.Fatal("canon has no method Document.Parse")
	}
	counts, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	// A line of the profile has the form "file:line.column,line.column statements count".
	block := regexp.MustCompile(fmt.Sprintf(`(?m)canon/document\.go:%d\.\d+,\S+ \d+ (\d+)$`, strings.Count(before, "\n")+2))
	match := block.FindSubmatch(counts)
	if match == nil {
		t.Fatal("the profile does not count Document.Parse")
	}
	count, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return count
}
