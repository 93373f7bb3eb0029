package sqlite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

const logName = "log.example.net/receipts"

// trusted returns the trusted keys from the fixtures. If revoked is set, one of the keys for
// checkpoints is revoked.
func trusted(t testing.TB, revoked bool) *keys.Set {
	t.Helper()
	data, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	if revoked {
		data = bytes.Replace(data, []byte(`"kid": "log_1",`), []byte(`"kid": "log_1", "revoked": {"at": 1780272000, "reason": "compromised"},`), 1)
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// checkpointOf returns a checkpoint for a tree, signed as a log.
func checkpointOf(t testing.TB, key string, tree *merkle.Tree) []byte {
	t.Helper()
	data, err := fixtures.Read("keys/" + key + ".private.json")
	if err != nil {
		t.Fatal(err)
	}
	private, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	note, err := keys.NewSigner(private, nil).SignCheckpoint(context.Background(), &tlog.Checkpoint{Origin: logName, Size: tree.Size(), Root: tree.Root()})
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// treeOf returns the Merkle tree of the receipts.
func treeOf(entries []ledger.Row) *merkle.Tree {
	tree := new(merkle.Tree)
	for _, e := range entries {
		tree.Append(receipt.CheckpointLeaf(e.Hash))
	}
	return tree
}

// archiveOf yields receipts in the same way as an archive.
func archiveOf(entries []ledger.Row) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, e := range entries {
			if !yield(e.JSON, nil) {
				return
			}
		}
	}
}

func openLedger(t testing.TB, path string) *sqlite.Ledger {
	t.Helper()
	l, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// prune prunes the first n receipts in a ledger with a checkpoint that covers them.
func prune(t testing.TB, l *sqlite.Ledger, n int) (pruned int64) {
	t.Helper()
	ctx := context.Background()
	all := []ledger.Row{}
	for e, err := range l.Walk(ctx, ledger.Query{Pruned: true}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	first := all[:n]
	archive := slices.DeleteFunc(slices.Clone(first), func(e ledger.Row) bool { return e.JSON == nil })
	p, err := ledger.Prunable(ctx, l, trusted(t, false), checkpointOf(t, "log_1", treeOf(first)), archiveOf(archive))
	if err != nil {
		t.Fatal(err)
	}
	if pruned, err = ledger.Prune(ctx, l, p, fmt.Sprintf("first-%d.jsonl", n), sha256.Sum256([]byte("archive"))); err != nil {
		t.Fatal(err)
	}
	return pruned
}

// lines returns receipts in the format of an export.
func lines(entries []ledger.Row) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		b.Write(append(e.JSON, '\n'))
	}
	return b.Bytes()
}

// TestPrune verifies that every reader reports pruned receipts and their archive and that the other
// receipts are unchanged. Proving, issuing, and checking must still work.
func TestPrune(t *testing.T) {
	ctx, path := context.Background(), filled(t, 5)
	l := openLedger(t, path)
	all := every(t, l.Walk(ctx, ledger.Query{}, 0))
	before, err := ledger.Tree(ctx, l, ledger.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if n := prune(t, l, 6); n != 6 {
		t.Fatalf("%d receipts were pruned", n)
	}

	for i, e := range all {
		var gone *ledger.PrunedError
		sealed, err := ledger.Get(ctx, l, e.ID)
		linked, link, linkErr := ledger.Linked(ctx, l, ledger.Key{ID: e.ID})
		if i >= 6 {
			if err != nil || linkErr != nil || !bytes.Equal(sealed.JSON(), e.JSON) || !bytes.Equal(linked.JSON, e.JSON) || link.Status != receipt.StatusPassed {
				t.Errorf("%s: %v, %v, %v", e.ID, err, linkErr, link)
			}
			continue
		}
		for reader, err := range map[string]error{"Get": err, "Linked": linkErr} {
			if !errors.As(err, &gone) || errors.Is(err, ledger.ErrNotFound) || gone.ID != e.ID || gone.Hash != e.Hash || gone.Pruning.Size != 6 || gone.Pruning.Archive != "first-6.jsonl" || gone.Pruning.Origin() != logName {
				t.Errorf("%s of %s: %v", reader, e.ID, err)
			}
		}
		if _, err := ledger.Sign(ctx, l, e.ID, signer(t)); !errors.As(err, &gone) {
			t.Errorf("sign %s: %v", e.ID, err)
		}
		if found, err := ledger.Lookup(ctx, l, ledger.Key{Hash: e.Hash}); err != nil || found.Stream.Workspace != e.ID[:1] || found.ID != e.ID || found.JSON != nil {
			t.Errorf("the hash of %s: %v, %v", e.ID, found, err)
		}
	}

	// Lists omit pruned receipts and can report that they are incomplete.
	if rest := every(t, l.Walk(ctx, ledger.Query{}, 0)); !slices.EqualFunc(rest, all[6:], func(a, b ledger.Row) bool { return a.ID == b.ID && bytes.Equal(a.JSON, b.JSON) }) {
		t.Errorf("the rest is %v", rest)
	}
	for i, e := range every(t, l.Walk(ctx, ledger.Query{Pruned: true}, 0)) {
		if e.ID != all[i].ID || e.Hash != all[i].Hash || (e.JSON == nil) != (i < 6) {
			t.Errorf("number %d: %+v", i, e)
		}
	}
	for _, test := range []struct {
		q    ledger.Query
		want int64
	}{{ledger.Query{}, 6}, {ledger.Query{Task: "task_a_0"}, 1}, {ledger.Query{Task: "task_a_4"}, 0}, {ledger.Query{Session: "session_1"}, 6}, {ledger.Query{Before: time.Unix(0, 0)}, 0}} {
		if n, err := ledger.CountPruned(ctx, l, test.q); n != test.want || err != nil {
			t.Errorf("%+v: %d pruned, %v", test.q, n, err)
		}
	}

	// One view shows the remaining receipts to people, and another view lists the pruned receipts.
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var here, away int
	var archive string
	if err := db.QueryRow("SELECT (SELECT count(*) FROM receipt), count(*), max(archive) FROM pruned").Scan(&here, &away, &archive); err != nil || here != 4 || away != 6 || archive != "first-6.jsonl" {
		t.Errorf("%d receipts, %d pruned, %s, %v", here, away, archive, err)
	}

	// The tree is unchanged, and can grow from its previous state.
	after, err := ledger.Tree(ctx, l, ledger.Query{})
	if err != nil || after.Root() != before.Root() || after.Size() != 10 {
		t.Errorf("the tree is another one: %v", err)
	}
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	head, err := l.Head(ctx, draftStream("a"))
	if err != nil {
		t.Fatal(err)
	}
	next, err := issuer.Issue(ctx, draft("a_9", "a"))
	if err != nil || next.Document().Root().Member("chain").Member("previous_receipt_hash").String() != head.Hash.String() {
		t.Errorf("the next receipt: %v", err)
	}
	grown := every(t, l.Walk(ctx, ledger.Query{Pruned: true}, 0))
	var leaves []merkle.Hash
	for _, e := range grown {
		leaves = append(leaves, receipt.CheckpointLeaf(e.Hash))
	}
	for size := 1; size <= len(leaves); size++ {
		proof, err := merkle.ProveConsistency(leaves, uint64(size))
		if err != nil {
			t.Fatal(err)
		}
		if err := merkle.CheckConsistency(uint64(size), uint64(len(leaves)), merkle.Root(leaves[:size]), treeOf(grown).Root(), proof); err != nil {
			t.Errorf("from %d: %v", size, err)
		}
	}

	// A draft whose receipt was pruned is not issued again, and an import does not restore the
	// receipt.
	var gone *ledger.PrunedError
	if _, err := issuer.Issue(ctx, draft("b_0", "b")); !errors.As(err, &gone) || gone.ID != "b_0" {
		t.Errorf("issued again: %v", err)
	}
	if n, err := ledger.Import(ctx, l, verifier(t, receipt.Policy{}), archiveOf(all)); err != nil || n != (ledger.Imported{Copies: 4, Pruned: 6}) {
		t.Errorf("%+v, %v", n, err)
	}
	soundly(t, path, 5, 6)

	// The archive and the remaining receipts form one chain, and the archive contains everything
	// that the checkpoint covers.
	whole := verifyLines(t, append(lines(all[:6]), lines(grown[6:])...), nil)
	if whole.Verdict() != receipt.Verified || whole.Receipts != 11 {
		t.Errorf("together: %v, %+v", whole.Verdict(), whole)
	}
	part := verifyLines(t, lines(all[:6]), checkpointOf(t, "log_1", treeOf(all[:6])))
	if part.Verdict() != receipt.Verified || part.Receipts != 6 || len(part.Findings) > 0 {
		t.Errorf("the archive: %v, %+v", part.Verdict(), part)
	}

	// Pruning the same receipts again changes nothing. A second pruning removes receipts that are
	// not in the first archive.
	for _, n := range []int{6, 3} {
		if again := prune(t, l, n); again != 0 {
			t.Errorf("under %d again: %d receipts were pruned", n, again)
		}
	}
	if n := prune(t, l, 11); n != 5 {
		t.Errorf("the rest: %d receipts were pruned", n)
	}
	soundly(t, path, 0, 11)
	if _, err := ledger.Get(ctx, l, "a_9"); !errors.As(err, &gone) || gone.Pruning.Size != 11 {
		t.Errorf("after the second pruning: %v", err)
	}
	if _, err := ledger.Get(ctx, l, "a_0"); !errors.As(err, &gone) || gone.Pruning.Size != 6 {
		t.Errorf("of the first pruning: %v", err)
	}
	if last, err := issuer.Issue(ctx, draft("a_99", "a")); err != nil || last.Document().Root().Member("chain").Member("previous_receipt_hash").String() != next.Hash().String() {
		t.Errorf("into a ledger without content: %v", err)
	}
	soundly(t, path, 1, 11)

	// The space is released when no process has the ledger open.
	l.Close()
	db.Close()
	was := sizeOf(t, path)
	execute(t, path, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
	if now := sizeOf(t, path); now >= was {
		t.Errorf("%d bytes, then %d", was, now)
	}
	soundly(t, path, 1, 11)
}

func draftStream(workspace string) chain.Stream {
	return chain.Stream{Issuer: "harness_example_cloud", Workspace: workspace}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// soundly checks that a ledger has the given numbers of receipts and pruned receipts, and no
// faults.
func soundly(t *testing.T, path string, receipts, pruned int) {
	t.Helper()
	c, list := faults(t, path, verifier(t, receipt.Policy{}))
	if len(list) > 0 || c.Receipts != receipts || c.Verified != receipts || c.Pruned != pruned || c.Unsigned != 0 || c.Verdict() != receipt.Verified {
		t.Errorf("%+v, %q", c, list)
	}
}

func verifyLines(t *testing.T, data, checkpoint []byte) *stream.Summary {
	t.Helper()
	lines := stream.From("lines", bytes.NewReader(data))
	lines.Kind = stream.Lines
	sum, err := stream.VerifyFiles(context.Background(), verifier(t, receipt.Policy{}), []stream.Source{lines}, stream.Options{Checkpoint: checkpoint}).Summary()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestPruneRefused verifies that receipts are pruned only if a trusted log signed a checkpoint that
// covers exactly the first receipts, and if an archive contains each of them.
func TestPruneRefused(t *testing.T) {
	ctx, path := context.Background(), filled(t, 3)
	l := openLedger(t, path)
	all := every(t, l.Walk(ctx, ledger.Query{}, 0))
	first, good := all[:4], checkpointOf(t, "log_1", treeOf(all[:4]))

	// Another ledger contains the same drafts in a different order. A fork has the same first
	// receipts.
	other := openLedger(t, filled(t, 4))
	others := every(t, other.Walk(ctx, ledger.Query{}, 0))
	swapped := slices.Clone(first)
	swapped[1], swapped[2] = swapped[2], swapped[1]
	fork := slices.Clone(first)
	fork[3].Hash[0] ^= 1
	changed := slices.Clone(first)
	changed[2].JSON = bytes.Replace(changed[2].JSON, []byte(`"total":0`), []byte(`"total":1`), 1)
	spaced := slices.Clone(first)
	spaced[0].JSON = append(bytes.Clone(spaced[0].JSON), ' ')
	falsified := bytes.Replace(good, []byte("\n4\n"), []byte("\n3\n"), 1)
	failed := errors.New("cannot be read")

	for name, test := range map[string]struct {
		checkpoint []byte
		archive    iter.Seq2[[]byte, error]
		code       receipt.Code // expected code, for the checkpoint or for the archive
		index      uint64
	}{
		"another ledger":    {checkpointOf(t, "log_1", treeOf(others[2:6])), archiveOf(first), receipt.CodeMerkleRootMismatch, 0},
		"its archive":       {checkpointOf(t, "log_1", treeOf(others[2:6])), archiveOf(others[2:6]), "", 1},
		"a fork":            {checkpointOf(t, "log_1", treeOf(fork)), archiveOf(first), receipt.CodeMerkleRootMismatch, 0},
		"another order":     {checkpointOf(t, "log_1", treeOf(swapped)), archiveOf(first), receipt.CodeMerkleRootMismatch, 0},
		"a part":            {checkpointOf(t, "log_1", treeOf(all[1:5])), archiveOf(first), receipt.CodeMerkleRootMismatch, 0},
		"larger":            {checkpointOf(t, "log_1", treeOf(append(slices.Clone(all), others[6:]...))), archiveOf(all), receipt.CodeTruncated, 0},
		"empty":             {checkpointOf(t, "log_1", new(merkle.Tree)), archiveOf(nil), receipt.CodeCheckpointInvalid, 0},
		"another key":       {checkpointOf(t, "key_stranger", treeOf(first)), archiveOf(first), receipt.CodeUnknownKey, 0},
		"an issuer's key":   {checkpointOf(t, "key_2026_04", treeOf(first)), archiveOf(first), receipt.CodeUnknownKey, 0},
		"falsified":         {falsified, archiveOf(first), receipt.CodeCheckpointInvalid, 0},
		"no checkpoint":     {[]byte("what?"), archiveOf(first), receipt.CodeCheckpointInvalid, 0},
		"one byte changed":  {good, archiveOf(changed), "", 3},
		"a space more":      {good, archiveOf(spaced), "", 1},
		"the first missing": {good, archiveOf(first[1:]), "", 1},
		"one missing":       {good, archiveOf(append(slices.Clone(first[:2]), first[3])), "", 3},
		"the last missing":  {good, archiveOf(first[:3]), "", 4},
		"no receipt":        {good, archiveOf(nil), "", 1},
		"one more":          {good, archiveOf(all[:5]), "", 5},
		"one twice":         {good, archiveOf(append(slices.Clone(first[:2]), first[1:]...)), "", 3},
		"archive's order":   {good, archiveOf(swapped), "", 2},
		"unreadable": {good, func(yield func([]byte, error) bool) {
			if yield(first[0].JSON, nil) {
				yield(nil, failed)
			}
		}, "", 0},
	} {
		_, err := ledger.Prunable(ctx, l, trusted(t, false), test.checkpoint, test.archive)
		var refused *ledger.PruneError
		switch {
		case test.code != "" && (!errors.As(err, &refused) || refused.Code != test.code),
			test.index > 0 && (!errors.As(err, &refused) || refused.Index != test.index),
			name == "unreadable" && !errors.Is(err, failed), err == nil:
			t.Errorf("%s: %v", name, err)
		}
	}
	var refused *ledger.PruneError
	if _, err := ledger.Prunable(ctx, l, trusted(t, true), good, archiveOf(first)); !errors.As(err, &refused) || refused.Code != receipt.CodeKeyRevoked {
		t.Errorf("a key that was stolen: %v", err)
	}
	if reader, err := sqlite.OpenReadOnly(ctx, path); err != nil {
		t.Error(err)
	} else {
		defer reader.Close()
		p, err := ledger.Prunable(ctx, reader, trusted(t, false), good, archiveOf(first))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ledger.Prune(ctx, reader, p, "a", canon.Digest{1}); !errors.Is(err, ledger.ErrNotStored) {
			t.Errorf("a ledger that is open read-only is pruned: %v", err)
		}
	}
	if after := every(t, l.Walk(ctx, ledger.Query{}, 0)); !slices.EqualFunc(after, all, func(a, b ledger.Row) bool { return bytes.Equal(a.JSON, b.JSON) }) {
		t.Error("something was pruned")
	}
	soundly(t, path, 6, 0)

	// A ledger whose content does not match its hashes is not pruned, because only the hashes would
	// remain.
	execute(t, path, "UPDATE receipts SET json = CAST(replace(CAST(json AS TEXT), '\"total\":0', '\"total\":7') AS BLOB) WHERE seq = 2")
	var damage *ledger.Fault
	if _, err := ledger.Prunable(ctx, l, trusted(t, false), good, archiveOf(first)); !errors.As(err, &damage) || damage.ID != all[1].ID {
		t.Errorf("altered content: %v", err)
	}
}

// TestPruneChanged verifies that either exactly the receipts that were compared are pruned, or no
// receipts are.
func TestPruneChanged(t *testing.T) {
	ctx, path := context.Background(), filled(t, 3)
	l, second := openLedger(t, path), openLedger(t, path)
	all := every(t, l.Walk(ctx, ledger.Query{}, 0))
	compared := func(l *sqlite.Ledger, n int) *ledger.Cut {
		t.Helper()
		p, err := ledger.Prunable(ctx, l, trusted(t, false), checkpointOf(t, "log_1", treeOf(all[:n])), archiveOf(all[:n]))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	// Add a signature to one of the receipts.
	p := compared(l, 4)
	data, err := fixtures.Read("keys/witness_1.private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Sign(ctx, second, all[1].ID, keys.NewSigner(key, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Prune(ctx, l, p, "a", canon.Digest{1}); !errors.Is(err, ledger.ErrPruneChanged) {
		t.Errorf("signed meanwhile: %v", err)
	}
	all = every(t, l.Walk(ctx, ledger.Query{}, 0))

	// Let other processes issue and sign, which does not change the first receipts.
	p = compared(l, 4)
	if _, err := ledger.Sign(ctx, second, all[5].ID, keys.NewSigner(key, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := (&ledger.Issuer{Store: second, Signer: signer(t), KeepSecrets: true}).Issue(ctx, draft("a_9", "a")); err != nil {
		t.Fatal(err)
	}
	if n, err := ledger.Prune(ctx, l, p, "a", canon.Digest{1}); n != 4 || err != nil {
		t.Errorf("issued meanwhile: %d, %v", n, err)
	}
	soundly(t, path, 3, 4)

	// If two processes prune at the same time, one succeeds, even if the other has more receipts to
	// prune.
	path = filled(t, 3)
	l, second = openLedger(t, path), openLedger(t, path)
	all = every(t, l.Walk(ctx, ledger.Query{}, 0))
	one, other := compared(l, 2), compared(second, 4)
	if n, err := ledger.Prune(ctx, l, one, "a", canon.Digest{1}); n != 2 || err != nil {
		t.Errorf("the first: %d, %v", n, err)
	}
	if _, err := ledger.Prune(ctx, l, other, "b", canon.Digest{1}); !errors.Is(err, ledger.ErrPruneChanged) {
		t.Errorf("the second: %v", err)
	}
	if _, err := ledger.Prune(ctx, l, one, "a", canon.Digest{1}); !errors.Is(err, ledger.ErrPruneChanged) {
		t.Errorf("the first again: %v", err)
	}
	soundly(t, path, 4, 2)
}

// TestPruneOldCopy verifies that an older copy that replaces a pruned ledger is detected, and that
// a pruned copy that replaces the older ledger is detected, too.
func TestPruneOldCopy(t *testing.T) {
	ctx, path := context.Background(), filled(t, 3)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := openLedger(t, path)
	prune(t, l, 4)
	l.Close()
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	var back *sqlite.RolledBackError
	if _, err := sqlite.Open(ctx, path); !errors.As(err, &back) {
		t.Errorf("%v", err)
	}
	if c, list := faults(t, path, verifier(t, receipt.Policy{})); c.Verdict() != receipt.Refuted || len(list) != 1 || !strings.HasPrefix(list[0], "head_mismatch") {
		t.Errorf("%+v, %q", c, list)
	}
}

// TestPruneDamage verifies that changes to the remaining data of pruned receipts are detected, and
// that no tree is built from changed rows.
func TestPruneDamage(t *testing.T) {
	ctx := context.Background()
	sound := filled(t, 3)
	l := openLedger(t, sound)
	prune(t, l, 2)
	prune(t, l, 4)
	l.Close()
	data, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	for statement, code := range map[string]string{
		"UPDATE receipts SET hash = zeroblob(32) WHERE seq = 3":    string(receipt.CodeMerkleRootMismatch),
		"UPDATE receipts SET receipt_id = 'another' WHERE seq = 6": ledger.FaultRow,
		"DELETE FROM receipts WHERE seq = 2":                       ledger.FaultMissing,
		"DELETE FROM prunings":                                     "empty_input",
		"DELETE FROM prunings WHERE size = 4":                      "empty_input",
		"DELETE FROM prunings WHERE size = 2":                      ledger.FaultMissing,
		"UPDATE receipts SET json = x'7b7d' WHERE seq = 1":         ledger.FaultRow,
		"UPDATE prunings SET last = 5 WHERE size = 4":              ledger.FaultMissing,
		"UPDATE prunings SET size = 3 WHERE size = 2":              ledger.FaultRow,
		"UPDATE prunings SET root = zeroblob(32) WHERE size = 2":   ledger.FaultRow,
		"UPDATE prunings SET checkpoint = x'00'":                   string(receipt.CodeCheckpointInvalid),
		"UPDATE prunings SET checkpoint = CAST(replace(CAST(checkpoint AS TEXT), char(10) || '2' || char(10), char(10) || '3' || char(10)) AS BLOB)": string(receipt.CodeCheckpointInvalid),
		"INSERT INTO prunings SELECT 6, 4, 6, root, checkpoint, archive, digest FROM prunings WHERE size = 4":                                        ledger.FaultRow,
	} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		execute(t, path, statement)
		c, list := faults(t, path, verifier(t, receipt.Policy{}))
		if c.Verdict() != receipt.Refuted || !slices.ContainsFunc(list, func(f string) bool { return strings.HasPrefix(f, code+" ") }) {
			t.Errorf("%s: %+v, %q", statement, c, list)
		}
		l, err := sqlite.OpenReadOnly(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		var gone *ledger.PrunedError
		if _, err := ledger.Get(ctx, l, "a_0"); errors.As(err, &gone) && gone.Pruning.Size != 2 && !strings.Contains(statement, "SET size = 3") {
			t.Errorf("%s: the first receipt is said to be in the archive of %d", statement, gone.Pruning.Size)
		}
		if tree, err := ledger.Tree(ctx, l, ledger.Query{}); err == nil && !strings.Contains(statement, "replace(") {
			t.Errorf("%s: a tree of %d", statement, tree.Size())
		}
		l.Close()
	}

	// If no trusted key signed the checkpoint, its origin is unknown.
	if c, list := faults(t, sound, verifierWithout(t)); c.Verdict() != receipt.Undecided || c.Unsigned != 2 || len(list) > 0 {
		t.Errorf("%+v, %q", c, list)
	}
}

// verifierWithout returns a verifier that trusts the issuers but no log.
func verifierWithout(t *testing.T) *receipt.Verifier {
	t.Helper()
	data, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(bytes.Replace(data, []byte(logName), []byte("log.example.net/another"), 1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPruneVersion3 verifies that prunings by the previous version can be read. In that version,
// rows did not show whether a pruning was missing. After migration, the rows show this.
func TestPruneVersion3(t *testing.T) {
	ctx, path := context.Background(), filled(t, 3)
	l := openLedger(t, path)
	prune(t, l, 2)
	prune(t, l, 4)
	l.Close()
	const view = "SELECT group_concat(receipt_id || ' ' || ifnull(archive, '-') ORDER BY seq) FROM pruned"
	before := single(t, path, view)
	execute(t, path, `DROP VIEW pruned; CREATE VIEW pruned AS SELECT 1; ALTER TABLE prunings DROP COLUMN after; PRAGMA user_version = 3`)

	for _, open := range []func(context.Context, string) (*sqlite.Ledger, error){sqlite.OpenReadOnly, sqlite.Open} {
		l, err := open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		var gone *ledger.PrunedError
		if _, err := ledger.Get(ctx, l, "a_0"); !errors.As(err, &gone) || gone.Pruning.Size != 2 {
			t.Errorf("%v", err)
		}
		l.Close()
		soundly(t, path, 2, 4)
	}
	if after := single(t, path, view); after != before {
		t.Errorf("the view has %s, it had %s", after, before)
	}

	execute(t, path, "DELETE FROM prunings WHERE size = 2")
	if c, list := faults(t, path, verifier(t, receipt.Policy{})); c.Verdict() != receipt.Refuted || len(list) != 1 {
		t.Errorf("%+v, %q", c, list)
	}
	if after := single(t, path, view); !strings.HasPrefix(after, "a_0 -,b_0 -,a_1 ") || strings.Contains(after, "a_1 -") {
		t.Errorf("the view has %s", after)
	}
}

// single returns the only value that a query returns.
func single(t *testing.T, path, query string) (text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPruneOlderReader verifies that a reader from an older version gets an error if the ledger is
// migrated and pruned while the reader has it open.
func TestPruneOlderReader(t *testing.T) {
	ctx, path := context.Background(), version1(t)
	reader, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := ledger.Get(ctx, reader, "receipt_1"); err != nil {
		t.Fatal(err)
	}
	prune(t, openLedger(t, path), 2)
	var gone *ledger.PrunedError
	if _, err := ledger.Get(ctx, reader, "receipt_1"); !errors.As(err, &gone) {
		t.Errorf("%v", err)
	}
	if list := every(t, reader.Walk(ctx, ledger.Query{}, 0)); len(list) != 1 || list[0].ID != "receipt_3" {
		t.Errorf("%v", list)
	}
}

// TestUntil verifies that a selection until a given time does not change while other receipts are
// stored.
func TestUntil(t *testing.T) {
	ctx, l := context.Background(), create(t)
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	for i, hour := range []int{1, 2, 5, 3, 6} { // the time of one draft is out of order
		d := draft(fmt.Sprintf("receipt_%d", i), "w")
		d.IssuedAt = receipt.At(time.Date(2026, 4, 25, hour, 0, 0, 0, time.UTC))
		if _, err := issuer.Issue(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	for hour, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 2, 6: 4, 7: 5} {
		q := ledger.Query{Until: time.Date(2026, 4, 25, hour, 0, 0, 0, time.UTC)}
		if n := len(every(t, l.Walk(ctx, q, 0))); n != want {
			t.Errorf("until %d: %d receipts, expected %d", hour, n, want)
		}
	}
	q := ledger.Query{Until: time.Date(2026, 4, 25, 6, 0, 0, 0, time.UTC), From: time.Date(2026, 4, 25, 3, 0, 0, 0, time.UTC)}
	if n := len(every(t, l.Walk(ctx, q, 0))); n != 2 {
		t.Errorf("from and until: %d receipts", n)
	}
}

// TestPruneWhileListed verifies that every gap in a list is reported if receipts are pruned while
// the list is being read.
func TestPruneWhileListed(t *testing.T) {
	const receipts = 520 // more receipts than are read at a time
	ctx, l := context.Background(), create(t)
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	var group sync.WaitGroup
	for g := range 64 {
		group.Go(func() {
			for n := g; n < receipts; n += 64 {
				if _, err := issuer.Issue(ctx, draft(fmt.Sprintf("receipt_%03d", n), "w")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()

	next, stop := iter.Pull2(l.Walk(ctx, ledger.Query{}, 0))
	defer stop()
	whole, stopWhole := iter.Pull2(l.Walk(ctx, ledger.Query{Pruned: true}, 0))
	defer stopWhole()
	for _, first := range []func() (ledger.Row, error, bool){next, whole} {
		if _, err, more := first(); err != nil || !more {
			t.Fatal(err, more)
		}
	}
	prune(t, l, 400)

	listed := 1
	var err error
	for more := true; more && err == nil; listed++ {
		_, err, more = next()
	}
	if !errors.Is(err, ledger.ErrPruneChanged) || listed != 257 {
		t.Errorf("after %d receipts: %v", listed, err)
	}
	all := 1
	for ; ; all++ {
		_, err, more := whole()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
	}
	if all != receipts {
		t.Errorf("%d receipts, pruned ones too", all)
	}
}

// TestPruneWhileIssuing verifies that no issued receipts are lost while other receipts are pruned.
func TestPruneWhileIssuing(t *testing.T) {
	path := filled(t, 1)
	cmd, out := start(t, path, "busy", 300, 4)
	l := openLedger(t, path)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	pruned := int64(0)
	for running := true; running; {
		select {
		case err := <-done:
			if running = false; err != nil {
				t.Fatal(err)
			}
		default:
		}
		n := 0
		for range l.Walk(context.Background(), ledger.Query{Pruned: true}, 0) {
			n++
		}
		pruned += prune(t, l, n)
	}
	if issued := strings.Count(out.String(), "\n"); issued != 300 {
		t.Errorf("%d receipts were issued", issued)
	}
	if pruned < 2 {
		t.Errorf("%d receipts were pruned", pruned)
	}
	soundly(t, path, 302-int(pruned), int(pruned))
}

// pruner prunes in a separate process. The task consists of a file and a size, separated by a tab.
func pruner(task string) error {
	path, size, _ := strings.Cut(task, "\t")
	l, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscan(size, &n); err != nil {
		return err
	}
	fmt.Println("open")
	fmt.Println("pruned", prune(panics{}, l, n))
	return l.Close()
}

// TestPruneKilled verifies that, if a process is killed while it prunes, either all of the receipts
// remain or none of them.
func TestPruneKilled(t *testing.T) {
	const receipts = 60
	rounds := testsize.Of(6, 15, 40)
	whole := filledOne(t, receipts)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	pruned, kept := 0, 0
	for round := range rounds {
		path := filepath.Join(t.TempDir(), "ledger.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("LEDGER_PRUNER=%s\t%d", path, receipts-10))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 5)
		if _, err := out.Read(line); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(round) * 40 * time.Millisecond / time.Duration(rounds) * 2)
		time.Sleep(rand.N(5 * time.Millisecond))
		cmd.Process.Kill()
		cmd.Wait()

		l := openLedger(t, path)
		gone, err := ledger.CountPruned(context.Background(), l, ledger.Query{})
		if err != nil {
			t.Fatal(err)
		}
		switch gone {
		case 0:
			kept++
		case receipts - 10:
			pruned++
		default:
			t.Errorf("%d receipts are pruned, of %d", gone, receipts-10)
		}
		if n := len(every(t, l.Walk(context.Background(), ledger.Query{}, 0))); int64(n) != receipts-gone {
			t.Errorf("%d receipts are there, %d pruned", n, gone)
		}
		l.Close()
		soundly(t, path, receipts-int(gone), int(gone))
	}
	t.Logf("%d times pruned, %d times not", pruned, kept)
}

// filledOne creates a ledger with n receipts in a single stream.
func filledOne(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Create(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	for i := range n {
		if _, err := issuer.Issue(context.Background(), draft(fmt.Sprintf("receipt_%03d", i), "w")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
