package redact_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

func digest(text string) string { return canon.Sum([]byte(text)).String() }

const otherDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

// TestHashes verifies that hashes of withheld values are withheld everywhere, but other hashes are
// kept.
func TestHashes(t *testing.T) {
	const hashed = ": hash of a withheld value"
	bare := strings.TrimPrefix(digest("1234"), "sha256:")
	for _, c := range []struct {
		name, pointer, in string
		want              []string // pointers to the hashes that must be withheld
		stay              []string
	}{
		{"tool call", "/side_effects/tool_calls/0/metadata/args/pin",
			`{"side_effects":{"tool_calls":[{"input_hash":"` + otherDigest + `","output_hash":"` + digest("out") + `","metadata":{"args":{"pin":"1234"},"args_hash":"x","note":"x"}},{"input_hash":"` + digest("b") + `"}]}}`,
			[]string{"/side_effects/tool_calls/0/input_hash", "/side_effects/tool_calls/0/metadata/args_hash", "/side_effects/tool_calls/0/output_hash"},
			[]string{"/side_effects/tool_calls/0/metadata/note", "/side_effects/tool_calls/1/input_hash"}},
		{"the same digest elsewhere", "/side_effects/tool_calls/0/metadata/pin",
			`{"side_effects":{"tool_calls":[{"input_hash":"` + otherDigest + `","metadata":{"pin":"1234"}}]},"final_artifacts":[{"sha256":"` + otherDigest + `"}],"redactions":[{"field":"/x","reason":"y","proof_hash":"` + otherDigest + `"},{"field":"/x","reason":"y","proof_hash":"` + digest("b") + `"}]}`,
			[]string{"/final_artifacts/0/sha256", "/redactions/0/proof_hash", "/side_effects/tool_calls/0/input_hash"}, []string{"/redactions/1/proof_hash"}},
		{"approval", "/approvals/0/action", `{"approvals":[{"action":"a","actor":"b","evidence_hash":"` + otherDigest + `"}]}`, []string{"/approvals/0/evidence_hash"}, nil},
		{"quorum", "/approvals/0/quorum_proof/pin", `{"approvals":[{"quorum_proof":{"pin":1},"evidence_hash":"` + otherDigest + `"}]}`, []string{"/approvals/0/evidence_hash"}, nil},
		{"actor", "/approvals/0/actor", `{"approvals":[{"action":"a","actor":"b","evidence_hash":"` + otherDigest + `"}]}`, nil, []string{"/approvals/0/evidence_hash"}},
		{"bytes", "/replay_input/materials/0/bytes_base64", `{"replay_input":{"materials":[{"bytes_base64":"MTIzNA==","sha256":"` + digest("1234") + `"}]},"metadata":{"same":"` + digest("1234") + `"}}`,
			[]string{"/metadata/same", "/replay_input/materials/0/sha256"}, nil},
		{"described", "/replay_input/materials/0/metadata/pin", `{"replay_input":{"materials":[{"metadata":{"pin":1},"sha256":"` + otherDigest + `"}]}}`, []string{"/replay_input/materials/0/sha256"}, nil},
		{"kept elsewhere", "/replay_input/materials/0/metadata/pin", `{"replay_input":{"materials":[{"metadata":{"pin":1},"uri":"artifact://x","sha256":"` + otherDigest + `"}]}}`, nil, []string{"/replay_input/materials/0/sha256"}},
		{"kept here", "/replay_input/materials/0/metadata/pin", `{"replay_input":{"materials":[{"metadata":{"pin":1},"bytes_base64":"eA==","sha256":"` + otherDigest + `"}]}}`, nil, []string{"/replay_input/materials/0/sha256"}},
		{"uri", "/replay_input/materials/0/uri", `{"replay_input":{"materials":[{"uri":"artifact://x","sha256":"` + otherDigest + `"}]}}`, nil, []string{"/replay_input/materials/0/sha256"}},
		{"data uri", "/final_artifacts/0/uri", `{"final_artifacts":[{"uri":"DATA:,1234","sha256":"` + otherDigest + `"}]}`, []string{"/final_artifacts/0/sha256"}, nil},
		{"data uri without data", "/final_artifacts/0/uri", `{"final_artifacts":[{"uri":"data:","sha256":"` + otherDigest + `"}]}`, nil, []string{"/final_artifacts/0/sha256"}},
		{"file", "/side_effects/fs_writes/0/path", `{"side_effects":{"fs_writes":[{"path":"p","after_sha256":"` + otherDigest + `"}]}}`, nil, []string{"/side_effects/fs_writes/0/after_sha256"}},
		{"delta of the value", "/metadata/a", `{"metadata":{"a":{"pin":1}},"deltas":[{"path":"/metadata/a","before_sha256":"` + otherDigest + `","after_sha256":null},{"path":"/metadata/a/pin","after_sha256":"` + digest("a") + `"},
			{"path":"/metadata","after_sha256":"` + digest("b") + `"},{"path":"/metadata/ab","after_sha256":"` + digest("c") + `"},{"path":"$.a","after_sha256":"` + digest("d") + `"}]}`,
			[]string{"/deltas/0/before_sha256", "/deltas/1/after_sha256", "/deltas/2/after_sha256"}, []string{"/deltas/3/after_sha256", "/deltas/4/after_sha256"}},
		{"delta itself", "/deltas/0/override_key", `{"deltas":[{"path":"/x","override_key":"k","after_sha256":"` + otherDigest + `"}]}`, []string{"/deltas/0/after_sha256"}, nil},
		{"names", "/metadata/pin", `{"metadata":{"pin":"1234","pin_sha256":"a","sha256_of_pin":"b","PIN-Hash":"c","of_pin":"i","hash":"d","checksum":7,"commit_sha":"e","pinned_hash":"f","hashes":"g","other_hash":"h","sha":null,"md5":"[redacted]"}}`,
			[]string{"/metadata/PIN-Hash", "/metadata/checksum", "/metadata/hash", "/metadata/pin_sha256", "/metadata/sha256_of_pin"},
			[]string{"/metadata/commit_sha", "/metadata/hashes", "/metadata/of_pin", "/metadata/other_hash", "/metadata/pinned_hash"}},
		{"forms", "/metadata/pin", `{"metadata":{"pin":"1234","l":["` + digest("1234") + `","` + bare + `","` + strings.ToUpper(bare) + `","see ` + bare + `.","` + digest(`"1234"`) + `","` + digest("1234\n") + `","` + bare + `0","` + digest("1235") + `"]}}`,
			[]string{"/metadata/l/0", "/metadata/l/1", "/metadata/l/2", "/metadata/l/3", "/metadata/l/4", "/metadata/l/5"}, []string{"/metadata/l/6", "/metadata/l/7"}},
		{"number", "/metadata/pin", `{"metadata":{"pin":1234.0,"x":"` + digest("1234") + `"}}`, []string{"/metadata/x"}, nil},
		{"in a subtree", "/metadata/a", `{"metadata":{"a":{"b":["yes",7]},"l":["` + digest("yes") + `","` + digest("7") + `","` + digest(`{"b":["yes",7]}`) + `","` + digest("no") + `"]}}`,
			[]string{"/metadata/l/0", "/metadata/l/1", "/metadata/l/2"}, []string{"/metadata/l/3"}},
		{"of nothing", "/metadata/a", `{"metadata":{"a":{"b":"","c":{}},"empty":"` + digest("") + `","object":"` + digest("{}") + `"}}`, nil, []string{"/metadata/empty", "/metadata/object"}},
		{"base64", "/metadata/a", `{"metadata":{"a":"MTIzNA==","x":"` + digest("1234") + `"}}`, []string{"/metadata/x"}, nil},
		{"provider", "/cost/provider_breakdown/0/metadata/a", `{"cost":{"provider_breakdown":[{"metadata":{"a":1,"a_hash":"x"}}]}}`, []string{"/cost/provider_breakdown/0/metadata/a_hash"}, nil},
	} {
		p := compile(t, redact.Rules{Pointers: []string{c.pointer}})
		d := parse(t, c.in)
		r := redacted(t, p, c.in)
		left := parse(t, string(r.Draft.Source()))
		want := map[string]bool{}
		for _, at := range c.want {
			want[at+hashed] = true
			before, ok := d.Find(pointer(t, at))
			if after, still := left.Find(pointer(t, at)); !ok || still && after.String() != "[redacted]" {
				t.Errorf("%s: %s is still %s, was %s", c.name, at, after.Raw(), before.Raw())
			}
		}
		for _, e := range r.Entries {
			if e.Field != c.pointer && !want[e.Field+": "+e.Reason] {
				t.Errorf("%s: entry %s: %s", c.name, e.Field, e.Reason)
			}
		}
		if len(r.Entries) != len(c.want)+1 {
			t.Errorf("%s: %d entries, want %d: %s", c.name, len(r.Entries), len(c.want)+1, fields(r))
		}
		for _, at := range c.stay {
			before, ok := d.Find(pointer(t, at))
			if after, still := left.Find(pointer(t, at)); !ok || !still || after.String() != before.String() {
				t.Errorf("%s: %s has changed", c.name, at)
			}
		}
		again(t, p, r)
	}
}

// TestDeltasAmongNeighbours verifies that the digests in a delta are withheld if the delta's path
// is equal to, below, or above the location of a withheld value. The name of another withheld value
// may have the same beginning and sort before the slash.
func TestDeltasAmongNeighbours(t *testing.T) {
	p := compile(t, redact.Rules{Pointers: []string{"/metadata/a", "/metadata/a!", "/metadata/a0", "/metadata/ab"}})
	in := `{"metadata":{"a":{"pin":1},"a!":{"b":1},"a0":2,"ab":{"c":3},"abc":4},"deltas":[`
	paths := []string{"/metadata/a/pin", "/metadata/a!/b", "/metadata/a0", "/metadata/ab/c", "/metadata", "/metadata/abc", "/metadata/a0/x"}
	for i, path := range paths {
		in += ","[:min(i, 1)] + `{"path":"` + path + `","after_sha256":"` + digest(path) + `"}`
	}

	r := redacted(t, p, in+`]}`)
	for _, path := range paths {
		if kept := strings.Contains(string(r.Draft.Source()), digest(path)); kept != (path == "/metadata/abc") {
			t.Errorf("the digest of %s is kept: %v", path, kept)
		}
	}
}

// TestHashesInNames verifies that, if a name contains a hash, the enclosing object is withheld,
// together with other matches inside it.
func TestHashesInNames(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"pin"}})
	r := redacted(t, p, `{"metadata":{"pin":"1234","b":{"`+digest("1234")+`":1,"pin":"5"}}}`)
	if got := fields(r); got != "/metadata/b: hash of a withheld value in a member name; /metadata/pin: name" {
		t.Error(got)
	}
	again(t, p, r)
	_, err := p.Redact(parse(t, `{"metadata":{"pin":"1234"},"identifiers":{"task_id":"`+digest("1234")+`"}}`), newSalts())
	var refused *redact.RefusedError
	if !errors.As(err, &refused) || refused.Problems[0] != (redact.Problem{Code: redact.CodeProtectedField, Pointer: "/identifiers/task_id", Rule: "hash of a withheld value"}) {
		t.Error(err)
	}
	// If a detector matched part of a value and the rest contains a hash, the entire value is
	// withheld.
	p = compile(t, redact.Rules{Names: []string{"pin"}, Detectors: []secret.Detector{kDigits()}})
	r = redacted(t, p, `{"metadata":{"pin":"1234","b":"k-1 `+digest("1234")+`"}}`)
	if got := fields(r); got != "/metadata/b: pattern k, hash of a withheld value; /metadata/pin: name" || strings.Contains(string(r.Draft.Source()), "redacted:k") {
		t.Errorf("%s: %s", got, r.Draft.Source())
	}
}

// TestHashesOfParts verifies that the hash of a part of a string is withheld together with the part,
// even if the string contains an encoded form of the part. A value that is withheld completely keeps
// its reason if it is also a hash of another value.
func TestHashesOfParts(t *testing.T) {
	p := compile(t, redact.Rules{Names: []string{"pin", "input_hash"}, Detectors: []secret.Detector{kDigits()}})
	for _, c := range []struct{ in, want string }{
		{`{"t":"a k-12 b","x":"` + digest("k-12") + `"}`, "/metadata/t: pattern k; /metadata/x: hash of a withheld value"},
		{`{"t":"a%20k%2D12%20b","x":"` + digest("k-12") + `"}`, "/metadata/t: pattern k; /metadata/x: hash of a withheld value"},
		{`{"t":"a%20k%2D12%20b","x":"` + digest("k%2D12") + `"}`, "/metadata/t: pattern k; /metadata/x: hash of a withheld value"},
	} {
		r := redacted(t, p, `{"metadata":`+c.in+`}`)
		if got := fields(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
		again(t, p, r)
	}
	r := redacted(t, p, `{"side_effects":{"tool_calls":[{"input_hash":"`+otherDigest+`","metadata":{"pin":"1234"}}]}}`)
	if got := fields(r); got != "/side_effects/tool_calls/0/input_hash: name; /side_effects/tool_calls/0/metadata/pin: name" {
		t.Error(got)
	}
}

// TestPIN verifies that a PIN cannot be recovered by comparing the hashes of all PINs with the
// redacted receipt, in any form that such hashes may have (number 215).
func TestPIN(t *testing.T) {
	const pin = "4711"
	in := draft(t,
		"side_effects.tool_calls", fmt.Sprintf(`[{"tool":"t","call_id":"c","status":"succeeded","input_hash":%q,"output_hash":%q,"metadata":{"pin":%q,"pin_sha256":%q,"args_hash":%q}}]`,
			digest(`{"pin":"`+pin+`"}`), digest(`"`+pin+`"`), pin, strings.TrimPrefix(digest(pin), "sha256:"), digest(pin)),
		"redactions", fmt.Sprintf(`[{"field":"/x","reason":"y","proof_hash":%q}]`, digest(pin)),
		"deltas", fmt.Sprintf(`[{"operation":"replace","path":"/side_effects/tool_calls/0/metadata/pin","before_sha256":%q,"after_sha256":null}]`, digest("PIN "+pin)),
		"metadata", fmt.Sprintf(`{"seen":["%s/x",{"note":%q}]}`, digest(pin), digest(pin+"\n")),
	)
	r := redacted(t, compile(t, redact.Rules{Names: []string{"pin"}}), in)
	const size = 2 * sha256.Size // hexadecimal
	has, left := map[string]bool{}, strings.ToLower(string(r.Draft.Source()))
	for i := range len(left) - size + 1 {
		has[left[i:i+size]] = true
	}
	for i := range 10_000 {
		guess := fmt.Sprintf("%04d", i)
		for _, text := range []string{guess, `"` + guess + `"`, `{"pin":"` + guess + `"}`, "PIN " + guess, guess + "\n",
			"receipt-redaction-v1\n" + `{"field":"/side_effects/tool_calls/0/metadata/pin","salt":"","value":"` + guess + `"}`} {
			sum := sha256.Sum256([]byte(text))
			if has[hex.EncodeToString(sum[:])] {
				t.Fatalf("the hash of %q is in %s", text, r.Draft.Source())
			}
		}
	}
	if strings.Contains(string(r.Draft.Source()), pin) {
		t.Errorf("%s", r.Draft.Source())
	}
	if p := problems(t, receiptSchema(t), r.Draft.Source()); p != "" {
		t.Error(p)
	}
}
