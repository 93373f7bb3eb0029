package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func zstdPacked(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func openFiles(t testing.TB, content map[string][]byte) *files.Index {
	t.Helper()
	_, sources := servetest.Files(t, content)
	f, err := files.Open(context.Background(), files.Options{}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func skippedText(f *files.Index) string {
	var list []string
	notices, count := f.Skipped()
	for _, n := range notices {
		list = append(list, n.Source+" "+n.Detail)
	}
	return fmt.Sprintf("%d: %s", count, strings.Join(list, ", "))
}

// TestFilesKinds verifies that a receipt is served byte for byte from every kind of file.
func TestFilesKinds(t *testing.T) {
	list := servetest.Receipts(t, 5)
	var items []byte
	for _, r := range list {
		items = append(items, servetest.Archived(t, r)...)
	}
	envelope := func(r []byte) []byte { return []byte(`{"id":"x","wire":{"payload": ` + string(r) + ` }}`) }
	array := []byte("[\n " + string(bytes.Join(list, []byte(" ,\n "))) + " ]\n")
	page := []byte(`{"object":"list","data":[` + string(envelope(list[0])) + "," + string(bytes.Join(list[1:], []byte(","))) + `],"page":{}}`)
	for name, files := range map[string]map[string][]byte{
		"lines":            {"a.jsonl": servetest.Lines(list...)},
		"CR LF and blanks": {"a.jsonl": []byte("\n\n  " + string(bytes.Join(list, []byte("\r\n \r\n"))))},
		"array":            {"a.json": array},
		"page":             {"a.json": page},
		"page on one line": {"a.jsonl": append(page, '\n')},
		"envelopes":        {"a.jsonl": servetest.Lines(envelope(list[0]), envelope(list[1]), list[2], list[3], envelope(list[4]))},
		"sequence":         {"a.cborseq": items},
		"CBOR of envelope": {"a.cborseq": slices.Concat(servetest.Archived(t, envelope(list[0])), servetest.Archived(t, list[1])), "b.jsonl": servetest.Lines(list[2:]...)},
		"single":           {"a.json": list[0], "b.json": append([]byte("  \n"), list[1]...), "c.cbor": servetest.Archived(t, list[2]), "d.json": append(list[3], " \r\n\n"...), "e.json": envelope(list[4])},
		"gzip":             {"a.jsonl.gz": servetest.Gzip(t, servetest.Lines(list...))},
		"zstd":             {"a.json.zst": zstdPacked(t, array)},
		"zstd of CBOR":     {"a.cborseq.zst": zstdPacked(t, items)},
		"gzip of singles":  {"a.json.gz": servetest.Gzip(t, append(list[0], '\n')), "b.cbor.gz": servetest.Gzip(t, servetest.Archived(t, list[1])), "c.json.gz": servetest.Gzip(t, envelope(list[2])), "d.jsonl.gz": servetest.Gzip(t, servetest.Lines(list[3], envelope(list[4])))},
	} {
		f := openFiles(t, files)
		if f.Len() != len(list) || skippedText(f) != "0: " {
			t.Errorf("%s: %d receipts, skipped %s", name, f.Len(), skippedText(f))
		}
		for i, want := range list {
			got, err := f.Get(context.Background(), fmt.Sprint("r", i), protocol.Everything())
			if err != nil || !bytes.Equal(got.JSON, want) {
				t.Errorf("%s: r%d: %v\n%s\nexpected\n%s", name, i, err, got.JSON, want)
			}
		}
		if _, err := f.Get(context.Background(), "r5", protocol.Everything()); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s: of a receipt that is not there: %v", name, err)
		}
	}
}

// TestFilesFirst verifies that the link of the only stored receipt in a stream is valid if the
// receipt claims to have no predecessor, and is otherwise not checked.
func TestFilesFirst(t *testing.T) {
	for path, want := range map[string]receipt.Check{
		"valid/task.json":             {Status: receipt.StatusPassed},
		"valid/task-second.json":      {Status: receipt.StatusNotChecked, Cause: receipt.CausePredecessorAbsent},
		"malicious/changed-cost.json": {Status: receipt.StatusNotChecked, Cause: receipt.CauseOwnHash},
	} {
		text, err := fixtures.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		var named struct {
			ID string `json:"receipt_id"`
		}
		if err := json.Unmarshal(text, &named); err != nil {
			t.Fatal(err)
		}
		got, err := openFiles(t, map[string][]byte{"a.json": text}).Get(context.Background(), named.ID, protocol.Everything())
		if err != nil || got.Link.Status != want.Status || got.Link.Cause != want.Cause {
			t.Errorf("%s: %v, %+v", path, err, got.Link)
		}
	}
}

// TestFilesFormatted verifies that a receipt is served unchanged even if it is not in canonical
// form.
func TestFilesFormatted(t *testing.T) {
	for _, name := range []string{"edge/pretty.json", "edge/escaped.json", "edge/number-spelling.json", "edge/crlf.json"} {
		text, err := fixtures.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f := openFiles(t, map[string][]byte{"a.json": text})
		got, err := f.Get(context.Background(), doc.Root().Member("receipt_id").String(), protocol.Everything())
		if err != nil || !bytes.Equal(got.JSON, bytes.TrimSpace(text)) {
			t.Errorf("%s: %v, %d bytes of %d", name, err, len(got.JSON), len(text))
		}
	}
}

// TestFilesDamaged verifies that a receipt is found even if it is not valid JSON, provided that its
// ID can be read. It must be served unchanged, so that verification refutes it.
func TestFilesDamaged(t *testing.T) {
	good := servetest.Receipts(t, 2)
	for _, c := range []struct{ name, text, id string }{
		{"duplicate name", strings.Replace(string(good[0]), `"receipt_id":"r0"`, `"receipt_id":"rx","receipt_id":"ry"`, 1), "rx"},
		{"bad UTF-8", strings.Replace(string(good[0]), `"r0"`, `"rx","a":"`+"\xff"+`"`, 1), "rx"},
		{"comma", strings.Replace(string(good[0]), `"r0"`, `"r\u0078",,`, 1), "rx"},
		{"number", strings.Replace(string(good[0]), `"r0"`, `"rx","n":01`, 1), "rx"},
		{"lossy number", strings.Replace(string(good[0]), `"r0"`, `"rx","n":9007199254740993`, 1), "rx"},
		{"changed content", strings.Replace(string(good[0]), `"r0"`, `"rx"`, 1), "rx"},
		{"name inside", `{"a":{"receipt_id":"rx"},,}`, ""},
		{"name in a string", `{"a":"\"receipt_id\":\"rx\"",,}`, ""},
		{"name as a value", `{"a":"receipt_id",,"b":["receipt_id"]}`, ""},
		{"id is no string", `{"receipt_id":["rx"],,}`, ""},
		{"id does not end", `{"receipt_id":"rx`, ""},
		{"empty id", `{"receipt_id":"",,}`, ""},
		{"no object", `"receipt_id":"rx"}`, ""},
	} {
		f := openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(good[0], []byte(c.text), good[1])})
		got, err := f.Get(context.Background(), "rx", protocol.Everything())
		if c.id == "" {
			if _, skipped := f.Skipped(); !errors.Is(err, ledger.ErrNotFound) || f.Len() != 2 || skipped != 1 {
				t.Errorf("%s: %v, %d receipts, skipped %s", c.name, err, f.Len(), skippedText(f))
			}
			continue
		}
		if err != nil || string(got.JSON) != c.text || f.Len() != 3 {
			t.Errorf("%s: %v, %d receipts, skipped %s\n%s", c.name, err, f.Len(), skippedText(f), got.JSON)
		}
	}
}

// TestFilesFixtures verifies that each malicious fixture is served as stored if it is the only
// file. If the fixture has no usable ID, it must be skipped instead.
func TestFilesFixtures(t *testing.T) {
	if testing.Short() {
		t.Skip("opens each of them")
	}
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	served, another := 0, servetest.Receipts(t, 1)[0]
	for _, c := range m.Cases {
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 0 && len(bytes.TrimSpace(text)) == 0 {
			continue // not a document, so it is rejected
		}
		f := openFiles(t, map[string][]byte{"a.json": text, "b.json": another})
		for _, id := range []string{"receipt_01K0TASK", "receipt_01K0FULL", "receipt_01K0MINIMAL"} {
			got, err := f.Get(context.Background(), id, protocol.Everything())
			if errors.Is(err, ledger.ErrNotFound) {
				continue
			}
			if served++; err != nil || !bytes.Equal(bytes.TrimSpace(got.JSON), bytes.TrimSpace(text)) {
				t.Errorf("%s: %s: %v\n%s", c.File, id, err, got.JSON)
			}
		}
	}
	if served < 100 {
		t.Errorf("served %d fixtures, expected more", served)
	}
}

// TestFilesSkip verifies that documents other than receipts are skipped, counted, and listed by
// name.
func TestFilesSkip(t *testing.T) {
	list := servetest.Receipts(t, 4)
	keys, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	notDeterministic := append([]byte{0xa1, 0x61, 'a', 0x18, 0x01}, servetest.Archived(t, list[2])...)
	for name, c := range map[string]struct {
		content []byte
		served  int
		want    string
	}{
		"empty file":       {nil, 0, "1: f empty"},
		"key set":          {keys, 0, "1: f a key set"},
		"text":             {[]byte("hello\nworld\n"), 0, "1: f syntax"},
		"other line":       {servetest.Lines(list[0], []byte(`{"a":1}`), list[1]), 2, "1: f:2 not_a_receipt"},
		"id is no text":    {servetest.Lines(list[0], []byte(`{"schema":"receipt-2026-04-25","receipt_id":7}`), list[1]), 2, "1: f:2 schema_invalid"},
		"torn":             {append(servetest.Lines(list[0]), list[1][:len(list[1])-9]...), 1, "1: f:2 torn_tail"},
		"torn array":       {append(append([]byte("["), list[0]...), ','), 1, "1: f:1 torn_tail"},
		"oversize line":    {servetest.Lines(list[0], bytes.Repeat([]byte{'x'}, receipt.MaxBytes+1), list[1]), 2, "1: f:2 size_limit"},
		"CBOR, cut":        {append(servetest.Archived(t, list[0]), servetest.Archived(t, list[1])[:50]...), 1, "1: f:2 torn_tail"},
		"CBOR, no archive": {notDeterministic, 1, "1: f:1 non_deterministic_cbor"},
	} {
		f := openFiles(t, map[string][]byte{"f": c.content})
		if f.Len() != c.served || skippedText(f) != c.want {
			t.Errorf("%s: %d receipts, skipped %s; expected %d, %s", name, f.Len(), skippedText(f), c.served, c.want)
		}
	}
}

// TestFilesRefuse verifies that a source causes an error at startup if it cannot be served
// completely.
func TestFilesRefuse(t *testing.T) {
	list := servetest.Receipts(t, 2)
	other := bytes.Replace(list[0], []byte(`"harness"`), []byte(`"another"`), 1)
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"two contents": {map[string][]byte{"a.jsonl": servetest.Lines(list...), "b.json": other},
			`serve: the receipt_id "r0" belongs to two different receipts, "a.jsonl:1" and "b.json"`},
		"two damaged": {map[string][]byte{"a.jsonl": []byte(`{"receipt_id":"r0",}` + "\n" + `{"receipt_id":"r0",,}` + "\n")},
			`serve: the receipt_id "r0" belongs to two different receipts, "a.jsonl:1" and "a.jsonl:2"`},
		"torn gzip": {map[string][]byte{"a.jsonl.gz": servetest.Gzip(t, servetest.Lines(list...))[:200]}, `"a.jsonl.gz": gzip: the file is truncated`},
		"blank":     {map[string][]byte{"a.jsonl": []byte("\n\n")}, `"a.jsonl": contains no receipt`},
	} {
		_, sources := servetest.Files(t, c.files)
		f, err := files.Open(context.Background(), files.Options{}, sources...)
		if err == nil || err.Error() != c.want || f != nil {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
		if conflict := (*files.ConflictError)(nil); errors.As(err, &conflict) != strings.Contains(name, "two") {
			t.Errorf("%s: %T", name, err)
		}
	}
	noFile := stream.Source{Name: "pipe", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(list[0])), nil }}
	if _, err := files.Open(context.Background(), files.Options{}, noFile); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("no file: %v", err)
	}
	missing := stream.Source{Name: "gone", Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(t.TempDir(), "gone")) }}
	if _, err := files.Open(context.Background(), files.Options{}, missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, sources := servetest.Files(t, map[string][]byte{"a.jsonl": servetest.Lines(list...)})
	if _, err := files.Open(ctx, files.Options{}, sources...); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestFilesLargePacked verifies that compressed files are served up to a size limit.
func TestFilesLargePacked(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses twice 16 MiB")
	}
	large := func(id string) []byte {
		return []byte(`{"receipt_id":"` + id + `","a":"` + strings.Repeat("x", (16<<20)/2-100) + `"}`)
	}
	list := [][]byte{large("r0"), large("r1"), servetest.Receipts(t, 3)[2]}
	f := openFiles(t, map[string][]byte{"a.jsonl.gz": servetest.Gzip(t, servetest.Lines(list[:2]...))})
	if got, err := f.Get(context.Background(), "r1", protocol.Everything()); err != nil || !bytes.Equal(got.JSON, list[1]) {
		t.Errorf("%v, %d bytes", err, len(got.JSON))
	}
	_, sources := servetest.Files(t, map[string][]byte{"a.jsonl.gz": servetest.Gzip(t, servetest.Lines(list...))})
	const want = `"a.jsonl.gz": a compressed file with more than 16777216 bytes of receipts; decompress it to serve it`
	if _, err := files.Open(context.Background(), files.Options{}, sources...); err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// TestFilesCopies verifies that the first of several copies is served, even if the copies are
// formatted differently.
func TestFilesCopies(t *testing.T) {
	list := servetest.Receipts(t, 2)
	spaced := bytes.Replace(list[0], []byte(`,"issuer"`), []byte(` , "issuer"`), 1)
	f := openFiles(t, map[string][]byte{"a.json": spaced, "b.jsonl": servetest.Lines(list[0], list[1], list[1]), "c.cbor": servetest.Archived(t, list[0])})
	got, err := f.Get(context.Background(), "r0", protocol.Everything())
	if err != nil || !bytes.Equal(got.JSON, spaced) || f.Len() != 2 {
		t.Errorf("%v, %d receipts\n%s", err, f.Len(), got.JSON)
	}
	if page, more, err := f.ByTask(context.Background(), serve.TaskQuery{Reach: protocol.Everything(), Task: "t", Limit: 10}); err != nil || len(page) != 2 || more {
		t.Errorf("%d of the task, %v, %v", len(page), more, err)
	}
}

// TestFilesChanged verifies that only bytes that were indexed are served.
func TestFilesChanged(t *testing.T) {
	list := servetest.Receipts(t, 3)
	for _, name := range []string{"a.jsonl", "a.cborseq", "a.jsonl.gz"} {
		pack := func(list ...[]byte) []byte {
			switch name {
			case "a.cborseq":
				var items []byte
				for _, r := range list {
					items = append(items, servetest.Archived(t, r)...)
				}
				return items
			case "a.jsonl.gz":
				return servetest.Gzip(t, servetest.Lines(list...))
			}
			return servetest.Lines(list...)
		}
		dir, sources := servetest.Files(t, map[string][]byte{name: pack(list...)})
		f, err := files.Open(context.Background(), files.Options{}, sources...)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		check := func(what string, content []byte, changed bool) {
			t.Helper()
			if content == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Get(context.Background(), "r1", protocol.Everything())
			if errors.Is(err, serve.ErrChanged) != changed || err != nil && got.JSON != nil || err == nil && !bytes.Equal(got.JSON, list[1]) {
				t.Errorf("%s, %s: %v %s", name, what, err, got.JSON)
			}
			if _, _, err := f.ByTask(context.Background(), serve.TaskQuery{Reach: protocol.Everything(), Task: "t", Limit: 10}); changed && !errors.Is(err, serve.ErrChanged) {
				t.Errorf("%s, %s: by task: %v", name, what, err)
			}
		}
		check("another in its place", pack(list[0], list[2], list[1]), true)
		check("one byte of it", pack(list[0], bytes.Replace(list[1], []byte(`"w"`), []byte(`"x"`), 1), list[2]), true)
		check("cut", pack(list[0]), true)
		check("empty", []byte{}, true)
		check("others added", pack(append(slices.Clone(list), list[0])...), false)
		check("gone", nil, true)
		check("back", pack(list...), false)
	}
}

// TestFilesByTask verifies that pages of any size add up to the same list, even after a restart.
func TestFilesByTask(t *testing.T) {
	var list, want [][]byte
	for i := range 23 {
		subject, task := "t", "t"
		switch i % 4 {
		case 1:
			subject = "other"
		case 2:
			task = "other"
		case 3:
			subject, task = "x", "y"
		}
		r := servetest.Receipt(t, fmt.Sprint("r", i), subject, task)
		if list = append(list, r); i%4 != 3 {
			want = append(want, r)
		}
	}
	files := map[string][]byte{"a.jsonl": servetest.Lines(list[:9]...), "b.json": list[9], "c.jsonl.gz": servetest.Gzip(t, servetest.Lines(list[10:]...))}
	f := openFiles(t, files)
	ctx := context.Background()
	for _, limit := range []int{1, 4, 7, 8, 16, 17, 18, 30} {
		var got [][]byte
		q := serve.TaskQuery{Reach: protocol.Everything(), Task: "t", Limit: limit}
		for {
			page, more, err := f.ByTask(ctx, q)
			if err != nil || len(page) > limit || len(page) == 0 {
				t.Fatalf("limit %d: %d receipts, %v: %v", limit, len(page), more, err)
			}
			for _, s := range page {
				got = append(got, s.JSON)
			}
			q.After = servetest.HashOf(page[len(page)-1].JSON)
			if !more {
				break
			}
			files["d.json"] = servetest.Receipt(t, "added", "t", "t")
			f = openFiles(t, files) // simulates a restart after more receipts were appended
			delete(files, "d.json")
		}
		if got = got[:min(len(got), len(want))]; !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("limit %d: %d receipts, expected %d", limit, len(got), len(want))
		}
		f = openFiles(t, files)
	}
	if page, more, err := f.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: "unknown", Limit: 10}); len(page) != 0 || more || err != nil {
		t.Errorf("an unknown task: %d, %v, %v", len(page), more, err)
	}
}

// TestFilesPageBytes verifies the limit on the length of a page.
func TestFilesPageBytes(t *testing.T) {
	var list [][]byte
	for i := range 4 {
		list = append(list, fmt.Appendf(nil, `{"receipt_id":"r%d","subject":{"object":"task","id":"t"},"a":"%s"}`, i, strings.Repeat("x", 3<<20)))
	}
	f := openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(list...)})
	q := serve.TaskQuery{Reach: protocol.Everything(), Task: "t", Limit: 200}
	page, more, err := f.ByTask(context.Background(), q)
	if err != nil || len(page) != 2 || !more {
		t.Fatalf("%d receipts, %v, %v", len(page), more, err)
	}
	q.After = servetest.HashOf(page[1].JSON)
	if page, more, err = f.ByTask(context.Background(), q); err != nil || len(page) != 2 || more {
		t.Errorf("then %d receipts, %v, %v", len(page), more, err)
	}
}
