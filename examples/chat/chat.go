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

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/turn"
)

// A chat runs the turns of conversations.
type chat struct {
	graph  []node
	store  store
	issuer *ledger.Issuer

	turns     turns
	listeners listeners

	mu     sync.Mutex
	paused map[string]*invocation // by the signals that they wait for
}

func newChat(graph []node, s store, issuer *ledger.Issuer) *chat {
	return &chat{graph: graph, store: s, issuer: issuer, paused: map[string]*invocation{}}
}

// An outcome is what a turn came to: completed, errored or suspended.
type outcome struct {
	kind     string
	path     string    // 3.1: a new session, 3.2: one that has a history, 3.3: a signal came
	messages []message // replies, or what is pending: those of this turn, after its last suspension
	reply    message   // of a turn that errored
	failure  turn.Failure

	invocation, signal string
	metadata           json.RawMessage
	receipt            *receipt.Sealed // nil while it is suspended
}

// An invocation is one turn, from its message to its end.
type invocation struct {
	id, session string
	next        int // node
	inbound     int
	values      map[string]any
	log         []byte // the events so far, from which another process could go on
	turn        *record.Turn
}

func (i *invocation) options() record.Options {
	return record.Options{
		Issuer: receipt.Issuer{ID: "harness_example_cloud"}, TaskID: i.id, SessionID: i.session, WorkspaceRef: "garden", Tier: "act_with_approval",
		Keep: func(line []byte) error { i.log = append(i.log, line...); return nil },
	}
}

// send runs one turn. The error says that there is no receipt: of a send that names no
// session, or since none could be issued; how the turn went is in the outcome.
func (c *chat) send(ctx context.Context, session string, m message) (outcome, error) {
	if session == "" {
		err := &failure{category: "harness_session_id_unresolved", err: errors.New("expected the id of a session")}
		why, reply := failed(err)
		return outcome{kind: "errored", failure: why, reply: reply}, err
	}
	i := &invocation{id: "inv_" + rand.Text(), session: session}
	var err error
	if i.turn, err = record.NewTurn(i.options()); err != nil {
		return outcome{}, err
	}
	i.turn.Send(time.Now(), m) // a refusal is final: Draft returns it
	if err := acceptable(m); err != nil {
		return c.fail(ctx, i, "", err) // nothing was looked at but the message
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
	return c.invoke(ctx, i, path, append(history, m))
}

// acceptable says what is wrong with a message that is sent: users send theirs.
func acceptable(m message) error {
	err := turn.Check(m)
	var of struct{ Role string }
	if err == nil && json.Unmarshal(m, &of) == nil && of.Role != turn.RoleUser {
		err = errors.New("expected a message of the role user")
	}
	if err != nil {
		return &failure{category: turn.ShapeInvalid, err: err}
	}
	return nil
}

// subscribe has a function told what resumed turns of a session come to, each once.
func (c *chat) subscribe(session string, tell func(outcome)) (remove func()) {
	return c.listeners.add(session, tell)
}

// signal resumes the turn that waits for a signal, and tells the listener of its session
// what it came to. The first signal of an id is the only one.
func (c *chat) signal(ctx context.Context, id, actor string, payload []byte) error {
	c.mu.Lock()
	i := c.paused[id]
	delete(c.paused, id)
	c.mu.Unlock()
	if i == nil {
		return &failure{category: "harness_signal_correlation_failed", err: errors.New("no turn waits for this signal")}
	}
	ctx = context.WithoutCancel(ctx) // it came, and nobody else can give it

	o, err := c.resume(ctx, i, turn.Signal{ID: id, Actor: actor, Payload: payload})
	if o.kind != "" {
		c.listeners.deliver(i.session, o)
	}
	return err
}

func (c *chat) resume(ctx context.Context, i *invocation, s turn.Signal) (outcome, error) {
	leave, err := c.turns.enter(ctx, i.session)
	if err != nil {
		return outcome{}, err
	}
	defer leave()
	if i.turn, err = record.ResumeTurn(i.options(), bytes.NewReader(slices.Clone(i.log))); err != nil {
		return outcome{}, err
	}
	i.turn.Signal(time.Now(), s)

	// What the signal gives lies over what is there.
	var values map[string]any
	if err := json.Unmarshal(s.Payload, &values); err != nil {
		return c.fail(ctx, i, "3.3", &failure{category: "suspension_resume_payload_invalid", err: errors.New("expected an object as payload of the signal")})
	}
	if i.values == nil {
		i.values = map[string]any{}
	}
	maps.Copy(i.values, values)

	// Other turns may have been since.
	history, err := c.store.load(ctx, i.session)
	if err != nil {
		return c.fail(ctx, i, "3.3", err)
	}
	return c.invoke(ctx, i, "3.3", history)
}

// invoke runs the nodes that are left. Nothing else loads the history or saves it.
func (c *chat) invoke(ctx context.Context, i *invocation, path string, history []message) (outcome, error) {
	i.turn.Begin(time.Now())
	s, base := &state{messages: history, inbound: i.inbound, values: i.values}, len(history)
	for i.next < len(c.graph) {
		added, err := c.graph[i.next](ctx, s)
		i.next++
		for _, m := range added {
			if wrong := turn.Check(m); wrong != nil {
				return c.fail(ctx, i, path, &failure{category: "provider_invalid_response", err: errors.New("the answer to it is no message")})
			}
			i.turn.Message(time.Now(), m)
			s.messages = append(s.messages, m)
		}
		if wait, suspended := errors.AsType[*suspension](err); suspended {
			return c.suspend(ctx, i, path, wait, s.messages, base)
		}
		if err != nil {
			return c.fail(ctx, i, path, err)
		}
	}

	if err := c.store.save(ctx, i.session, s.messages); err != nil {
		return c.fail(ctx, i, path, &failure{category: "session_save_failed", err: err})
	}
	i.turn.Complete(time.Now())
	sealed, err := c.issue(ctx, i)
	return outcome{kind: "completed", path: path, messages: s.messages[base:], invocation: i.id, receipt: sealed}, err
}

// suspend keeps a turn until its signal comes, and does not wait for it.
func (c *chat) suspend(ctx context.Context, i *invocation, path string, wait *suspension, messages []message, base int) (outcome, error) {
	// Of two turns that would wait for one signal neither could tell whose it is.
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused[wait.signal] != nil {
		return c.fail(ctx, i, path, &failure{category: "harness_signal_subscription_failed", err: errors.New("another turn waits for the same signal")})
	}
	if err := c.store.save(ctx, i.session, messages); err != nil {
		return c.fail(ctx, i, path, &failure{category: "suspension_persistence_failed", err: err})
	}

	// A signal that comes at once waits until this turn has left the session.
	if err := i.turn.Suspend(time.Now(), wait.signal, wait.metadata); err != nil {
		return outcome{}, err
	}
	c.paused[wait.signal] = i
	return outcome{kind: "suspended", path: path, messages: messages[base:], invocation: i.id, signal: wait.signal, metadata: wait.metadata}, nil
}

// fail ends a turn. Its messages are not saved: whoever sends again sends them once.
func (c *chat) fail(ctx context.Context, i *invocation, path string, err error) (outcome, error) {
	why, reply := failed(err)
	i.turn.Message(time.Now(), reply)
	i.turn.Fail(time.Now(), why)
	sealed, err := c.issue(ctx, i)
	return outcome{kind: "errored", path: path, failure: why, reply: reply, invocation: i.id, receipt: sealed}, err
}

// issue makes the receipt of a turn that has ended, also when its caller has gone.
func (c *chat) issue(ctx context.Context, i *invocation) (*receipt.Sealed, error) {
	draft, err := i.turn.Draft()
	if err != nil {
		return nil, err
	}
	return c.issuer.Issue(context.WithoutCancel(ctx), draft)
}
