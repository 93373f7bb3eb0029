package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// exchanges lists the groups of columns whose values are swapped between two rows.
var exchanges = []string{"receipt_id", "json", "stream, position", "hash", "position", "previous", "seq", "hash, previous", "json, receipt_id", "hash, json", "task", "session"}

// exchange swaps columns between the rows of two receipts, bypassing all indexes.
func exchange(t *testing.T, path, columns, one, other string) {
	t.Helper()
	execute(t, path, `DROP INDEX IF EXISTS receipts_place; DROP INDEX IF EXISTS receipts_previous`)
	execute(t, path, `PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'receipt_id TEXT NOT NULL UNIQUE', 'receipt_id TEXT NOT NULL') WHERE name = 'receipts'; DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_receipts_1'; PRAGMA writable_schema = 0`)
	execute(t, path, fmt.Sprintf(`CREATE TEMP TABLE was AS SELECT * FROM receipts WHERE receipt_id IN ('%[2]s', '%[3]s');
UPDATE receipts SET seq = -seq WHERE receipt_id IN ('%[2]s', '%[3]s');
UPDATE receipts AS r SET (%[1]s) = (SELECT %[1]s FROM was WHERE was.seq <> -r.seq) WHERE seq < 0;
UPDATE receipts SET seq = -seq WHERE seq < 0`, columns, one, other))
	execute(t, path, `CREATE INDEX receipts_place ON receipts (stream, position)`)
}

// A truth contains the receipts of an unaltered ledger, indexed by ID, and their hashes.
type truth struct {
	*testing.T
	verifier *receipt.Verifier
	json     map[string][]byte
	hashes   map[canon.Digest]chain.Stream
}

func truthOf(t *testing.T, path string) *truth {
	t.Helper()
	l, err := sqlite.OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := &truth{t, verifier(t, receipt.Policy{}), map[string][]byte{}, map[canon.Digest]chain.Stream{}}
	for _, e := range every(t, l.Walk(context.Background(), ledger.Query{}, 0)) {
		all.json[e.ID] = e.JSON
		all.hashes[e.Hash] = chain.Stream{Issuer: "harness_example_cloud", Workspace: e.ID[:1]}
	}
	return all
}

// believed reads a ledger with every reader. If a reader returns a receipt as valid, it must be
// exactly the requested receipt, byte for byte. The trees and heads must be correct. It returns the
// number of receipts that the readers returned.
func (t *truth) believed(what, path string) (given int) {
	t.Helper()
	ctx := context.Background()
	l, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		return 0 // rejected completely
	}
	defer l.Close()
	good := func(reader, id string, json []byte) {
		if _, err := t.verifier.Open(json); err != nil {
			return // the receipt is returned, but its verification reports the damage
		}
		if given++; !bytes.Equal(json, t.json[id]) {
			t.Errorf("%s: %s reports for %s:\n%s", what, reader, id, json)
		}
	}
	source := served.New(l)
	for id := range t.json {
		if r, err := ledger.Get(ctx, l, id); err == nil {
			good("Get", id, r.JSON())
		}
		if s, err := source.Get(ctx, id, protocol.Everything()); err == nil {
			good("the source", id, s.JSON)
		}
		page, _, err := source.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: "task_" + id, Limit: 10})
		for _, s := range page {
			if err == nil {
				good("the source's task", id, s.JSON)
			}
		}
	}
	for hash, stream := range t.hashes {
		if e, err := ledger.Lookup(ctx, l, ledger.Key{Hash: hash}); err == nil && e.Stream != stream {
			t.Errorf("%s: %v is said to be of %v", what, hash, e.Stream)
		}
	}
	for e, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err == nil {
			good("Scan", e.ID, e.JSON)
		}
	}
	streams, err := ledger.Heads(ctx, l)
	for _, s := range streams {
		if err == nil && (t.hashes[s.Head.Hash] != s.Stream || !bytes.Contains(t.json[fmt.Sprintf("%s_%d", s.Stream.Workspace, s.Head.Count-1)], []byte(s.Head.Hash.String()))) {
			t.Errorf("%s: the head of %v is said to be %v", what, s.Stream, s.Head)
		}
	}
	return given
}

// TestLyingRows verifies the result of swapping the value of any column between two rows of the
// same stream or of different streams. No reader may return the wrong receipt, and a check must
// detect the change.
func TestLyingRows(t *testing.T) {
	v := verifier(t, receipt.Policy{})
	sound := filled(t, 3)
	truth := truthOf(t, sound)
	if n := truth.believed("sound", sound); n != 4*len(truth.json) {
		t.Fatalf("of a sound ledger %d receipts are given out, expected %d", n, 4*len(truth.json))
	}
	data, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]string{{"a_0", "a_1"}, {"a_0", "a_2"}, {"a_1", "a_2"}, {"a_0", "b_0"}, {"a_1", "b_1"}, {"a_2", "b_2"}, {"a_0", "b_2"}, {"a_2", "b_0"}}
	for i, columns := range exchanges {
		for j, pair := range pairs {
			if !testsize.Full() && (i+j)%len(pairs) > 1 { // only two of the pairs, in rotation
				continue
			}
			path := filepath.Join(t.TempDir(), "ledger.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			exchange(t, path, columns, pair[0], pair[1])
			what := fmt.Sprint(columns, " of ", pair)
			truth.believed(what, path)
			harmless := columns == "session" || // all receipts have the same session
				columns == "seq" && pair[0][0] != pair[1][0] && pair[0][2] == pair[1][2] // the rows are in different streams, and the order within each stream is unchanged
			if _, list := faults(t, path, v); len(list) == 0 && !harmless {
				t.Errorf("%s: the check finds nothing", what)
			}
		}
	}
}

// TestLyingHeads verifies that, if the table of streams contradicts the receipts, no incorrect head
// is returned and no receipt is linked to an incorrect head.
func TestLyingHeads(t *testing.T) {
	ctx, v := context.Background(), verifier(t, receipt.Policy{})
	for _, edit := range []string{
		"CREATE TEMP TABLE was AS SELECT * FROM streams; UPDATE streams AS s SET (head, count) = (SELECT head, count FROM was WHERE was.id <> s.id)",
		"DROP INDEX streams_name; CREATE TEMP TABLE was AS SELECT * FROM streams; UPDATE streams AS s SET workspace = (SELECT workspace FROM was WHERE was.id <> s.id)",
		"UPDATE streams SET head = zeroblob(32)",
		"UPDATE streams SET head = (SELECT hash FROM receipts r WHERE r.stream = streams.id AND position = 2)",
		"UPDATE streams SET count = 2",
		"UPDATE streams SET count = 9000000000000000000",
		"DELETE FROM receipts WHERE position = 3",
	} {
		path := filled(t, 3)
		truth := truthOf(t, path)
		execute(t, path, edit)
		truth.believed(edit, path)
		if _, list := faults(t, path, v); len(list) == 0 || len(list) > 20 {
			t.Errorf("%s: the check finds %q", edit, list)
		}
		l, err := sqlite.Open(ctx, path)
		if err != nil {
			var back *sqlite.RolledBackError
			if !errors.As(err, &back) {
				t.Errorf("%s: %v", edit, err)
			}
			continue
		}
		if r, err := (&ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}).Issue(ctx, draft("receipt_new", "a")); err == nil {
			t.Errorf("%s: issued %s", edit, r.JSON())
		}
		l.Close()
	}
}

// TestLyingPages verifies that, if bits in a page are flipped, all receipts that are returned as
// valid match the stored receipts. It tests each page separately.
func TestLyingPages(t *testing.T) {
	path := filled(t, 4)
	truth := truthOf(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step, given := 191, 0
	if !testsize.Full() {
		step = 2039
	}
	for at := 0; at < len(whole); at += step {
		data := bytes.Clone(whole)
		data[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		given += truth.believed(fmt.Sprintf("bit %d of byte %d", at%8, at), path)
	}
	if given == 0 {
		t.Error("nothing was given out at all")
	}
}

// TestServedChanged verifies that a source reports a row that contains a different receipt. It must
// serve an altered receipt unchanged, so that verification refutes the receipt.
func TestServedChanged(t *testing.T) {
	ctx, path := context.Background(), filled(t, 3)
	execute(t, path, "UPDATE receipts SET json = (SELECT json FROM receipts WHERE receipt_id = 'a_1') WHERE receipt_id = 'a_2'")
	execute(t, path, "UPDATE receipts SET json = CAST(replace(CAST(json AS TEXT), 'SUCCEEDED', 'CANCELED') AS BLOB) WHERE receipt_id = 'b_1'")
	l, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	source := served.New(l)
	if s, err := source.Get(ctx, "a_2", protocol.Everything()); !errors.Is(err, serve.ErrChanged) || s.JSON != nil {
		t.Errorf("another receipt: %s, %v", s.JSON, err)
	}
	if _, _, err := source.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: "task_a_2", Limit: 5}); !errors.Is(err, serve.ErrChanged) {
		t.Errorf("another receipt of a task: %v", err)
	}
	if s, err := source.Get(ctx, "b_1", protocol.Everything()); err != nil || !bytes.Contains(s.JSON, []byte("CANCELED")) {
		t.Errorf("an altered one: %s, %v", s.JSON, err)
	}
}
