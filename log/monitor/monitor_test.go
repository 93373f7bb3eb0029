package monitor_test

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/monitor"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle"
	notes "github.com/receiptkit/receiptkit/merkle/tlog"
)

// A fakeLog is a log with a witness. Tests can make both misbehave in any way.
type fakeLog struct {
	signer   notes.LogSigner
	cosigner notes.Cosigner
	now      time.Time

	entries    [][]byte // that it serves
	hashes     []tlog.Hash
	checkpoint []byte
	witnessed  []byte // the checkpoint that the witness serves, or nil if there is none
	down       bool
	deleted    []string // files that the log no longer serves
}

func newFakeLog(t *testing.T) *fakeLog {
	t.Helper()
	key := func(letter string) (ed25519.PublicKey, func(context.Context, []byte) ([]byte, error)) {
		private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(letter, ed25519.SeedSize)))
		return private.Public().(ed25519.PublicKey), func(_ context.Context, message []byte) ([]byte, error) {
			return ed25519.Sign(private, message), nil
		}
	}
	public, sign := key("l")
	l, err := notes.NewLog("log.example/receipts", public)
	if err != nil {
		t.Fatal(err)
	}
	other, cosign := key("w")
	w, err := notes.NewWitness("witness.example", other)
	if err != nil {
		t.Fatal(err)
	}
	return &fakeLog{signer: notes.LogSigner{Log: l, SignMessage: sign}, cosigner: notes.Cosigner{Witness: w, SignMessage: cosign}, now: time.Unix(1790000000, 0)}
}

// policy returns a policy that accepts the log.
func (f *fakeLog) policy() *notes.Policy {
	return &notes.Policy{
		Logs:      []notes.PolicyLog{{Log: f.signer.Log, URL: "log"}},
		Witnesses: []notes.PolicyWitness{{Name: "w", Witness: f.cosigner.Witness, URL: "witness"}},
		Quorum:    &notes.Group{Threshold: 1, Witnesses: []*notes.Witness{f.cosigner.Witness}},
	}
}

func (f *fakeLog) reader() tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, i := range indexes {
			list = append(list, f.hashes[i])
		}
		return list, nil
	})
}

// grow adds n entries that contain a label.
func (f *fakeLog) grow(t *testing.T, n int, label string) {
	t.Helper()
	for range n {
		entry := canon.Sum(fmt.Appendf(nil, "%s %d", label, len(f.entries)))
		hashes, err := tlog.StoredHashes(int64(len(f.entries)), entry[:], f.reader())
		if err != nil {
			t.Fatal(err)
		}
		f.entries, f.hashes = append(f.entries, entry[:]), append(f.hashes, hashes...)
	}
}

// shrink removes entries from the end of the log.
func (f *fakeLog) shrink(n int) {
	f.entries = f.entries[:len(f.entries)-n]
	f.hashes = f.hashes[:tlog.StoredHashCount(int64(len(f.entries)))]
}

// publish signs the tree, and makes the witness cosign it regardless of its content.
func (f *fakeLog) publish(t *testing.T) {
	t.Helper()
	root, err := tlog.TreeHash(int64(len(f.entries)), f.reader())
	if err != nil {
		t.Fatal(err)
	}
	c := &notes.Checkpoint{Origin: f.signer.Name(), Size: uint64(len(f.entries)), Root: merkle.Hash(root)}
	note, err := f.signer.SignCheckpoint(t.Context(), c)
	if err == nil {
		note, err = f.cosigner.Cosign(t.Context(), note, f.now)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.checkpoint, f.witnessed = note, note
}

// fakeSource represents the log or its witness, depending on the URL.
type fakeSource struct {
	*fakeLog
	url string
}

func (f fakeSource) Read(_ context.Context, path string) ([]byte, error) {
	switch {
	case f.down:
		return nil, errors.New("connection refused")
	case f.url == "witness" && f.witnessed == nil:
		return nil, fs.ErrNotExist
	case f.url == "witness":
		return f.witnessed, nil
	case path == "checkpoint":
		return f.checkpoint, nil
	case slices.Contains(f.deleted, path):
		return nil, &fs.PathError{Op: "get", Path: path, Err: fs.ErrNotExist}
	}
	return f.tile(path)
}

func (f fakeSource) tile(path string) ([]byte, error) {
	path, entries := strings.CutPrefix(strings.TrimPrefix(path, "tile/"), "entries/")
	if entries {
		path = "data/" + path
	}
	t, err := tlog.ParseTilePath("tile/8/" + path)
	if err != nil {
		return nil, err
	}
	if t.L >= 0 {
		data, err := tlog.ReadTileData(t, f.reader())
		return data, err
	}
	var data []byte
	for _, e := range f.entries[t.N*256 : t.N*256+int64(t.W)] {
		data = append(binary.BigEndian.AppendUint16(data, uint16(len(e))), e...)
	}
	return data, nil
}

func newMonitor(f *fakeLog, dir string) *monitor.Monitor { return monitor.New(f.config(dir, false)) }

func (f *fakeLog) config(dir string, full bool) monitor.Config {
	return monitor.Config{
		Policy: f.policy(), Disk: durable.Names(dir), Silence: time.Hour, Full: full,
		Now:  func() time.Time { return f.now },
		Open: func(url string) tile.Source { return fakeSource{f, url} },
	}
}

// kinds returns the kinds of the findings from one check.
func kinds(t *testing.T, m *monitor.Monitor) (list []monitor.Kind) {
	t.Helper()
	findings, err := m.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		list = append(list, f.Kind)
	}
	return list
}

// faults lists actions that are forbidden for a log operator, with the findings that must result.
var faults = map[string]struct {
	do   func(t *testing.T, f *fakeLog, r *rand.Rand)
	want monitor.Kind
}{
	"entry changed, same size": {func(t *testing.T, f *fakeLog, r *rand.Rand) {
		n := 1 + r.IntN(len(f.entries))
		f.shrink(n)
		f.grow(t, n, "other")
		f.publish(t)
	}, monitor.Fork},
	"entry changed, and growth": {func(t *testing.T, f *fakeLog, r *rand.Rand) {
		n := 1 + r.IntN(len(f.entries))
		f.shrink(n)
		f.grow(t, n+1+r.IntN(300), "other")
		f.publish(t)
	}, monitor.Fork},
	"tail deleted": {func(t *testing.T, f *fakeLog, r *rand.Rand) {
		f.shrink(1 + r.IntN(len(f.entries)))
		f.publish(t)
	}, monitor.Shrink},
	"another tree for the witness": {func(t *testing.T, f *fakeLog, r *rand.Rand) {
		honest := f.checkpoint
		n := 1 + r.IntN(len(f.entries))
		entries, hashes := slices.Clone(f.entries), slices.Clone(f.hashes)
		f.shrink(n)
		f.grow(t, n, "other")
		f.publish(t)
		f.entries, f.hashes, f.checkpoint = entries, hashes, honest
	}, monitor.Fork},
	"silence": {func(_ *testing.T, f *fakeLog, _ *rand.Rand) { f.now = f.now.Add(time.Hour + time.Second) }, monitor.Silence},
	"future": {func(t *testing.T, f *fakeLog, _ *rand.Rand) {
		now := f.now
		f.now = now.Add(24 * time.Hour)
		f.publish(t)
		f.now = now
	}, monitor.Silence},
	"down": {func(_ *testing.T, f *fakeLog, _ *rand.Rand) { f.down = true }, monitor.Unreachable},
	"unknown key": {func(t *testing.T, f *fakeLog, _ *rand.Rand) {
		other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))
		l, err := notes.NewLog(f.signer.Name(), other.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		known := f.signer
		f.signer = notes.LogSigner{Log: l, SignMessage: func(_ context.Context, m []byte) ([]byte, error) { return ed25519.Sign(other, m), nil }}
		f.publish(t)
		f.signer = known
	}, monitor.UnknownKey},
	"changed signature": {func(_ *testing.T, f *fakeLog, _ *rand.Rand) {
		f.checkpoint = []byte(strings.Replace(string(f.checkpoint), f.signer.Name()+"\n", f.signer.Name()+"\n1", 1))
	}, monitor.Invalid},
	"no witness": {func(t *testing.T, f *fakeLog, _ *rand.Rand) {
		f.grow(t, 1, "honest")
		f.publish(t)
		f.checkpoint, _, _ = cutLastLine(f.checkpoint)
	}, monitor.Unwitnessed},
	"wrong entry in a bundle": {func(t *testing.T, f *fakeLog, _ *rand.Rand) {
		f.grow(t, 2, "honest")
		f.publish(t)
		f.entries[len(f.entries)-1] = f.entries[0]
	}, monitor.Invalid},
	"entry that is not a hash": {func(t *testing.T, f *fakeLog, _ *rand.Rand) {
		hashes, err := tlog.StoredHashes(int64(len(f.entries)), []byte("text"), f.reader())
		if err != nil {
			t.Fatal(err)
		}
		f.entries, f.hashes = append(f.entries, []byte("text")), append(f.hashes, hashes...)
		f.publish(t)
	}, monitor.Invalid},
}

func cutLastLine(note []byte) (rest, line []byte, ok bool) {
	i := strings.LastIndex(strings.TrimSuffix(string(note), "\n"), "\n")
	return note[:i+1], note[i+1:], i >= 0
}

// TestFaults verifies that a monitor that is restarted before each check finds each kind of fault.
// The fault occurs at a random time while the log grows. Honest growth must not lead to any finding
// except growth.
func TestFaults(t *testing.T) {
	rounds := testsize.Of(3, 8)
	for name, fault := range faults {
		for round := range rounds {
			r := rand.New(rand.NewPCG(uint64(round), 7))
			f, dir := newFakeLog(t), t.TempDir()
			for range 1 + r.IntN(4) {
				n := 1 + r.IntN(300)
				f.grow(t, n, "honest")
				f.publish(t)
				f.now = f.now.Add(time.Duration(r.IntN(3000)) * time.Second)
				if got := kinds(t, newMonitor(f, dir)); !slices.Equal(got, []monitor.Kind{monitor.Growth}) {
					t.Fatalf("honest growth: %v", got)
				}
				if got := kinds(t, newMonitor(f, dir)); len(got) > 0 {
					t.Fatalf("the same tree: %v", got)
				}
			}

			fault.do(t, f, r)
			if got := kinds(t, newMonitor(f, dir)); !slices.Contains(got, fault.want) {
				t.Errorf("%s, round %d: %v, expected %v", name, round, got, fault.want)
			}
			evidence, err := filepath.Glob(filepath.Join(dir, witness.OriginHash(f.signer.Name())+"-evidence-*"))
			if err != nil || len(evidence) > 0 != (fault.want == monitor.Fork || fault.want == monitor.Shrink) {
				t.Errorf("%s: evidence %v, %v", name, evidence, err)
			}
			// The fault must be found again, because the last valid checkpoint was not replaced.
			if got := kinds(t, newMonitor(f, dir)); fault.want.Refutes() && !slices.Contains(got, fault.want) {
				t.Errorf("%s, a second look: %v", name, got)
			}
		}
	}
}

// TestDeletedFiles verifies that a monitor that has read all entries detects if the log later
// deletes a file, whether or not the log grows. The finding must name the file.
func TestDeletedFiles(t *testing.T) {
	for _, deleted := range [][]string{{"tile/0/000", "tile/entries/000"}, {"tile/0/000"}, {"tile/entries/000"}} {
		for growth := range 2 {
			f, dir := newFakeLog(t), t.TempDir()
			f.grow(t, 301, "honest")
			f.publish(t)
			if got := kinds(t, newMonitor(f, dir)); !slices.Equal(got, []monitor.Kind{monitor.Growth}) {
				t.Fatal(got)
			}

			f.deleted = deleted
			f.grow(t, growth, "honest")
			f.publish(t)
			for range 3 {
				findings, err := newMonitor(f, dir).Check(t.Context())
				if err != nil || !slices.ContainsFunc(findings, func(n monitor.Finding) bool {
					return n.Kind == monitor.Unreachable && strings.Contains(n.Detail, deleted[len(deleted)-1])
				}) {
					t.Errorf("without %v, %d more entries: %v, %v", deleted, growth, findings, err)
				}
			}
		}
	}
}

// TestReread verifies that successive checks read all old entries of a log that keeps growing and
// has more entries than one check rereads. A full check must read all of them in one step.
func TestReread(t *testing.T) {
	f, dir := newFakeLog(t), t.TempDir()
	f.grow(t, 2*4096+300, "honest")
	f.publish(t)
	kinds(t, newMonitor(f, dir))
	for _, file := range []string{"tile/entries/000", "tile/entries/020", "tile/entries/032"} {
		f.deleted = []string{file}
		full := monitor.New(f.config(dir, true))
		if got := kinds(t, full); !slices.Contains(got, monitor.Unreachable) {
			t.Errorf("%s was deleted, a full check: %v", file, got)
		}

		checks, found := 0, false
		for ; checks < 4 && !found; checks++ {
			f.grow(t, 1, "honest")
			f.publish(t)
			found = slices.Contains(kinds(t, newMonitor(f, dir)), monitor.Unreachable)
		}
		if !found {
			t.Errorf("%s was deleted, and %d checks did not find it", file, checks)
		}
		f.deleted = nil
		if got := kinds(t, newMonitor(f, dir)); len(got) > 0 {
			t.Errorf("%s was restored: %v", file, got)
		}
	}
}

// TestOneFork verifies that a fork is reported once if the witness serves the checkpoint that the
// monitor has stored.
func TestOneFork(t *testing.T) {
	f, dir := newFakeLog(t), t.TempDir()
	f.grow(t, 5, "honest")
	f.publish(t)
	kinds(t, newMonitor(f, dir))

	honest := f.witnessed
	f.shrink(3)
	f.grow(t, 4, "other")
	f.publish(t)
	f.witnessed = honest
	if got := kinds(t, newMonitor(f, dir)); !slices.Equal(got, []monitor.Kind{monitor.Fork}) {
		t.Errorf("expected one fork, got %v", got)
	}

	// A new cosignature of the same tree adds no evidence.
	f.now = f.now.Add(time.Minute)
	f.publish(t)
	f.witnessed = honest
	kinds(t, newMonitor(f, dir))
	if evidence, err := filepath.Glob(filepath.Join(dir, "*-evidence-*")); err != nil || len(evidence) != 1 {
		t.Errorf("evidence %v, %v", evidence, err)
	}
}

// TestTwoForks verifies that evidence is stored for each pair of trees that contradict each other.
func TestTwoForks(t *testing.T) {
	f, dir := newFakeLog(t), t.TempDir()
	f.grow(t, 5, "honest")
	f.publish(t)
	kinds(t, newMonitor(f, dir))

	// fork makes the log and its witness serve trees with other entries.
	fork := func(shown, witnessed string) {
		f.shrink(4)
		f.grow(t, 4, witnessed)
		f.publish(t)
		other := f.witnessed
		f.shrink(4)
		f.grow(t, 4, shown)
		f.publish(t)
		f.witnessed = other
		if got := kinds(t, newMonitor(f, dir)); !slices.Contains(got, monitor.Fork) {
			t.Errorf("%s and %s: %v", shown, witnessed, got)
		}
	}
	for i, pair := range [][2]string{{"a", "a"}, {"b", "b"}, {"b", "c"}} {
		fork(pair[0], pair[1])
		if evidence, err := filepath.Glob(filepath.Join(dir, "*-evidence-*")); err != nil || len(evidence) != i+1 {
			t.Errorf("%v: evidence %v, %v", pair, evidence, err)
		}
	}
}

// TestClockTolerance verifies that a cosignature counts unless its time is more than a minute in the
// future.
func TestClockTolerance(t *testing.T) {
	for ahead, want := range map[time.Duration]bool{time.Minute: false, time.Minute + time.Second: true} {
		f := newFakeLog(t)
		f.grow(t, 5, "honest")
		f.now = f.now.Add(ahead)
		f.publish(t)
		f.now = f.now.Add(-ahead)
		if got := kinds(t, newMonitor(f, t.TempDir())); slices.Contains(got, monitor.Silence) != want {
			t.Errorf("%v ahead: %v", ahead, got)
		}
	}
}

// TestTwoKeys verifies that a log with two keys in the policy, of which only one signs, is checked
// once, and that the key may change.
func TestTwoKeys(t *testing.T) {
	f, dir := newFakeLog(t), t.TempDir()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("m", ed25519.SeedSize)))
	next, err := notes.NewLog(f.signer.Name(), private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	config := f.config(dir, false)
	config.Policy.Logs = append(config.Policy.Logs, notes.PolicyLog{Log: next, URL: "log"})

	check := func(want ...monitor.Kind) {
		t.Helper()
		if got := kinds(t, monitor.New(config)); !slices.Equal(got, want) {
			t.Errorf("findings %v, expected %v", got, want)
		}
	}
	f.grow(t, 5, "honest")
	f.publish(t)
	check(monitor.Growth)
	check()
	f.signer = notes.LogSigner{Log: next, SignMessage: func(_ context.Context, m []byte) ([]byte, error) { return ed25519.Sign(private, m), nil }}
	f.grow(t, 5, "honest")
	f.publish(t)
	check(monitor.Growth)
	check()
	f.shrink(6)
	f.publish(t)
	check(monitor.Shrink)
}

// TestDamagedState verifies that a damaged state of one log does not hide the findings about others.
func TestDamagedState(t *testing.T) {
	f, dir := newFakeLog(t), t.TempDir()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("o", ed25519.SeedSize)))
	other, err := notes.NewLog("other.example", private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	config := f.config(dir, false)
	config.Policy.Logs = []notes.PolicyLog{{Log: other, URL: "other"}, config.Policy.Logs[0], {Log: other, URL: "again"}}
	if err := durable.Names(dir).Write(witness.OriginHash("other.example"), []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	f.grow(t, 5, "honest")
	f.publish(t)
	findings, err := monitor.New(config).Check(t.Context())
	if err == nil || len(findings) != 1 || findings[0].Kind != monitor.Growth {
		t.Errorf("%v, %v", findings, err)
	}
}
