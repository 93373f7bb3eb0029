package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/verify"
)

// sentences is a script that prints the headline of each receipt as the page shows it, as one JSON
// string per line. Only the text of elements is compared, because browser tests cover the
// appearance.
const sentences = `
globalThis.Node = class { constructor(text = "") { this.text = text; } append(...list) { for (const one of list) this.text += one.text; } setAttribute() {} };
globalThis.document = { createElement: () => new Node(), createTextNode: (text) => new Node(text) };
const { words } = await import(process.argv[2] + "/answer.js");
const { h } = await import(process.argv[2] + "/dom.js");
let input = "";
for await (const part of process.stdin) input += part;
for (const line of input.trim().split("\n")) console.log(JSON.stringify(h("p", {}, words(JSON.parse(line).sentence)).text));
`

// TestPageSentence verifies that the page shows the same sentence as "receipt show".
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
		text := readFixture(t, c.File)
		doc, err := canon.Parse(text)
		if err != nil || doc.Root().Kind() != canon.KindObject {
			continue
		}
		said := verify.ShownOf(doc).Headline()
		input.Write(append(encoded(t, said), '\n'))
		want = append(want, cli.EscapeLine(said.Sentence.String()))
	}
	for _, text := range listings(t) {
		doc, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		said := verify.ShownOf(doc).Headline()
		input.Write(append(encoded(t, said), '\n'))
		want = append(want, cli.EscapeLine(said.Sentence.String()))
	}
	if len(want) < 1000 {
		t.Fatalf("found %d receipts", len(want))
	}
	script := filepath.Join(t.TempDir(), "sentences.mjs")
	writeFile(t, script, sentences)
	views := absolute(t, "../../receipt/serve/page/view")
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
			t.Errorf("the page shows %q, the command %q (%v)", text, want[i], err)
		}
	}
}

// listings returns variants of a receipt for each member that the sentence uses. In each variant,
// the member is listed as unreported, as an upper bound, as both, or as an estimate. Further
// variants have tasks of various durations.
func listings(t *testing.T) (list [][]byte) {
	t.Helper()
	text := readFixture(t, "valid/full.json")
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}

	lifecycle := whole["lifecycle"].(map[string]any)
	before := maps.Clone(lifecycle)
	for _, times := range [][2]string{
		{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"}, {"0000-01-01T00:00:00.5Z", "2026-04-25T19:17:33Z"}, {"2026-04-25T19:17:33Z", "2026-04-25T19:17:33.999999999Z"},
		{"2026-04-25T19:17:33.25Z", "2026-04-25T19:17:34.125Z"}, {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"}, {"2026-04-25T23:00:00-01:00", "2026-04-26T00:00:00Z"},
	} {
		lifecycle["started_at"], lifecycle["completed_at"] = times[0], times[1]
		list = append(list, encoded(t, whole))
	}
	maps.Copy(lifecycle, before)

	effects := whole["side_effects"].(map[string]any)
	for _, egress := range [][]any{
		{map[string]any{"bytes_sent": 2048}},
		{map[string]any{"bytes_sent": 0}, map[string]any{"bytes_sent": 7}, map[string]any{}},
		{map[string]any{"bytes_sent": 1<<53 - 1}, map[string]any{"bytes_sent": 1<<53 - 1}, map[string]any{"bytes_sent": 1<<53 - 1}},
		{},
	} {
		effects["network_egress"] = egress
		for _, pointer := range placesOf(whole, "") {
			for _, names := range [][]string{{"unreported"}, {"at_most"}, {"unreported", "at_most"}, {"estimated"}} {
				says := map[string]any{}
				for _, name := range names {
					says[name] = []string{pointer}
				}
				whole["metadata"] = says
				list = append(list, encoded(t, whole))
			}
		}
	}
	return list
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	line, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// placesOf returns the pointers of all values that the sentence uses.
func placesOf(value any, at string) (list []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if at != "" || slices.Contains([]string{"lifecycle", "cost", "approvals", "side_effects"}, name) {
				list = append(list, placesOf(inner, at+"/"+name)...)
			}
		}
	case []any:
		for i, inner := range value {
			list = append(list, placesOf(inner, at+"/"+strconv.Itoa(i))...)
		}
	}
	if at != "" {
		list = append(list, at)
	}
	return list
}
