package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestPayloadIsReadOnce verifies that a signal whose payload is not a strict JSON object ends its
// turn: no further node runs, and the receipt does not record an approval.
func TestPayloadIsReadOnce(t *testing.T) {
	for _, payload := range []string{
		`{"approved":false,"approved":true}`, `{"approved":true,"appr\u006fved":false}`, "{\"approved\":true,\"note\":\"\xff\"}", `{"approved":true,"note":"\ud800"}`,
		`null`, `[]`, `true`, `"approved"`, ``, `{"approved":true} {}`,
	} {
		c := talk(t, new(memory), waits("s"), func(_ context.Context, s *state) ([]message, error) {
			t.Errorf("%q: the graph went on with %v", payload, s.values)
			return nil, nil
		})
		var told []outcome
		c.subscribe("conv", func(o outcome) { told = append(told, o) })
		if _, err := c.send(t.Context(), "conv", message(user("Go"))); err != nil {
			t.Fatal(err)
		}
		if err := c.signal(t.Context(), "s", "user_robin", []byte(payload)); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0].failure.Category != "suspension_resume_payload_invalid" {
			t.Errorf("%q: %+v", payload, told)
			continue
		}
		if a := verified(t, told[0].receipt).Approvals; len(a) != 1 || a[0].Decision != "denied" {
			t.Errorf("%q: %+v", payload, a)
		}
	}
}

// TestDoneAsApproved verifies that an action requiring approval is performed if and only if the
// receipt states that a person approved it.
func TestDoneAsApproved(t *testing.T) {
	c := talk(t, new(memory), ask, answer)
	for payload, done := range map[string]bool{
		`{"approved":true}`: true, `{"accepted":true}`: true, `{"decision":"allow"}`: true, `{"decision":"approved","note":1}`: true,
		`{"approved":false}`: false, `{"approved":true,"accepted":false}`: false, `{"approved":"true"}`: false, `{"decision":"sure"}`: false, `{"decision":"deny","approved":true}`: false,
		`{"decision":"approved","approved":false}`: false, `{"amount":7}`: false, `{}`: false, `{"Approved":true}`: false, `{"approved":1}`: false, `{"decision":true}`: false,
	} {
		var told []outcome
		c.subscribe(payload, func(o outcome) { told = append(told, o) })
		o, err := c.send(t.Context(), payload, message(user("send it")))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.signal(t.Context(), o.signal, "user_robin", []byte(payload)); err != nil || len(told) != 1 {
			t.Fatalf("%s: %v, %+v", payload, err, told)
		}
		said := string(told[0].messages[0])
		if approved := verified(t, told[0].receipt).Approvals[0].Decision == "approved"; approved != done || strings.Contains(said, `"send it"`) != done || strings.Contains(said, `"Not sent."`) == done {
			t.Errorf("%s: %s, approved: %v", payload, said, approved)
		}
	}
}

// TestSuspensionRefused verifies that a turn with an invalid suspension fails with a receipt and
// leaves no state.
func TestSuspensionRefused(t *testing.T) {
	for name, wait := range map[string]*suspension{
		"no id": {"", nil}, "a long id": {strings.Repeat("x", 5000), nil}, "no text": {"\xff", nil},
		"no object": {"s", json.RawMessage(`7`)}, "no JSON": {"s", json.RawMessage(`{`)},
	} {
		m := new(memory)
		c := talk(t, m, says(assistant("wait")), func(context.Context, *state) ([]message, error) { return nil, wait })
		o, err := c.send(t.Context(), "conv", message(user("Go")))
		if err != nil || o.kind != "errored" || o.failure.Category != "harness_signal_subscription_failed" || len(m.histories["conv"]) != 0 {
			t.Errorf("%s: %v, %+v, %s", name, err, o, m.histories["conv"])
			continue
		}
		checkReceipt(t, o)
		if err := c.signal(t.Context(), wait.signal, "user_robin", []byte(`{}`)); err == nil {
			t.Errorf("%s: a signal was taken", name)
		}
	}
}

// TestRefusedMessage verifies that a turn ends with a receipt if a node adds a message that no
// receipt can represent.
func TestRefusedMessage(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, added := range map[string]string{
		"an answer": `{"role":"tool","tool_call_id":"` + long + `","content":""}`,
		"a call":    `{"role":"assistant","tool_calls":[{"id":"c","name":"n"},{"id":"` + long + `","name":"n"}]}`,
		"a tool":    `{"role":"assistant","tool_calls":[{"id":"c","name":"` + long + `"}]}`,
	} {
		for _, graph := range [][]node{{says(assistant("one"), added, assistant("two"))}, {says(assistant("one")), waits("s"), says(added)}} {
			m := new(memory)
			c := talk(t, m, graph...)
			var told outcome
			c.subscribe("conv", func(o outcome) { told = o })
			told, err := c.send(t.Context(), "conv", message(user("Go")))
			if err == nil && told.kind == "suspended" {
				c.subscribe("conv", func(o outcome) { told = o })
				err = c.signal(t.Context(), "s", "user_robin", []byte(`{"approved":true}`))
			}
			if err != nil || told.kind != "errored" || told.failure.Category != "provider_invalid_response" {
				t.Errorf("%s: %v, %+v", name, err, told)
				continue
			}
			checkReceipt(t, told)
		}
	}
}

// TestSessionRefused verifies that no turn runs in a session whose ID a receipt cannot represent.
func TestSessionRefused(t *testing.T) {
	for _, session := range []string{"", "\xff", strings.Repeat("x", 5000)} {
		c := talk(t, untouched{t}, func(context.Context, *state) ([]message, error) {
			t.Error("the graph was run")
			return nil, nil
		})
		o, err := c.send(t.Context(), session, message(user("Go")))
		if err == nil || o.kind != "errored" || o.failure != (record.Failure{Category: "harness_session_id_unresolved", Bucket: record.SessionTerminating}) || o.receipt != nil || len(o.reply) == 0 {
			t.Errorf("%.10q: %v, %+v", session, err, o)
		}
	}
}

// slow is a store that takes a long time for the histories of one session, and may fail.
type slow struct {
	memory
	saving, goOn chan struct{}
	err          error
}

func (s *slow) save(ctx context.Context, session string, history []message) error {
	if session == "slow" {
		s.saving <- struct{}{}
		<-s.goOn
		if s.err != nil {
			return s.err
		}
	}
	return s.memory.save(ctx, session, history)
}

// TestSlowStore verifies that slow saving in one session does not delay other sessions, and that a
// signal arriving in the meantime waits.
func TestSlowStore(t *testing.T) {
	s := &slow{saving: make(chan struct{}), goOn: make(chan struct{})}
	c := talk(t, s, func(_ context.Context, s *state) ([]message, error) {
		return nil, &suspension{string(s.messages[0]), nil}
	}, says(assistant("done")))
	first := make(chan outcome, 1)
	go func() {
		o, err := c.send(t.Context(), "slow", message(user("slow")))
		if err != nil {
			t.Error(err)
		}
		first <- o
	}()
	<-s.saving

	quick := make(chan error, 1)
	go func() {
		_, err := c.send(t.Context(), "quick", message(user("quick")))
		if err == nil {
			err = c.signal(t.Context(), user("quick"), "user_robin", []byte(`{}`))
		}
		quick <- err
	}()
	select {
	case err := <-quick:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("another session waits")
	}

	early := make(chan error, 1)
	go func() { early <- c.signal(t.Context(), user("slow"), "user_robin", []byte(`{}`)) }()
	select {
	case err := <-early:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(s.goOn)
	go func() { <-s.saving }() // for the resumed turn
	if o := <-first; o.kind != "suspended" {
		t.Errorf("%+v", o)
	}
	if err := <-early; err != nil {
		t.Error(err)
	}
}

// TestNotKept verifies that a signal that arrives while its turn is being saved does not resume the
// turn if saving fails. The turn must have one receipt, which records no question.
func TestNotKept(t *testing.T) {
	s := &slow{saving: make(chan struct{}), goOn: make(chan struct{}), err: errors.New("no room on disk 7")}
	c := talk(t, s, waits("s"), func(context.Context, *state) ([]message, error) {
		t.Error("it was resumed")
		return nil, nil
	})
	var all sync.WaitGroup
	all.Go(func() {
		o, err := c.send(t.Context(), "slow", message(user("Go")))
		if err != nil || o.failure.Category != "suspension_persistence_failed" {
			t.Errorf("%v, %+v", err, o)
		}
		if d := verified(t, o.receipt); len(d.Approvals) != 0 || d.Lifecycle.FinalState != "FAILED" {
			t.Errorf("%+v", d)
		}
	})
	<-s.saving
	early := make(chan error, 1)
	go func() { early <- c.signal(t.Context(), "s", "user_robin", []byte(`{"approved":true}`)) }()
	time.Sleep(50 * time.Millisecond)
	close(s.goOn)
	all.Wait()
	var why *failure
	if err := <-early; !errors.As(err, &why) || why.category != "harness_signal_correlation_failed" {
		t.Error(err)
	}
	if len(c.paused) != 0 {
		t.Errorf("%v", c.paused)
	}
}

// TestListenerInOrder verifies that a listener is called for one turn at a time, in the order in
// which the turns ended. The sender of a signal must not wait for a listener that is busy with
// another turn.
func TestListenerInOrder(t *testing.T) {
	const turns = 5
	m := new(memory)
	c := talk(t, m, func(_ context.Context, s *state) ([]message, error) {
		return nil, &suspension{string(s.messages[s.inbound]), nil}
	}, func(_ context.Context, s *state) ([]message, error) {
		return []message{message(assistant(fmt.Sprint(len(s.messages))))}, nil
	})
	for n := range turns {
		if _, err := c.send(t.Context(), "conv", message(user(fmt.Sprint(n)))); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var told []string
	busy, goOn := make(chan struct{}), make(chan struct{})
	at := 0
	c.subscribe("conv", func(o outcome) {
		mu.Lock()
		told = append(told, string(o.messages[0]))
		if at++; at > 1 {
			t.Error("two at once")
		}
		first := len(told) == 1
		mu.Unlock()
		if first {
			close(busy)
			<-goOn
		}
		mu.Lock()
		at--
		mu.Unlock()
	})
	var all sync.WaitGroup
	all.Go(func() { c.signal(t.Context(), user("0"), "", []byte(`{}`)) })
	<-busy
	for n := 1; n < turns; n++ {
		ended := make(chan error, 1)
		go func() { ended <- c.signal(t.Context(), user(fmt.Sprint(n)), "", []byte(`{}`)) }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for the listener")
		}
	}
	close(goOn)
	all.Wait()
	var want []string
	for _, said := range m.histories["conv"][turns:] {
		want = append(want, string(said))
	}
	if !slices.Equal(told, want) || len(told) != turns {
		t.Errorf("%q, expected %q", told, want)
	}
}

// TestListenerMisbehaves verifies that neither the next listener nor the session is affected if a
// listener panics, unsubscribes, or sends a message during a call.
func TestListenerMisbehaves(t *testing.T) {
	graph := []node{func(_ context.Context, s *state) ([]message, error) {
		if string(s.messages[s.inbound]) == user("plain") {
			return nil, nil
		}
		return nil, &suspension{string(s.messages[s.inbound]), nil}
	}, says(assistant("done"))}
	suspended := func(c *chat, n int) {
		t.Helper()
		for i := range n {
			if o, err := c.send(t.Context(), "conv", message(user(fmt.Sprint(i)))); err != nil || o.kind != "suspended" {
				t.Fatalf("%v, %+v", err, o)
			}
		}
	}
	give := func(c *chat, n int) error { return c.signal(t.Context(), user(fmt.Sprint(n)), "", []byte(`{}`)) }

	// If the listener panics, the panic propagates to the sender of the signal.
	c := talk(t, new(memory), graph...)
	suspended(c, 2)
	remove := c.subscribe("conv", func(outcome) { panic("no") })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		give(c, 0)
	}()
	remove()
	var told []outcome
	c.subscribe("conv", func(o outcome) { told = append(told, o) })
	if err := give(c, 1); err != nil || len(told) != 1 || told[0].kind != "completed" {
		t.Errorf("%v, %+v", err, told)
	}
	if o, err := c.send(t.Context(), "conv", message(user("plain"))); err != nil || o.kind != "completed" {
		t.Errorf("%v, %+v", err, o)
	}

	// The listener unsubscribes when it is called for the first of three turns.
	c = talk(t, new(memory), graph...)
	suspended(c, 3)
	busy, goOn, first := make(chan struct{}), make(chan struct{}), 0
	remove = c.subscribe("conv", func(outcome) {
		if first++; first == 1 {
			close(busy)
			<-goOn
		}
		remove()
	})
	var all sync.WaitGroup
	all.Go(func() {
		if err := give(c, 0); err != nil {
			t.Error(err)
		}
	})
	<-busy
	for n := 1; n < 3; n++ {
		ended := make(chan error, 1)
		go func() { ended <- give(c, n) }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for the listener")
		}
	}
	close(goOn)
	all.Wait()
	told = nil
	c.subscribe("conv", func(o outcome) { told = append(told, o) })
	if first != 1 || len(told) != 2 {
		t.Errorf("%d and %d were reported", first, len(told))
	}

	// The listener sends a message in the same session.
	c = talk(t, new(memory), graph...)
	suspended(c, 1)
	sent := make(chan outcome, 1)
	c.subscribe("conv", func(outcome) {
		o, err := c.send(t.Context(), "conv", message(user("plain")))
		if err != nil {
			t.Error(err)
		}
		sent <- o
	})
	if err := give(c, 0); err != nil {
		t.Error(err)
	}
	if o := <-sent; o.kind != "completed" {
		t.Errorf("%+v", o)
	}
}

// TestSecretDiagnostic verifies that a provider's error message about an API key is never shown.
func TestSecretDiagnostic(t *testing.T) {
	const key = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	for _, category := range []string{"provider_authentication", "provider_invalid_request"} {
		c := talk(t, new(memory), raises(&failure{category: category, err: fmt.Errorf("the key %s is not valid: renew it", key)}))
		o, err := c.send(t.Context(), "conv", message(user("Go")))
		if err != nil || o.failure.Bucket != record.UserCorrectable {
			t.Fatalf("%v, %+v", err, o)
		}
		if said := string(o.reply); strings.Contains(said, key[4:]) || !strings.Contains(said, "is not valid: renew it") || strings.Contains(string(o.receipt.JSON()), key[4:]) {
			t.Errorf("%s", said)
		}
	}
	c := talk(t, new(memory), raises(&failure{category: "provider_invalid_request", err: errors.New(strings.Repeat("long ", 1<<20) + "\x1b[2J")}))
	if o, err := c.send(t.Context(), "conv", message(user("Go"))); err != nil || len(o.reply) > 4096 {
		t.Errorf("%v, %d bytes", err, len(o.reply))
	}
}

// TestKept verifies that messages from clients and nodes are stored unchanged even if the caller
// reuses their memory.
func TestKept(t *testing.T) {
	m := new(memory)
	buffer := []byte(user("first"))
	added := []byte(assistant("reply"))
	c := talk(t, m, func(context.Context, *state) ([]message, error) { return []message{added}, nil })
	o, err := c.send(t.Context(), "conv", buffer)
	if err != nil {
		t.Fatal(err)
	}
	copy(buffer, strings.Repeat(" ", len(buffer)))
	copy(added, strings.Repeat(" ", len(added)))
	if h := m.histories["conv"]; len(h) != 2 || string(h[0]) != user("first") || string(h[1]) != assistant("reply") || string(o.messages[0]) != assistant("reply") {
		t.Errorf("%s, %s", h, o.messages)
	}
}

// doubtful is a store that stores a receipt but reports an error.
type doubtful struct {
	ledger.Store
	once sync.Once
}

func (d *doubtful) Append(ctx context.Context, runs ...ledger.Run) error {
	err := d.Store.Append(ctx, runs...)
	d.once.Do(func() { err = errors.New("the connection was lost") })
	return err
}

// TestUnknownOutcome verifies that, if it is unknown whether a receipt was stored, the receipt is
// issued again but stored only once.
func TestUnknownOutcome(t *testing.T) {
	c := talk(t, new(memory), says(assistant("Hi")))
	store := c.issuer.Store
	c.issuer.Store = &doubtful{Store: store}
	o, err := c.send(t.Context(), "conv", message(user("Hello")))
	if err != nil {
		t.Fatal(err)
	}
	verified(t, o.receipt)
	if streams, err := store.(*sqlite.Ledger).Streams(t.Context()); err != nil || len(streams) != 1 || streams[0].Head.Count != 1 {
		t.Errorf("%v, %+v", err, streams)
	}
}

// TestSuspendsAgain verifies that a resumed turn can be suspended again, even for a signal with the
// same ID. The listener must be called each time, and one receipt must be issued at the end.
func TestSuspendsAgain(t *testing.T) {
	m := new(memory)
	c := talk(t, m, waits("s"), says(assistant("one")), waits("s"), says(assistant("two")), waits("t"), says(assistant("three")))
	var told []string
	var last outcome
	c.subscribe("conv", func(o outcome) { told, last = append(told, o.kind+" "+o.signal+fmt.Sprintf(" %s", o.messages)), o })
	o, err := c.send(t.Context(), "conv", message(user("Go")))
	if err != nil || o.kind != "suspended" {
		t.Fatalf("%v, %+v", err, o)
	}
	for i, id := range []string{"s", "s", "t"} {
		if err := c.signal(t.Context(), id, "user_robin", fmt.Appendf(nil, `{"approved":%t}`, i != 1)); err != nil {
			t.Fatal(err)
		}
		if err := c.signal(t.Context(), "u", "user_eve", []byte(`{"approved":true}`)); err == nil {
			t.Error("a signal of another id was taken")
		}
	}
	want := []string{"suspended s [" + assistant("one") + "]", "suspended t [" + assistant("two") + "]", "completed  [" + assistant("three") + "]"}
	if !slices.Equal(told, want) || len(m.histories["conv"]) != 4 {
		t.Errorf("%q, expected %q", told, want)
	}
	d := verified(t, last.receipt)
	var decisions []string
	for _, a := range d.Approvals {
		decisions = append(decisions, a.ApprovalID+" "+a.Decision)
	}
	if !slices.Equal(decisions, []string{"s approved", "s#2 denied", "t approved"}) || d.Identifiers.TaskID != o.invocation || len(d.FinalArtifacts) != 3 {
		t.Errorf("%q, %+v", decisions, d.FinalArtifacts)
	}
	if streams, err := c.issuer.Store.(*sqlite.Ledger).Streams(t.Context()); err != nil || streams[0].Head.Count != 1 {
		t.Errorf("%v, %+v", err, streams)
	}
}

// TestResumeFails verifies that a turn that fails after its signal has one receipt for both parts.
// The history must contain the messages that preceded the suspension, but not the messages of the
// failed part.
func TestResumeFails(t *testing.T) {
	m := new(memory)
	c := talk(t, m, says(assistant("pending")), waits("s"), says(assistant("half")), raises(&failure{category: "provider_unavailable", err: errors.New("hunter2")}))
	var told []outcome
	c.subscribe("conv", func(o outcome) { told = append(told, o) })
	if _, err := c.send(t.Context(), "conv", message(user("Go"))); err != nil {
		t.Fatal(err)
	}
	if err := c.signal(t.Context(), "s", "user_robin", []byte(`{"approved":true}`)); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].kind != "errored" || told[0].path != "3.3" || told[0].failure.Bucket != record.RetryableTransient || strings.Contains(string(told[0].reply), "hunter2") {
		t.Fatalf("%+v", told)
	}
	d := verified(t, told[0].receipt)
	if d.Lifecycle.FinalState != "FAILED" || len(d.FinalArtifacts) != 3 || d.Approvals[0].Decision != "approved" || d.Lifecycle.StartedAt.IsZero() {
		t.Errorf("%+v, %+v", d.Lifecycle, d.FinalArtifacts)
	}
	if h := m.histories["conv"]; len(h) != 2 || string(h[1]) != assistant("pending") {
		t.Errorf("%s", h)
	}
	if err := c.signal(t.Context(), "s", "user_robin", []byte(`{"approved":true}`)); err == nil {
		t.Error("a second signal was taken")
	}
}

// counted is a store that counts calls, checks whether its context is canceled, and can delete a
// session.
type counted struct {
	memory
	loads, saves int
}

func (s *counted) load(ctx context.Context, session string) ([]message, error) {
	s.loads++
	return s.memory.load(ctx, session)
}

func (s *counted) save(ctx context.Context, session string, history []message) error {
	if s.saves++; ctx.Err() != nil {
		return ctx.Err()
	}
	return s.memory.save(ctx, session, history)
}

// TestLoadedOnce verifies that each part of a turn loads and saves the history exactly once.
func TestLoadedOnce(t *testing.T) {
	m := new(counted)
	c := talk(t, m, waits("s"), says(assistant("done")))
	if _, err := c.send(t.Context(), "conv", message(user("Go"))); err != nil || m.loads != 1 || m.saves != 1 {
		t.Errorf("%v, %d, %d", err, m.loads, m.saves)
	}
	if err := c.signal(t.Context(), "s", "", []byte(`{}`)); err != nil || m.loads != 2 || m.saves != 2 || len(m.histories["conv"]) != 2 {
		t.Errorf("%v, %d, %d, %s", err, m.loads, m.saves, m.histories)
	}
}

// TestCallerLeaves verifies that the results of a turn are stored and reported even if the caller
// has disconnected.
func TestCallerLeaves(t *testing.T) {
	for kind, end := range map[string]error{"completed": nil, "suspended": &suspension{"s", nil}} {
		m := new(counted)
		ctx, leave := context.WithCancel(t.Context())
		c := talk(t, m, func(context.Context, *state) ([]message, error) {
			leave()
			return []message{message(assistant("done"))}, end
		})
		o, err := c.send(ctx, "conv", message(user("Go")))
		if err != nil || o.kind != kind || len(m.histories["conv"]) != 2 || (o.receipt == nil) != (kind == "suspended") {
			t.Errorf("%s: %v, %+v, %s", kind, err, o, m.histories)
		}
	}
}

// TestForgotten verifies that a suspended turn whose session has been deleted fails without running
// a node.
func TestForgotten(t *testing.T) {
	m := new(memory)
	c := talk(t, m, waits("s"), func(_ context.Context, s *state) ([]message, error) {
		return []message{s.messages[s.inbound]}, nil
	})
	var told []outcome
	c.subscribe("conv", func(o outcome) { told = append(told, o) })
	if _, err := c.send(t.Context(), "conv", message(user("Go"))); err != nil {
		t.Fatal(err)
	}
	m.histories = nil
	if err := c.signal(t.Context(), "s", "user_robin", []byte(`{"approved":true}`)); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].failure != (record.Failure{Category: "session_load_failed", Bucket: record.SessionTerminating}) {
		t.Fatalf("%+v", told)
	}
	checkReceipt(t, told[0])
}

// TestBusyListener verifies that a listener is called for every turn, regardless of how many turns
// end while the listener is busy.
func TestBusyListener(t *testing.T) {
	const turns = most + 20
	var l listeners
	busy, goOn := make(chan struct{}), make(chan struct{})
	told := 0
	l.add("conv", func(outcome) {
		if told++; told == 1 {
			close(busy)
			<-goOn
		}
	})
	var all sync.WaitGroup
	l.put("conv", outcome{})
	all.Go(func() { l.tell("conv") })
	<-busy
	for range turns - 1 {
		l.put("conv", outcome{})
		l.tell("conv")
	}
	close(goOn)
	if all.Wait(); told != turns {
		t.Errorf("%d of %d", told, turns)
	}
}

// oneChain verifies that receipts form one chain without duplicates.
func oneChain(t *testing.T, receipts []*receipt.Sealed) {
	t.Helper()
	next := map[string]string{} // maps the hash of a predecessor, or "" for none, to the next receipt
	for _, r := range receipts {
		verified(t, r)
		chain := r.Document().Root().Member("chain")
		before := chain.Member("previous_receipt_hash").String()
		if next[before] != "" {
			t.Fatalf("two follow %q", before)
		}
		next[before] = chain.Member("receipt_hash").String()
	}
	n := 0
	for at := next[""]; at != ""; at = next[at] {
		n++
	}
	if n != len(receipts) {
		t.Errorf("%d of %d receipts are in the chain", n, len(receipts))
	}
}

// TestResumeRaces sends a message and a signal concurrently in many rounds. Both turns must end, no
// message may be lost, duplicated, or placed inside the other turn, and each turn must have one
// receipt in a single chain.
func TestResumeRaces(t *testing.T) {
	rounds := testsize.Of(20, 200)
	m := new(memory)
	c := talk(t, m, func(_ context.Context, s *state) ([]message, error) {
		if strings.Contains(string(s.messages[s.inbound]), "wait") {
			return []message{message(assistant("pending"))}, &suspension{string(s.messages[s.inbound]), nil}
		}
		return nil, nil
	}, says(assistant("a")), says(assistant("b")))
	orders := map[string]int{}
	var receipts []*receipt.Sealed
	for n := range rounds {
		session := fmt.Sprint("conv-", n)
		first := user(fmt.Sprint("wait ", n))
		if _, err := c.send(t.Context(), session, message(first)); err != nil {
			t.Fatal(err)
		}
		told := make(chan outcome, 3)
		c.subscribe(session, func(o outcome) { told <- o })
		var all sync.WaitGroup
		var sent outcome
		start := make(chan struct{})
		all.Go(func() { <-start; sent, _ = c.send(t.Context(), session, message(user("now"))) })
		taken := make([]error, 3)
		for i := range taken {
			all.Go(func() { <-start; taken[i] = c.signal(t.Context(), first, "user_robin", []byte(`{"approved":true}`)) })
		}
		close(start)
		all.Wait()

		good := 0
		for _, err := range taken {
			if err == nil {
				good++
			}
		}
		resumed := <-told
		if good != 1 || len(told) != 0 || resumed.kind != "completed" || sent.kind != "completed" || len(resumed.messages) != 2 || len(sent.messages) != 2 || resumed.receipt == nil || sent.receipt == nil {
			t.Fatalf("%d, %+v, %+v", good, resumed, sent)
		}
		receipts = append(receipts, resumed.receipt, sent.receipt)
		var said []string
		for _, message := range m.histories[session] {
			var of struct{ Content string }
			json.Unmarshal(message, &of)
			said = append(said, of.Content)
		}
		order := strings.Join(said[2:], " ")
		if orders[order]++; order != "a b now a b" && order != "now a b a b" {
			t.Fatalf("%q", said)
		}
	}
	oneChain(t, receipts)
	streams, err := c.issuer.Store.(*sqlite.Ledger).Streams(t.Context())
	if err != nil || len(streams) != 1 || streams[0].Head.Count != uint64(2*rounds) {
		t.Errorf("%v, %+v", err, streams)
	}
}

// TestGivesUp verifies that a send canceled while waiting fails with a receipt, appears in no
// history, and does not delay the next send.
func TestGivesUp(t *testing.T) {
	m := new(memory)
	goOn, entered := make(chan struct{}), make(chan struct{}, 1)
	c := talk(t, m, func(_ context.Context, s *state) ([]message, error) {
		if s.inbound == 0 {
			entered <- struct{}{}
			<-goOn
		}
		return []message{message(assistant("done"))}, nil
	})
	var all sync.WaitGroup
	all.Go(func() { c.send(t.Context(), "conv", message(user("first"))) })
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan outcome, 1)
	go func() {
		o, err := c.send(ctx, "conv", message(user("second")))
		if err != nil {
			t.Error(err)
		}
		gone <- o
	}()
	cancel()
	o := <-gone
	if o.kind != "errored" || o.failure.Bucket != record.RetryableTransient {
		t.Errorf("%+v", o)
	}
	checkReceipt(t, o)
	all.Go(func() {
		if o, err := c.send(t.Context(), "conv", message(user("third"))); err != nil || o.kind != "completed" {
			t.Errorf("%v, %+v", err, o)
		}
	})
	close(goOn)
	all.Wait()
	if len(m.histories["conv"]) != 4 {
		t.Errorf("%s", m.histories["conv"])
	}
}
