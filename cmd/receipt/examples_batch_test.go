package main

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// addBatchFiles adds the files that are used by the examples of archive, batch, and merge. All
// files except the first are created by the commands themselves.
func addBatchFiles(t *testing.T, files map[string][]byte) {
	t.Helper()
	read := func(name string) []byte {
		data := readFixture(t, name)
		return data
	}
	dir := t.TempDir()
	paths := map[string]string{}
	write := func(name string, data []byte) {
		files[name], paths[name] = data, filepath.Join(dir, name)
		writeFile(t, paths[name], data)
	}
	for name, data := range maps.Clone(files) {
		write(name, data)
	}
	write("log.private.json", read("keys/log_1.private.json"))
	write("witness.private.json", bytes.Replace(read("keys/witness_1.private.json"), []byte(`{`), []byte(`{"roles":["witness"],`), 1))
	write("full.json", read("valid/full.json"))
	write("minimal.json", read("valid/minimal.json"))
	write("second.json", read("valid/task-second.json"))
	do := func(name string, args ...string) {
		for i, a := range args {
			if path, file := paths[a]; file {
				args[i] = path
			}
		}
		var out, message bytes.Buffer
		if code := run(context.Background(), args, testEnv(&out, &message)); code != cli.ExitVerified {
			t.Fatalf("%q ended with %d: %s", args, code, &message)
		}
		write(name, out.Bytes())
	}
	do("receipts.jsonl", "archive", "unpack", "receipt.json", "full.json", "minimal.json")
	do("more-receipts.jsonl", "archive", "unpack", "receipts.jsonl", "second.json")
	do("receipt.cbor", "archive", "pack", "receipt.json")
	do("day.cborseq", "archive", "pack", "receipts.jsonl")
	write("drafts.jsonl", draftOf(t, read("valid/task.json")))
	sign := []string{"--key", "log.private.json", "--origin", "log.example.net/receipts"}
	do("checkpoint.txt", append([]string{"batch", "checkpoint", "receipts.jsonl"}, sign...)...)
	do("later-checkpoint.txt", append([]string{"batch", "checkpoint", "more-receipts.jsonl"}, sign...)...)
	do("consistency.txt", "batch", "consistency", "--from", "checkpoint.txt", "--to", "later-checkpoint.txt", "more-receipts.jsonl")
	for _, name := range []string{"week", "april"} {
		file := map[string]string{"week": "receipt.json", "april": "more-receipts.jsonl"}[name]
		write("april.db", ledgerOf(t, paths[file]))
		do(name+".txt", append([]string{"ledger", "checkpoint", "april.db"}, sign...)...)
		do(name+".jsonl", "ledger", "export", "april.db")
	}
	do("april.report.json", "verify", "--keys", "keys.json", "--format", "json", "receipt.json")
	do("may.report.json", "verify", "--keys", "keys.json", "--format", "json", "second.json")
}

// ledgerOf returns a ledger that contains the receipts from a file.
func ledgerOf(t *testing.T, receipts string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	writeFile(t, path, emptyLedger(t))
	if code, _, stderr := command(nil, "ledger", "import", path, "--integrity-only", receipts); code != cli.ExitVerified {
		t.Fatal(stderr)
	}
	data := readFile(t, path)
	return data
}
