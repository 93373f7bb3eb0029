package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// testStrange drops other kinds of input on the page: an attestation, a directory, an empty file,
// and disclosures together with receipts.
func testStrange(t *testing.T, browser context.Context, url string) {
	b := open(t, browser, url)
	testAttestation(b)
	testFolder(b)
	testEmpty(b)
	testDisclosed(b)
	b.quiet()
}

// testAttestation verifies that, for a receipt in a signed envelope, the signature on the envelope
// is verified as well.
func testAttestation(b *tab) {
	b.Helper()
	statement, err := attest.NewStatement(series(b.T, 1)[0], "")
	b.must(err)
	signed := func(key string) []byte {
		envelope, err := attest.Sign(context.Background(), statement, keys.NewSigner(privateKey(b.T, key), nil))
		b.must(err)
		return envelope.Bytes()
	}
	good, trust := signed("key_2026_04"), fixture(b.T, "keys/trust.json")
	forged := bytes.Replace(good, []byte(`"sig":"`), []byte(`"sig":"AAAA`), 1)
	forged = append(forged[:len(forged)-len("AAAA\"}]}}\n")], "\"}]}}\n"...)

	b.drop(writeFile(b.T, "run.sigstore.json", string(good)), trust)
	b.expect("Verified", "Unchanged", "Signer confirmed")
	if about := b.text("#outcome .headlines > .about"); !strings.HasPrefix(about, "run.sigstore.json · receipt receipt_0000") {
		b.Errorf("the verdict is about %q", about)
	}
	b.click("#outcome .technical > summary")
	if shown := b.text("#outcome .signature-results"); !strings.Contains(shown, "dsse") || !strings.Contains(shown, "attested for") {
		b.Errorf("the signature of the envelope is shown as %q", shown)
	}

	b.fresh("run.sigstore.json", writeFile(b.T, "stranger.json", string(signed("key_stranger"))))
	b.wait(`document.querySelector("#outcome > :not([data-old]) .verdict strong")?.textContent === "Undecided"`)
	b.fresh("stranger.json", writeFile(b.T, "forged.json", string(forged)))
	b.wait(`document.querySelector("#outcome > :not([data-old]) .verdict strong")?.textContent === "Refuted"`)
	if shown := b.text("#outcome .headlines"); strings.Contains(shown, "signature_invalid") {
		b.Errorf("a code is in the headline: %s", shown)
	}
}

// testFolder verifies that a dropped directory is replaced by the files in it, except hidden files.
// Files that are not receipts must be listed as such.
func testFolder(b *tab) {
	b.Helper()
	dir := filepath.Join(b.T.TempDir(), "april")
	b.must(os.MkdirAll(filepath.Join(dir, "late"), 0o755))
	for i, sealed := range series(b.T, 3) {
		name := []string{"a.json", "b.json", "late/a.json"}[i]
		b.must(os.WriteFile(filepath.Join(dir, name), sealed.JSON(), 0o644))
	}
	b.must(os.WriteFile(filepath.Join(dir, ".hidden"), []byte("x"), 0o644))
	b.must(os.WriteFile(filepath.Join(dir, "scan.pdf"), []byte("%PDF-1.7\n"), 0o644))

	b.drop(dir, fixture(b.T, "keys/trust.json"))
	b.expect("Verified")
	if rows, want := listedRows(b), "Verified april/a.json; Verified april/b.json; Verified april/late/a.json; Not a receipt april/scan.pdf"; rows != want {
		b.Errorf("listed %q, want %s", rows, want)
	}
	if said := b.said(); !strings.Contains(said, "3 verified") {
		b.Errorf("said: %q", said)
	}
	if given := b.text("#given"); !strings.Contains(given, "trust.json") {
		b.Errorf("given: %s", given)
	}
}

// testEmpty verifies that an empty file is not reported as refuted. After evidence is dropped, the
// page must no longer show a file that is not a receipt.
func testEmpty(b *tab) {
	b.Helper()
	b.fresh("april", writeFile(b.T, "lost.json", ""))
	b.wait(`document.querySelector("#outcome .stranger")`)
	if shown := b.text("#outcome"); !strings.Contains(shown, "This is an empty file. Nothing was verified.") || strings.Contains(shown, "Refuted") {
		b.Errorf("of an empty file: %s", shown)
	}
	sealed := series(b.T, 2)
	b.fresh("lost.json", proofOf(b.T, sealed, 1))
	b.wait(`document.getElementById("given").innerText.includes("Now add the receipt.")`)
	if shown := b.text("main"); strings.Contains(shown, "lost.json") || b.count("#outcome .stranger") > 0 {
		b.Errorf("after a proof: %s", shown)
	}
	b.drop(writeFile(b.T, "second.json", string(sealed[1].JSON())))
	b.expect("Verified", "Unchanged", "Signer confirmed")
}

// testDisclosed verifies that the run is undecided if disclosures match no receipt, and that
// invalid disclosures refute the receipt that they name.
func testDisclosed(b *tab) {
	b.Helper()
	sealed := series(b.T, 2)
	first, second := writeFile(b.T, "first.json", string(sealed[0].JSON())), writeFile(b.T, "second.json", string(sealed[1].JSON()))
	disclosed := func(fields string) string {
		return writeFile(b.T, "shown.json", fmt.Sprintf(`{"disclosures_version":1,"receipt_hash":%q,"fields":[%s]}`, sealed[0].Hash(), fields))
	}

	b.drop(first, second, disclosed("")) // the file contains no disclosures, so it cannot be used
	b.expect("Undecided")
	if shown := b.text("#outcome"); !strings.Contains(shown, "no receipt in the input matches") {
		b.Errorf("of disclosed values: %s", shown)
	}
	b.drop(first, second, disclosed(`{"field":"/metadata","salt":"0123456789abcdef0123456789abcdef","value":1}`))
	b.expect("Refuted")
	b.drop(second, disclosed(""))
	b.expect("Undecided", "Unchanged", "Signer confirmed")
}

// listedRows returns the verdicts in the list, in order.
func listedRows(b *tab) string {
	b.Helper()
	return strings.Join(eval[[]string](b, `[...document.querySelectorAll("#outcome .verdicts li")].map((li) => li.querySelector("strong").textContent + " " + li.querySelector(".name").textContent)`), "; ")
}
