package trust

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// TestClaimTogether verifies that, if several trees of the same size are cosigned at the same time,
// at most one of them is claimed, and that no other tree is claimed afterward.
func TestClaimTogether(t *testing.T) {
	for round := range 20 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round))
		head := func(i int) *Head {
			return &Head{Signed: &tlog.Signed{Checkpoint: tlog.Checkpoint{Origin: "log", Size: 7, Root: merkle.LeafHash([]byte{byte(i)})}}}
		}

		var group sync.WaitGroup
		var claimed atomic.Int64
		var winner atomic.Int64
		for i := range 8 {
			group.Go(func() {
				if Claim(path, head(i)) == nil {
					claimed.Add(1)
					winner.Store(int64(i))
				}
			})
		}
		group.Wait()
		if claimed.Load() > 1 {
			t.Fatalf("%d trees of one size are claimed", claimed.Load())
		}
		for i := range 8 {
			if err := Claim(path, head(i)); (err == nil) != (claimed.Load() == 1 && int64(i) == winner.Load()) && claimed.Load() == 1 {
				t.Errorf("tree %d of which %d was claimed: %v", i, winner.Load(), err)
			}
		}
	}
}

// TestClaimOfOthers verifies that a claim is compared with claims for the same log only, and that a
// state file with other members or of more than 64 MiB is rejected.
func TestClaimOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	head := func(origin string, size uint64) *Head {
		return &Head{Signed: &tlog.Signed{Checkpoint: tlog.Checkpoint{Origin: origin, Size: size, Root: merkle.LeafHash([]byte(origin))}}}
	}
	for origin, size := range map[string]uint64{"a": 7, "b": 7, "c": 5, "d": 9} {
		if err := Claim(path, head(origin, size)); err != nil {
			t.Error(err)
		}
	}

	line := `{"origin":"e","size":1,"root":"","more":1}` + "\n\n"
	for name, state := range map[string][]byte{"other members": []byte(line), "too large": bytes.Repeat([]byte("\n"), maxCosigned+1)} {
		if err := os.WriteFile(path, state, 0o600); err != nil {
			t.Fatal(err)
		}
		if Claim(path, head("a", 8)) == nil {
			t.Errorf("%s: claimed", name)
		}
	}
}

// TestClaimCutOff verifies that a state file can still be used if a claim was cut off when it was
// written, and that any other damage is reported.
func TestClaimCutOff(t *testing.T) {
	head := func(size uint64, label string) *Head {
		return &Head{Signed: &tlog.Signed{Checkpoint: tlog.Checkpoint{Origin: "log", Size: size, Root: merkle.LeafHash([]byte(label))}}}
	}
	first := filepath.Join(t.TempDir(), "first")
	if err := Claim(first, head(7, "a")); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	for n := range line {
		path := filepath.Join(dir, fmt.Sprint(n))
		state := append(append([]byte{}, line...), line[:n]...)
		if err := os.WriteFile(path, state, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, size := range []uint64{8, 9} {
			if err := Claim(path, head(size, "b")); err != nil {
				t.Errorf("the second claim has %d bytes, size %d: %v", n, size, err)
			}
		}
		if Claim(path, head(7, "c")) == nil {
			t.Errorf("the second claim has %d bytes: claimed another tree", n)
		}

		damaged := append(append([]byte{}, line...), line...)
		damaged[n] = 'x'
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if n > 0 && n < len(line)-1 && Claim(path, head(7, "c")) == nil {
			t.Errorf("byte %d is damaged: claimed another tree", n)
		}
	}
}
