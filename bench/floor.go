package main

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// readBlock is the number of bytes that the command reads at a time.
const readBlock = 128 << 10

// floor measures an entire verification and its three unavoidable parts, in microseconds per
// receipt. The unavoidable parts are reading the bytes, computing one SHA-256 digest of them, and
// checking the signature.
func (b *bench) floor() (parts []result.Step, whole float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.sample.warm()
	us := ours(b.sample.set)
	receipts := b.sample.slices[0]
	list := signatures(b.sample.set, receipts)
	read := b.reading(receipts)
	hash := func(int) error {
		for _, text := range receipts {
			sha256.Sum256(text)
		}
		return nil
	}
	check := func(int) error { return checkAll(b.sample.set, list) }
	verify := func(int) error { return us.all(receipts) }
	var turns []race.Turn
	for _, f := range []func(int) error{read, hash, check, verify} {
		turns = append(turns, race.Repeated(b.slice, f))
	}
	times := must(race.Rounds(b.ctx, b.rounds, turns...))
	each := func(turn int) float64 { return result.Round(1e6 * times.Median(turn) / float64(len(receipts))) }
	return []result.Step{{Name: "read", Value: each(0)}, {Name: "SHA-256, once", Value: each(1)}, {Name: "Ed25519", Value: each(2)}}, result.Round(each(0) + each(3))
}

// reading returns a function that reads receipts from a file that is already in the page cache.
func (b *bench) reading(receipts [][]byte) func(int) error {
	path := filepath.Join(b.dir, "read.jsonl")
	var text []byte
	for _, r := range receipts {
		text = append(append(text, r...), '\n')
	}
	check(os.WriteFile(path, text, 0o666))
	buffer := make([]byte, readBlock)
	return func(int) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for {
			if _, err := f.Read(buffer); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}
