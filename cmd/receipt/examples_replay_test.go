package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// addReplay adds a log, a request to replay the log's task with a substitution, and the results.
// The results are the replayed events, and the receipts of the task and of its replay.
func addReplay(t *testing.T, files map[string][]byte) {
	t.Helper()
	script := readFile(t, "testdata/replay.txtar")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, data []byte) {
		writeFile(t, at(name), data)
	}
	for _, name := range []string{"log.jsonl", "request.json"} {
		_, rest, found := strings.Cut(string(script), "\n-- "+name+" --\n")
		text, _, _ := strings.Cut(rest, "\n-- ")
		if !found {
			t.Fatalf("no %s in the script of replay", name)
		}
		write(name, []byte(text+"\n"))
	}
	write("key.json", files["issuer.private.json"])

	for _, args := range [][]string{
		{"record", at("log.jsonl"), "--issuer", "harness_1", "-o", at("source-draft.json")},
		{"seal", at("source-draft.json"), "-o", at("source.json")},
		{"replay", "run", at("log.jsonl"), "--request", at("request.json"), "--task", "task_2", "-o", at("replayed.jsonl")},
		{"record", at("replayed.jsonl"), "--issuer", "harness_example_cloud", "-o", at("replayed-draft.json")},
		{"seal", at("replayed-draft.json"), "--key", at("key.json"), "-o", at("replayed.json")},
	} {
		if code, _, stderr := command(nil, args...); code != 0 {
			t.Fatalf("%v: %s", args, stderr)
		}
	}

	for _, name := range []string{"log.jsonl", "request.json", "source.json", "replayed.jsonl", "replayed.json"} {
		data := readFile(t, at(name))
		files[name] = data
	}
}
