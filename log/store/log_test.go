package store_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/log/client"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/store"
	"github.com/receiptkit/receiptkit/log/tile"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

const origin = "log.example/receipts"

// newConfig returns the configuration for a log whose key is derived from a letter.
func newConfig(t testing.TB, dir, letter string) store.Config {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(letter, ed25519.SeedSize)))
	key, err := tlog.NewLog(origin, private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	signer := tlog.LogSigner{Log: key, SignMessage: func(_ context.Context, message []byte) ([]byte, error) {
		return ed25519.Sign(private, message), nil
	}}
	return store.Config{Dir: dir, Key: key, Sign: signer.SignCheckpoint, Interval: 100 * time.Millisecond, Warn: func(err error) { t.Log(err) }}
}

func open(t testing.TB, c store.Config) *store.Log {
	t.Helper()
	l, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLog(t testing.TB, l *store.Log) {
	t.Helper()
	if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// hashOf returns the hash of an imaginary receipt.
func hashOf(i int) canon.Digest { return canon.Sum(fmt.Appendf(nil, "receipt %d", i)) }

// policyOf returns the policy that the proofs of a log must meet.
func policyOf(c store.Config) *tlog.Policy {
	p := c.Policy
	p.Logs = []tlog.PolicyLog{{Log: c.Key}}
	return &p
}

// addAll adds hashes from several goroutines, and checks each proof.
func addAll(t *testing.T, l *store.Log, policy *tlog.Policy, hashes []canon.Digest) {
	t.Helper()
	var group sync.WaitGroup
	for _, h := range hashes {
		group.Go(func() {
			text, err := l.Add(t.Context(), h)
			if err != nil {
				t.Error(err)
				return
			}
			proof, err := tlog.ParseProof(text)
			if err == nil {
				_, err = policy.CheckProof(proof, h[:])
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// indexes returns how often the published tree of a log contains each hash.
func indexes(t *testing.T, c store.Config, note []byte) map[canon.Digest]int {
	t.Helper()
	s, err := policyOf(c).Open(note)
	if err != nil {
		t.Fatal(err)
	}
	tree := tile.Tree{Size: s.Size, Root: s.Root, Source: tile.Dir(c.Dir)}
	found := map[canon.Digest]int{}
	for entry, err := range tree.Entries(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		found[canon.Digest(entry)]++
	}
	return found
}

// TestOnceEach verifies that the log contains each hash once, even if the hash is added several
// times, by several callers, and after the log has been reopened.
func TestOnceEach(t *testing.T) {
	c := newConfig(t, t.TempDir(), "k")
	var hashes []canon.Digest
	for i := range 700 { // these hashes fill more than two entry bundles
		hashes = append(hashes, hashOf(i), hashOf(i))
	}

	l := open(t, c)
	if _, err := store.Open(t.Context(), c); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	addAll(t, l, policyOf(c), hashes[:1000])
	closeLog(t, l)

	l = open(t, c)
	defer closeLog(t, l)
	addAll(t, l, policyOf(c), hashes)
	note, err := l.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	found := indexes(t, c, note)
	if len(found) != 700 {
		t.Errorf("the log has %d hashes", len(found))
	}
	for h, n := range found {
		if n != 1 {
			t.Errorf("%v is in the log %d times", h, n)
		}
	}
	if _, err := l.Proof(t.Context(), hashOf(-1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a hash that is not in the log: %v", err)
	}
}

// TestOpenRejects verifies that a log refuses to open if its directory does not match the
// checkpoint that it signed.
func TestOpenRejects(t *testing.T) {
	c := newConfig(t, t.TempDir(), "k")
	l := open(t, c)
	addAll(t, l, policyOf(c), []canon.Digest{hashOf(0), hashOf(1), hashOf(2)})
	closeLog(t, l)

	for name, damage := range map[string]func(dir string) error{
		"changed entry": func(dir string) error {
			path := filepath.Join(dir, "tile/entries/000.p/3")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[40]++
			return os.WriteFile(path, data, 0o644)
		},
		"short entry": func(dir string) error {
			path := filepath.Join(dir, "tile/entries/000.p/3")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, append([]byte("\x00\x05short"), data[34:]...), 0o644)
		},
		"torn bundle": func(dir string) error { return os.Truncate(filepath.Join(dir, "tile/entries/000.p/3"), 2*34) },
		"rolled back": func(dir string) error {
			published, err := os.ReadFile(filepath.Join(dir, ".receipt-log/checkpoint"))
			if err != nil {
				return err
			}
			empty := filepath.Join(t.TempDir(), "empty")
			closeLog(t, open(t, newConfig(t, empty, "k")))
			if err := os.WriteFile(filepath.Join(empty, ".receipt-log/checkpoint"), published, 0o644); err != nil {
				return err
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.Rename(empty, dir)
		},
		"changed checkpoint": func(dir string) error {
			path := filepath.Join(dir, ".receipt-log/checkpoint")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(string(data), "\n3\n", "\n2\n", 1)), 0o644)
		},
	} {
		dir := filepath.Join(t.TempDir(), "log")
		if err := os.CopyFS(dir, os.DirFS(c.Dir)); err != nil {
			t.Fatal(err)
		}
		copied := newConfig(t, dir, "k")
		closeLog(t, open(t, copied)) // the undamaged copy can be opened
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if l, err := store.Open(t.Context(), copied); err == nil {
			closeLog(t, l)
			t.Errorf("%s: opened", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}

	if _, err := store.Open(t.Context(), newConfig(t, c.Dir, "o")); err == nil {
		t.Error("opened with another key")
	}
}

// hashTiles lists the hash tiles of a log with 301 entries.
var hashTiles = []string{"tile/0/000", "tile/0/001.p/45", "tile/1/000.p/1"}

// newLarge returns the configuration of a closed log with 301 entries.
func newLarge(t *testing.T) store.Config {
	t.Helper()
	c := newConfig(t, t.TempDir(), "k")
	var hashes []canon.Digest
	for i := range 301 {
		hashes = append(hashes, hashOf(i))
	}
	l := open(t, c)
	addAll(t, l, policyOf(c), hashes)
	closeLog(t, l)
	return c
}

// TestOpenHashTiles verifies that a log refuses to open if a hash tile is missing or does not match
// the entries, and that the error names the tile.
func TestOpenHashTiles(t *testing.T) {
	c := newLarge(t)
	closeLog(t, open(t, c))
	for _, tile := range hashTiles {
		path := filepath.Join(c.Dir, tile)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := append([]byte(nil), data...)
		changed[len(changed)-1] ^= 1
		for _, d := range []struct {
			damage func() error
			want   string
		}{
			{func() error { return os.Remove(path) }, "is missing"},
			{func() error { return os.WriteFile(path, changed, 0o644) }, "does not match the entries"},
			{func() error { return os.WriteFile(path, data[:len(data)-32], 0o644) }, "does not match the entries"},
		} {
			if err := d.damage(); err != nil {
				t.Fatal(err)
			}
			l, err := store.Open(t.Context(), c)
			if err == nil {
				closeLog(t, l)
				t.Errorf("%s %s: opened", tile, d.want)
			} else if !strings.Contains(err.Error(), tile) || !strings.Contains(err.Error(), d.want) {
				t.Errorf("%s: expected %q, got %v", tile, d.want, err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeLog(t, open(t, c))
}

// TestMissingTile deletes a tile from an open log. Requests that need the tile must then fail with
// status 500 and a warning that names the tile. They must not report that the log has no such
// entry.
func TestMissingTile(t *testing.T) {
	c := newLarge(t)
	var mu sync.Mutex
	var warnings []string
	c.Warn = func(err error) { mu.Lock(); defer mu.Unlock(); warnings = append(warnings, err.Error()) }
	l := open(t, c)
	defer l.Close(context.WithoutCancel(t.Context()))
	note, err := l.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	s, err := policyOf(c).Open(note)
	if err != nil {
		t.Fatal(err)
	}
	var hash string // of the first entry
	for entry, err := range (&tile.Tree{Size: s.Size, Root: s.Root, Source: tile.Dir(c.Dir)}).Entries(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		hash = canon.Digest(entry).String()
		break
	}

	handler := l.Handler("")
	get := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w
	}
	for _, name := range []string{"tile/0/000", "tile/1/000.p/1"} {
		path := filepath.Join(c.Dir, name)
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range [][]string{{"GET", "/proof/" + hash, ""}, {"POST", "/add", hash}, {"GET", "/" + name, ""}} {
			warnings = nil
			w := get(r[0], r[1], r[2])
			if w.Code != http.StatusInternalServerError || len(warnings) != 1 || !strings.Contains(warnings[0], name) {
				t.Errorf("%s without %s: %d %s, warnings %q", r[1], name, w.Code, w.Body, warnings)
			}
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpenCosigned verifies that a log whose published checkpoint has cosignatures refuses a policy
// without witnesses, and keeps the checkpoint.
func TestOpenCosigned(t *testing.T) {
	c := newConfig(t, t.TempDir(), "k")
	w := startWitness(t, c.Key)
	c.Policy = tlog.Policy{Witnesses: []tlog.PolicyWitness{w}, Quorum: &tlog.Group{Threshold: 1, Witnesses: []*tlog.Witness{w.Witness}}}
	l := open(t, c)
	addAll(t, l, policyOf(c), []canon.Digest{hashOf(0)})
	closeLog(t, l)

	path := filepath.Join(c.Dir, ".receipt-log/checkpoint")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Policy = tlog.Policy{}
	if l, err := store.Open(t.Context(), c); err == nil {
		closeLog(t, l)
		t.Error("opened without witnesses")
	} else if !strings.Contains(err.Error(), "the policy has no witnesses") {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the checkpoint changed: %s (%v)", after, err)
	}

	// A quorum of none is accepted, and the witness still cosigns.
	c.Policy = tlog.Policy{Witnesses: []tlog.PolicyWitness{w}}
	closeLog(t, open(t, c))
}

// TestPostQuantum verifies that a log with an ML-DSA-44 key works across a restart, with a witness
// that cosigns with an Ed25519 key.
func TestPostQuantum(t *testing.T) {
	private, err := keys.Generate(strings.NewReader(strings.Repeat("q", 32)), keys.MLDSA44, "q")
	if err != nil {
		t.Fatal(err)
	}
	signer := keys.NewSigner(private, nil)
	c := newConfig(t, t.TempDir(), "k")
	if c.Key, err = signer.Public().Log(origin); err != nil {
		t.Fatal(err)
	}
	c.Sign = signer.SignCheckpoint
	w := startWitness(t, c.Key)
	c.Policy = tlog.Policy{Witnesses: []tlog.PolicyWitness{w}, Quorum: &tlog.Group{Threshold: 1, Witnesses: []*tlog.Witness{w.Witness}}}
	for i := range 2 {
		l := open(t, c)
		addAll(t, l, policyOf(c), []canon.Digest{hashOf(0), hashOf(i)})
		closeLog(t, l)
	}
}

// startWitness starts a witness for a log, and returns the witness and its entry in a policy.
func startWitness(t testing.TB, key *tlog.Log) tlog.PolicyWitness {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("w", ed25519.SeedSize)))
	w, err := tlog.NewWitness("witness.example", private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	cosigner := tlog.Cosigner{Witness: w, SignMessage: func(_ context.Context, message []byte) ([]byte, error) {
		return ed25519.Sign(private, message), nil
	}}
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	running, err := witness.New(witness.Config{Logs: []*tlog.Log{key}, Cosign: cosigner.Cosign, Key: w, Now: time.Now}, dir)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(running.Handler(func(err error) { t.Error(err) }))
	t.Cleanup(func() { server.Close(); dir.Close() })
	return tlog.PolicyWitness{Name: "w", Witness: w, URL: server.URL}
}

// TestWitnessed verifies that a hash is acknowledged only after the quorum has cosigned a
// checkpoint, and that the routes serve everything that clients need.
func TestWitnessed(t *testing.T) {
	c := newConfig(t, t.TempDir(), "k")
	w := startWitness(t, c.Key)
	down := w
	down.URL = "http://127.0.0.1:1"
	c.Policy = tlog.Policy{Witnesses: []tlog.PolicyWitness{down}, Quorum: &tlog.Group{Threshold: 1, Witnesses: []*tlog.Witness{w.Witness}}}

	// If the witness is unavailable, no hash is acknowledged.
	l := open(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if proof, err := l.Add(ctx, hashOf(0)); err == nil {
		t.Errorf("acknowledged without a witness: %s", proof)
	}
	if note, err := l.Checkpoint(); err == nil {
		t.Errorf("published without a witness: %s", note)
	}
	closeLog(t, l)

	c.Policy.Witnesses[0] = w
	l = open(t, c)
	defer closeLog(t, l)
	server := httptest.NewServer(l.Handler("secret"))
	defer server.Close()
	remote := &client.Log{URL: server.URL, Token: "secret", Policy: policyOf(c)}
	for i := range 300 {
		if i > 3 && i < 297 {
			continue
		}
		if _, _, err := remote.Add(t.Context(), hashOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := (&client.Log{URL: server.URL, Policy: policyOf(c)}).Add(t.Context(), hashOf(9)); err == nil {
		t.Error("added a hash without a token")
	}

	source := tile.NewHTTP(server.URL, time.Minute)
	note, err := source.Read(t.Context(), "checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	s, err := policyOf(c).Open(note)
	if err != nil || s.Size != 7 {
		t.Fatalf("%v, %v", s, err)
	}
	n := 0
	for _, err := range (&tile.Tree{Size: s.Size, Root: s.Root, Source: source}).Entries(t.Context(), 2) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("read %d entries from index 2 on", n)
	}

	for path, want := range map[string]int{
		"/tile/0/000.p/7":                   200,
		"/tile/entries/000.p/7":             200,
		"/tile/0/000":                       404, // not full
		"/tile/0/000.p/8":                   404, // not implied
		"/tile/00/000.p/7":                  404,
		"/tile/0/000.p/07":                  404,
		"/tile/0/x000/000.p/7":              404,
		"/tile/entries/x000/x000/000.p/7":   404,
		"/tile/0/../../.receipt-log/key":    404,
		"/proof/" + hashOf(0).String():      200,
		"/proof/" + hashOf(1000).String():   404,
		"/proof/sha256:ABC":                 400,
		"/.state/treeState":                 404,
		"/.receipt-log/checkpoint":          404,
		"/tile/entries/000.p/7?x=../../key": 200,
	} {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: status %d, expected %d: %.80q", path, response.StatusCode, want, body)
		}
	}
}
