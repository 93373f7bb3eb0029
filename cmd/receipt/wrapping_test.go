package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// wrappings returns a document in every supported encoding, indexed by file name.
func wrappings(t *testing.T, doc []byte) map[string][]byte {
	t.Helper()
	doc = bytes.TrimRight(doc, " \t\r\n")
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(doc); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	zst, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	all := map[string][]byte{
		"file.json": doc, "packed.json.gz": packed.Bytes(), "packed.json.zst": zst.EncodeAll(doc, nil),
	}
	parsed, err := canon.Parse(doc)
	if err != nil {
		return all // the end of invalid JSON cannot be determined inside a wrapping
	}
	all["array.json"] = join([]byte("["), doc, []byte("]"))
	all["page.json"] = join([]byte(`{"object":"list","data":[`), doc, []byte("]}"))
	all["envelope.json"] = join([]byte(`{"object":"receipt","id":"x","wire":{"payload":`), doc, []byte("}}"))
	var line bytes.Buffer
	if json.Compact(&line, doc) == nil {
		all["line.jsonl"] = append(line.Bytes(), '\n')
	}
	codec := archive.NewCodec()
	if item, err := codec.Append(nil, parsed); err == nil {
		all["item.cbor"], all["item.cborseq"] = item, item
	}
	return all
}

// TestWrappings verifies that the same content leads to the same verdict and reason in every
// encoding.
func TestWrappings(t *testing.T) {
	dir, forms := t.TempDir(), map[string]int{}
	for _, c := range some(receipts(t)) {
		if c.Code == receipt.CodeNotObject {
			continue // such a document is not recognized inside a wrapping
		}
		doc := readFixture(t, c.File)
		want, wantCode := judged(t, nil, fixturePath(c))
		if got, code := judged(t, doc, "-"); got != want || code != wantCode {
			t.Errorf("%s on stdin: %s, exit %d, expected %s, exit %d", c.File, got, code, want, wantCode)
		}
		for name, data := range wrappings(t, doc) {
			path := filepath.Join(dir, name)
			writeFile(t, path, data)
			forms[name]++
			if got, code := judged(t, nil, path); got != want || code != wantCode {
				t.Errorf("%s as %s: %s, exit %d, expected %s, exit %d", c.File, name, got, code, want, wantCode)
			}
		}
	}
	if len(forms) != 9 {
		t.Errorf("forms seen: %v", forms)
	}
}

// judged returns the verdict for the only receipt in an input and the reason for the verdict.
func judged(t *testing.T, stdin []byte, path string) (verdict string, code int) {
	t.Helper()
	code, out, stderr := command(bytes.NewReader(stdin), "verify", "--keys", trustedKeys, "--format", "json", path)
	doc, err := canon.Parse([]byte(out))
	if err != nil {
		t.Fatalf("%s: %v in %q, %q", path, err, out, stderr)
	}
	verdict = doc.Root().Member("summary").Member("verdict").String()
	for name := range doc.Root().Member("summary").Member("codes").Members() {
		verdict += " " + name.String()
	}
	return verdict, code
}
