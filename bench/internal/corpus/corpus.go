package corpus

import (
	"context"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A Corpus is a list of receipts that are generated on demand. It does not change and is safe for
// concurrent use.
type Corpus struct {
	config Config
	ring   *ring
	damage map[int]Damage
}

// New returns the corpus that c describes.
func New(c Config) (*Corpus, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, err
	}
	ring, err := newRing(c.Seed)
	if err != nil {
		return nil, err
	}
	damage := map[int]Damage{}
	for _, d := range c.Damage {
		damage[d.Receipt] = d
	}
	return &Corpus{c, ring, damage}, nil
}

// Keys returns the trust file of the signing keys: a JWK Set in which each key may sign for the
// issuer of the receipts.
func (c *Corpus) Keys() ([]byte, error) { return c.ring.file.Marshal() }

// Unlinked returns receipt n, counted from 1, as a producer might write it: members in the order
// of the format's tables, numbers such as 2.0, and no whitespace. The hashes of the chain and the
// signature are placeholders of the right length.
func (c *Corpus) Unlinked(n int) []byte {
	s := newSource(c.config.Seed, n)
	e := c.envelope(s, n)
	if c.config.Kind == Minimal {
		return s.minimal(e)
	}
	size := c.config.Size
	if size == 0 {
		size = s.size()
	}
	return s.full(e, size)
}

func (c *Corpus) envelope(s source, n int) envelope {
	return envelope{
		stream: (n - 1) % c.config.Streams,
		first:  n <= c.config.Streams,
		issued: s.issued(n),
		key:    c.ring.id(s.IntN(keyCount)),
	}
}

// All yields the receipts in order: the number of each, starting at 1, and its canonical form,
// which the caller may keep. Numbers of receipts that the Damage removed are missing.
func (c *Corpus) All() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		ctx, stop := context.WithCancel(context.Background())
		signed := c.pipeline(ctx)
		defer func() { // even if the caller stops early
			stop()
			for range signed {
			}
		}()
		for batch := range signed {
			for _, r := range batch {
				text, left := c.damage[r.number].apply(r)
				if left && !yield(r.number, text) {
					return
				}
			}
		}
	}
}

// batchSize is the number of receipts that are passed between goroutines at once.
const batchSize = 64

// pipeline generates drafts in parallel, links them in order, and signs them in parallel. When
// ctx ends, it stops early, but must still be read to its end.
func (c *Corpus) pipeline(ctx context.Context) <-chan []*record {
	drafts := ordered(c.numbers(ctx), c.draft)
	linked := make(chan []*record)
	go func() {
		defer close(linked)
		heads := make([]chain.Head, c.config.Streams)
		doc := new(canon.Document)
		for batch := range drafts {
			for _, r := range batch {
				stream := (r.number - 1) % c.config.Streams
				heads[stream] = r.link(doc, heads[stream])
			}
			linked <- batch
		}
	}()
	return ordered(linked, c.sign)
}

// numbers yields the first number of each batch.
func (c *Corpus) numbers(ctx context.Context) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for n := 1; n <= c.config.Receipts; n += batchSize {
			select {
			case out <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (c *Corpus) draft(first int) []*record {
	doc := new(canon.Document)
	var batch []*record
	for n := first; n < first+batchSize && n <= c.config.Receipts; n++ {
		batch = append(batch, newRecord(n, c.Unlinked(n), doc))
	}
	return batch
}

func (c *Corpus) sign(batch []*record) []*record {
	for _, r := range batch {
		r.sign(c.ring)
	}
	return batch
}
