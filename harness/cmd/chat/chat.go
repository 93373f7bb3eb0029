package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A chat runs the turns of conversations.
type chat struct {
	graph  []node
	store  store
	issuer *ledger.Issuer

	turns     turns
	listeners listeners

	mu     sync.Mutex
	paused map[string]*invocation // suspended turns, indexed by the signals for which they wait
}

func newChat(graph []node, s store, issuer *ledger.Issuer) *chat {
	return &chat{graph: graph, store: s, issuer: issuer, paused: map[string]*invocation{}}
}

// An outcome is the result of a turn: completed, errored, or suspended.
type outcome struct {
	kind     string
	path     string    // 3.1 for a new session, 3.2 for a session with a history, or 3.3 if a signal has arrived
	messages []message // since the last suspension: the replies or, for a suspended turn, the pending messages
	reply    message   // the reply to the sender if the turn errored
	failure  record.Failure

	invocation, signal string
	metadata           json.RawMessage
	receipt            *receipt.Sealed // nil while the turn is suspended
}

// An invocation is one turn, from its message to its end.
type invocation struct {
	id, session string
	next        int // node
	inbound     int
	values      map[string]any
	decision    string // decision from the last signal
	suspended   bool
	log         []byte // the events so far, from which another process could continue the turn
	turn        *record.Turn
}

func (i *invocation) options() record.Options {
	return record.Options{
		Issuer: receipt.Issuer{ID: "harness_example_cloud"}, TaskID: i.id, SessionID: i.session, WorkspaceRef: "garden", Tier: "act_with_approval",
		Keep: func(line []byte) error { i.log = append(i.log, line...); return nil },
	}
}

// back truncates the event log to the given length in bytes, because later events were rejected.
// The turn can then be recorded without them.
func (i *invocation) back(bytesOfLog int) (err error) {
	i.log = slices.Clone(i.log[:bytesOfLog])
	i.turn, err = record.ResumeTurn(i.options(), bytes.NewReader(slices.Clone(i.log)))
	return err
}

// send runs one turn and returns its outcome. An error means that no receipt exists, because either
// the send does not name a session or the receipt could not be issued. The outcome states how the
// turn ended.
func (c *chat) send(ctx context.Context, session string, m message) (outcome, error) {
	if session == "" {
		return unresolved(errors.New("expected the id of a session"))
	}
	i, m := &invocation{id: "inv_" + rand.Text(), session: session}, slices.Clone(m)
	var err error
	if i.turn, err = record.NewTurn(i.options()); err != nil {
		return outcome{}, err
	}
	if err := i.turn.Send(time.Now(), m); err != nil {
		return unresolved(err) // no work is done unless a receipt can record it
	}
	if err := acceptable(m); err != nil {
		return c.fail(ctx, i, "", err) // nothing was done except checking the message
	}

	leave, err := c.turns.enter(ctx, session)
	if err != nil {
		return c.fail(ctx, i, "", &failure{category: "", transient: true, err: err})
	}
	defer leave()
	history, err := c.store.load(ctx, session)
	path := "3.1"
	if len(history) > 0 {
		path = "3.2"
	}
	if err != nil {
		return c.fail(ctx, i, path, err)
	}
	i.inbound = len(history)
	return c.invoke(ctx, i, path, append(slices.Clip(history), m))
}

// unresolved returns the result of a send that does not specify a valid session.
func unresolved(err error) (outcome, error) {
	err = &failure{category: "harness_session_id_unresolved", err: err}
	why, reply := failed(err)
	return outcome{kind: "errored", failure: why, reply: reply}, err
}

// acceptable validates a user's message.
func acceptable(m message) error {
	err := record.CheckMessage(m)
	var of struct{ Role string }
	if err == nil && json.Unmarshal(m, &of) == nil && of.Role != "user" {
		err = errors.New("expected a message of the role user")
	}
	if err != nil {
		return &failure{category: record.ShapeInvalid, err: err}
	}
	return nil
}

// subscribe registers a function that is called once with the outcome of each resumed turn of a
// session.
func (c *chat) subscribe(session string, tell func(outcome)) (remove func()) {
	return c.listeners.add(session, tell)
}

// signal resumes the turn that waits for a signal, and passes the outcome to the listener of the
// session. Only the first signal with a given ID has an effect.
func (c *chat) signal(ctx context.Context, id, actor string, payload []byte) error {
	c.mu.Lock()
	i := c.paused[id]
	delete(c.paused, id)
	c.mu.Unlock()
	if i == nil {
		return uncorrelated()
	}
	ctx = context.WithoutCancel(ctx) // the signal has arrived and cannot be sent again, so it must be processed even if the caller cancels
	leave, err := c.turns.enter(ctx, i.session)
	if err != nil {
		return err
	}
	defer c.listeners.tell(i.session) // called last, because listeners may send messages
	defer leave()
	if !i.suspended { // the turn failed while it was suspended
		return uncorrelated()
	}

	o, err := c.resume(ctx, i, record.Signal{ID: id, Actor: actor, Payload: slices.Clone(payload)})
	if o.kind != "" {
		c.listeners.put(i.session, o)
	}
	return err
}

func uncorrelated() error {
	return &failure{category: "harness_signal_correlation_failed", err: errors.New("no turn waits for this signal")}
}

func (c *chat) resume(ctx context.Context, i *invocation, s record.Signal) (_ outcome, err error) {
	i.suspended = false
	if i.turn, err = record.ResumeTurn(i.options(), bytes.NewReader(slices.Clone(i.log))); err != nil {
		return outcome{}, err
	}
	i.turn.Signal(time.Now(), s)

	// The values from the signal replace existing values with the same names.
	values, err := valuesOf(s.Payload)
	if err != nil {
		return c.fail(ctx, i, "3.3", &failure{category: "suspension_resume_payload_invalid", err: err})
	}
	if i.values == nil {
		i.values = map[string]any{}
	}
	maps.Copy(i.values, values)
	i.decision = s.Decision()

	// Other turns may have run while the turn was suspended.
	history, err := c.store.load(ctx, i.session)
	if err == nil && len(history) <= i.inbound {
		err = &failure{category: "session_load_failed", err: errors.New("the session was forgotten")}
	}
	if err != nil {
		return c.fail(ctx, i, "3.3", err)
	}
	return c.invoke(ctx, i, "3.3", history)
}

// valuesOf parses the payload of a signal as strictly as its decision is parsed, so that nodes see
// the same values as the receipt.
func valuesOf(payload []byte) (values map[string]any, err error) {
	doc := new(canon.Document)
	if err := doc.Parse(payload, canon.Limits{}); err != nil || doc.Root().Kind() != canon.KindObject {
		return nil, errors.New("expected an object as payload of the signal")
	}
	return values, json.Unmarshal(payload, &values)
}

// invoke runs the remaining nodes of a turn. No other code loads or saves the history while it
// runs.
func (c *chat) invoke(ctx context.Context, i *invocation, path string, history []message) (outcome, error) {
	i.turn.Begin(time.Now())
	s, base := &state{messages: history, inbound: i.inbound, values: i.values, decision: i.decision}, len(history)
	for i.next < len(c.graph) {
		added, err := c.graph[i.next](ctx, s)
		i.next++
		for _, m := range added {
			if m = slices.Clone(m); !i.added(m) {
				return c.fail(ctx, i, path, &failure{category: "provider_invalid_response", err: errors.New("its answer is not a message")})
			}
			s.messages = append(s.messages, m)
		}
		if wait, suspended := errors.AsType[*suspension](err); suspended {
			return c.suspend(ctx, i, path, wait, s.messages, base)
		}
		if err != nil {
			return c.fail(ctx, i, path, err)
		}
	}

	if err := c.store.save(context.WithoutCancel(ctx), i.session, s.messages); err != nil { // completed work is saved even if the caller has disconnected
		return c.fail(ctx, i, path, &failure{category: "session_save_failed", err: err})
	}
	i.turn.Complete(time.Now())
	sealed, err := c.issue(ctx, i)
	return outcome{kind: "completed", path: path, messages: s.messages[base:], invocation: i.id, receipt: sealed}, err
}

// added records a message that was added by a node. It reports whether a receipt can represent the
// message.
func (i *invocation) added(m message) bool {
	before := len(i.log)
	return record.CheckMessage(m) == nil && (i.turn.Message(time.Now(), m) == nil || i.back(before) != nil)
}

// suspend stores a turn until its signal arrives, but does not wait for the signal.
func (c *chat) suspend(ctx context.Context, i *invocation, path string, wait *suspension, messages []message, base int) (outcome, error) {
	refused := func(category string, err error) (outcome, error) {
		c.forget(wait.signal, i)
		return c.fail(ctx, i, path, &failure{category: category, err: err})
	}

	// If two turns waited for the same signal, it would be unclear which turn the signal belongs
	// to.
	if !c.expect(wait.signal, i) {
		return refused("harness_signal_subscription_failed", errors.New("another turn waits for the same signal"))
	}
	before := len(i.log)
	if i.turn.Suspend(time.Now(), wait.signal, wait.metadata) != nil {
		if err := i.back(before); err != nil {
			return outcome{}, err
		}
		return refused("harness_signal_subscription_failed", errors.New("nobody could give the signal for which it waits"))
	}
	if err := c.store.save(context.WithoutCancel(ctx), i.session, messages); err != nil {
		if lost := i.back(before); lost != nil { // nobody was asked
			return outcome{}, lost
		}
		return refused("suspension_persistence_failed", err)
	}

	// A signal that arrives immediately waits until this turn has left the session.
	i.suspended = true
	return outcome{kind: "suspended", path: path, messages: messages[base:], invocation: i.id, signal: wait.signal, metadata: wait.metadata}, nil
}

// expect registers the turn that a signal will resume, unless another turn is already registered
// for the signal.
func (c *chat) expect(signal string, i *invocation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused[signal] != nil {
		return false
	}
	c.paused[signal] = i
	return true
}

// forget undoes expect.
func (c *chat) forget(signal string, i *invocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused[signal] == i {
		delete(c.paused, signal)
	}
}

// fail ends a turn with a failure. The messages of the turn are not saved, so a retry does not save
// them twice.
func (c *chat) fail(ctx context.Context, i *invocation, path string, err error) (outcome, error) {
	why, reply := failed(err)
	i.turn.Message(time.Now(), reply)
	i.turn.Fail(time.Now(), why)
	sealed, err := c.issue(ctx, i)
	return outcome{kind: "errored", path: path, failure: why, reply: reply, invocation: i.id, receipt: sealed}, err
}

// issue issues the receipt for a turn that has ended, even if the caller has disconnected.
func (c *chat) issue(ctx context.Context, i *invocation) (*receipt.Sealed, error) {
	draft, err := i.turn.Draft()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return c.issuer.IssueUntilKnown(ctx, draft)
}
