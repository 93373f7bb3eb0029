package stream_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// FuzzInput verifies that no input causes a panic or an endless run, that a verified input contains
// only verified receipts, and that the number of workers does not affect the result.
func FuzzInput(f *testing.F) {
	l := newWriter(f, "a").many(3)
	for kind := range uint8(5) {
		f.Add([]byte(""), kind)
	}
	for _, in := range [][]byte{
		l[0], jsonl(l...), pretty(f, l[1]), text("[", join(",", l...), "]"), text(`{"object":"list","data":[`, l[0], "]}"),
		text(`{"wire":{"payload":`, l[0], "}}"), cborOf(f, l...), gzipped(f, jsonl(l...)), zstded(f, jsonl(l...)),
		[]byte("[1,2"), []byte("{}\n{}"), []byte("\xef\xbb\xbf{}"), {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, jsonl(l[0], altered(l[1]), l[2], l[0]),
	} {
		f.Add(in, uint8(0))
	}
	v := integrity(f)
	f.Fuzz(func(t *testing.T, in []byte, kind uint8) {
		o := stream.Options{Jobs: 1}
		input := func() []stream.Source {
			return []stream.Source{from("input", stream.Kind(kind%5), bytes.NewReader(in))}
		}
		run := stream.VerifyFiles(t.Context(), v, input(), o)
		all, n := true, 0
		for rep := range run.Reports() {
			n++
			all = all && rep.Verdict == receipt.Verified
		}
		s, err := run.Summary()
		if s.Verdict() == receipt.Verified && (!all || n == 0 || err != nil || !s.Complete) {
			t.Errorf("verified: %d reports, all verified %v, %v", n, all, err)
		}
		if s.Complete != (err == nil) || s.Receipts+s.Copies != n || s.Verified+s.Refuted+s.Undecided != s.Receipts {
			t.Errorf("%d reports, %v: %+v", n, err, s)
		}
		one := transcript(t, stream.VerifyFiles(t.Context(), v, input(), o))
		o.Jobs = 3
		if three := transcript(t, stream.VerifyFiles(t.Context(), v, input(), o)); one != three {
			t.Errorf("one worker reports\n%s\nthree workers report\n%s", one, three)
		}
		half := len(in) / 2
		several := stream.VerifyFiles(t.Context(), v, sources(in[half:], in, in[:half]), stream.Options{Jobs: 2})
		if s, err := several.Summary(); errors.Is(err, stream.ErrChanged) || s.Verdict() == receipt.Verified && err != nil {
			t.Errorf("several: %v %v", s.Verdict(), err)
		}
	})
}

// FuzzMutatedChain verifies that a chain with a changed byte is not verified, unless the change
// preserves all content and all links.
func FuzzMutatedChain(f *testing.F) {
	l := newWriter(f, "a").many(5)
	whole := jsonl(l...)
	f.Add(uint(0), byte(1), false)
	f.Add(uint(len(whole)-1), byte('\n'^' '), true)
	f.Add(uint(len(l[0])+10), byte(0x20), true)
	for at := uint(7); at < uint(len(whole)); at += 401 {
		f.Add(at, byte(1<<(at%8)), at%2 == 0)
	}
	var hashes []string
	for _, doc := range l {
		sealed, err := receipt.ParseSealed(doc)
		if err != nil {
			f.Fatal(err)
		}
		hashes = append(hashes, sealed.Hash().String())
	}
	f.Fuzz(func(t *testing.T, at uint, change byte, files bool) {
		if change == 0 {
			return
		}
		in := bytes.Clone(whole)
		in[at%uint(len(in))] ^= change
		run := stream.Verify(t.Context(), integrity(t), bytes.NewReader(in), stream.Options{})
		if files {
			cut := len(l[0]) + len(l[1]) + 2
			run = stream.VerifyFiles(t.Context(), integrity(t), sources(in[cut:], in[:cut]), stream.Options{})
		}
		same := map[string]bool{}
		for rep := range run.Reports() {
			same[rep.ReceiptHash.String()] = rep.Verdict == receipt.Verified
		}
		s, _ := run.Summary()
		for _, h := range hashes {
			if s.Verdict() == receipt.Verified && !same[h] {
				t.Errorf("verified, but the receipt %s is gone", h)
			}
		}
	})
}
