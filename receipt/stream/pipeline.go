package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// These are limits on a batch. A batch is large enough to be passed on at little cost, and small
// enough that the batches in flight use little memory.
const (
	batchBytes = 128 << 10
	batchItems = 64
)

// mostInFlight is the maximum number of bytes of documents in flight. If a document is larger, the
// limit is the total size of the two largest documents.
const mostInFlight = 32 << 20

// An item is either a document, which passes from the reader through a worker to the caller, or the
// end of a source. Items are reused.
type item struct {
	survey.Item
	source   *Source
	from, to int // position of the data in the batch
	tag      any // key from the caller, for an item of a sequence

	end    bool  // the source has ended, so there is no document
	last   bool  // no source follows
	cut    bool  // the sequence of items has ended with err
	err    error // reason why the source ended early, or nil
	docs   int   // number of documents in the source
	listed bool  // the caller has numbered the documents
}

// A batch is a group of documents that a worker processes together. Batches are reused.
type batch struct {
	bytes []byte
	items []item
	count int
	done  chan struct{} // receives a value when the worker has finished
	also  []*batch      // batches that this large batch replaces
}

// A pipeline reads sources in order, passes the documents to workers, and returns them in the same
// order. Its memory use does not grow with the input.
type pipeline struct {
	sources []Source
	items   iter.Seq2[Item, error] // read instead of sources if not nil
	options *Options
	verify  *receipt.Verifier // if nil, only facts are collected
	inside  *receipt.Verifier // used instead of verify for documents before bound
	bound   bound
	meter   func(int)

	free, work, ordered chan *batch
	filling             *batch
	ctx                 context.Context
	stop                <-chan struct{}
	fail                context.CancelCauseFunc
}

// A panicError contains the value of a panic in a goroutine of a pipeline. The caller's code, such as
// a sequence of items, runs in these goroutines.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// catch ends the pipeline if a goroutine of the pipeline panics. It must be deferred.
func (p *pipeline) catch() {
	if value := recover(); value != nil {
		p.fail(&panicError{value})
	}
}

// process calls the function each with every item, in order, until the function returns false. When
// process returns, all workers have ended. If a goroutine of the pipeline panics, process panics
// with the same value, so that the caller can recover from the panic.
func (p *pipeline) process(ctx context.Context, each func(*item) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		if caught, ok := errors.AsType[*panicError](context.Cause(ctx)); ok {
			panic(caught.value)
		}
	}()
	defer cancel(nil)
	jobs := p.options.jobs()
	inFlight := 2*jobs + 2
	p.ctx, p.stop, p.fail = ctx, ctx.Done(), cancel
	p.free, p.work, p.ordered = make(chan *batch, inFlight), make(chan *batch, inFlight), make(chan *batch, inFlight)

	// No further batches are created, so a caller that processes reports slowly also slows down
	// reading.
	for range inFlight {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}

	codec := archive.NewCodec()
	var workers sync.WaitGroup
	for range jobs {
		w := newWorker(codec, p.verify)
		w.Unwrap, w.glean = p.options.Unwrap, p.options.Extract
		workers.Go(func() { p.judge(w) })
	}

	// process does not wait for the reader of sources, which may be blocked in a read from a pipe
	// that cannot be interrupted. That reader does not access shared data after ctx is done. A
	// sequence runs code of the caller, so process waits for it.
	if p.items != nil {
		workers.Go(p.read)
	} else {
		go p.read()
	}
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

			// The batch is returned for reuse, together with the batches that it replaced.
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

// judge runs a worker.
func (p *pipeline) judge(w *worker) {
	defer p.catch()
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

// lookInTurn processes a document after enough memory has become available. It releases the memory
// that a large document has used.
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

	// The index of a large document is not kept for the next document.
	w.Doc, w.JSON = new(canon.Document), nil
	return nil
}

func (p *pipeline) look(w *worker, it *item) {
	source := it.source
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

// read splits the sources into documents and groups these in batches.
func (p *pipeline) read() {
	defer close(p.ordered)
	defer close(p.work)
	defer p.catch()
	if p.items != nil {
		if readItems(p) == nil {
			_ = p.flush() // an error means that the items are no longer received
		}
		return
	}

	buffer := input.NewBuffer(sizeOfOnly(p.sources))
	for i := range p.sources {
		docs, err := p.readSource(i, buffer)
		if errors.Is(err, errStopped) {
			return
		}
		end := item{Item: survey.Item{Source: i}, source: &p.sources[i], end: true, last: i == len(p.sources)-1, err: err, docs: docs}
		if p.add(end, nil) != nil {
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
		if err := p.add(item{Item: survey.Item{Source: i, Number: docs, Piece: d}, source: &p.sources[i]}, d.Data); err != nil {
			return docs, err
		}

		// It may take a long time for the next document to arrive. Documents that have already
		// arrived must not wait for it.
		if !in.Ready() {
			if err := p.flush(); err != nil {
				return docs, err
			}
		}
	}
}

// add adds a document to the current batch.
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
	if b.count == len(b.items) { // small inputs have only a few items
		b.items = append(b.items, make([]item, max(4, b.count))...)
	}
	slot := &b.items[b.count]
	it.Report, it.Facts.Key = slot.Report, slot.Facts.Key // reuse their memory

	// The cutter reuses its memory, so the bytes are copied unless they are large and are kept.
	if large := len(data) >= batchBytes; !large || !it.Kept {
		it.from = len(b.bytes)
		b.bytes = append(b.bytes, data...)
		it.to = len(b.bytes)
		it.Data = nil
	}
	*slot = it

	// A large document replaces several batches, so that the total memory is limited.
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

	// Results are in input order, regardless of which worker finishes first.
	for _, c := range []chan *batch{p.ordered, p.work} {
		select {
		case c <- b:
		case <-p.stop:
			return errStopped
		}
	}
	return nil
}

// reset empties the batch.
func (b *batch) reset() {
	b.count = 0
	b.bytes = b.bytes[:0]
}

// trim releases the memory that a large document has left in the batch. Large documents are rare.
func (b *batch) trim() {
	for i := range b.items[:b.count] {
		it := &b.items[i]
		it.Data, it.tag = nil, nil
		if cap(it.Facts.Key) > nameBytes {
			it.Facts.Key = nil
		}
	}
	if cap(b.bytes) > 4*batchBytes {
		b.bytes = nil
	}
}
