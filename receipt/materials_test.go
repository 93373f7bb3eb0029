package receipt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// material creates a receipt that lists a single material with the given members.
func material(t testing.TB, keys ring, members map[string]any) []byte {
	t.Helper()
	return forge(t, plainDraft(), func(o map[string]any) {
		members["kind"] = "artifact"
		o["replay_input"].(map[string]any)["materials"] = []any{members}
	}, keys["a"])
}

func TestInlineMaterial(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	const at = "/replay_input/materials/0/"
	unlike := refuted(receipt.StepHash, "material_mismatch", at+"sha256")
	malformed := refuted(receipt.StepHash, "material_mismatch", at+"bytes_base64")
	x, empty := canon.Sum([]byte("x")).String(), canon.Sum(nil).String()
	long := bytes.Repeat([]byte("0123456789"), 200_000) // more materials than a report keeps
	for name, c := range map[string]struct {
		text string
		sha  string
		want outcome
	}{
		"fits":                 {"eA==", x, verified()},
		"three bytes":          {"eHl6", canon.Sum([]byte("xyz")).String(), verified()},
		"long":                 {base64.StdEncoding.EncodeToString(long), canon.Sum(long).String(), verified()},
		"long, one off":        {base64.StdEncoding.EncodeToString(long[1:]), canon.Sum(long).String(), unlike},
		"another":              {"eQ==", x, unlike},
		"of the text":          {"eA==", canon.Sum([]byte("eA==")).String(), unlike},
		"of nothing":           {"eA==", empty, unlike},
		"no padding":           {"eA", x, malformed},
		"half padded":          {"eA=", x, malformed},
		"too much padding":     {"eA======", x, malformed},
		"unused bits":          {"eB==", x, malformed},
		"line feed":            {"eA=\n=", x, malformed},
		"line feeds":           {"eA==\n\n\n\n", x, malformed},
		"line feed behind":     {"eHl6\n", canon.Sum([]byte("xyz")).String(), malformed},
		"space":                {"eA== ", x, malformed},
		"url alphabet":         {"-_-_", canon.Sum([]byte{0xfb, 0xff, 0xbf}).String(), malformed},
		"not base64":           {"!!!!", x, malformed},
		"padding inside":       {"eA==eA==", canon.Sum([]byte("xx")).String(), malformed},
		"padding only":         {"====", empty, malformed},
		"hexadecimal":          {"78", x, malformed},
		"without hash":         {"eA==", "", verified()},
		"without hash, broken": {"eA=", "", malformed},
	} {
		members := map[string]any{"bytes_base64": c.text, "metadata": map[string]any{}}
		if c.sha != "" {
			members["sha256"] = c.sha
		}
		data := material(t, keys, members)
		rep := verify(v, data)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.want == unlike && (rep.Finding().Stated != c.sha || rep.Finding().Computed == "") {
			t.Errorf("%s: %+v", name, rep.Finding())
		}
		if sig := rep.Check(receipt.StepSignatures); sig.Status != receipt.StatusPassed {
			t.Errorf("%s: the issuer did sign it: %+v", name, sig)
		}
		if n := len(marshal(t, rep)); n > 8<<10 {
			t.Errorf("%s: a report of %d bytes", name, n)
		}
		integrity := verify(verifier(t, nil, receipt.Policy{IntegrityOnly: true}), data)
		if got := outcomeOf(integrity); got != c.want {
			t.Errorf("%s, integrity only: %v, want %v", name, got, c.want)
		}
		// A mismatch of the receipt hash is reported first.
		if got := verify(v, bytes.Replace(data, []byte(`"currency":"USD"`), []byte(`"currency":"EUR"`), 1)).Finding().Code; got != receipt.CodeHashMismatch {
			t.Errorf("%s, altered: %s", name, got)
		}
	}
}

// TestSealChecksMaterial verifies that a draft is not sealed if every verifier would refute its
// material.
func TestSealChecksMaterial(t *testing.T) {
	d := plainDraft()
	d.ReplayInput.Materials = []receipt.Material{{Kind: "artifact", SHA256: canon.Sum([]byte("x")), BytesBase64: "eA=="}}
	if _, err := receipt.Seal(d, chain.Head{}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"eQ==", "eA"} {
		d.ReplayInput.Materials[0].BytesBase64 = bad
		_, err := receipt.Seal(d, chain.Head{})
		if found := problems(t, err); len(found) != 1 || !slices.Contains(slices.Collect(maps.Values(found)), "material_mismatch") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// files implements Materials for tests. It maps the digest under which a file is listed to the
// digest of the file's content.
type files map[canon.Digest]canon.Digest

func (f files) Lookup(d canon.Digest) (canon.Digest, bool) {
	actual, found := f[d]
	return actual, found
}

func TestFiles(t *testing.T) {
	keys := testKeys()
	digest := func(s string) canon.Digest { return canon.Sum([]byte(s)) }
	data := forge(t, plainDraft(), func(o map[string]any) {
		o["replay_input"].(map[string]any)["materials"] = []any{
			map[string]any{"kind": "artifact", "uri": "u", "sha256": digest("m0").String()},
			map[string]any{"kind": "artifact", "bytes_base64": "eA==", "sha256": digest("x").String()}, // is there
			map[string]any{"kind": "artifact", "metadata": map[string]any{}},
			map[string]any{"kind": "artifact", "uri": "u", "sha256": digest("m3").String()},
		}
		o["final_artifacts"] = []any{
			map[string]any{"artifact_id": "a", "kind": "k", "sha256": digest("a0").String()},
			map[string]any{"artifact_id": "b", "kind": "k"},
		}
		o["side_effects"].(map[string]any)["fs_writes"] = []any{ // past states of a workspace that has changed since then
			map[string]any{"path": "p", "operation": "modify", "before_sha256": digest("f0").String(), "after_sha256": digest("f1").String()},
		}
	}, keys["a"])
	m0, m3, a0, other := digest("m0"), digest("m3"), digest("a0"), digest("other")
	missing := func(at string) outcome {
		return undecided(receipt.StepHash, "material_not_found", at)
	}
	differs := func(at string) outcome {
		return refuted(receipt.StepHash, "material_mismatch", at)
	}
	for name, c := range map[string]struct {
		files  receipt.Materials
		want   outcome
		detail string
	}{
		"not asked for":      {nil, verified(), ""},
		"all":                {files{m0: m0, m3: m3, a0: a0}, verified(), ""},
		"none":               {files{}, missing("/replay_input/materials/0/sha256"), m0.String() + " is not among those given, nor are 2 more"},
		"one missing":        {files{m0: m0, a0: a0}, missing("/replay_input/materials/3/sha256"), m3.String() + " is not among those given"},
		"artifact missing":   {files{m0: m0, m3: m3}, missing("/final_artifacts/0/sha256"), a0.String()},
		"one holds another":  {files{m0: m0, m3: other, a0: a0}, differs("/replay_input/materials/3/sha256"), "has different content"},
		"artifact differs":   {files{m0: m0, m3: m3, a0: other}, differs("/final_artifacts/0/sha256"), "has different content"},
		"missing, differing": {files{m3: other}, differs("/replay_input/materials/3/sha256"), "has different content"},
	} {
		rep := verify(with(t, verifier(t, keys, receipt.Policy{}), receipt.Evidence{Materials: c.files}), data)
		if got := outcomeOf(rep); got != c.want || !strings.Contains(rep.Finding().Detail, c.detail) {
			t.Errorf("%s: %v, want %v; %q", name, got, c.want, rep.Finding().Detail)
		}
		if strings.Contains(rep.Finding().Detail, "more") != (name == "none") {
			t.Errorf("%s: %q", name, rep.Finding().Detail)
		}
		integrity := verify(with(t, verifier(t, nil, receipt.Policy{IntegrityOnly: true}), receipt.Evidence{Materials: c.files}), data)
		if got := outcomeOf(integrity); got != c.want {
			t.Errorf("%s, integrity only: %v, want %v", name, got, c.want)
		}
		listed := false
		for _, n := range rep.NotChecked {
			listed = listed || n.Code == "material_not_found"
		}
		if listed != (c.want.code == "material_not_found") {
			t.Errorf("%s: not checked %+v", name, rep.NotChecked)
		}
	}
	o := map[string]any{}
	if err := json.Unmarshal(bytes.Replace(data, []byte(`"eA=="`), []byte(`"eQ=="`), 1), &o); err != nil {
		t.Fatal(err)
	}
	inline := rehash(t, o, keys["a"])
	if got, want := outcomeOf(verify(with(t, verifier(t, keys, receipt.Policy{}), receipt.Evidence{Materials: files{}}), inline)), differs("/replay_input/materials/1/sha256"); got != want {
		t.Errorf("inline bytes differ, files are missing: %v, want %v", got, want)
	}
}

// TestScratchIsOverwritten verifies that one report can be reused for receipts of different sizes
// in any order.
func TestScratchIsOverwritten(t *testing.T) {
	keys := testKeys()
	v := verifier(t, keys, receipt.Policy{})
	doc, rep := new(canon.Document), new(receipt.Report)
	for _, n := range []int{1, 100_000, 3, 2_000_000, 0, 1000} {
		content := bytes.Repeat([]byte{'z'}, n)
		for wrong := range 2 {
			members := map[string]any{"sha256": canon.Sum(append(bytes.Clone(content), make([]byte, wrong)...)).String(), "bytes_base64": base64.StdEncoding.EncodeToString(content), "uri": "u"}
			v.VerifyBytes(material(t, keys, members), doc, rep)
			if (rep.Verdict == receipt.Verified) != (wrong == 0) && n > 0 {
				t.Errorf("%d bytes, %d more stated: %v", n, wrong, outcomeOf(rep))
			}
		}
	}
}
