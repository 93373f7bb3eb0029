package stream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// Sizes of a batch: enough work that handing it over costs nothing, and so
// little that batches in flight need little memory.
const (
	batchBytes = 128 << 10
	batchItems = 64
)

// mostInFlight is how many bytes of documents are in flight at the same time, unless
// one document is larger: then those of the largest two.
const mostInFlight = 32 << 20

// An item is one document on its way from the reader over a worker to whoever
// asked, or the end of a source. Items are reused.
type item struct {
	survey.Item
	from, to int // of its data in its batch

	end  bool  // no document: the source has ended
	err  error // why it ended before its end; nil otherwise
	docs int   // how many documents it held
}

// A batch is some documents on their way to a worker. Batches are reused.
type batch struct {
	bytes []byte
	items []item
	count int
	done  chan struct{} // receives once the worker is through
	also  []*batch      // which this one stands for, being as large as several
}

// A pipeline reads sources in order, lets workers look at the documents, and
// hands them out in order. Nothing in it grows with the input.
type pipeline struct {
	sources []Source
	options *Options
	verify  *receipt.Verifier // nil: only facts are gathered
	inside  *receipt.Verifier // instead of verify, for the documents before bound
	bound   bound
	meter   func(int)

	free, work, ordered chan *batch
	filling             *batch
	ctx                 context.Context
	stop                <-chan struct{}
	fail                context.CancelCauseFunc
}

// process calls each with every item in order until it returns false. It returns
// when no goroutine of it judges any more.
func (p *pipeline) process(ctx context.Context, each func(*item) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := p.options.jobs()
	inFlight := 2*jobs + 2
	p.ctx, p.stop, p.fail = ctx, ctx.Done(), cancel
	p.free, p.work, p.ordered = make(chan *batch, inFlight), make(chan *batch, inFlight), make(chan *batch, inFlight)

	// No other batch is ever made: whoever takes reports slowly slows the reading.
	for range inFlight {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}

	codec := archive.NewCodec()
	var workers sync.WaitGroup
	for range jobs {
		w := newWorker(codec, p.verify)
		w.Unwrap, w.glean = p.options.Unwrap, p.options.Glean
		workers.Go(func() { p.judge(w) })
	}

	// The reader is not waited for: it may hang in a read of a pipe, which
	// nobody can interrupt. It touches nothing once ctx is done.
	go p.read()
	defer workers.Wait()
	defer cancel(nil)
	for {
		select {
		case b, more := <-p.ordered:
			if !more {
				return context.Cause(ctx)
			}
			select {
			case <-b.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}

			for i := range b.items[:b.count] {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if !each(&b.items[i]) {
					return nil
				}
			}

			// The batch is free again, and so are those that it stood for.
			b.trim()
			for _, other := range b.also {
				p.free <- other
			}
			b.also = b.also[:0]
			p.free <- b
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// judge is one worker.
func (p *pipeline) judge(w *worker) {
	for {
		select {
		case b, more := <-p.work:
			if !more {
				return
			}
			for i := range b.items[:b.count] {
				if it := &b.items[i]; !it.end {
					if it.Data == nil {
						it.Data = b.bytes[it.from:it.to]
					}
					if err := p.lookInTurn(w, it); err != nil {
						p.fail(err)
						return
					}
				}
			}
			b.done <- struct{}{}
		case <-p.stop:
			return
		}
	}
}

// lookInTurn looks at a document when there is memory for it. A large one leaves none
// of it behind.
func (p *pipeline) lookInTurn(w *worker, it *item) error {
	turn := p.options.Bounds.Turn
	kind, weight := JSON, int64(0)
	if it.CBOR {
		kind = CBOR
	}
	if turn != nil {
		weight = Weight(it.Data, kind)
	}
	if weight == 0 {
		p.look(w, it)
		return nil
	}

	done, err := turn(p.ctx, weight)
	if err != nil {
		return err
	}
	defer done()

	p.look(w, it)

	// The index of a large document is not kept for the next one.
	w.Doc, w.JSON = new(canon.Document), nil
	return nil
}

func (p *pipeline) look(w *worker, it *item) {
	source := &p.sources[it.Source]
	if p.verify == nil {
		w.survey(&it.Item, source.Found)
		return
	}

	it.Verifier = p.verify
	if p.bound.holds(&it.Item) {
		it.Verifier = p.inside
	}
	w.v = it.Verifier
	it.Report.Source, it.Report.Index, it.Report.Listed = source.Name, it.Index, !it.Single
	w.verify(&it.Item, source.Found)
}

// read cuts the sources into batches.
func (p *pipeline) read() {
	defer close(p.ordered)
	defer close(p.work)
	buffer := input.NewBuffer(sizeOfOnly(p.sources))
	for i := range p.sources {
		docs, err := p.readSource(i, buffer)
		if errors.Is(err, errStopped) {
			return
		}
		if p.add(item{Item: survey.Item{Source: i}, end: true, err: err, docs: docs}, nil) != nil {
			return
		}
	}
	p.flush()
}

var errStopped = errors.New("stopped")

func (p *pipeline) readSource(i int, buffer *bufio.Reader) (docs int, err error) {
	in, err := p.sources[i].cut(buffer, p.options.compression(), p.options.Unwrap != nil, p.meter)
	if err != nil {
		return 0, err
	}
	defer in.Close()

	for {
		d, err := in.Next()
		if err == io.EOF {
			return docs, nil
		}
		if err != nil {
			return docs, err
		}

		docs++
		if err := p.add(item{Item: survey.Item{Source: i, Number: docs, Piece: d}}, d.Data); err != nil {
			return docs, err
		}

		// The next one may take long to come: those that are here need not wait.
		if !in.Ready() {
			if err := p.flush(); err != nil {
				return docs, err
			}
		}
	}
}

// add appends a document to the batch.
func (p *pipeline) add(it item, data []byte) error {
	if p.filling == nil {
		select {
		case p.filling = <-p.free:
			p.filling.reset()
		case <-p.stop:
			return errStopped
		}
	}

	b := p.filling
	if b.count == len(b.items) { // a small input needs few
		b.items = append(b.items, make([]item, max(4, b.count))...)
	}
	slot := &b.items[b.count]
	it.Report, it.Facts.Key = slot.Report, slot.Facts.Key // their memory

	// A cutter uses its memory again: the bytes are copied, unless they are kept and many.
	if large := len(data) >= batchBytes; !large || !it.Kept {
		it.from = len(b.bytes)
		b.bytes = append(b.bytes, data...)
		it.to = len(b.bytes)
		it.Data = nil
	}
	*slot = it

	// A large document takes the place of several batches, so that memory is bounded.
	for n := len(data) * cap(p.free) / mostInFlight; n > 0 && len(b.also) < cap(p.free)-1; n-- {
		select {
		case other := <-p.free:
			b.also = append(b.also, other)
		case <-p.stop:
			return errStopped
		}
	}

	if b.count++; b.count == batchItems || len(b.bytes) >= batchBytes || len(data) >= batchBytes {
		return p.flush()
	}
	return nil
}

func (p *pipeline) flush() error {
	b := p.filling
	if b == nil {
		return nil
	}
	p.filling = nil

	// What is handed out follows the order of the input, whoever is through first.
	for _, c := range []chan *batch{p.ordered, p.work} {
		select {
		case c <- b:
		case <-p.stop:
			return errStopped
		}
	}
	return nil
}

// reset empties a batch.
func (b *batch) reset() {
	b.count = 0
	b.bytes = b.bytes[:0]
}

// trim takes from a batch that is done with what a rare large document left in it.
func (b *batch) trim() {
	for i := range b.items[:b.count] {
		it := &b.items[i]
		it.Data = nil
		if cap(it.Facts.Key) > nameBytes {
			it.Facts.Key = nil
		}
	}
	if cap(b.bytes) > 4*batchBytes {
		b.bytes = nil
	}
}
