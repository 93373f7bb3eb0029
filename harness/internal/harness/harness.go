package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/redact"
)

// RunnerCard is the format of the agent card that the protocol's conformance runner parses.
const RunnerCard = "agent_card"

// Options configures a harness. The first four fields are required.
type Options struct {
	Dir    string         // directory where everything is stored; created if it does not exist
	Issuer string         // of the receipts
	Signer receipt.Signer // of the receipts
	Trust  receipt.Trust  // verifies receipts, so it must contain the signer's key

	Auth     protocol.Authenticator // authenticates clients; if nil, Public must be set
	Public   bool                   // whether to serve all clients without authentication
	Provider Provider               // nil: Scripted
	Module   Module                 // nil: Agent
	Tools    []Tool                 // tools in addition to the built-in ones
	Card     string                 // format of the agent card: RunnerCard (default), or harn_agent_card as in the OpenAPI document
	Page     http.Handler           // handler from package page, served at /; nil for none
	Hosts    []string               // see protocol.Options
	Now      func() time.Time       // nil: time.Now
	Random   io.Reader              // nil: crypto/rand
	Log      *slog.Logger           // nil: no logging
}

func (o *Options) fill() error {
	if o.Dir == "" || o.Issuer == "" || o.Signer == nil || o.Trust == nil {
		return errors.New("harness: expected a directory, an issuer, a signer, and a trust in the options")
	}
	if o.Provider == nil {
		o.Provider = Scripted{}
	}
	if o.Module == nil {
		o.Module = Agent
	}
	if o.Card == "" {
		o.Card = RunnerCard
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// A Harness accepts tasks and runs them. It is safe for concurrent use.
type Harness struct {
	options Options
	began   receipt.Time
	state   state
	memory  *protocol.Memory // responses to requests with an Idempotency-Key
	journal *journal.Journal
	ledger  *sqlite.Ledger
	issuer  *ledger.Issuer
	secrets *redact.Policy
	mux     *protocol.Mux

	writing sync.Mutex // makes reading the state and writing the decision atomic

	life  context.Context // ends at Close
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu      sync.Mutex
	running map[string]*run // by task ID
	halted  map[string]int  // number of cancel requests in progress, by task
	closed  bool
}

// Open opens a harness in the state at the end of the log in its directory. Tasks that were running
// are continued.
func Open(o Options) (*Harness, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	h := &Harness{options: o, memory: new(protocol.Memory), running: map[string]*run{}, halted: map[string]int{}}
	h.began = h.now()
	h.life, h.end = context.WithCancel(context.Background())
	for _, step := range []func() error{h.openTools, h.openLedger, h.openLog, h.compare, h.serve, h.resume} {
		if err := step(); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return h, nil
}

func (h *Harness) openTools() (err error) {
	h.secrets, err = redact.Everyday()
	return err
}

func (h *Harness) openLedger() (err error) {
	path := filepath.Join(h.options.Dir, "ledger.db")
	if h.ledger, err = sqlite.Open(h.life, path); errors.Is(err, fs.ErrNotExist) {
		h.ledger, err = sqlite.Create(h.life, path)
	}
	if err == nil {
		h.issuer = &ledger.Issuer{Store: h.ledger, Signer: h.options.Signer, Secrets: h.secrets}
	}
	return err
}

// openLog opens and reads the log. Each commit updates the state, and its response is remembered as
// it was sent.
func (h *Harness) openLog() (err error) {
	h.journal, err = journal.Open(filepath.Join(h.options.Dir, "events.jsonl"), func(c *journal.Commit) error {
		if err := h.state.apply(c); err != nil {
			return err
		}
		c.Remember(h.memory, h.options.Now(), h.state.answer(c.Resource))
		return nil
	})
	if err == nil {
		h.state.read = h.journal.Part
	}
	return err
}

// resume continues the unfinished work in the log, which consists of running tasks and missing
// receipts.
func (h *Harness) resume() error {
	if len(list(&h.state, &h.state.workspaces)) == 0 {
		of := journal.Pointer{Object: "workspace", ID: h.newID("workspace")}
		told := object{"name": "default", "root": "harn://default"}
		first := journal.Event{Kind: workspaceCreated, Resource: of, Workspace: of.ID, Payload: told.json()}
		if err := h.journal.Append(&journal.Commit{At: h.now(), Events: []journal.Event{first}}); err != nil {
			return err
		}
	}
	for _, t := range list(&h.state, &h.state.tasks) {
		if t.ReceiptID == nil {
			h.begin(t.ID)
		}
	}
	return nil
}

// Handler returns the handler that serves the protocol.
func (h *Harness) Handler() http.Handler { return h.mux }

// Drain ends all streams, so that http.Server.Shutdown does not wait for them. Other requests are
// still processed.
func (h *Harness) Drain() { h.mux.Close() }

// closing is how long Close waits for receipts that are being stored.
const closing = time.Minute

// Close stops tasks, which are continued by the next Open. After Close, requests fail.
func (h *Harness) Close() (err error) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	if h.mux != nil {
		h.Drain()
	}
	h.tasks.Wait()

	// A receipt that the issuer has accepted may still be stored, so the ledger is closed after the
	// issuer.
	if h.issuer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		err = h.issuer.Close(ctx)
	}
	if h.journal != nil {
		err = errors.Join(err, h.journal.Close())
	}
	if h.ledger != nil {
		err = errors.Join(err, h.ledger.Close())
	}
	return err
}

// now returns the current time with the precision of events.
func (h *Harness) now() receipt.Time { return receipt.At(h.options.Now()) }

// newID returns the ID of a new resource, which consists of its kind and 128 random bits.
func (h *Harness) newID(kind string) string {
	var b [16]byte
	if _, err := io.ReadFull(h.options.Random, b[:]); err != nil {
		panic(fmt.Sprintf("harness: no randomness for an id: %v", err))
	}
	return fmt.Sprintf("%s_%x", kind, b)
}

// write responds to a request that changes something. The events that build returns form one commit
// in the log, and the response is the resulting resource. The function build may rely on the state,
// because nothing else is written while it runs. If build returns no events, the log is unchanged.
func (h *Harness) write(w http.ResponseWriter, r *protocol.Request, status int, of journal.Pointer, build func() ([]journal.Event, error)) error {
	return h.writeThen(w, r, status, of, build, nil)
}

// writeThen is like write, but responds with the result of the function then, if it is not nil. The
// function is called when other requests may write again.
func (h *Harness) writeThen(w http.ResponseWriter, r *protocol.Request, status int, of journal.Pointer, build func() ([]journal.Event, error), then func() any) error {
	answer, err := h.commit(r, status, of, build)
	if err != nil {
		return err
	}
	if then != nil {
		answer = then()
	}
	return protocol.WriteJSON(w, status, answer)
}

func (h *Harness) commit(r *protocol.Request, status int, of journal.Pointer, build func() ([]journal.Event, error)) (any, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	events, err := build()
	if err != nil || len(events) == 0 {
		return h.state.resource(of), err
	}

	actor := actorOf(r)
	events = slices.Clone(events)
	for i := range events {
		events[i].Actor = actor
	}
	if events[0].Key, err = h.cleanText(r.Header.Get(protocol.IdempotencyHeader)); err != nil {
		return nil, err
	}
	if err := h.recordable(events); err != nil {
		return nil, notRecordable()
	}
	c := &journal.Commit{At: h.now(), Events: events, Use: r.Use, Status: status, Resource: of}
	if err := h.journal.Append(c); err != nil {
		return nil, err
	}
	return h.state.resource(of), nil
}
