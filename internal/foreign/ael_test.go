package foreign_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/internal/foreign/ael"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// aelKeys returns the keys for a case, indexed by fingerprint. Malformed keys are omitted.
func aelKeys(t testing.TB, dir string) *keys.Set {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "keys", "*.pub"))
	if err != nil {
		t.Fatal(err)
	}
	list := []*keys.PublicKey{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
		if err != nil || len(raw) != ed25519.PublicKeySize {
			continue
		}
		k, err := keys.FromPublic(ed25519.PublicKey(raw), strings.TrimSuffix(filepath.Base(file), ".pub"), "")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, k)
	}
	if len(list) == 0 {
		return testSet(t, "other")
	}
	set, err := keys.NewSet(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestAEL verifies the verdict for the lines of the recorders in every public case: verified if the
// checks a, b, w, and e pass, and refuted if one of them fails.
func TestAEL(t *testing.T) {
	var cases map[string]struct {
		Runs []struct{ Must map[string]string }
	}
	if err := json.Unmarshal(read(t, "ael", "expected.json"), &cases); err != nil || len(cases) < 37 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	counts := map[receipt.Verdict]int{}
	for name, c := range cases {
		dir := filepath.Join(vectors.Dir(t, "foreign"), "ael", name)
		set := aelKeys(t, dir)
		v, err := receipt.NewVerifier(set, receipt.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "recorders", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}

		verdict, finding := receipt.Verified, receipt.Check{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var chains foreign.Chains
			for line := range bytes.Lines(text) {
				line = bytes.TrimRight(line, "\n")
				if kind.Of(line, true).Kind != kind.AELLine {
					t.Fatalf("%s: %s is not recognized", name, line)
				}
				rep, f := new(receipt.Report), ael.Read(line)
				v.Foreign(line, f, rep)
				if f.Place != nil {
					chains.Follow(v, f, false, rep)
				}
				counts[rep.Verdict]++
				if rep.Verdict == receipt.Refuted || verdict == receipt.Verified && rep.Verdict != verdict {
					verdict, finding = rep.Verdict, rep.Finding()
				}
			}
		}

		var results []string
		for _, run := range c.Runs {
			for _, check := range []string{"a", "b", "w", "e"} {
				results = append(results, run.Must[check])
			}
		}
		want := receipt.Verified
		switch {
		case slices.Contains(results, "FAIL"):
			want = receipt.Refuted
		case slices.Contains(results, "UV"):
			want = receipt.Undecided
		}
		if verdict != want {
			t.Errorf("%s: %s %s %s; want %s, %v", name, verdict, finding.Code, finding.Detail, want, results)
		}
	}
	if counts[receipt.Verified] < 100 {
		t.Errorf("%v", counts)
	}
}

// aelDirectory returns the document that represents a directory, without the keys or the expected
// result.
func aelDirectory(t testing.TB, dir string) []byte {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || strings.HasPrefix(name, "keys") || name == "expect.json" {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(compact(t, map[string]any{"ael_directory": files}))
}

// TestAELArtifacts verifies the outcome for every public case: an artifact is refuted if a check
// fails on complete evidence, and undecided if another check fails.
func TestAELArtifacts(t *testing.T) {
	var cases map[string]struct {
		Runs []struct {
			Grade any
			Must  map[string]string
		}
	}
	if err := json.Unmarshal(read(t, "ael", "expected.json"), &cases); err != nil || len(cases) < 37 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	seen := map[receipt.Verdict]int{}
	for name, c := range cases {
		dir := filepath.Join(vectors.Dir(t, "foreign"), "ael", name)
		log := strings.Trim(string(member(read(t, "ael", name, "manifest.json"), "anchor", "log_key")), "\"")
		set := withLog(t, aelKeys(t, dir), log)
		data := aelDirectory(t, dir)
		rep := judge(t, set, receipt.Policy{}, data)

		want, letters := receipt.Verified, []string{}
		for _, run := range c.Runs {
			if run.Grade != float64(4) {
				want = receipt.Undecided
			}
			for letter, result := range run.Must {
				if result == "FAIL" && strings.Contains("a b d e g i m n o p r s t w R", letter) { // check i fails on complete evidence because its case contains a close record
					letters = append(letters, letter)
				}
			}
		}
		if len(letters) > 0 {
			want = receipt.Refuted
		}
		seen[rep.Verdict]++
		if rep.Verdict != want {
			t.Errorf("%s: %s, %s; want %s, %v", name, outcome(rep), rep.Finding().Detail, want, letters)
		}
	}
	if seen[receipt.Verified] == 0 || seen[receipt.Refuted] < 9 || seen[receipt.Undecided] < 9 {
		t.Errorf("%v", seen)
	}
}

// member returns a member of a JSON text, or nil if the member is absent.
func member(text []byte, path ...string) []byte {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil || members[name] == nil {
			return nil
		}
		text = members[name]
	}
	return text
}

// withLog returns a key set in which the given key has the role of a log.
func withLog(t testing.TB, set *keys.Set, id string) *keys.Set {
	t.Helper()
	list := set.Keys()
	for _, k := range list {
		if k.ID == id {
			k.Roles, k.Origin = []receipt.Role{receipt.RoleCheckpoint}, "log.example"
		}
	}
	again, err := keys.NewSet(list...)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestAELKeys verifies that an artifact is verified only if every key is trusted, including the
// log's key, and that nothing is intact without signatures, because only signatures cover the last
// records.
func TestAELKeys(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "foreign"), "ael", "ael4", "counterparty_none")
	log := strings.Trim(string(member(read(t, "ael", "ael4", "counterparty_none", "manifest.json"), "anchor", "log_key")), `"`)
	all := withLog(t, aelKeys(t, dir), log)
	if got := outcome(judge(t, all, receipt.Policy{}, aelDirectory(t, dir))); got != "verified" {
		t.Error(got)
	}
	if rep := judge(t, all, receipt.Policy{IntegrityOnly: true}, aelDirectory(t, dir)); rep.Verdict != receipt.Undecided {
		t.Errorf("integrity only: %s", outcome(rep))
	}
	for _, k := range all.Keys() {
		others := slices.DeleteFunc(all.Keys(), func(other *keys.PublicKey) bool { return other.ID == k.ID })
		set, err := keys.NewSet(others...)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome(judge(t, set, receipt.Policy{}, aelDirectory(t, dir))); got != "undecided unknown_key" {
			t.Errorf("without the key %s: %s", k.ID, got)
		}
	}
}

// TestAELAnchors verifies that an artifact is refuted if an anchor has unknown members, has no
// entries, or is not JSON (w, o, n).
func TestAELAnchors(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "foreign"), "ael", "ael4", "counterparty_none")
	set := withLog(t, aelKeys(t, dir), strings.Trim(string(member(read(t, "ael", "ael4", "counterparty_none", "manifest.json"), "anchor", "log_key")), `"`))
	for name, test := range map[string]struct{ old, new, want string }{
		"as written":             {`{"entries":[`, `{"entries":[`, "verified"},
		"a member of the head":   {`"tree_head":{`, `"tree_head":{"time":"1",`, "refuted schema_invalid"},
		"a member of an entry":   {`{"entries":[{`, `{"entries":[{"note":"x",`, "refuted schema_invalid"},
		"entries of another run": {`"run":"run-ael4-none"`, `"run":"run-other"`, "refuted proof_invalid"},
		"no JSON":                {`{"entries":[`, `{"entries":`, "refuted schema_invalid"},
	} {
		var parts map[string]string
		if err := json.Unmarshal(member(aelDirectory(t, dir), "ael_directory"), &parts); err != nil {
			t.Fatal(err)
		}
		parts["anchors.json"] = strings.ReplaceAll(parts["anchors.json"], test.old, test.new)
		rep := judge(t, set, receipt.Policy{}, []byte(compact(t, map[string]any{"ael_directory": parts})))
		if got := outcome(rep); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}

// TestAELLines verifies the outcome for lines that were changed.
func TestAELLines(t *testing.T) {
	const record = `{"key":"k","prev":"0000000000000000000000000000000000000000000000000000000000000000","recorder":"r1","run":"run","seq":0,"ts":"2026-01-01T00:00:00Z","type":"heartbeat","v":1}`
	line := func(payload string) []byte {
		b64 := base64.RawURLEncoding.EncodeToString
		return []byte(b64([]byte(payload)) + "." + b64(sign([]byte(payload))))
	}
	v, err := receipt.NewVerifier(testSet(t, "k"), receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ line, want string }{
		"as written":         {string(line(record)), "verified"},
		"an extension":       {string(line(strings.Replace(record, `{"key"`, `{"ext":{"a":[1]},"key"`, 1))), "verified"},
		"padding":            {string(line(record)) + "=", "refuted syntax"},
		"an unknown member":  {string(line(strings.Replace(record, `"v":1`, `"v":1,"z":1`, 1))), "refuted schema_invalid"},
		"another order":      {string(line(strings.TrimSuffix(strings.Replace(record, `{"key":"k",`, `{`, 1), "}") + `,"key":"k"}`)), "refuted hash_mismatch"},
		"a fraction":         {string(line(strings.Replace(record, `"seq":0`, `"seq":0.5`, 1))), "refuted schema_invalid"},
		"another version":    {string(line(strings.Replace(record, `"v":1`, `"v":2`, 1))), "undecided unsupported_schema"},
		"an unknown key":     {string(line(strings.Replace(record, `"k"`, `"l"`, 1))), "undecided unknown_key"},
		"a repeated member":  {string(line(strings.Replace(record, `"v":1`, `"v":1,"v":1`, 1))), "refuted duplicate_name"},
		"a number too large": {string(line(strings.Replace(record, `"seq":0`, `"seq":9007199254740993`, 1))), "refuted schema_invalid"},
		"of a counterparty":  {string(line(`{"flow":"f","none":true,"nonce":"n","run":"run","type":"received","v":1}`)), "undecided unknown_key"},
		"another signature":  {string(line(record))[:len(line(record))-4] + "AAAA", "refuted signature_invalid"},
	} {
		rep := new(receipt.Report)
		v.Foreign([]byte(test.line), foreign.Read(kind.AELLine, []byte(test.line), new(canon.Document)), rep)
		if got := outcome(rep); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}
