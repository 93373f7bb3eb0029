package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

const logName, ownName = "log.example.net/receipts", "own.example.net/receipts"

// private returns a private key from the fixtures.
func private(t *testing.T, name string) *keys.PrivateKey {
	t.Helper()
	text, err := fixtures.Read("keys/" + name + ".private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// claim returns a checkpoint that covers the leaves. It is signed with a key from the fixtures and
// cosigned by witness_1.
func claim(t *testing.T, key, origin string, leaves []merkle.Hash, cosigned bool) []byte {
	t.Helper()
	note, err := keys.NewSigner(private(t, key), nil).SignCheckpoint(t.Context(), &tlog.Checkpoint{Origin: origin, Size: uint64(len(leaves)), Root: merkle.Root(leaves)})
	if err == nil && cosigned {
		note, err = keys.NewSigner(private(t, "witness_1"), nil).Cosign(t.Context(), "witness_1", note, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	}
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// leavesOf returns the leaves of the receipts in files, in order.
func leavesOf(t *testing.T, paths []string) (leaves []merkle.Hash) {
	t.Helper()
	err := stream.Leaves(t.Context(), sources(paths), stream.Options{}, func(l join.Leaf) error {
		if l.Placed {
			leaves = append(leaves, l.Hash)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return leaves
}

// logKeys returns the keys from the fixtures. The issuer's key may also sign checkpoints as a log.
func logKeys(t *testing.T) (path string, set []byte) {
	t.Helper()
	text, err := fixtures.Read(lake.Keys)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Keys []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, k := range all.Keys {
		if k["kid"] == "key_2026_04" {
			k["roles"], k["origin"] = []string{"issuer", "checkpoint"}, ownName
		}
	}
	if set, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(t.TempDir(), "keys.json"), set), set
}

// logging returns a verifier that uses these keys.
func logging(t *testing.T, set []byte, strict bool) *receipt.Verifier {
	t.Helper()
	trusted, err := keys.ParseSet(set)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(trusted, receipt.Policy{Now: now(), Strict: strict})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// longest returns the first receipts of the longest stream in a lake. That stream has no fault.
func longest(t *testing.T, n int) []lake.Line {
	t.Helper()
	l, err := lake.New(1000, 7)
	if err != nil {
		t.Fatal(err)
	}
	streams := map[chain.Stream][]lake.Line{}
	var most []lake.Line
	for _, line := range l.Lines {
		if streams[line.Stream] = append(streams[line.Stream], line); len(streams[line.Stream]) > len(most) {
			most = streams[line.Stream]
		}
	}
	return most[:n]
}

// TestCheckpoint verifies that the results with a checkpoint equal those of "receipt verify", byte
// for byte.
func TestCheckpoint(t *testing.T) {
	trusted, set := logKeys(t)
	l, err := lake.New(600, 7)
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(8, 9))
	_, faulty, _ := lay(t, l, 9, true, true, dice)

	// These cases use a chain without faults, with and without a file that is not a receipt.
	lines := longest(t, 140)
	whole, holed := t.TempDir(), t.TempDir()
	var parts, broken []string
	for i := range 7 {
		var text []byte
		for _, line := range lines[i*20 : i*20+20] {
			text = append(text, line.Text...)
		}
		name := fmt.Sprintf("part-%d.jsonl", i)
		parts = append(parts, write(t, filepath.Join(whole, name), text))
		if i == 3 {
			text = append([]byte("\n{\n"), text...)
		}
		broken = append(broken, write(t, filepath.Join(holed, name), text))
	}
	revoked := []string{fixture(t, "malicious/revoked-key.json"), fixture(t, "malicious/compromised-key.json"), fixture(t, "valid/task.json")}
	unsigned := []string{fixture(t, "valid/task.json"), fixture(t, "malicious/unsigned.json"), fixture(t, "valid/full.json")}

	more := []merkle.Hash{{1}, {2}, {3}}
	all := func(list []merkle.Hash) []merkle.Hash { return list }
	other := func(list []merkle.Hash) []merkle.Hash { list[len(list)/2][0] ^= 1; return list }
	for _, c := range []struct {
		name        string
		paths       []string
		over        func([]merkle.Hash) []merkle.Hash
		key, origin string
		cosigned    bool
		args        string
		code        int
		want        string // text that the summary must contain
	}{
		{name: "all", paths: parts, over: all, code: terms.ExitVerified, want: "verified: 140 receipts, 140 verified"},
		{name: "strict", paths: parts, over: all, args: "--strict", code: terms.ExitVerified},
		{name: "fewer", paths: parts, over: func(list []merkle.Hash) []merkle.Hash { return list[:61] }, code: terms.ExitUndecided, want: "batch_not_checked: the checkpoint covers only the first 61 of 140 receipts"},
		{name: "up to a file", paths: parts, over: func(list []merkle.Hash) []merkle.Hash { return list[:60] }, code: terms.ExitUndecided},
		{name: "none", paths: parts, over: func(list []merkle.Hash) []merkle.Hash { return nil }, code: terms.ExitUndecided, want: "evidence_unused: the checkpoint covers no receipts"},
		{name: "more", paths: parts, over: func(list []merkle.Hash) []merkle.Hash { return append(list, more...) }, code: terms.ExitRefuted, want: "truncated: the checkpoint covers 143 receipts, but the input has 140"},
		{name: "more, of a selection", paths: parts, over: func(list []merkle.Hash) []merkle.Hash { return append(list, more...) }, args: "--partial", code: terms.ExitUndecided},
		{name: "others", paths: parts, over: other, code: terms.ExitRefuted, want: "merkle_root_mismatch"},
		{name: "others, of a selection", paths: parts, over: other, args: "--partial", code: terms.ExitUndecided},
		{name: "another order", paths: []string{parts[1], parts[0]}, over: func(list []merkle.Hash) []merkle.Hash { return slices.Concat(list[20:], list[:20]) }, code: terms.ExitRefuted},
		{name: "nobody's", paths: parts, over: all, key: "key_stranger", code: terms.ExitUndecided},
		{name: "a hole", paths: broken, over: all, code: terms.ExitRefuted, want: "0 verified, 1 refuted, 140 undecided"},
		{name: "a hole behind", paths: broken, over: func(list []merkle.Hash) []merkle.Hash { return list[:60] }, code: terms.ExitRefuted},
		{name: "one of many", paths: parts[:1], over: func(list []merkle.Hash) []merkle.Hash { return append(list, more...) }, code: terms.ExitRefuted},
		{name: "a receipt of many", paths: unsigned[:1], over: func(list []merkle.Hash) []merkle.Hash { return append(list, more...) }, code: terms.ExitUndecided},
		{name: "every fault", paths: faulty, over: all, code: terms.ExitRefuted},
		{name: "every fault, in part", paths: faulty, over: func(list []merkle.Hash) []merkle.Hash { return list[:len(list)/3] }, args: "--partial", code: terms.ExitRefuted},
		{name: "a signature", paths: unsigned, over: all, key: "key_2026_04", origin: ownName, code: terms.ExitVerified},
		{name: "no signature", paths: unsigned, over: all, code: terms.ExitUndecided},
		{name: "revoked", paths: revoked, over: all, code: terms.ExitRefuted},
		{name: "before it was revoked", paths: revoked[:1], over: all, cosigned: true, code: terms.ExitVerified},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, origin := c.key, c.origin
			if key == "" {
				key = "log_1"
			}
			if origin == "" {
				origin = logName
			}
			note := claim(t, key, origin, c.over(leavesOf(t, c.paths)), c.cosigned)
			prefix, path := filepath.Join(t.TempDir(), "v"), write(t, filepath.Join(t.TempDir(), "log.txt"), note)
			args := []string{"--keys", trusted, "--checkpoint", path, "--output", prefix, "--shards", "3"}
			if c.args != "" {
				args = append(args, c.args)
			}
			for _, path := range c.paths {
				args = append(args, "--input", path)
			}
			code, out, messages := runBeam(t, args...)
			if code != c.code || !strings.Contains(out, c.want) || messages != "" {
				t.Errorf("exit %d, want %d: %s%s", code, c.code, out, messages)
			}
			compare(t, readVerdict(t, prefix), verifyBy(t, logging(t, set, c.args == "--strict"), c.paths, stream.Options{Partial: c.args == "--partial", Checkpoint: note}))
		})
	}
}

// sources returns the sources for the files with the given paths.
func sources(paths []string) (list []stream.Source) {
	for _, path := range paths {
		list = append(list, stream.Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	return list
}

// TestCheckpointBesideOthers verifies that other files in a directory of receipts have no leaves
// and cause no gap in the tree.
func TestCheckpointBesideOthers(t *testing.T) {
	l, err := lake.New(400, 7)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	set, err := fixtures.Read(lake.Keys)
	if err != nil {
		t.Fatal(err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, set); err != nil {
		t.Fatal(err)
	}
	other := append(line.Bytes(), '\n')
	a := write(t, filepath.Join(dir, "a.jsonl"), slices.Concat(other, l.Lines[0].Text, other, l.Lines[1].Text))
	write(t, filepath.Join(dir, "b.json"), set)
	c := write(t, filepath.Join(dir, "c.jsonl"), slices.Concat(l.Lines[2].Text, other, l.Lines[3].Text, l.Lines[4].Text))

	var leaves []merkle.Hash
	for _, line := range l.Lines[:4] {
		path := write(t, filepath.Join(t.TempDir(), "one.jsonl"), line.Text)
		leaves = append(leaves, leavesOf(t, []string{path})...)
	}
	note := claim(t, "log_1", logName, leaves, false)
	path := write(t, filepath.Join(t.TempDir(), "log.txt"), note)
	prefix := filepath.Join(t.TempDir(), "v")
	code, out, messages := runBeam(t, "--keys", fixture(t, lake.Keys), "--checkpoint", path, "--input", dir, "--output", prefix)
	if code != terms.ExitUndecided || messages != "" || !strings.Contains(out, "batch_not_checked: the checkpoint covers only the first 4 of 5 receipts") || !strings.Contains(out, "read 3 times") {
		t.Fatalf("exit %d: %s%s", code, out, messages)
	}

	found := sources([]string{a, filepath.Join(dir, "b.json"), c})
	for i := range found {
		found[i].Found = true
	}
	compare(t, readVerdict(t, prefix), verdictOf(t, verifier(t, false), found, stream.Options{Checkpoint: note}))
}
