// Command digest verifies generated inputs and compares all verdicts with the recorded ones, so
// that a change to any verdict is detected. See ../README.md.
//
//	go run ./digest                    # all inputs of which verdicts.txt has a digest
//	go run ./digest -blocks 2          # the first 20,000
//	go run ./digest -print 7           # the verdicts of block 7, to compare two versions
//	go run ./digest -record            # write digest/verdicts.txt
//
// Exit codes: 0 if all digests match verdicts.txt, 1 if a digest differs, 2 on errors.
package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/receipt"
)

const (
	blockSize = 10_000 // inputs
	allBlocks = 100    // number of inputs that are recorded by default
)

// verdicts contains one line per block with the SHA-256 digest of the block's verdicts. The last
// line contains the SHA-256 digest of the preceding lines.
//
//go:embed verdicts.txt
var verdicts string

func main() {
	blocks := flag.Int("blocks", 0, fmt.Sprintf("judge the first `N` blocks of %d inputs; 0: all", blockSize))
	only := flag.Int("print", -1, "print the verdicts of block `N`, from 0, and stop")
	record := flag.Bool("record", false, "write the digests to digest/verdicts.txt")
	root := flag.String("root", "..", "the `folder` of the module")
	flag.Parse()
	if err := run(*root, *blocks, *only, *record); err != nil {
		fmt.Fprintf(os.Stderr, "digest: %v\n", err)
		if errors.Is(err, errDiffers) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

var errDiffers = errors.New("verdicts have changed")

func run(root string, blocks, only int, record bool) error {
	m, err := newMill(filepath.Join(root, "fixtures", "corpus"))
	if err != nil {
		return err
	}
	if only >= 0 {
		m.block(only, os.Stdout)
		return nil
	}
	recorded := strings.Fields(verdicts)
	switch {
	case blocks == 0 && record:
		blocks = allBlocks
	case blocks == 0:
		blocks = len(recorded) - 1
	}

	digests := m.digests(blocks)
	fmt.Printf("%d inputs, %s\n", blocks*blockSize, m.seen.String())
	whole := whole(digests)
	if record {
		text := strings.Join(append(digests, whole), "\n") + "\n"
		return os.WriteFile(filepath.Join("digest", "verdicts.txt"), []byte(text), 0o644)
	}
	if err := compare(digests, recorded); err != nil {
		return err
	}
	fmt.Printf("digest of %d blocks: %s\n", blocks, whole)
	return nil
}

// whole returns the digest of the digests of all blocks.
func whole(digests []string) string {
	sum := sha256.Sum256([]byte(strings.Join(digests, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

// compare returns an error that names the first block that differs.
func compare(digests, recorded []string) error {
	for i, d := range digests {
		if i >= len(recorded)-1 || d != recorded[i] {
			return fmt.Errorf("%w: block %d has %s; compare the output of -print %d with that of the older version", errDiffers, i, d, i)
		}
	}
	if n := len(digests); n == len(recorded)-1 && whole(digests) != recorded[n] {
		return fmt.Errorf("%w: the last line of verdicts.txt is not the digest of its blocks", errDiffers)
	}
	return nil
}

// digests returns the digests of the first n blocks.
func (m *mill) digests(n int) []string {
	list := make([]string, n)
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range list {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			sum := sha256.New()
			m.block(i, sum)
			list[i] = hex.EncodeToString(sum.Sum(nil))
		})
	}
	group.Wait()
	return list
}

// block verifies the inputs in a block and writes one line per verdict.
func (m *mill) block(n int, w io.Writer) {
	var line bytes.Buffer
	for i := n * blockSize; i < (n+1)*blockSize; i++ {
		line.Reset()
		m.judge(m.input(uint64(i)), &line)
		m.seen.add(line.Bytes())
		fmt.Fprintf(w, "%d %s\n", i, line.Bytes())
	}
}

// A tally counts the words in verdicts.
type tally struct {
	sync.Mutex
	words map[string]int
}

func (t *tally) add(line []byte) {
	t.Lock()
	defer t.Unlock()
	for word := range bytes.FieldsSeq(line) {
		if !bytes.ContainsAny(word, "/:0123456789") {
			t.words[string(word)]++
		}
	}
}

// codes returns the words that are codes.
func (t *tally) codes() []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(t.words)), func(word string) bool {
		_, known := receipt.Lookup(receipt.Code(word))
		return !known
	})
}

// String returns the number of verdicts and the number of different codes.
func (t *tally) String() string {
	return fmt.Sprintf("%d verdicts verified, %d refuted, %d undecided; %d inputs refused; %d codes",
		t.words["verified"], t.words["refuted"], t.words["undecided"], t.words["refused"], len(t.codes()))
}
