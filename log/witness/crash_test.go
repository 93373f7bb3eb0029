package witness_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

var errCrash = errors.New("the process ended")

// A crashDisk is an in-memory disk on which a process crashes at a given operation. Data that was
// not synced is then lost, either in part or completely.
type crashDisk struct {
	random *rand.Rand
	names  map[string]*inode // file names as the process sees them
	synced map[string]*inode // file names that remain after a crash
	steps  int               // number of operations until the crash; negative if there is none
}

type inode struct{ content, synced []byte }

func (d *crashDisk) step() error {
	if d.steps == 0 {
		return errCrash
	}
	d.steps--
	return nil
}

func (d *crashDisk) Read(name string) ([]byte, error) {
	if f := d.names[name]; f != nil {
		return slices.Clone(f.content), nil
	}
	return nil, fs.ErrNotExist
}

func (d *crashDisk) Write(name string, data []byte) error {
	if err := d.step(); err != nil {
		return err
	}
	d.names[name] = &inode{content: slices.Clone(data)}
	return nil
}

func (d *crashDisk) SyncFile(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.names[name].synced = d.names[name].content
	return nil
}

func (d *crashDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

func (d *crashDisk) SyncDir() error {
	if err := d.step(); err != nil {
		return err
	}
	d.synced = maps.Clone(d.names)
	return nil
}

// crash changes the disk to a state that a power failure could leave. File names are either the
// names at the last sync or the current names. Each file contains either its synced content or a
// part of the content that was not synced.
func (d *crashDisk) crash() {
	if d.random.IntN(2) == 0 {
		d.names = maps.Clone(d.synced)
	}
	for _, f := range d.names {
		if f.synced == nil {
			f.content = f.content[:d.random.IntN(len(f.content)+1)]
		}
		f.synced = f.content
	}
	d.synced, d.steps = maps.Clone(d.names), -1
}

// These constants specify the maximum size of trees and the number of branches of the log.
const (
	most  = 9
	forks = 3 // branch 0 is honest; branch b differs from it starting at leaf 2b
)

// A model is a log that shows different trees to different clients.
type model struct {
	log    *tlog.Log
	leaves [forks][]merkle.Hash
	notes  [forks][most + 1][]byte
	roots  [forks][most + 1]merkle.Hash

	cosigned map[string]cosignature // by signature line
}

// A cosignature contains the note and the time that an earlier cosignature of the witness covers.
type cosignature struct {
	note string
	at   time.Time
}

// remember makes a witness compute each cosignature only once, because the schedules need millions
// of them. It also records what each cosignature covers.
func (m *model) remember(c witness.Config) witness.Config {
	type request struct {
		note string
		at   int64
	}
	made, cosign := map[request][]byte{}, c.Cosign
	m.cosigned = map[string]cosignature{}
	c.Cosign = func(ctx context.Context, note []byte, at time.Time) ([]byte, error) {
		r := request{string(note), at.Unix()}
		if made[r] == nil {
			cosigned, err := cosign(ctx, note, at)
			if err != nil {
				return nil, err
			}
			made[r] = cosigned
			m.cosigned[string(cosigned[len(note):])] = cosignature{string(note), at}
		}
		return slices.Clone(made[r]), nil
	}
	return c
}

func newModel(t *testing.T) *model {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("l", ed25519.SeedSize)))
	log, err := tlog.NewLog("log.example/receipts", private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	signer := tlog.LogSigner{Log: log, SignMessage: func(_ context.Context, message []byte) ([]byte, error) {
		return ed25519.Sign(private, message), nil
	}}
	m := &model{log: log}
	for b := range forks {
		for i := range most {
			name := fmt.Sprintf("leaf %d", i)
			if b > 0 && i >= 2*b {
				name += fmt.Sprintf(" of fork %d", b)
			}
			m.leaves[b] = append(m.leaves[b], merkle.LeafHash([]byte(name)))
		}
		for n := range most + 1 {
			m.roots[b][n] = merkle.Root(m.leaves[b][:n])
			c := &tlog.Checkpoint{Origin: log.Name(), Size: uint64(n), Root: m.roots[b][n]}
			if m.notes[b][n], err = signer.SignCheckpoint(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// request returns the body of a request for a tree of the given branch, with a consistency proof
// from the given size.
func (m *model) request(branch, old, size, from int) []byte {
	body := fmt.Appendf(nil, "old %d\n", old)
	if from > 0 && from <= size {
		proof, err := merkle.ProveConsistency(m.leaves[branch][:size], uint64(from))
		if err != nil {
			panic(err)
		}
		for _, h := range proof {
			body = fmt.Appendf(body, "%v\n", h)
		}
	}
	return append(append(body, '\n'), m.notes[branch][size]...)
}

// schedules returns the number of random schedules. It is the value of the variable
// RECEIPT_LOG_SCHEDULES or, by default, a number that takes a few seconds.
func schedules(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("RECEIPT_LOG_SCHEDULES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testsize.Full() {
		return 5_000
	}
	return 2_000
}

// TestNeverTwoTrees verifies that a witness never cosigns two trees if neither extends the other.
// This must hold regardless of the requests from a log and its clients, and no matter when the
// process or the machine stops.
func TestNeverTwoTrees(t *testing.T) {
	m := newModel(t)
	config := m.remember(newConfig(t, m.log))
	total := schedules(t)
	cosigned, crashed, largest := 0, 0, 0
	for seed := range total {
		s := &schedule{model: m, config: config, random: rand.New(rand.NewPCG(uint64(seed), 22)), released: map[int]merkle.Hash{}}
		if err := s.run(t); err != nil {
			t.Fatalf("schedule %d: %v", seed, err)
		}
		cosigned += len(s.released)
		crashed += s.crashes
		if _, ok := s.released[most]; ok {
			largest++
		}
	}
	t.Logf("%d schedules, %d trees cosigned, %d crashes, %d reached the largest tree", total, cosigned, crashed, largest)
	if cosigned < total || crashed < total/2 || largest < total/20 {
		t.Error("the schedules do not exercise the witness")
	}
}

// A schedule is a sequence of requests and crashes.
type schedule struct {
	model    *model
	config   witness.Config
	random   *rand.Rand
	released map[int]merkle.Hash // trees whose cosignatures were sent in a response
	crashes  int
}

func (s *schedule) run(t *testing.T) error {
	disk := &crashDisk{random: s.random, names: map[string]*inode{}, synced: map[string]*inode{}, steps: -1}
	clock := int64(1790000000)
	s.config.Now = func() time.Time { return time.Unix(clock, 0) }
	w, err := witness.New(s.config, disk)
	if err != nil {
		return err
	}

	last, lastTime := 0, time.Time{}
	for range 3 + s.random.IntN(8) {
		clock = 1790000000 + s.random.Int64N(8) // the clock may be set back
		if disk.steps = -1; s.random.IntN(3) == 0 {
			disk.steps = s.random.IntN(5)
		}
		branch, size := s.random.IntN(forks), s.random.IntN(most+1)
		old, from := last, last
		if s.random.IntN(4) == 0 {
			old = s.random.IntN(most + 1)
		}
		if s.random.IntN(4) == 0 {
			from = s.random.IntN(most + 1)
		}

		body := s.model.request(branch, old, size, from)
		lines, err := w.AddCheckpoint(t.Context(), body)
		var refusal *witness.Refusal
		switch {
		case err == nil:
			at, err := s.release(branch, size, lines)
			if err != nil {
				return err
			}
			if at.Before(lastTime) {
				return fmt.Errorf("cosigned at %v after %v", at, lastTime)
			}
			last, lastTime = size, at
		case errors.As(err, &refusal):
			if refusal.Status == 409 {
				last = int(refusal.Size)
			}
		case !errors.Is(err, errCrash):
			return err
		}

		// After a crash, and sometimes between requests, another process starts.
		if errors.Is(err, errCrash) || s.random.IntN(6) == 0 {
			s.crashes++
			disk.crash()
			if w, err = witness.New(s.config, disk); err != nil {
				return fmt.Errorf("after a crash: %w", err)
			}
		}
	}
	return nil
}

// release records a cosignature, and compares its tree with all trees that were cosigned before.
func (s *schedule) release(branch, size int, lines []byte) (at time.Time, err error) {
	made, ok := s.model.cosigned[string(lines)]
	if !ok || made.note != string(s.model.notes[branch][size]) {
		return at, fmt.Errorf("answer %q", lines)
	}
	root := s.model.roots[branch][size]
	s.released[size] = root
	for other, before := range s.released {
		if before != s.model.roots[branch][min(other, size)] && other <= size {
			return at, fmt.Errorf("cosigned size %d of branch %d, and before it another tree of size %d", size, branch, other)
		}
		if other > size {
			return at, fmt.Errorf("cosigned size %d after size %d", size, other)
		}
	}
	return made.at, nil
}

// TestUnreadableRecord verifies that a witness with a damaged record refuses to cosign.
func TestUnreadableRecord(t *testing.T) {
	m := newModel(t)
	config := newConfig(t, m.log)
	disk := &crashDisk{random: rand.New(rand.NewPCG(1, 1)), names: map[string]*inode{}, steps: -1}
	w, err := witness.New(config, disk)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddCheckpoint(t.Context(), m.request(0, 0, 5, 0)); err != nil {
		t.Fatal(err)
	}

	f := disk.names[witness.OriginHash(m.log.Name())]
	whole := f.content
	for n := range whole {
		f.content = whole[:n]
		if _, err := w.AddCheckpoint(t.Context(), m.request(1, 0, 5, 0)); err == nil {
			t.Fatalf("a record of %d bytes: cosigned another tree", n)
		}
		if _, err := witness.New(config, disk); err == nil {
			t.Fatalf("a record of %d bytes: the witness starts", n)
		} else if !strings.Contains(err.Error(), "needs a new key") || strings.Contains(err.Error(), "restore") {
			t.Fatalf("a record of %d bytes: %v", n, err)
		}
	}

	// If this log is removed from the configuration, the witness can be used with its other logs.
	config.Logs = nil
	if _, err := witness.New(config, disk); err != nil {
		t.Error(err)
	}
}
