package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

const (
	MaxOpen   = 64       // requests of the other side that are answered at once
	MaxQueued = 64 << 20 // bytes that the other side did not read yet
)

// Options say who a peer is, and what it does.
type Options struct {
	Role frames.Sender    // SenderAgent: the runtime; SenderClient: the host
	Now  func() time.Time // when messages pass

	// Log is required. It gets every message that passes, in order, before it is acted on or sent:
	// [Log.Frame], or Add of a record.Frames. An error ends the connection, so that
	// nothing passes of which no log tells.
	Log func(at time.Time, from frames.Sender, frame []byte) error

	// Request answers a request, beside others. An *[Error] is sent as it is; of any
	// other the other side learns that there was one. Its context ends with the
	// connection. nil: no method is known.
	Request func(ctx context.Context, m *Message) (result any, err error)

	// Notify takes a notification. They come one after the other, and nothing is read
	// meanwhile: it does not wait. nil: they say nothing.
	Notify func(m *Message)
}

// A Peer is one end of a bridge. It is safe for concurrent use.
type Peer struct {
	options Options
	in      lines
	to      io.Writer

	maxQueued int // MaxQueued, but for tests

	mu      sync.Mutex
	counts  Counts
	last    int64                    // id of a request
	waiting map[string]chan *Message // for the answers to our requests, by their ids
	open    map[string]bool          // ids of requests that we did not answer yet
	hungUp  bool                     // nothing is read any more
	broken  error                    // why nothing is sent any more

	broke    chan struct{} // closed when broken is set
	queue    queue
	handlers sync.WaitGroup
}

// Counts are of what is in no log, and of answers that nobody waited for.
type Counts struct {
	Refused   int // lines that are no message, or not one of the other side
	Unmatched int // responses to no open request, such as those that came too late
}

// ErrHungUp says that the other side is gone, so that no answer can come.
var ErrHungUp = errors.New("the other side hung up before it answered")

// ErrStalled says that the other side does not read.
var ErrStalled = fmt.Errorf("the other side did not read %d bytes", MaxQueued)

// NewPeer returns an end of a bridge that reads from one side and writes to the other. A
// program whose standard output this is ignores SIGPIPE, or it ends when its host does,
// without a receipt.
func NewPeer(from io.Reader, to io.Writer, o Options) *Peer {
	return &Peer{
		options: o, in: lines{bufio.NewReaderSize(from, 64<<10), MaxLine + 1}, maxQueued: MaxQueued, to: to,
		waiting: map[string]chan *Message{}, open: map[string]bool{}, broke: make(chan struct{}), queue: queue{wake: make(chan struct{}, 1)},
	}
}

// Run reads messages until the other side hangs up, which is no error, ctx ends, or the
// log or the other side takes no more. It returns when every handler has, and what they
// answered is written. A read that is under way when ctx ends goes on until its reader is
// closed; nothing comes of it.
func (p *Peer) Run(ctx context.Context) error {
	handling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read, written := make(chan error, 1), make(chan struct{})
	go func() { read <- p.read(handling) }()
	go func() { defer close(written); p.write() }()

	var err error
	select {
	case err = <-read:
	case <-p.broke:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}

	// Who waits for an answer learns that none comes, and what is at work ends.
	p.hangUp()
	cancel(ErrHungUp)
	p.handlers.Wait()
	p.queue.end()
	select {
	case <-written:
	case <-p.broke: // nobody reads it
	case <-ctx.Done():
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(err, p.broken)
}

// Counts returns what became of lines and answers so far.
func (p *Peer) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

func (p *Peer) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hungUp = true
	for key, answer := range p.waiting {
		close(answer)
		delete(p.waiting, key)
	}
}

// fail ends the connection. p.mu is held.
func (p *Peer) fail(err error) {
	if p.broken == nil {
		p.broken = err
		close(p.broke)
		p.queue.end()
	}
}

// Call asks the other side, and waits for its answer. The error is an *[Error] that it
// answered with, ErrHungUp, that of ctx, or why nothing was sent.
func (p *Peer) Call(ctx context.Context, method string, params any) (*Message, error) {
	m, err := p.ask(ctx, method, params)
	if err == nil {
		err = m.Err()
	}
	return m, err
}

func (p *Peer) ask(ctx context.Context, method string, params any) (*Message, error) {
	key, answer, err := p.request(method, params)
	if err != nil {
		return nil, err
	}
	select {
	case m, came := <-answer:
		if !came {
			return nil, ErrHungUp
		}
		return m, nil
	case <-ctx.Done():
	}

	// An answer that comes now answers nobody.
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, key)
	return nil, fmt.Errorf("no answer to %s: %w", event.Quote(method), context.Cause(ctx))
}

// request sends a request, and returns its id and where its answer comes.
func (p *Peer) request(method string, params any) (string, <-chan *Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hungUp {
		return "", nil, ErrHungUp
	}
	p.last++
	key := fmt.Sprint(p.last)
	answer := make(chan *Message, 1)
	if err := p.send(sending{ID: json.RawMessage(key), Method: method, Params: params}); err != nil {
		return "", nil, err
	}
	p.waiting[key] = answer
	return key, answer, nil
}

// Notify tells the other side something to which there is no answer.
func (p *Peer) Notify(method string, params any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.send(sending{Method: method, Params: params})
}

// send logs a message, and has it written. It waits for nobody: two sides that both wait
// until the other reads would wait for ever. p.mu is held.
func (p *Peer) send(s sending) error {
	if p.broken != nil {
		return p.broken
	}
	line, err := s.line()
	if err != nil {
		return err
	}
	if p.queue.size()+len(line) > p.maxQueued {
		p.fail(ErrStalled)
		return ErrStalled
	}
	if err := p.options.Log(p.options.Now(), p.options.Role, line[:len(line)-1]); err != nil {
		p.fail(fmt.Errorf("the log: %w", err))
		return p.broken
	}
	p.queue.put(line)
	return nil
}

// write writes what is queued, until nothing more comes.
func (p *Peer) write() {
	for {
		line, more := p.queue.take()
		if !more {
			return
		}
		if _, err := p.to.Write(line); err != nil {
			p.mu.Lock()
			p.fail(err)
			p.mu.Unlock()
			return
		}
		p.queue.written(len(line))
	}
}

// read takes messages until there are no more.
func (p *Peer) read(ctx context.Context) error {
	for {
		line, err := p.in.next()
		switch {
		case errors.Is(err, errLong):
			p.refuse(&Error{CodeParse, fmt.Sprintf("expected a line of at most %d bytes", MaxLine)})
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		m, fault := parse(line)
		if fault != nil {
			p.refuse(fault)
			continue
		}
		if !p.take(ctx, m) {
			return nil
		}
	}
}

// refuse answers a line on which nothing can be done. Its sender is told without an id,
// and a response is never answered, so that no two peers do this for ever.
func (p *Peer) refuse(fault *Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Refused++
	p.send(sending{ID: json.RawMessage("null"), Error: fault}) // a connection that is broken says so elsewhere
}

// take logs a message and has it done. It reports whether another one may come.
func (p *Peer) take(ctx context.Context, m *Message) bool {
	other := frames.SenderAgent
	if p.options.Role == other {
		other = frames.SenderClient
	}
	if !m.by(other) {
		p.refuse(invalid("this is for the other side to say"))
		return true
	}
	if p.isOpen(m) { // nobody could tell whose the answer is
		p.refuse(invalid("expected an id that no open request has"))
		return true
	}

	answer, ok := p.logged(other, m)
	switch {
	case !ok:
		return false
	case answer != nil:
		answer <- m
	case m.Method == "":
	case m.ID.IsZero():
		if p.options.Notify != nil {
			p.options.Notify(m)
		}
	default:
		p.serve(ctx, m)
	}
	return true
}

func (p *Peer) isOpen(m *Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return m.Method != "" && !m.ID.IsZero() && p.open[m.key()]
}

// logged logs a message that came, and returns who waits for it when it is a response.
func (p *Peer) logged(from frames.Sender, m *Message) (answer chan<- *Message, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hungUp || p.broken != nil {
		return nil, false
	}
	if err := p.options.Log(p.options.Now(), from, m.line); err != nil {
		p.fail(fmt.Errorf("the log: %w", err))
		return nil, false
	}
	if m.Method != "" {
		return nil, true
	}
	to, waited := p.waiting[m.key()]
	if !waited {
		p.counts.Unmatched++
		return nil, true
	}
	delete(p.waiting, m.key())
	return to, true
}

// serve answers a request, beside others.
func (p *Peer) serve(ctx context.Context, m *Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := json.RawMessage(m.ID.Raw())
	switch {
	case p.hungUp:
		return
	case p.options.Request == nil:
		p.send(sending{ID: id, Error: &Error{CodeMethodNotFound, "no method is known"}})
		return
	case len(p.open) == MaxOpen:
		p.send(sending{ID: id, Error: &Error{CodeBusy, fmt.Sprintf("%d requests are open", MaxOpen)}})
		return
	}

	p.open[m.key()] = true
	p.handlers.Go(func() {
		result, err := p.options.Request(ctx, m)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, m.key())
		p.answer(id, result, err)
	})
}

// answer sends what a request came to. p.mu is held.
func (p *Peer) answer(id json.RawMessage, result any, err error) {
	s := sending{ID: id}
	if s.Result, s.Error = encoded(result, err); p.send(s) != nil && p.broken == nil {
		p.send(sending{ID: id, Error: &Error{CodeInternal, "the answer cannot be sent"}})
	}
}

// encoded is a result, or why there is none: what an error of ours says may be a secret.
func encoded(result any, err error) (json.RawMessage, *Error) {
	var text json.RawMessage
	if err == nil {
		text, err = json.Marshal(result)
	}
	if fault, is := errors.AsType[*Error](err); is {
		return nil, fault
	}
	if err != nil {
		return nil, &Error{CodeInternal, "the request failed"}
	}
	return text, nil
}
