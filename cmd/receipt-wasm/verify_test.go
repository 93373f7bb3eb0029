package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A got sink stores all results.
type got struct {
	keys, summary, aggregate string
	lines                    strings.Builder // all lines of the report, including the summary
	findings                 []string
}

func (g *got) Keys(text []byte)      { g.keys += string(text) }
func (g *got) Lines(text []byte)     { g.lines.Write(text) }
func (g *got) Finding(text []byte)   { g.findings = append(g.findings, string(text)) }
func (g *got) Summary(text []byte)   { g.summary += string(text) }
func (g *got) Aggregate(text []byte) { g.aggregate += string(text) }

func verified(t *testing.T, r *request) *got {
	t.Helper()
	g := new(got)
	if err := verify(context.Background(), r, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func trusted(t *testing.T) []keyFile {
	return []keyFile{{Name: "trust.json", Data: read(t, "keys/trust.json")}}
}

func TestVerify(t *testing.T) {
	task, changed := read(t, "valid/task.json"), read(t, "malicious/changed-cost.json")
	tests := map[string]struct {
		r              request
		verdict, scope string
		findings       int
		keys           bool
	}{
		"verified":        {request{Clock: time.Now, Sources: []stream.Source{inMemory("a", task)}, Keys: trusted(t)}, "verified", "full", 0, true},
		"refuted":         {request{Clock: time.Now, Sources: []stream.Source{inMemory("a", changed)}, Keys: trusted(t)}, "refuted", "full", 1, true},
		"no keys":         {request{Clock: time.Now, Sources: []stream.Source{inMemory("a", task)}}, "verified", "integrity", 0, false},
		"integrity asked": {request{Clock: time.Now, Sources: []stream.Source{inMemory("a", task)}, Keys: trusted(t), Options: options{IntegrityOnly: true, Issuer: "x"}}, "verified", "integrity", 0, false},
		"other issuer":    {request{Clock: time.Now, Sources: []stream.Source{inMemory("a", task)}, Keys: trusted(t), Options: options{Issuer: "x"}}, "refuted", "full", 1, true},
		"two files":       {request{Clock: time.Now, Sources: []stream.Source{inMemory("a", task), inMemory("b", changed)}, Keys: trusted(t)}, "refuted", "full", 1, true},
	}
	for name, test := range tests {
		now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		test.r.Clock = func() time.Time { now = now.Add(time.Second); return now }
		test.r.Tool = "test"
		g := verified(t, &test.r)
		var s struct {
			Verdict, Scope, Tool, Started, Finished string
			Receipts                                int
			Keys                                    *struct{ Path string }
		}
		if err := json.Unmarshal([]byte(g.summary), &s); err != nil {
			t.Fatal(name, err)
		}
		if s.Verdict != test.verdict || s.Scope != test.scope || len(g.findings) != test.findings || s.Receipts != len(test.r.Sources) || s.Tool != "test" || s.Started != "2026-05-01T00:00:01Z" || s.Finished != "2026-05-01T00:00:02Z" {
			t.Errorf("%s: %s with %d findings", name, g.summary, len(g.findings))
		}
		if test.keys != (s.Keys != nil) || test.keys != (g.keys != "null") {
			t.Errorf("%s: keys %s", name, g.keys)
		}
		if _, last, _ := strings.Cut(g.lines.String(), "\n{\"summary\":"); withoutNotes(t, strings.TrimSuffix(last, "}\n")) != withoutNotes(t, g.summary) || !json.Valid([]byte(g.aggregate)) {
			t.Errorf("%s: lines %s, aggregate %s", name, g.lines.String(), g.aggregate)
		}
	}
}

// withoutNotes returns a summary without the member "not_checked", because in the displayed
// summary, this member also lists the checks that were not made for single receipts.
func withoutNotes(t *testing.T, summary string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(summary), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "not_checked")
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUnchecked verifies that the summary for several receipts without keys states that no
// signature was verified.
func TestUnchecked(t *testing.T) {
	text, err := fixtures.Read("valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	second, err := fixtures.Read("valid/task-second.json")
	if err != nil {
		t.Fatal(err)
	}
	g := verified(t, &request{Clock: time.Now, Sources: []stream.Source{inMemory("a", text), inMemory("b", second)}})
	if want := "the signatures of 2 receipts: only integrity was verified"; !strings.Contains(g.summary, want) {
		t.Errorf("the summary has no %q: %s", want, g.summary)
	}
}

// TestFindingsAreBounded verifies that the core passes on at most maxFindings findings, and that
// the lines contain all of them.
func TestFindingsAreBounded(t *testing.T) {
	text := strings.Repeat("{\"a\":1}\n", maxFindings+5)
	g := verified(t, &request{Clock: time.Now, Sources: []stream.Source{inMemory("a.jsonl", []byte(text))}})
	if len(g.findings) != maxFindings || strings.Count(g.lines.String(), "\n") != maxFindings+6 {
		t.Errorf("%d findings, %d lines", len(g.findings), strings.Count(g.lines.String(), "\n"))
	}
}

// A counter is a sink that counts the results that it receives.
type counter struct {
	got
	lines, found int
	most         int // the largest amount by which the number of findings exceeded the number of lines
}

func (c *counter) Lines(text []byte) { c.lines += bytes.Count(text, []byte{'\n'}) }

func (c *counter) Finding([]byte) {
	c.found++
	c.most = max(c.most, c.found-c.lines)
}

// TestFindingsFollowTheirLines verifies that a finding is never reported before the line of its
// receipt.
func TestFindingsFollowTheirLines(t *testing.T) {
	text := strings.Repeat("{\"a\":1}\n", 500)
	c := new(counter)
	r := &request{Clock: time.Now, Sources: []stream.Source{inMemory("a.jsonl", []byte(text))}}
	if err := verify(context.Background(), r, c); err != nil {
		t.Fatal(err)
	}
	if c.found != 500 || c.lines != 501 || c.most > 0 {
		t.Errorf("%d findings, %d lines, at one time %d more findings than lines", c.found, c.lines, c.most)
	}
}

func TestErrors(t *testing.T) {
	task := []stream.Source{inMemory("a", read(t, "valid/task.json"))}
	var secret struct{ D string }
	if err := json.Unmarshal(read(t, "keys/key_2026_04.private.json"), &secret); err != nil || secret.D == "" {
		t.Fatal(err)
	}
	private := keyFile{Name: "p.json", Data: read(t, "keys/key_2026_04.private.json")}
	clash := keyFile{Name: "c.json", Data: bytes.Replace(read(t, "keys/trust.json"), []byte("harness_example_cloud"), []byte("harness_example_other"), 1)}
	tests := map[string]struct {
		r    request
		want string
	}{
		"time":    {request{Clock: time.Now, Sources: task, Options: options{At: "noon"}}, "the time at which keys are judged"},
		"receipt": {request{Clock: time.Now, Sources: task, Keys: []keyFile{{Name: "r.json", Data: read(t, "valid/task.json")}}}, `"r.json": `},
		"private": {request{Clock: time.Now, Sources: task, Keys: []keyFile{private}}, `"p.json": `},
		"clash":   {request{Clock: time.Now, Sources: task, Keys: append(trusted(t), clash)}, `"c.json" with another key file`},
	}
	for name, test := range tests {
		g := new(got)
		err := verify(context.Background(), &test.r, g)
		if err == nil || !strings.Contains(err.Error(), test.want) || g.lines.String()+g.summary+g.keys != "" {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), secret.D) {
			t.Errorf("%s shows key material: %v", name, err)
		}
	}
}

func TestKeyReport(t *testing.T) {
	r := &request{Clock: time.Now, Sources: []stream.Source{inMemory("a", read(t, "valid/task.json"))}, Keys: trusted(t)}
	one := verified(t, r)
	r.Keys = append(r.Keys, keyFile{Name: "copy.json", Data: append(read(t, "keys/trust.json"), '\n')})
	two := verified(t, r)
	var a, b keyReport
	if json.Unmarshal([]byte(one.keys), &a) != nil || json.Unmarshal([]byte(two.keys), &b) != nil {
		t.Fatal(one.keys, two.keys)
	}
	if a.SHA256 != canon.Sum(read(t, "keys/trust.json")) || a.Count < 20 || a.Path != "trust.json" {
		t.Errorf("one file: %s", one.keys)
	}
	if b.Count != a.Count || b.Path != "trust.json, copy.json" || b.SHA256 == a.SHA256 {
		t.Errorf("two files with the same keys: %s", two.keys)
	}
	k := a.Keys[0]
	if k.ID != "key_2026_04" || len(k.Fingerprint) != 43 || k.File != "trust.json" || fmt.Sprint(k.Issuers, k.Roles) != "[harness_example_cloud] [issuer]" {
		t.Errorf("%+v", k)
	}
}

// TestOpen verifies that open returns the bytes that the report describes, regardless of the
// encoding of the file.
func TestOpen(t *testing.T) {
	task := read(t, "valid/task.json")
	doc, err := canon.Parse(task)
	if err != nil {
		t.Fatal(err)
	}
	want, err := chain.AppendPreimage(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	line := doc.AppendCanonical(nil)
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(task); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		data  []byte
		index int
	}{
		"json":     {task, 1},
		"gzip":     {packed.Bytes(), 1},
		"lines":    {fmt.Appendf(nil, "{}\n%s\n{}\n", line), 2},
		"array":    {fmt.Appendf(nil, "[{},{},%s]", line), 3},
		"cbor":     {item, 1},
		"sequence": {append(bytes.Clone(item), item...), 2},
		"envelope": {fmt.Appendf(nil, `{"object":"receipt","wire":{"payload":%s}}`, line), 1},
	}
	for name, test := range tests {
		d, err := open(context.Background(), inMemory("x", test.data), test.index)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(d.Preimage, want) || d.Hash != canon.Sum(want).String() || !bytes.Equal(d.Canonical, line) {
			t.Errorf("%s: hash %s, preimage %s", name, d.Hash, d.Preimage)
		}
	}
	for _, text := range []string{"", "{", "[1,2]", "nonsense"} {
		if d, err := open(context.Background(), inMemory("x", []byte(text)), 1); err == nil && d.Preimage != nil {
			t.Errorf("%q has a preimage %q", text, d.Preimage)
		}
	}
}

// TestShell verifies that the displayed shell command prints the receipt hash.
func TestShell(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("no sha256sum")
	}
	for _, text := range []string{`{"a":"it's","b":"$(echo no) %s \\ \" ü"}`, string(read(t, "valid/task.json"))} {
		d, err := open(context.Background(), inMemory("x", []byte(text)), 1)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-c", d.Shell).Output()
		if err != nil || "sha256:"+strings.Fields(string(out))[0] != d.Hash {
			t.Errorf("%s prints %s, want %s", d.Shell, out, d.Hash)
		}
	}
	hidden, err := open(context.Background(), inMemory("it's.jsonl", []byte("{}\n{\"a\":\"\u202e\"}\n")), 2)
	if want := `receipt canon --preimage 'it'\''s.jsonl:2' | sha256sum`; err != nil || hidden.Shell != want {
		t.Errorf("%v, want %s", hidden, want)
	}
}

// TestTamper verifies that each target changes exactly one byte, after which the receipt no longer
// matches its hash.
func TestTamper(t *testing.T) {
	for _, file := range []string{"valid/task.json", "valid/full.json", "valid/minimal.json"} {
		source := read(t, file)
		d, err := open(context.Background(), inMemory(file, source), 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Targets) < 3 {
			t.Errorf("%s: %d targets", file, len(d.Targets))
		}
		for _, target := range d.Targets {
			changed, done, err := tamper(d.Source, target.Pointer)
			if err != nil || done != target {
				t.Fatal(err, done)
			}
			differ := 0
			for i := range changed {
				if changed[i] != d.Source[i] {
					differ++
				}
			}
			g := verified(t, &request{Clock: time.Now, Sources: []stream.Source{inMemory("demonstration", changed)}, Keys: trusted(t)})
			if differ != 1 || len(changed) != len(d.Source) || !strings.Contains(g.lines.String(), `"hash_mismatch"`) || !strings.Contains(g.summary, `"verdict":"refuted"`) {
				t.Errorf("%s %s: %d bytes differ: %s", file, target.Pointer, differ, g.lines.String())
			}
		}
	}
	if _, _, err := tamper([]byte(`{"cost":{"total":true}}`), "/cost/total"); err == nil {
		t.Error("a literal was changed")
	}
	if _, _, err := tamper([]byte(`{`), "/cost/total"); err == nil {
		t.Error("no JSON was changed")
	}
}

// TestRecognize verifies that files are recognized by their content, even if they are compressed
// with gzip, and that no fixture is recognized as keys or evidence.
func TestRecognize(t *testing.T) {
	var packed, keys bytes.Buffer
	for out, text := range map[*bytes.Buffer]string{&packed: strings.Repeat("\x00", 257) + "ustar\x00", &keys: `{"keys":[]}`} {
		w := gzip.NewWriter(out)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]kind.Kind{
		"-----BEGIN PUBLIC KEY-----\n": kind.Keys, " ssh-ed25519 AAAA": kind.Keys, `{"keys":[]}`: kind.Keys,
		string(read(t, "keys/trust.json")): kind.Keys, string(read(t, "keys/key_2026_04.private.json")): kind.PrivateKey,
		"%PDF-1.7": kind.Document, packed.String(): kind.Archive, packed.String()[:packed.Len()-4]: kind.Archive, keys.String(): kind.Packed,
		`{"keys":[],"chain":{}}`: kind.Unknown, "\x1f\x8bno gzip": kind.Unknown,
	} {
		if got := recognize([]byte(text), true); got.Kind != want {
			t.Errorf("%.40q: %+v, want %q", text, got, want)
		}
	}
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Cases {
		if got := recognize(read(t, c.File), true); got.Kind.Beside() {
			t.Errorf("%s is recognized as %s", c.File, got.What)
		}
	}
}

// TestEvidence verifies that evidence affects the verdict in the same way as for the command, and
// that malformed evidence refutes the input.
func TestEvidence(t *testing.T) {
	task := read(t, "valid/task.json")
	r := func(files ...besideFile) *request {
		return &request{Clock: time.Now, Sources: []stream.Source{inMemory("a", task)}, Keys: trusted(t), Beside: files}
	}
	bound := `{"disclosures_version":1,"receipt_hash":"sha256:` + strings.Repeat("a", 64) + `","fields":[]}`
	for name, test := range map[string]struct {
		file          besideFile
		verdict, code string
	}{
		"proof":       {besideFile{Name: "p", Kind: kind.Proof, Data: []byte("c2sp.org/tlog-proof@v1\nindex x\n")}, "refuted", "proof_invalid"},
		"checkpoint":  {besideFile{Name: "c", Kind: kind.Checkpoint, Data: []byte("log\nx\n\n\u2014 log AAAA\n")}, "refuted", "checkpoint_invalid"},
		"disclosures": {besideFile{Name: "d", Kind: kind.Disclosures, Data: []byte(bound)}, "undecided", "disclosure_unbound"},
	} {
		g := new(got)
		if err := verify(context.Background(), r(test.file), g); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(g.summary, `"verdict":"`+test.verdict+`"`) || !strings.Contains(g.summary, test.code) {
			t.Errorf("%s: %s", name, g.summary)
		}
	}
	for _, bad := range [][]besideFile{{{Name: "d", Kind: kind.Disclosures, Data: []byte("{}")}}, {{Name: "b", Kind: kind.Batch, Data: []byte("{}")}}, {{Name: "x", Kind: kind.Document}},
		{{Name: "c", Kind: kind.Checkpoint, Data: []byte("x")}, {Name: "c2", Kind: kind.Checkpoint, Data: []byte("x")}}} {
		g := new(got)
		if err := verify(context.Background(), r(bad...), g); err == nil || g.lines.Len() > 0 {
			t.Errorf("%v: %v with lines %q", bad, err, g.lines.String())
		}
	}
	d, err := open(context.Background(), inMemory("a", task), 1)
	if err != nil {
		t.Fatal(err)
	}
	places, err := fitting(context.Background(), inMemory("a", task), 1, []besideFile{
		{Kind: kind.Proof, Data: []byte("no proof")},
		{Kind: kind.Disclosures, Data: []byte(bound)}, // for another receipt
		{Kind: kind.Disclosures, Data: []byte(strings.Replace(bound, "sha256:"+strings.Repeat("a", 64), d.Hash, 1))},
		{Kind: kind.Disclosures, Data: []byte("{}")}, // input that cannot be read, which the verification reports
	})
	if err != nil || !slices.Equal(places, []int{2, 3}) {
		t.Errorf("%v %v", places, err)
	}
}

// TestDisclosures verifies that a disclosure applies to the receipt that it names, or to receipts
// that contain a matching commitment if it names no receipt. The command "receipt verify" applies
// disclosures in the same way.
func TestDisclosures(t *testing.T) {
	shown := redact.Disclosure{Field: "/metadata/pin", Salt: strings.Repeat("1", 32), Value: []byte(`"1234"`)}
	var sources []stream.Source
	var hashes []canon.Digest
	head := chain.Head{}
	for i, proof := range []canon.Digest{shown.Commitment(), {}} {
		var d receipt.Draft
		if err := json.Unmarshal(read(t, "valid/minimal.json"), &d); err != nil {
			t.Fatal(err)
		}
		d.ReceiptID = fmt.Sprintf("receipt_%d", i)
		if !proof.IsZero() {
			d.Redactions = []receipt.Redaction{{Field: shown.Field, Reason: "test", ProofHash: proof}}
		}
		sealed, err := receipt.Seal(&d, head)
		if err != nil {
			t.Fatal(err)
		}
		head = sealed.Head()
		sources, hashes = append(sources, inMemory(d.ReceiptID, sealed.JSON())), append(hashes, sealed.Hash())
	}

	changed := shown
	changed.Value = []byte(`"9999"`)
	for name, c := range map[string]struct {
		given redact.Disclosures
		want  string
		fits  [2]bool
	}{
		"bound":              {redact.Disclosures{ReceiptHash: hashes[0], Fields: []redact.Disclosure{shown}}, "verified", [2]bool{true, false}},
		"unbound":            {redact.Disclosures{Fields: []redact.Disclosure{shown}}, "verified", [2]bool{true, false}},
		"unbound, changed":   {redact.Disclosures{Fields: []redact.Disclosure{changed}}, "undecided", [2]bool{}},
		"bound, changed":     {redact.Disclosures{ReceiptHash: hashes[0], Fields: []redact.Disclosure{changed}}, "refuted", [2]bool{true, false}},
		"of another receipt": {redact.Disclosures{ReceiptHash: canon.Sum(nil), Fields: []redact.Disclosure{shown}}, "undecided", [2]bool{}},
	} {
		file := besideFile{Name: "d", Kind: kind.Disclosures, Data: c.given.Marshal()}
		g := new(got)
		if err := verify(context.Background(), &request{Clock: time.Now, Sources: sources, Beside: []besideFile{file}}, g); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(g.summary, `"verdict":"`+c.want+`"`) {
			t.Errorf("%s: %s", name, g.summary)
		}
		for i, s := range sources {
			if places, err := fitting(context.Background(), s, 1, []besideFile{file}); err != nil || (len(places) == 1) != c.fits[i] {
				t.Errorf("%s of receipt %d: %v %v", name, i, places, err)
			}
		}
	}
}

// TestAttestation verifies that a receipt in an attestation is verified together with the
// attestation, in the same way as in the command "receipt verify". It also verifies that open
// returns the receipt.
func TestAttestation(t *testing.T) {
	task := read(t, "valid/task.json")
	sealed, err := receipt.ParseSealed(task)
	if err != nil {
		t.Fatal(err)
	}
	statement, err := attest.NewStatement(sealed, "")
	if err != nil {
		t.Fatal(err)
	}
	signed := func(key string) []byte {
		private, err := keys.ParsePrivate(read(t, "keys/"+key+".private.json"))
		if err != nil {
			t.Fatal(err)
		}
		envelope, err := attest.Sign(context.Background(), statement, keys.NewSigner(private, nil))
		if err != nil {
			t.Fatal(err)
		}
		return envelope.Bytes()
	}

	good := signed("key_2026_04")
	forged := bytes.Replace(good, []byte(`"sig":"`), []byte(`"sig":"AAAA`), 1)
	forged = append(forged[:len(forged)-len("AAAA\"}]}}\n")], "\"}]}}\n"...)
	for name, test := range map[string]struct {
		text    []byte
		keys    []keyFile
		verdict string
	}{
		"good":      {good, trusted(t), "verified"},
		"no keys":   {good, nil, "verified"},
		"stranger":  {signed("key_stranger"), trusted(t), "undecided"},
		"forged":    {forged, trusted(t), "refuted"},
		"malformed": {[]byte(`{"mediaType":"` + attest.MediaType + `"}`), trusted(t), "refuted"},
	} {
		if f := recognize(test.text, true); f.Kind != kind.Unknown {
			t.Errorf("%s is not judged: %+v", name, f)
		}
		source := inMemory("a.json", test.text)
		g := verified(t, &request{Clock: time.Now, Sources: []stream.Source{source}, Keys: test.keys})
		if !strings.Contains(g.summary, `"verdict":"`+test.verdict+`"`) {
			t.Errorf("%s: %s %s", name, g.summary, g.lines.String())
		}
		if name == "good" && !strings.Contains(g.lines.String(), `"algorithm":"dsse"`) {
			t.Errorf("the signature is not reported: %s", g.lines.String())
		}
		d, err := open(context.Background(), source, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "malformed" && d.Hash != sealed.Hash().String() {
			t.Errorf("%s: the page shows the content with the hash %s", name, d.Hash)
		}
	}
}

// TestContinuity verifies that options can specify that the input is a selection or is unordered.
func TestContinuity(t *testing.T) {
	var lines bytes.Buffer
	for _, name := range []string{"valid/task-second.json", "valid/task.json"} {
		if err := json.Compact(&lines, read(t, name)); err != nil {
			t.Fatal(err)
		}
		lines.WriteByte('\n')
	}
	for _, c := range []struct {
		options       options
		verdict, want string
	}{
		{options{}, "refuted", `"cause":"comes_earlier"`},
		{options{Unordered: true}, "verified", `"check":"link","status":"passed"`},
		{options{Partial: true}, "refuted", `"partial":true`},
	} {
		g := verified(t, &request{Clock: time.Now, Sources: []stream.Source{inMemory("a.jsonl", lines.Bytes())}, Options: c.options})
		if !strings.Contains(g.summary, `"verdict":"`+c.verdict+`"`) || !strings.Contains(g.lines.String()+g.summary, c.want) {
			t.Errorf("%+v: %s", c.options, g.summary)
		}
	}
}
