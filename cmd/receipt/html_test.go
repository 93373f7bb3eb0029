package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/verify"
	"github.com/receiptkit/receiptkit/fixtures"
)

// sentences prints what the page says of receipts, a JSON string a line. Its
// elements are reduced to their text: what they look like, a browser tests.
const sentences = `
globalThis.Node = class { constructor(text = "") { this.text = text; } append(...list) { for (const one of list) this.text += one.text; } setAttribute() {} };
globalThis.document = { createElement: () => new Node(), createTextNode: (text) => new Node(text) };
const { summarize } = await import(process.argv[2] + "/receipt.js");
const { h } = await import(process.argv[2] + "/dom.js");
let input = "";
for await (const part of process.stdin) input += part;
for (const line of input.trim().split("\n")) console.log(JSON.stringify(h("p", {}, summarize(JSON.parse(line))).text));
`

// TestPageSentence: the page says what receipt show says, in the same words.
func TestPageSentence(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("no node in PATH")
	}
	if err != nil {
		t.Skip("no node in PATH")
	}
	var input strings.Builder
	var want []string
	for _, c := range receipts(t) {
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := canon.Parse(text)
		if err != nil || doc.Root().Kind() != canon.KindObject {
			continue
		}
		input.Write(append(doc.AppendCanonical(nil), '\n'))
		want = append(want, cli.EscapeLine((&verify.Shown{Root: doc.Root()}).Sentence()))
	}
	if len(want) < 150 {
		t.Fatalf("found %d receipts", len(want))
	}
	script := filepath.Join(t.TempDir(), "sentences.mjs")
	if err := os.WriteFile(script, []byte(sentences), 0o600); err != nil {
		t.Fatal(err)
	}
	views, err := filepath.Abs("../../receipt/serve/page/view")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--no-warnings", script, views)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input.String()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d sentences for %d receipts", len(got), len(want))
	}
	for i, line := range got {
		var text string
		if err := json.Unmarshal([]byte(line), &text); err != nil || text != want[i] {
			t.Errorf("the page says %q, the command %q (%v)", text, want[i], err)
		}
	}
}
