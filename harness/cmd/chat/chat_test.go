package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/record"
)

const keyFile, trustFile = "../../../fixtures/keys/key_2026_04.private.json", "../../../fixtures/keys/trust.json"

// read returns the content of a key file.
func read[T any](t testing.TB, path string, parse func([]byte) (T, error)) T {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	value, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// talk returns a chat with its own ledger.
func talk(t testing.TB, s store, graph ...node) *chat {
	t.Helper()
	l, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return newChat(graph, s, &ledger.Issuer{Store: l, Signer: keys.NewSigner(read(t, keyFile, keys.ParsePrivate), time.Now)})
}

// verified verifies a receipt with the trusted keys.
func verified(t testing.TB, sealed *receipt.Sealed) *receipt.Draft {
	t.Helper()
	if sealed == nil {
		t.Fatal("no receipt")
	}
	v, err := receipt.NewVerifier(read(t, trustFile, keys.ParseSet), receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Open(sealed.JSON()); err != nil {
		t.Fatal(err)
	}
	d := new(receipt.Draft)
	if err := json.Unmarshal(sealed.JSON(), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// hashes returns the digests of messages in the format used in receipts.
func hashes(t testing.TB, messages []message) (list []string) {
	t.Helper()
	for _, m := range messages {
		doc, err := canon.Parse(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, canon.Sum(doc.AppendCanonical(nil)).String())
	}
	return list
}

func artifacts(d *receipt.Draft) (list []string) {
	for _, a := range d.FinalArtifacts {
		list = append(list, a.SHA256.String())
	}
	return list
}

// says returns a node that adds the given messages.
func says(messages ...string) node {
	return func(context.Context, *state) (list []message, err error) {
		for _, m := range messages {
			list = append(list, message(m))
		}
		return list, nil
	}
}

// raises returns a node that fails.
func raises(err error) node {
	return func(context.Context, *state) ([]message, error) { return nil, err }
}

func waits(signal string) node {
	return raises(&suspension{signal, json.RawMessage(`{"action":"send_email"}`)})
}

func assistant(text string) string { return `{"role":"assistant","content":"` + text + `"}` }
func user(text string) string      { return `{"role":"user","content":"` + text + `"}` }

// An untouched store must not be called.
type untouched struct{ t *testing.T }

func (s untouched) load(context.Context, string) ([]message, error) {
	s.t.Error("the session was loaded")
	return nil, nil
}
func (s untouched) save(context.Context, string, []message) error {
	s.t.Error("the session was saved")
	return nil
}

// A lost store cannot be read.
type lost struct{ memory }

func (*lost) load(context.Context, string) ([]message, error) {
	return nil, &failure{category: "session_load_failed", err: errors.New("no disk")}
}

type full struct{ memory }

func (*full) save(context.Context, string, []message) error { return errors.New("no room on disk 7") }

// A fixture is a conversation from the published chat fixtures.
type fixture struct {
	name  string
	store store
	graph []node
	turns []sent
}

// sent contains a message to send, together with its expected outcome.
type sent struct {
	message    string
	kind, path string
	replies    []string
	category   string
	bucket     record.Bucket
	reply      []string // parts of the reply, in uppercase or lowercase
	count      int      // number of messages in the history after this message
}

func fixtures(t *testing.T) []fixture {
	const (
		weather = `{"role":"assistant","content":[],"tool_calls":[{"id":"call_abc","name":"get_weather","arguments":{"location":"Paris"}}]}`
		sunny   = `{"role":"tool","tool_call_id":"call_abc","content":"Sunny, 22°C"}`
		picture = `{"role":"user","content":[{"type":"text","text":"What's in this picture?"},{"type":"image","source":{"type":"url","url":"https://example.com/sunset.jpg"}}]}`
	)
	never := func(context.Context, *state) ([]message, error) {
		t.Error("the graph was run")
		return nil, nil
	}
	adjust := []string{"adjust your message"}
	raised := func(category, text string) node { return raises(&failure{category: category, err: errors.New(text)}) }
	return []fixture{
		{"001", new(memory), []node{says(assistant("Hi there"))}, []sent{{message: user("Hello"), kind: "completed", path: "3.1", replies: []string{assistant("Hi there")}, count: 2}}},
		{"002", new(memory), []node{says(assistant("echo"))}, []sent{
			{message: user("First message"), kind: "completed", path: "3.1", replies: []string{assistant("echo")}, count: 2},
			{message: user("Second message"), kind: "completed", path: "3.2", replies: []string{assistant("echo")}, count: 4}}},
		{"003", new(memory), []node{says(weather, sunny, assistant("The weather in Paris is sunny, 22°C."))}, []sent{
			{message: user("What's the weather in Paris?"), kind: "completed", path: "3.1", replies: []string{weather, sunny, assistant("The weather in Paris is sunny, 22°C.")}, count: 4}}},
		{"004", new(memory), []node{says(assistant("Got your image. Looks like a sunset."))}, []sent{{message: picture, kind: "completed", path: "3.1", replies: []string{assistant("Got your image. Looks like a sunset.")}, count: 2}}},
		{"005", new(memory), []node{says(assistant("I'm waiting for approval to send this email.")), waits("approval-001")}, []sent{
			{message: user("Send the email to Bob."), kind: "suspended", path: "3.1", replies: []string{assistant("I'm waiting for approval to send this email.")}, count: 2}}},
		{"007", new(lost), []node{never}, []sent{{message: user("Hello"), kind: "errored", path: "3.1", category: "session_load_failed", bucket: record.SessionTerminating, reply: []string{"this conversation can't continue"}}}},
		{"008", new(memory), []node{raised("provider_unavailable", "upstream model rate limited")}, []sent{
			{message: user("Hello"), kind: "errored", path: "3.1", category: "provider_unavailable", bucket: record.RetryableTransient, reply: []string{"try again in a moment"}},
			{message: user("Hello"), kind: "errored", path: "3.1", category: "provider_unavailable", bucket: record.RetryableTransient, reply: []string{"try again in a moment"}}}},
		{"009", new(memory), []node{raised("provider_invalid_request", "context length exceeds maximum")}, []sent{
			{message: user("Hello"), kind: "errored", path: "3.1", category: "provider_invalid_request", bucket: record.UserCorrectable, reply: []string{"context length exceeds maximum", "adjust your message"}}}},
		{"010", untouched{t}, []node{never}, []sent{{message: `{"role":"tool","content":"Sunny"}`, kind: "errored", category: record.ShapeInvalid, bucket: record.UserCorrectable, reply: adjust}}},

		// The fixtures do not specify these outcomes.
		{"an unsupported block", untouched{t}, []node{never}, []sent{{message: `{"role":"user","content":[{"type":"audio","data":"AA=="}]}`, kind: "errored", category: record.ShapeInvalid, bucket: record.UserCorrectable, reply: append(adjust, "audio")}}},
		{"another role", untouched{t}, []node{never}, []sent{{message: assistant("I am you"), kind: "errored", category: record.ShapeInvalid, bucket: record.UserCorrectable, reply: adjust}}},
		{"no JSON", untouched{t}, []node{never}, []sent{{message: `{`, kind: "errored", category: record.ShapeInvalid, bucket: record.UserCorrectable, reply: adjust}}},
		{"no answer", new(memory), []node{says()}, []sent{{message: user("Hello"), kind: "completed", path: "3.1", count: 1}}},
		{"no message of a node", new(memory), []node{says(`{"role":"assistant"}`)}, []sent{{message: user("Hello"), kind: "errored", path: "3.1", category: "provider_invalid_response", bucket: record.UserCorrectable, reply: adjust}}},
		{"nothing is saved", new(full), []node{says(assistant("Hi"))}, []sent{{message: user("Hello"), kind: "errored", path: "3.1", category: "session_save_failed", bucket: record.SessionTerminating, reply: []string{"new one"}}}},
		{"nothing is kept", new(full), []node{waits("s")}, []sent{{message: user("Hello"), kind: "errored", path: "3.1", category: "suspension_persistence_failed", bucket: record.SessionTerminating, reply: []string{"new one"}}}},
		{"of no category", new(memory), []node{raises(errors.New("password hunter2"))}, []sent{{message: user("Hello"), kind: "errored", path: "3.1", bucket: record.UserCorrectable, reply: []string{"could not be handled"}}}},
	}
}

// TestFixtures verifies that each turn in the fixtures has the expected outcome, except 006, which
// TestSignal covers. Each turn that has ended must have one receipt that verifies and contains the
// messages of that turn.
func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			c := talk(t, f.store, f.graph...)
			var history []string // messages from turns that did not fail, in the order in which they arrived
			for _, s := range f.turns {
				o, err := c.send(t.Context(), "conv", message(s.message))
				if err != nil || o.kind != s.kind || o.path != s.path || o.failure.Category != s.category || o.failure.Bucket != s.bucket {
					t.Fatalf("%v, %+v", err, o)
				}
				var replies []string
				for _, m := range o.messages {
					replies = append(replies, string(m))
				}
				if !slices.Equal(replies, s.replies) {
					t.Errorf("replies %q", replies)
				}
				for _, part := range s.reply {
					if reply := strings.ToLower(string(o.reply)); !strings.Contains(reply, part) || strings.Contains(reply, "hunter2") || strings.Contains(reply, "disk 7") {
						t.Errorf("reply %s", o.reply)
					}
				}
				if s.kind != "errored" {
					history = append(append(history, s.message), s.replies...)
				}
				if m, ok := f.store.(*memory); ok && (len(m.histories["conv"]) != s.count || !slices.EqualFunc(m.histories["conv"], history, func(a message, b string) bool { return string(a) == b })) {
					t.Errorf("%s, expected %d messages: %s", m.histories["conv"], s.count, history)
				}
				if o.kind == "suspended" {
					if o.receipt != nil || o.signal != "approval-001" || string(o.metadata) != `{"action":"send_email"}` || o.invocation == "" {
						t.Errorf("%+v", o)
					}
					continue
				}
				checkReceipt(t, o)
			}
		})
	}
}

// checkReceipt verifies that the receipt for a turn contains the values of the turn's outcome.
func checkReceipt(t *testing.T, o outcome) {
	t.Helper()
	d := verified(t, o.receipt)
	want := hashes(t, o.messages)
	if o.kind == "errored" {
		if want = hashes(t, []message{o.reply}); d.Lifecycle.FinalState != "FAILED" || d.Lifecycle.Failure["message"] != string(o.failure.Bucket) || o.failure.Category != "" && d.Lifecycle.Failure["code"] != o.failure.Category {
			t.Errorf("%+v", d.Lifecycle)
		}
	} else if d.Lifecycle.FinalState != "SUCCEEDED" {
		t.Errorf("%+v", d.Lifecycle)
	}
	got := artifacts(d)
	if o.kind == "errored" { // the receipt also lists messages that were added before the failure
		got = got[len(got)-1:]
	}
	if !slices.Equal(got, want) || d.Identifiers.TaskID != o.invocation || d.Identifiers.SessionID == "" {
		t.Errorf("%q of %s, expected %q of %s", got, d.Identifiers.TaskID, want, o.invocation)
	}
}

// TestSignal verifies that a suspended turn resumes when its signal arrives (006), and that its
// listener is called once. The next send must not receive the replies of that turn, one receipt
// must cover both parts, and a second signal must be rejected.
func TestSignal(t *testing.T) {
	c := talk(t, new(memory), says(assistant("Approve sending email?")), waits("approval-002"), func(_ context.Context, s *state) ([]message, error) {
		if s.values["approved"] != true {
			t.Errorf("%v", s.values)
		}
		return []message{message(assistant("Email sent."))}, nil
	})
	var told []outcome
	c.subscribe("conv-006", func(o outcome) { told = append(told, o) })
	o, err := c.send(t.Context(), "conv-006", message(user("Send the email.")))
	if err != nil || o.kind != "suspended" || len(o.messages) != 1 || len(told) != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	if err := c.signal(t.Context(), "approval-002", "user_robin", []byte(`{"approved":true}`)); err != nil {
		t.Fatal(err)
	}
	var again *failure
	if err := c.signal(t.Context(), "approval-002", "user_eve", []byte(`{"approved":false}`)); !errors.As(err, &again) || again.category != "harness_signal_correlation_failed" {
		t.Errorf("a second signal: %v", err)
	}
	if len(told) != 1 || told[0].kind != "completed" || told[0].path != "3.3" || told[0].invocation != o.invocation || len(told[0].messages) != 1 || string(told[0].messages[0]) != assistant("Email sent.") {
		t.Fatalf("reported %+v", told)
	}
	d := verified(t, told[0].receipt)
	if got, want := artifacts(d), hashes(t, append(o.messages, told[0].messages...)); !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	if a := d.Approvals; len(a) != 1 || a[0].ApprovalID != "approval-002" || a[0].Action != "send_email" || a[0].Decision != "approved" || a[0].Actor != "user_robin" {
		t.Errorf("%+v", a)
	}
	next, err := c.send(t.Context(), "conv-006", message(user("Send another one.")))
	if err != nil || next.path != "3.2" || len(next.messages) != 1 || len(told) != 1 {
		t.Errorf("%v, %+v", err, next)
	}
}

// TestNoListener verifies that the outcome of a resumed turn is kept for the first listener. If the
// payload is not an object, the turn ends and its receipt records no decision.
func TestNoListener(t *testing.T) {
	c := talk(t, new(memory), waits("s"), says(assistant("done")))
	for range 2 {
		if _, err := c.send(t.Context(), "conv", message(user("Go"))); err != nil {
			t.Fatal(err)
		}
		if err := c.signal(t.Context(), "s", "user_robin", []byte(`[true]`)); err != nil {
			t.Fatal(err)
		}
	}
	var told []outcome
	remove := c.subscribe("conv", func(o outcome) { told = append(told, o) })
	remove()
	c.subscribe("conv", func(o outcome) { told = append(told, o) })
	if len(told) != 2 || told[0].failure != (record.Failure{Category: "suspension_resume_payload_invalid", Bucket: record.UserCorrectable}) {
		t.Fatalf("%+v", told)
	}
	d := verified(t, told[0].receipt)
	if d.Approvals[0].Decision != "denied" || !slices.Contains(d.Metadata["unreported"].([]any), any("/approvals/0/decision")) {
		t.Errorf("%+v", d.Approvals)
	}
}

// TestOneSignal verifies that two turns cannot wait for the same signal, and that a send without a
// session is refused.
func TestOneSignal(t *testing.T) {
	c := talk(t, new(memory), waits("s"))
	if o, err := c.send(t.Context(), "a", message(user("Go"))); err != nil || o.kind != "suspended" {
		t.Fatalf("%v, %+v", err, o)
	}
	o, err := c.send(t.Context(), "b", message(user("Go")))
	if err != nil || o.failure.Category != "harness_signal_subscription_failed" {
		t.Errorf("%v, %+v", err, o)
	}
	checkReceipt(t, o)
	if o, err := c.send(t.Context(), "", message(user("Go"))); err == nil || o.failure.Bucket != record.SessionTerminating || o.receipt != nil {
		t.Errorf("%v, %+v", err, o)
	}
}

// TestRace verifies that a signal and concurrent sends are processed as separate turns in their
// order of arrival, that no message is lost, and that each turn has a receipt.
func TestRace(t *testing.T) {
	m := new(memory)
	c := talk(t, m, func(_ context.Context, s *state) ([]message, error) {
		if s.inbound == 0 {
			return nil, &suspension{"s", nil}
		}
		return nil, nil
	}, says(assistant("done")))
	var told []outcome
	c.subscribe("conv", func(o outcome) { told = append(told, o) })
	if o, err := c.send(t.Context(), "conv", message(user("first"))); err != nil || o.kind != "suspended" {
		t.Fatalf("%v, %+v", err, o)
	}

	const sends = 8
	var all sync.WaitGroup
	ids := make([]string, sends)
	accepted := make([]bool, 3)
	for n := range sends {
		all.Go(func() {
			o, err := c.send(t.Context(), "conv", message(user(fmt.Sprint("send ", n))))
			if err != nil || o.kind != "completed" || len(o.messages) != 1 {
				t.Errorf("%v, %+v", err, o)
			}
			ids[n] = o.invocation
		})
	}
	for n := range accepted {
		all.Go(func() { accepted[n] = c.signal(t.Context(), "s", "user_robin", []byte(`{"approved":true}`)) == nil })
	}
	all.Wait()

	if n := len(slices.DeleteFunc(accepted, func(ok bool) bool { return !ok })); n != 1 || len(told) != 1 || told[0].kind != "completed" {
		t.Fatalf("%d signals were accepted, reported %+v", n, told)
	}
	verified(t, told[0].receipt)
	slices.Sort(ids)
	if got := len(m.histories["conv"]); got != 1+2*sends+1 || len(slices.Compact(ids)) != sends {
		t.Errorf("%d messages, %q", got, ids)
	}
	for i, said := range m.histories["conv"][1:] { // no other turn may come between a message and its answer
		if i > 0 && strings.Contains(string(said), `"user"`) && strings.Contains(string(m.histories["conv"][i]), `"user"`) {
			t.Errorf("%d: %s", i, m.histories["conv"])
		}
	}
}

// TestOrder verifies that sends in a session are processed in their order of arrival, and that a
// canceled send does not block the next send.
func TestOrder(t *testing.T) {
	var l turns
	leave, err := l.enter(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var mu sync.Mutex
	var order []int
	var all sync.WaitGroup
	for n := range 20 {
		if n%5 == 2 {
			if _, err := l.enter(gone, "s"); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		before := l.tail("s")
		all.Go(func() {
			leave, err := l.enter(t.Context(), "s")
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, n)
			mu.Unlock()
			leave()
		})
		for l.tail("s") == before { // wait until the send is in the queue
			time.Sleep(time.Millisecond)
		}
	}
	leave()
	all.Wait()
	if !slices.IsSorted(order) || len(order) != 20 {
		t.Errorf("%v", order)
	}
	for l.tail("s") != nil {
		time.Sleep(time.Millisecond)
	}
}

func (l *turns) tail(session string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[session]
}

// TestSessions verifies that each turn in a hundred concurrent conversations has a receipt, and
// that the receipts form one chain. Every conversation contains a suspended turn.
func TestSessions(t *testing.T) {
	const sessions = 100
	m := new(memory)
	c := talk(t, m, func(_ context.Context, s *state) ([]message, error) {
		if s.inbound == 0 {
			return []message{message(assistant("wait"))}, &suspension{string(s.messages[0]), nil}
		}
		return nil, nil
	}, says(assistant("done")))
	var all sync.WaitGroup
	for n := range sessions {
		all.Go(func() {
			session, told := fmt.Sprint("conv-", n), make(chan outcome, 1)
			c.subscribe(session, func(o outcome) { told <- o })
			first := user(fmt.Sprint("hello ", n))
			if o, err := c.send(t.Context(), session, message(first)); err != nil || o.kind != "suspended" || len(o.messages) != 1 {
				t.Errorf("%v, %+v", err, o)
				return
			}
			if err := c.signal(t.Context(), first, "user_robin", []byte(`{"approved":true}`)); err != nil {
				t.Error(err)
				return
			}
			if o := <-told; o.kind != "completed" || o.receipt == nil {
				t.Errorf("%+v", o)
			}
			if o, err := c.send(t.Context(), session, message(user("again"))); err != nil || o.kind != "completed" || o.receipt == nil {
				t.Errorf("%v, %+v", err, o)
			}
		})
	}
	all.Wait()

	for session, history := range m.histories {
		if len(history) != 5 {
			t.Errorf("%s: %s", session, history)
		}
	}
	streams, err := c.issuer.Store.(*sqlite.Ledger).Streams(t.Context())
	if err != nil || len(streams) != 1 || streams[0].Head.Count != 2*sessions || len(m.histories) != sessions {
		t.Errorf("%v, %+v, %d sessions", err, streams, len(m.histories))
	}
}

// TestRun conducts a conversation through the program's input and output.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), keyFile, strings.NewReader("hello\nsend it\n/approve\n/approve\nsend that\n/deny\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"hello\nreceipt receipt_inv_", "Shall I? /approve or /deny\nsend it\nreceipt", "no turn waits for this signal", "Not sent.\nreceipt"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
	if n := strings.Count(out.String(), "\nreceipt "); n != 3 {
		t.Errorf("%d receipts in\n%s", n, out.String())
	}
}

// TestRunWaits verifies that a message between a question and its answer affects neither of them,
// and that an unreadable line is reported.
func TestRunWaits(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), keyFile, strings.NewReader("send a\nsend b\nhello\n/approve\n/deny\n/deny\n"), &out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "\nreceipt "); n != 3 || !strings.Contains(text, "\nsend b\nreceipt") || !strings.Contains(text, "\nNot sent.\nreceipt") || strings.Count(text, "no turn waits") != 1 {
		t.Errorf("%d receipts in\n%s", n, text)
	}

	if err := run(t.Context(), keyFile, strings.NewReader(strings.Repeat("a", 1<<20)), &out); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("a line of a megabyte: %v", err)
	}
}

// TestListenerIsReplaced verifies that unsubscribing a listener that has been replaced does not
// remove its replacement.
func TestListenerIsReplaced(t *testing.T) {
	var l listeners
	told := ""
	first := l.add("conv", func(outcome) { told += "first " })
	second := l.add("conv", func(outcome) { told += "second " })
	first()
	deliver := func() { l.put("conv", outcome{}); l.tell("conv") }
	deliver()
	second()
	deliver()
	if told != "second " || len(l.of["conv"].waiting) != 1 {
		t.Errorf("reported %q, %+v", told, l.of["conv"])
	}
}
