package oracle_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	notes "github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A setting is a log with one witness, and the files that both need.
type setting struct {
	dir, policyFile        string
	logAddress, witAddress string
	policy                 torchwood.Policy
	text                   []byte // of the policy
}

const (
	logName     = "log.example/receipts"
	witnessName = "witness.example"
)

func newSetting(t *testing.T) *setting {
	t.Helper()
	s := &setting{dir: t.TempDir(), logAddress: freeAddress(t), witAddress: freeAddress(t)}
	l, err := notes.NewLog(logName, s.newKey(t, "log", logName, receipt.RoleCheckpoint))
	if err != nil {
		t.Fatal(err)
	}
	w, err := notes.NewWitness(witnessName, s.newKey(t, "witness", witnessName, receipt.RoleWitness))
	if err != nil {
		t.Fatal(err)
	}
	s.text = fmt.Appendf(nil, "log %v http://%s\nwitness w %v http://%s\nquorum w\n", l, s.logAddress, w, s.witAddress)
	s.policyFile = filepath.Join(s.dir, "policy")
	write(t, s.policyFile, s.text)
	if s.policy, err = torchwood.ParsePolicy(s.text); err != nil {
		t.Fatal(err)
	}
	return s
}

// newKey writes a private key and returns the corresponding public key.
func (s *setting) newKey(t *testing.T, name, origin string, role receipt.Role) ed25519.PublicKey {
	t.Helper()
	key, err := keys.Generate(rand.Reader, keys.Ed25519, name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.For([]receipt.Role{role}, origin).MarshalPrivate()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.dir, name+".json"), text)
	return key.Public().Crypto().(ed25519.PublicKey)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// receipts writes a file that contains a stream of receipts, and returns their hashes.
func (s *setting) receipts(t *testing.T, workspace string, n int) (path string, hashes []canon.Digest) {
	t.Helper()
	var b bytes.Buffer
	head := chain.Head{}
	at := receipt.At(time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC))
	for i := range n {
		sealed, err := receipt.Seal(&receipt.Draft{
			ReceiptID: fmt.Sprintf("%s_%d", workspace, i), Subject: receipt.ResourceRef{Object: "task", ID: "task"},
			Issuer: receipt.Issuer{ID: "harness_a", Kind: "harness"}, IssuedAt: at,
			Identifiers: receipt.Identifiers{SessionID: "s", TaskID: "task", WorkspaceRef: workspace},
			Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: "SUCCEEDED"},
			Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
			ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
			ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
			Cost:        receipt.Cost{Currency: "USD"},
		}, head)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(sealed.JSON(), '\n'))
		head = sealed.Head()
		hashes = append(hashes, head.Hash)
	}
	path = filepath.Join(s.dir, workspace+".jsonl")
	write(t, path, b.Bytes())
	return path, hashes
}

// TestKills runs four processes that append receipts to a log, and kills them, the log, and the
// witness at random times. Each receipt must be included exactly once, and all checkpoints must
// belong to the same tree.
func TestKills(t *testing.T) {
	n, kills := size(t)
	s, command := newSetting(t), build(t)
	w := start(command, "witness", "--dir", filepath.Join(s.dir, "witnessed"), "--key", filepath.Join(s.dir, "witness.json"),
		"--policy", s.policyFile, "--listen", s.witAddress)
	l := start(command, "serve", "--dir", filepath.Join(s.dir, "log"), "--key", filepath.Join(s.dir, "log.json"),
		"--policy", s.policyFile, "--listen", s.logAddress, "--interval", "100ms")
	defer w.stop()
	defer l.stop()

	processes := []*process{w, l}
	var all []canon.Digest
	for i := range 4 {
		path, hashes := s.receipts(t, fmt.Sprintf("w%d", i), n/4)
		all = append(all, hashes...)
		processes = append(processes, start(command, "append", path, "--log", "http://"+s.logAddress,
			"--policy", s.policyFile, "--proofs", s.proofs(i), "--wait", "10m", "--jobs", strconv.Itoa(2+n/1000)))
	}
	appenders := processes[2:]

	seen := s.watch(t)
	began := time.Now()
	done := killer(processes, kills, mathrand.New(mathrand.NewPCG(22, 22)))
	for i, p := range appenders {
		<-p.done
		if p.result != nil {
			t.Fatalf("appender %d: %v: %s", i, p.result, p.lastErr.String())
		}
	}
	took := time.Since(began)
	if done < kills {
		t.Errorf("only %d of %d kills before the receipts were appended", done, kills)
	}
	t.Logf("%d receipts, %d kills (witness %d, log %d), %v", n, done, w.kills, l.kills, took.Round(time.Millisecond))

	// After the log starts for the last time, it must still contain everything that it
	// acknowledged.
	l.kill()
	w.kill()
	checkpoint := s.lastCheckpoint(t)
	checkpoints := seen()
	tree := s.readTree(t, checkpoint)
	s.checkEntries(t, tree, all, acknowledged(t, appenders))
	for i := range appenders {
		checkpoints = append(checkpoints, s.checkProofs(t, i, tree)...)
	}
	s.checkCheckpoints(t, tree, checkpoints)

	out, err := exec.Command(command, "monitor", "--once", "--policy", s.policyFile, "--dir", filepath.Join(s.dir, "monitor"), "--silence", "1h").CombinedOutput()
	if want := fmt.Sprintf("growth %s from size 0 to %d\n", logName, n); err != nil || string(out) != want {
		t.Errorf("monitor: %v: %s", err, out)
	}
}

func (s *setting) proofs(i int) string { return filepath.Join(s.dir, fmt.Sprintf("proofs-%d", i)) }

// fetch returns the body of the response to a GET request, or nil if the status is not 200.
func fetch(url string) []byte {
	response, err := http.Get(url)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil
	}
	return body
}

// watch collects the checkpoints that the log and the witness serve. The returned function ends the
// collection and returns the checkpoints.
func (s *setting) watch(t *testing.T) func() [][]byte {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var list [][]byte
	group.Go(func() {
		last := uint64(0)
		for ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
			note := fetch("http://" + s.logAddress + "/checkpoint")
			if note == nil || len(list) > 0 && bytes.Equal(note, list[len(list)-1]) {
				continue
			}
			list = append(list, note)
			if c, _, err := torchwood.VerifyCheckpoint(note, s.policy); err != nil {
				t.Errorf("checkpoint: %v", err)
			} else if uint64(c.N) < last {
				t.Errorf("the log shows size %d after %d", c.N, last)
			} else {
				last = uint64(c.N)
			}
		}
	})
	return func() [][]byte {
		cancel()
		group.Wait()
		return list
	}
}

// lastCheckpoint waits until the log responds, and returns the log's checkpoint.
func (s *setting) lastCheckpoint(t *testing.T) torchwood.Checkpoint {
	t.Helper()
	for range 600 {
		time.Sleep(50 * time.Millisecond)
		note := fetch("http://" + s.logAddress + "/checkpoint")
		if note == nil {
			continue
		}
		c, _, err := torchwood.VerifyCheckpoint(note, s.policy)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatal("the log does not answer")
	return torchwood.Checkpoint{}
}

// A tree is a Merkle tree that the test computed from the entries.
type tree struct {
	entries []canon.Digest
	hashes  []tlog.Hash // stored hashes
}

func (x *tree) reader() tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, i := range indexes {
			list = append(list, x.hashes[i])
		}
		return list, nil
	})
}

// root returns the root of the first n entries.
func (x *tree) root(t *testing.T, n int64) tlog.Hash {
	t.Helper()
	h, err := tlog.TreeHash(n, x.reader())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// readTree reads all entries and tiles over HTTP, and compares the resulting tree with the
// checkpoint.
func (s *setting) readTree(t *testing.T, c torchwood.Checkpoint) *tree {
	t.Helper()
	x := new(tree)
	for first := int64(0); first < c.N; first += torchwood.TileWidth {
		w := int(min(c.N-first, torchwood.TileWidth))
		data := fetch("http://" + s.logAddress + "/" + torchwood.TilePath(tlog.Tile{H: torchwood.TileHeight, L: -1, N: first / torchwood.TileWidth, W: w}))
		for range w {
			entry, rest, err := torchwood.ReadTileEntry(data)
			if err != nil {
				t.Fatal(err)
			}
			data = rest
			n := int64(len(x.entries))
			hashes, err := tlog.StoredHashes(n, entry, x.reader())
			if err != nil {
				t.Fatal(err)
			}
			x.entries, x.hashes = append(x.entries, canon.Digest(entry)), append(x.hashes, hashes...)
		}
	}
	if root := x.root(t, c.N); root != c.Hash {
		t.Fatalf("the root of the entries is %v, and the checkpoint has %v", root, c.Hash)
	}

	tiles := tlog.NewTiles(torchwood.TileHeight, 0, c.N)
	for _, tile := range tiles {
		want, err := tlog.ReadTileData(tile, x.reader())
		if err != nil {
			t.Fatal(err)
		}
		if got := fetch("http://" + s.logAddress + "/" + torchwood.TilePath(tile)); !bytes.Equal(got, want) {
			t.Errorf("tile %s has %d bytes that are not its hashes", torchwood.TilePath(tile), len(got))
		}
	}
	t.Logf("%d entries and %d tiles are those of the checkpoint", c.N, len(tiles))
	return x
}

// checkEntries checks that each receipt is in the log exactly once, at the index that was
// acknowledged.
func (s *setting) checkEntries(t *testing.T, x *tree, all []canon.Digest, acknowledged map[string]uint64) {
	t.Helper()
	if len(acknowledged) != len(all) || len(x.entries) != len(all) {
		t.Errorf("%d receipts, %d acknowledged, %d entries", len(all), len(acknowledged), len(x.entries))
	}
	found := map[canon.Digest]int{}
	for i, hash := range x.entries {
		found[hash]++
		if index, ok := acknowledged[hash.String()]; ok && index != uint64(i) {
			t.Errorf("%v was acknowledged with index %d, and is entry %d", hash, index, i)
		}
	}
	for _, hash := range all {
		if found[hash] != 1 {
			t.Errorf("%v is in the log %d times", hash, found[hash])
		}
	}
}

// checkProofs checks the proofs that an appender stored, and returns the checkpoints in them.
func (s *setting) checkProofs(t *testing.T, i int, x *tree) (checkpoints [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.proofs(i), "*.tlog-proof"))
	if err != nil || len(files) != len(x.entries)/4 {
		t.Fatalf("%d proofs, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.Replace(filepath.Base(file), "-", ":", 1), ".tlog-proof")
		hash, err := canon.ParseDigest(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := torchwood.VerifyProof(s.policy, tlog.RecordHash(hash[:]), text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		_, note, _ := bytes.Cut(text, []byte("\n\n"))
		checkpoints = append(checkpoints, note)
	}
	return checkpoints
}

// checkCheckpoints verifies a consistency proof from each checkpoint to the complete tree. The
// proof shows that the checkpoint matches the first entries of the tree, so all checkpoints are
// consistent with each other.
func (s *setting) checkCheckpoints(t *testing.T, x *tree, notes [][]byte) {
	t.Helper()
	sizes := map[int64]bool{}
	last := int64(len(x.entries))
	for _, note := range notes {
		c, _, err := torchwood.VerifyCheckpoint(note, s.policy)
		if err != nil {
			t.Errorf("%v: %s", err, note)
			continue
		}
		if c.N == 0 || sizes[c.N] && c.Hash == x.root(t, c.N) {
			continue
		}
		sizes[c.N] = true
		proof, err := tlog.ProveTree(last, c.N, x.reader())
		if err == nil {
			err = tlog.CheckTree(proof, last, x.root(t, last), c.N, c.Hash)
		}
		if err != nil {
			t.Errorf("the tree of size %d is not extended by the last: %v", c.N, err)
		}
	}
	if len(sizes) < 2 {
		t.Errorf("only %d sizes of checkpoints", len(sizes))
	}
	t.Logf("%d notes of %d sizes are of one tree", len(notes), len(sizes))
}
