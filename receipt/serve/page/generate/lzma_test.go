package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ulikunitz/xz/lzma"
)

// TestPack: another implementation takes out what was packed, of texts with and without
// repetitions near and far.
func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for i := 1000; i+400 < len(noise); i += 700 { // copies of earlier parts
		copy(noise[i:i+random.IntN(400)], noise[random.IntN(i):])
	}
	few := make([]byte, 50_000)
	for i := range few {
		few[i] = byte(random.IntN(3))
	}

	for _, data := range [][]byte{{0}, []byte("ab"), []byte("abc"), []byte("aaaaaaaaaa"), bytes.Repeat([]byte{7}, 5000), []byte(strings.Repeat("the house that ", 3000)), noise, few, append(bytes.Clone(noise), noise...)} {
		packed := pack(data)
		r, err := lzma.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, packed to %d, come out as %d: %v", len(data), len(packed), len(got), err)
		}
		if !bytes.Equal(pack(data), packed) {
			t.Errorf("%d bytes are packed in two ways", len(data))
		}
	}
	if n := len(pack([]byte(strings.Repeat("the house that ", 3000)))); n > 100 {
		t.Errorf("a text that repeats takes %d bytes", n)
	}
}
