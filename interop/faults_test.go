package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// faults lists changes to single lines of the JavaScript verifier, each with the subject of the
// corpus that must detect the change.
var faults = []struct {
	name, subject, file, line, broken string
}{
	{"a revoked key counts", "receipt", "signatures.mjs", `if (stolen && !(provenBefore < other.revokedAt)) return "key_revoked";`, ``},
	{"an expired key counts", "receipt", "signatures.mjs", `if (time >= key.notAfter) return "key_expired";`, ``},
	{"a key speaks for every issuer", "receipt", "signatures.mjs", `(key.issuers === undefined ? policy.issuer === issuer : key.issuers.includes(issuer))`, `true`},
	{"every signature is valid", "receipt", "signatures.mjs", `if (!(await crypto.subtle.verify(key.params, key.key, signature, message)))`, `if (false)`},
	{"the hash is not compared", "receipt", "receipt.mjs", `if (stated !== computed)`, `if (false)`},
	{"the last of two members counts", "receipt", "json.mjs", `if (members.has(name)) throw refuted("parse", "duplicate_name");`, ``},
	{"unknown members are allowed", "receipt", "schema.mjs", `schema.additionalProperties ?? true`, `true`},
	{"a stream may begin again", "stream", "chain.mjs", `if (again || elsewhere)`, `if (elsewhere)`},
	{"members of CBOR are in any order", "archive", "archive.mjs", `if (encoded <= before) throw malformed();`, ``},
	{"the root of a checkpoint is not compared", "checkpoint", "checkpoint.mjs", `if (equalBytes(root, checkpoint.root) && size <= leaves.length)`, `if (size <= leaves.length)`},
	{"a proof includes every receipt", "proof", "checkpoint.mjs", `if (root !== undefined && equalBytes(root, checkpoint.root))`, `if (true)`},
	{"every value was withheld", "disclosure", "evidence.mjs", `entry.get("proof_hash") === proof`, `true`},
	{"a batch lists every receipt", "batch", "evidence.mjs", `if (!listed) findings.push(mismatch);`, ``},
	{"a bundle is not searched", "bundle", "bundle.mjs", `allowed ? []`, `true ? []`},
	{"every delta is expected", "replay", "replay.mjs", `return [...differences(stated, expected)];`, `return [...differences(stated.set("deltas", expected.get("deltas")), expected)];`},
	{"a replay may have effects", "replay", "replay.mjs", `side_effects: { tool_calls: [], fs_writes: [], network_egress: [], a2a_handoffs: [] },`, ``},
	{"the envelope is not verified", "attestation", "attestation.mjs", `if (!raw || !(await crypto.subtle.verify(key.params, key.key, raw, message)))`, `if (false)`},
}

// TestFaults verifies that the corpus detects each fault in a verifier with a case from the
// expected subject.
func TestFaults(t *testing.T) {
	need(t)
	all := corpus(t)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			if fault.subject == "receipt" && !testsize.Full() {
				t.Skip("half of the corpus has receipts, which takes time")
			}
			t.Parallel()
			var cases []corpusCase
			var paths []string
			for _, c := range all {
				if c.Subject == fault.subject {
					cases, paths = append(cases, c), append(paths, filepath.Join(corpusPath, c.File))
				}
			}
			lines, err := ask([]string{"node", "--no-warnings", breakVerifier(t, fault.file, fault.line, fault.broken), "--cases"}, paths)
			if err != nil {
				t.Fatal(err)
			}

			var caught []string
			for i, line := range lines {
				if outcome(line) != words[cases[i].Expected.Outcome] {
					caught = append(caught, cases[i].About)
				}
			}
			if len(caught) == 0 {
				t.Errorf("none of %d cases detects the fault", len(cases))
			}
			t.Logf("detected by %q", caught[:min(3, len(caught))])
		})
	}
}

// TestRunner verifies that the conformance runner can run the JavaScript verifier, and that it
// reports a broken verifier.
func TestRunner(t *testing.T) {
	need(t)
	command, err := build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for verifier, want := range map[string]struct{ exit, wrong int }{
		"js/main.mjs": {0, 0},
		breakVerifier(t, "evidence.mjs", `if (!listed) findings.push(mismatch);`, ``): {1, 6},
	} {
		cmd := exec.Command(command, "conformance", "run", "--corpus", corpusPath, "--subject", "batch", "--format", "json",
			"--", "node", "--no-warnings", verifier)
		out, _ := cmd.Output() // the exit code is compared below
		var report struct {
			Totals struct {
				Vectors int
				Failed  []json.RawMessage
			}
		}
		if err := json.Unmarshal(out, &report); err != nil {
			t.Fatalf("%s: %v: %s", cmd, err, out)
		}
		exit, totals := cmd.ProcessState.ExitCode(), report.Totals
		if exit != want.exit || totals.Vectors == 0 || len(totals.Failed) != want.wrong {
			t.Errorf("%s: exit code %d, expected %d, and %d failures:\n%s", cmd, exit, want.exit, want.wrong, out)
		}
	}
}

// breakVerifier copies the JavaScript verifier, replaces one line of the copy, and returns its
// path.
func breakVerifier(t *testing.T, file, line, broken string) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"interop/js", "schemas"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("..", part))); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "interop/js", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), line); n != 1 {
		t.Fatalf("%s has %q %d times, expected once", file, line, n)
	}
	text = []byte(strings.Replace(string(text), line, broken, 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "interop/js/main.mjs")
}
