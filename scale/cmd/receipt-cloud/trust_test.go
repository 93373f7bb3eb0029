package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// fixture returns the path of a fixture.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// policyFile writes a policy to a file.
func policyFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTrust verifies that every flag that specifies a requirement affects the verdict.
func TestTrust(t *testing.T) {
	address := "file://" + fixture(t, "valid/task.json")
	trusted := []string{"--keys", fixture(t, "keys/trust.json")}
	with := func(args ...string) []string { return append(slices.Concat(args, trusted), address) }
	cosigned := policyFile(t, `{"witnesses": {"threshold": 1}}`)
	for _, test := range []struct {
		name string
		args []string
		code int
		want string // text in the output or in the error message
	}{
		{"verified", with(), terms.ExitVerified, "verified: 1 receipts"},
		{"issuer", with("--issuer", "harness_example_cloud"), terms.ExitVerified, "verified: 1 receipts"},
		{"another issuer", with("--issuer", "somebody"), terms.ExitRefuted, "issuer_mismatch"},
		{"policy", with("--policy", cosigned), terms.ExitUndecided, "undecided: 1 receipts"},
		{"policy and flag", with("--policy", policyFile(t, `{"issuer": "a"}`), "--issuer", "b"), terms.ExitUsage, `--issuer is "b"`},
		{"malformed policy", with("--policy", policyFile(t, `{"version": 1}`)), terms.ExitUsage, "policy.json"},
		{"malformed tlog-policy", with("--policy", policyFile(t, "quorum none\nquorum none\n")), terms.ExitUsage, "line 2"},
		{"tlog-policy", with("--policy", policyFile(t, "quorum none\n")), terms.ExitUndecided, "checkpoint_required"},
		{"strict", with("--strict"), terms.ExitUndecided, "undecided: 1 receipts"},
		{"expired", append(slices.Clip(trusted), "file://"+fixture(t, "malicious/expired-key.json")), terms.ExitRefuted, "key_expired"},
		{"before it had", append(slices.Clip(trusted), "--at", "2025-06-01T00:00:00Z", "file://"+fixture(t, "malicious/expired-key.json")), terms.ExitVerified, "verified: 1 receipts"},
		{"no time", with("--at", "yesterday"), terms.ExitUsage, `--at "yesterday"`},
		{"no keys", []string{address}, terms.ExitUsage, "no trusted keys:"},
		{"keys that are none", []string{"--keys", fixture(t, "valid/task.json"), address}, terms.ExitUsage, "task.json"},
		{"not there", []string{"--keys", "nowhere.json", address}, terms.ExitUsage, "nowhere.json"},
	} {
		code, out, messages := verifyBy(t, test.args...)
		if code != test.code || !strings.Contains(out+messages, test.want) {
			t.Errorf("%s: exit %d, %s%s", test.name, code, out, messages)
		}
	}
}

// TestKeysOfTheEnvironment verifies that $RECEIPT_KEYS is used if --keys is absent.
func TestKeysOfTheEnvironment(t *testing.T) {
	var out bytes.Buffer
	s := &surroundings{out: &out, err: &out, now: time.Now, getenv: func(name string) string {
		return map[string]string{"RECEIPT_KEYS": fixture(t, "keys/trust.json")}[name]
	}}
	if code := run(context.Background(), []string{"verify", "file://" + fixture(t, "valid/task.json")}, s); code != terms.ExitVerified {
		t.Errorf("exit %d, %s", code, out.String())
	}
}

// TestSelection verifies that the absent predecessors of a selection are not checked, and that the
// receipts before the selection can be specified.
func TestSelection(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 5)
	l.put("a.jsonl", lines[1], lines[3])
	if code, out, _ := verify(t, l.address("a.jsonl")); code != terms.ExitRefuted {
		t.Errorf("a gap: exit %d, %s", code, out)
	}
	if code, out, _ := verify(t, "--partial", l.address("a.jsonl")); code != terms.ExitVerified {
		t.Errorf("a selection: exit %d, %s", code, out)
	}

	var first struct {
		Chain struct {
			Hash string `json:"receipt_hash"`
		}
	}
	if err := json.Unmarshal(lines[0], &first); err != nil {
		t.Fatal(err)
	}
	l.put("b.jsonl", lines[1:]...)
	if code, out, _ := verify(t, "--previous", first.Chain.Hash, l.address("b.jsonl")); code != terms.ExitVerified || strings.Contains(out, "link_not_checked") {
		t.Errorf("with the hash of the predecessor: exit code %d, %s", code, out)
	}
	l.put("b.jsonl", lines[2:]...)
	if code, out, _ := verify(t, "--previous", first.Chain.Hash, l.address("b.jsonl")); code != terms.ExitRefuted {
		t.Errorf("something else came before: exit %d, %s", code, out)
	}
}

// TestUnordered verifies the results for a single object whose receipts are not in order.
func TestUnordered(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 5)
	slices.Reverse(lines)
	l.put("a.jsonl", lines...)
	if code, out, _ := verify(t, l.address("a.jsonl")); code != terms.ExitRefuted || strings.Contains(out, "read twice") {
		t.Errorf("in order: exit %d, %s", code, out)
	}
	if code, out, _ := verify(t, "--unordered", "--mergeable", l.address("a.jsonl")); code != terms.ExitVerified || !strings.HasSuffix(out, ", read twice\n") {
		t.Errorf("in no order: exit %d, %s", code, out)
	}
}

// TestCheckpointOfObjects verifies that a checkpoint over an object is checked by reading the
// object twice, and that a truncated object does not have the root of the checkpoint.
func TestCheckpointOfObjects(t *testing.T) {
	l := newLake(t)
	lines := receipts(t, 5)
	text, err := os.ReadFile(fixture(t, "keys/log_1.private.json"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(text)
	if err != nil {
		t.Fatal(err)
	}
	var leaves []merkle.Hash
	for _, line := range lines {
		sealed, err := receipt.ParseSealed(line)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, receipt.CheckpointLeaf(sealed.Hash()))
	}
	note, err := keys.NewSigner(key, nil).SignCheckpoint(t.Context(), &tlog.Checkpoint{Origin: "log.example.net/receipts", Size: 5, Root: merkle.Root(leaves)})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "checkpoint.txt")
	if err := os.WriteFile(file, note, 0o600); err != nil {
		t.Fatal(err)
	}

	l.put("a.jsonl", lines...)
	l.put("cut.jsonl", lines[:4]...)
	trusted := []string{"--keys", fixture(t, "keys/trust.json"), "--checkpoint", file, "--expect-count", "5", l.address("a.jsonl")}
	if code, out, messages := verifyBy(t, trusted...); code != terms.ExitUndecided || strings.Count(out, "undecided, unsigned: ") != 5 || strings.Contains(out, "not checked: ") || !strings.HasSuffix(out, ", read twice\n") {
		t.Errorf("exit %d, %s%s", code, out, messages)
	}
	if code, out, messages := verifyBy(t, "--keys", fixture(t, "keys/trust.json"), "--checkpoint", file, l.address("cut.jsonl")); code != terms.ExitRefuted || !strings.Contains(out, "truncated: ") {
		t.Errorf("exit %d, %s%s", code, out, messages)
	}
	if code, out, messages := verify(t, "--checkpoint", file, l.address("cut.jsonl")); code != terms.ExitUndecided || strings.Count(out, "undecided, unknown_key: ") != 4 {
		t.Errorf("without the key of the log: exit %d, %s%s", code, out, messages)
	}

	// The tlog-policy contains the key that is missing from the trust file.
	log, err := key.Public().Log("log.example.net/receipts")
	if err != nil {
		t.Fatal(err)
	}
	policy := policyFile(t, fmt.Sprintf("log %s\nquorum none\n", log))
	few := policyFile(t, `{"keys":[{"kid":"k","kty":"OKP","crv":"Ed25519","x":"GoaI0-jLySXPIsxuDmnLk87heabpbSiCv-Rqb5aMQvk"}]}`)
	for _, test := range []struct {
		args    []string
		unknown bool
	}{{[]string{"--policy", policy}, false}, {nil, true}} {
		code, out, messages := verifyBy(t, append(test.args, "--keys", few, "--checkpoint", file, l.address("a.jsonl"))...)
		if code != terms.ExitUndecided || strings.Contains(out, "unknown_key") != test.unknown {
			t.Errorf("%v: exit %d, %s%s", test.args, code, out, messages)
		}
	}
	if code, out, messages := verify(t, "--expect-count", "5", l.address("cut.jsonl")); code != terms.ExitRefuted || !strings.Contains(out, "count_mismatch: ") {
		t.Errorf("exit %d, %s%s", code, out, messages)
	}
	if code, out, messages := verify(t, "--checkpoint", fixture(t, "keys/trust.json"), l.address("a.jsonl")); code != terms.ExitUsage || !strings.Contains(messages, "is not a checkpoint") {
		t.Errorf("exit %d, %s%s", code, out, messages)
	}
}

// TestInterrupted verifies that an interrupted run has no verdict.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, messages bytes.Buffer
	s := &surroundings{out: &out, err: &messages, now: time.Now, getenv: func(string) string { return "" }}
	code := run(ctx, []string{"verify", "--integrity-only", "file://" + fixture(t, "valid") + "/"}, s)
	if code != terms.ExitUsage || out.String() != "" || messages.String() != "receipt-cloud: error: interrupted\n" {
		t.Errorf("exit %d, %s%s", code, out.String(), messages.String())
	}
}

// TestAsReceipt verifies that the command "receipt" writes the same summary for the same files, and
// can merge this program's summaries.
func TestAsReceipt(t *testing.T) {
	receipt := filepath.Join(t.TempDir(), "receipt")
	build := exec.Command("go", "build", "-o", receipt, "./cmd/receipt")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	folder, keys := fixture(t, "valid"), fixture(t, "keys/trust.json")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint.txt")
	if out, err := exec.Command(receipt, "batch", "checkpoint", folder, "--key", fixture(t, "keys/log_1.private.json"), "--origin", "log.example.net/receipts", "-o", checkpoint).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	own := regexp.MustCompile(`"tool":"[^"]*","started":"[^"]*","finished":"[^"]*"`)
	for _, asked := range [][]string{{"--format", "json"}, {"--format", "ndjson"}, {"--format", "ndjson", "--checkpoint", checkpoint}} {
		format := strings.Join(asked[1:], " ")
		asked = append([]string{"verify", "--keys", keys}, asked...)
		want, err := exec.Command(receipt, append(asked, folder)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		code, got, messages := verifyBy(t, append(asked[1:], "file://"+folder+"/")...)
		if code != terms.ExitVerified {
			t.Errorf("%s: exit %d, %s", format, code, messages)
		}
		mine, theirs := strings.Split(own.ReplaceAllString(got, ""), "\n"), strings.Split(own.ReplaceAllString(string(want), ""), "\n")
		for i := range min(len(mine), len(theirs)) {
			if mine[i] != theirs[i] {
				t.Errorf("%s, line %d: %s\nreceipt verify writes %s", format, i+1, mine[i], theirs[i])
			}
		}
		if len(mine) != len(theirs) {
			t.Errorf("%s: %d lines, receipt verify writes %d", format, len(mine), len(theirs))
		}

		report := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(report, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(receipt, "merge", report).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", format, err, out)
		}
	}
}
