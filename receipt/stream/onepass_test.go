package stream_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A cast contains the receipts from which cases are assembled: complete streams, forks, second
// first receipts, receipts with the IDs of other receipts, and receipts with all kinds of damage.
type cast struct {
	streams [][][]byte // each complete
	odd     [][]byte   // receipts whose relation to the streams has a fault
}

func newCast(t *testing.T) *cast {
	t.Helper()
	c := &cast{}
	head := func(doc []byte) chain.Head {
		s, err := receipt.ParseSealed(doc)
		if err != nil {
			t.Fatal(err)
		}
		return s.Head()
	}
	for _, issuer := range []string{"a", "b", "c"} {
		c.streams = append(c.streams, newWriter(t, issuer).many(7))
	}
	for i, list := range c.streams {
		other := newWriter(t, string(rune('a'+i)))
		other.n = 100
		at := func(h chain.Head) []byte { return other.seal(h) }
		c.odd = append(c.odd,
			at(head(list[1])), other.next(), // a fork and its successor
			at(head(list[6])), at(head(list[6])), // two successors of the last receipt in the complete stream
			at(chain.Head{}), other.next(), // a second beginning
			at(chain.Head{Hash: canon.Sum([]byte("elsewhere")), Count: 3}), other.next(), // successors of a receipt that does not exist
			at(head(c.streams[(i+1)%3][2])), other.next(), // successors of a receipt in another stream
			altered(list[3]), altered(list[0]), altered(list[6]))
		twice := newWriter(t, string(rune('a'+i)))
		twice.n = 2
		c.odd = append(c.odd, twice.seal(head(list[4])), twice.seal(head(list[6]))) // these IDs are already used
		hash := func(k int) []byte { return []byte(head(list[k]).Hash.String()) }
		c.odd = append(c.odd, bytes.Replace(list[1], hash(0), hash(5), 1), // a circle
			bytes.Replace(list[2], hash(2), hash(5), 1), // states the hash of another receipt
			bytes.Replace(list[0], []byte(`"previous_receipt_hash":null`), []byte(`"previous_receipt_hash":"sha256:`+strings.Repeat("0", 64)+`"`), 1))
	}
	c.odd = append(c.odd, []byte(`{"schema":"receipt-2027-01-01"}`))
	return c
}

// A knows value is a Trust that accepts one key without checking its signatures.
type knows string

func (k knows) Len() int { return 1 }
func (k knows) CheckSignature(_ []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	if string(e.KeyID) != string(k) {
		return nil, &receipt.SignatureError{Code: receipt.CodeUnknownKey}
	}
	return &receipt.Key{ID: string(k), Algorithm: "ed25519", Issuers: []string{"a", "b", "c"}}, nil
}

// A signs value is a signer that adds its key ID as a signature.
type signs string

func (s signs) Sign(context.Context, []byte) (receipt.Signature, error) {
	return receipt.Signature{KeyID: string(s), Algorithm: "ed25519", Signature: "base64:" + base64.StdEncoding.EncodeToString(make([]byte, 64)),
		SignedAt: receipt.At(time.Date(2026, 4, 26, 0, 0, 0, 0, time.UTC))}, nil
}

// sign signs most receipts with the trusted key, some receipts with another key, and some not at
// all.
func (c *cast) sign(t *testing.T) {
	t.Helper()
	by := func(key signs, doc []byte) []byte {
		s, err := receipt.ParseSealed(doc)
		if err != nil {
			return doc // the document does not match its hash
		}
		if s, err = s.Sign(context.Background(), key); err != nil {
			t.Fatal(err)
		}
		return s.JSON()
	}
	for _, list := range c.streams {
		c.odd = append(c.odd, list[3], by("other", list[4])) // copies with other signatures
		for k := range list {
			list[k] = by("known", list[k])
		}
	}
	for k := range c.odd[:len(c.odd)/2] {
		c.odd[k] = by("known", c.odd[k])
	}
}

// draw returns a random list of receipts. It contains pieces of the streams and some odd receipts,
// mostly in order.
func (c *cast) draw(r *rand.Rand) (list [][]byte) {
	for _, s := range c.streams[:1+r.IntN(3)] {
		from := 0
		if r.IntN(4) == 0 {
			from = r.IntN(len(s))
		}
		s = s[from : from+1+r.IntN(len(s)-from)]
		for k, doc := range s {
			if r.IntN(40) == 0 {
				continue // a gap
			}
			list = append(list, doc)
			if r.IntN(60) == 0 {
				list = append(list, s[r.IntN(k+1)]) // a copy
			}
		}
	}
	for r.IntN(3) == 0 {
		list = slices.Insert(list, r.IntN(len(list)+1), c.odd[r.IntN(len(c.odd))])
	}
	if r.IntN(3) == 0 { // interleaved
		r.Shuffle(len(list), func(i, j int) {
			if r.IntN(3) == 0 {
				list[i], list[j] = list[j], list[i]
			}
		})
	}
	return list
}

// A piece is one part of a case. It consists of sources, which may be selections.
type piece struct {
	sources []stream.Source
	partial bool
}

func (p *piece) verify(t *testing.T, v *receipt.Verifier) *stream.Summary {
	t.Helper()
	s, err := stream.VerifyFiles(context.Background(), v, p.sources, stream.Options{Partial: p.partial, Jobs: 1}).Summary()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cut divides a list into parts, which consist of consecutive or random receipts. Each source
// contains one or more receipts, and some receipts are in two parts.
func cut(r *rand.Rand, list [][]byte) (parts []piece) {
	n := 1 + r.IntN(min(4, len(list)))
	dealt := make([][][]byte, n)
	runs := r.IntN(2) == 0
	for i, doc := range list {
		at := i * n / len(list)
		if !runs {
			at = r.IntN(n)
		}
		dealt[at] = append(dealt[at], doc)
	}
	some := r.IntN(3)
	for i, docs := range dealt {
		if len(docs) == 0 {
			continue
		}
		p := piece{partial: some == 1 || some == 2 && r.IntN(2) == 0}
		name := fmt.Sprint("p", i)
		if len(docs) > 1 && r.IntN(3) == 0 {
			k := 1 + r.IntN(len(docs)-1)
			p.sources = append(p.sources, held(name+"-1", docs[:k]), held(name+"-2", docs[k:]))
		} else {
			p.sources = append(p.sources, held(name, docs))
		}
		parts = append(parts, p)
		if r.IntN(12) == 0 {
			parts = append(parts, p)
		}
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return parts
}

func held(name string, docs [][]byte) stream.Source {
	text := jsonl(docs...)
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

// fold merges summaries pairwise in a random order. Some summaries are written and read again in
// between.
func fold(t *testing.T, r *rand.Rand, sums []*stream.Summary) *stream.Summary {
	t.Helper()
	sums = slices.Clone(sums)
	for len(sums) > 1 {
		i, j := r.IntN(len(sums)), r.IntN(len(sums)-1)
		if j >= i {
			j++
		}
		m, err := sums[i].Merge(sums[j])
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(4) == 0 {
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if m = new(stream.Summary); json.Unmarshal(text, m) != nil {
				t.Fatalf("%s is not read: %v", text, json.Unmarshal(text, m))
			}
		}
		sums[i] = m
		sums = slices.Delete(sums, j, j+1)
	}
	return sums[0]
}

// gist returns the content of a merged summary without the order of its inputs.
func gist(s *stream.Summary) string {
	text := fmt.Sprint(s.Verdict(), s.Receipts, s.Verified, s.Refuted, s.Undecided, s.Copies, s.Codes, s.Streams, s.NotChecked)
	for _, f := range s.Findings {
		text += fmt.Sprint(" ", f.Code, f.Stated, f.Detail)
	}
	return text
}

// TestOnePass verifies that the merged verdict is either undecided or equal to the verdict of a
// single run over all receipts, regardless of the faults and of how the receipts are divided into
// parts. The result must not depend on the order of merging.
func TestOnePass(t *testing.T) {
	cases := testsize.Of(120, 2_000, 10_000)
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	known, err := receipt.NewVerifier(knows("known"), receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	plain, signed := newCast(t), newCast(t)
	signed.sign(t)
	r := rand.New(rand.NewPCG(12, 1))
	seen := map[string]int{}
	for n := range cases {
		c, v := plain, integrity(t)
		if n%2 == 1 {
			c, v = signed, known
		}
		list := c.draw(r)
		if len(list) == 0 {
			continue
		}
		parts := cut(r, list)
		var sums []*stream.Summary
		var all piece
		partial := 0
		for i := range parts {
			sums = append(sums, parts[i].verify(t, v))
			all.sources = append(all.sources, parts[i].sources...)
			if parts[i].partial {
				partial++
			}
		}
		got := fold(t, r, sums)
		if again := fold(t, r, sums); gist(again) != gist(got) {
			t.Fatalf("case %d: another order gives another result:\n%s\n%s", n, gist(got), gist(again))
		}
		verdict := got.Verdict()
		if verdict == receipt.Undecided {
			seen["undecided"]++
			continue
		}
		// The only effect of a selection is to excuse absent receipts. Therefore, a verified result
		// is compared with a run in which all sources are selections, and a refuted result is
		// compared with a run without selections.
		all.partial = partial == len(parts) || partial > 0 && verdict == receipt.Verified
		whole := all.verify(t, v).Verdict()
		if seen[verdict.String()]++; verdict != whole {
			t.Fatalf("case %d: %d parts, %d partial: merged %v, one run %v\n%s", n, len(parts), partial, verdict, whole, gist(got))
		}
	}
	for verdict, least := range map[string]int{"verified": cases / 4, "refuted": cases / 4, "undecided": cases / 100} {
		if seen[verdict] < least {
			t.Errorf("%d of %d cases are %s", seen[verdict], cases, verdict)
		}
	}
	t.Log(seen)
}
