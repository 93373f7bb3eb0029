package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/record"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
)

// ask calls the other side, which answers soon.
func (s *side) askSoon(t *testing.T, params any) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := s.Call(ctx, "what/is", params)
	if err != nil {
		return "", err
	}
	return string(m.Root.Member("result").Raw()), nil
}

// TestOutOfOrder: each request gets the answer with its id, in whatever order they come.
func TestOutOfOrder(t *testing.T) {
	s := face(t, "out of order", Options{})
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if got, err := s.askSoon(t, map[string]int{"n": n}); err != nil || got != fmt.Sprint(n) {
				t.Errorf("%d: %s, %v", n, got, err)
			}
		})
	}
	all.Wait()
	if c := s.Counts(); c != (Counts{}) {
		t.Errorf("%+v", c)
	}
}

// TestAnswers: what the other side makes of an answer is taken for what it is.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		other, want string
		counts      Counts
		logged      int // messages
	}{
		{"other spellings of an id", `"the number"`, Counts{Refused: 1, Unmatched: 3}, 1 + 1 + 4},
		{"in pieces", `"whole"`, Counts{}, 2},
		{"without a line feed", `"whole"`, Counts{}, 2},
		{"long lines", `"short"`, Counts{Refused: 2}, 1 + 2 + 1},
		{"nonsense", `"sense"`, Counts{Refused: len(nonsense("1"))}, 1 + len(nonsense("1")) + 1},
	} {
		t.Run(test.other, func(t *testing.T) {
			s := face(t, test.other, Options{})
			if got, err := s.askSoon(t, nil); err != nil || got != test.want {
				t.Errorf("%s, %v", got, err)
			}
			for s.Counts() != test.counts || strings.Count(s.logged(), "\n") != test.logged {
				time.Sleep(time.Millisecond)
				if t.Context().Err() != nil || time.Now().After(deadline(t)) {
					t.Fatalf("%+v\n%.3000s", s.Counts(), s.logged())
				}
			}
			readable(t, s.logged())
		})
	}
}

// readable: what is logged can be recorded, whatever the other side said.
func readable(t *testing.T, log string) {
	t.Helper()
	const ended = `{"at":"2026-01-01T00:00:00Z","event":"task.completed","payload":{}}`
	begun := strings.Replace(ended, "completed", "started", 1)
	o := recording()
	o.SessionID = session
	if _, err := record.Read(strings.NewReader(begun+"\n"+log+ended), o, record.FormFrames); err != nil {
		t.Errorf("%v\n%.3000s", err, log)
	}
}

// deadline is when a test that waits gives up.
func deadline(t *testing.T) time.Time {
	at, ok := t.Deadline()
	if !ok {
		return time.Now().Add(time.Minute)
	}
	return at.Add(-10 * time.Second)
}

// TestIDs: an answer has the id of its request as that was written, and what has none gets
// no answer.
func TestIDs(t *testing.T) {
	s := face(t, "asks", Options{})
	got, err := s.askSoon(t, nil)
	if want := encoded1(`1:-32601 "1":-32601 1.5:-32601 "ä\u0000":-32601 -7:-32601 "":-32601 1:-32601 `); err != nil || got != want {
		t.Errorf("%s, %v, expected %s", got, err, want)
	}
	if n := strings.Count(s.logged(), `"error"`); n != 7 {
		t.Errorf("%d answers\n%s", n, s.logged())
	}
}

// TestOpenRequests: an id is of one open request, so that nobody has to guess whose an
// answer is, and only so many are answered at once.
func TestOpenRequests(t *testing.T) {
	for name, want := range map[string]string{"the same id": encoded1(`null "a" "a"`), "too many": fmt.Sprint(CodeBusy)} {
		t.Run(name, func(t *testing.T) {
			goOn := make(chan struct{}, MaxOpen)
			s := face(t, name, Options{
				Request: func(context.Context, *Message) (any, error) { <-goOn; return nil, nil },
				Notify:  func(*Message) { goOn <- struct{}{} },
			})
			if got, err := s.askSoon(t, nil); err != nil || got != want {
				t.Errorf("%s, %v, expected %s", got, err, want)
			}
		})
	}
}

// TestErrors: an error is one whatever is beside it, unless it is null.
func TestErrors(t *testing.T) {
	s := face(t, "error and result", Options{})
	_, err := s.askSoon(t, nil)
	if fault, is := errors.AsType[*Error](err); !is || *fault != (Error{CodeRejected, "no"}) || CategoryOf(err) != "permission_denied" {
		t.Errorf("%v", err)
	}
	if got, err := s.askSoon(t, nil); err != nil || got != "7" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestHangUp: who waits for an answer of a side that ends, in whatever way, learns that
// none comes, and so does who asks after that.
func TestHangUp(t *testing.T) {
	for name, refused := range map[string]int{"dies": 0, "half a line": 1} {
		t.Run(name, func(t *testing.T) {
			s := face(t, name, Options{})
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if got, err := s.askSoon(t, nil); !errors.Is(err, ErrHungUp) && !errors.Is(err, os.ErrClosed) && !isBroken(err) {
						t.Errorf("%s, %v", got, err)
					}
				})
			}
			all.Wait()
			s.end(t) // an error when it was written to after that
			if got, err := s.askSoon(t, nil); err == nil {
				t.Errorf("%s", got)
			}
			if c := s.Counts(); c.Refused != refused {
				t.Errorf("%+v", c)
			}
		})
	}
}

func isBroken(err error) bool { _, is := errors.AsType[*os.PathError](err); return is }

// TestLate: an answer that comes too late answers nobody: neither the one who asked nor
// another.
func TestLate(t *testing.T) {
	s := face(t, "late", Options{})
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	asked := map[string]any{"sessionId": "s", "toolCall": map[string]string{"toolCallId": "c"}}
	if p := Ask(soon, s.Peer, asked); p.Granted || p.Decision != "denied" || p.Reason == "" {
		t.Errorf("%+v", p)
	}
	if got, err := s.askSoon(t, nil); err != nil || got != `"in time"` {
		t.Errorf("%s, %v", got, err)
	}
	if c := s.Counts(); c != (Counts{Unmatched: 1}) {
		t.Errorf("%+v", c)
	}
}

// leaves is how many bytes the other side of a peer may leave unread. Tests that are not at
// full size let it be less.
func leaves(t *testing.T, p *Peer) int {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.maxQueued != MaxQueued {
		t.Errorf("%d bytes may be left unread, expected %d", p.maxQueued, MaxQueued)
	}
	if !testsize.Full() {
		p.maxQueued = 4 << 20
	}
	return p.maxQueued
}

// TestDeaf: a side that does not read makes nobody wait for ever, and takes no memory
// without end.
func TestDeaf(t *testing.T) {
	s := face(t, "deaf", Options{Log: unlogged})
	text := strings.Repeat("x", leaves(t, s.Peer)/8)
	var err error
	for n := 0; err == nil && n < 20; n++ {
		err = s.Notify("agent/idle", []string{text})
	}
	if !errors.Is(err, ErrStalled) {
		t.Fatal(err)
	}
	if _, err := s.askSoon(t, nil); err == nil {
		t.Error("it answered")
	}
	if err := s.end(t); !errors.Is(err, ErrStalled) {
		t.Error(err)
	}
}

// TestLongest: what one peer sends another takes, up to the last byte.
func TestLongest(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1-len(`{"jsonrpc":"2.0","method":"x","params":[""]}`))
	var wire bytes.Buffer
	sender := NewPeer(strings.NewReader(""), &wire, Options{Role: frames.SenderAgent, Now: time.Now, Log: NewLog(io.Discard).Frame})
	if sender.Notify("x", []string{long[1:]}) != nil || sender.Notify("x", []string{long}) == nil {
		t.Error("the longest message is another")
	}
	if err := sender.Run(t.Context()); err != nil || wire.Len() != MaxLine+1 {
		t.Fatalf("%v, %d bytes", err, wire.Len())
	}
	heard := 0
	reader := NewPeer(&wire, io.Discard, Options{Role: frames.SenderClient, Now: time.Now, Log: NewLog(io.Discard).Frame, Notify: func(*Message) { heard++ }})
	if err := reader.Run(t.Context()); err != nil || heard != 1 || reader.Counts() != (Counts{}) {
		t.Errorf("%v, %d, %+v", err, heard, reader.Counts())
	}
}

// unlogged keeps nothing of a message, where there are megabytes of them.
func unlogged(time.Time, frames.Sender, []byte) error { return nil }

// TestReads: a side that reads may be told more than it may leave unread.
func TestReads(t *testing.T) {
	p := NewPeer(neverRead{}, io.Discard, Options{Role: frames.SenderAgent, Now: time.Now, Log: unlogged})
	most := leaves(t, p)
	text := strings.Repeat("x", most/8)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	for n := range most/len(text) + 2 {
		if err := p.Notify("x", []string{text}); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		for until := time.Now().Add(10 * time.Second); p.queue.size() > 0 && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	cancel()
	<-ended
}

// TestLines: of a line that is too long no more is kept than is read at once, and the next
// one is read.
func TestLines(t *testing.T) {
	l := lines{bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 100)+"\n\nab \nab\r\nabcde\nabcd\nabc"), 16), 4}
	var got []string
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		got = append(got, fmt.Sprint(string(line), err != nil))
	}
	if want := "[true abfalse abfalse true true abcfalse]"; fmt.Sprint(got) != want {
		t.Errorf("%v, expected %s", got, want)
	}
}

// TestOwnErrors: what an error of ours says goes to nobody, and one that is meant for the
// other side as it is.
func TestOwnErrors(t *testing.T) {
	for said, err := range map[string]error{
		`{"code":-32603,"message":"the request failed"}`: errors.New("the password is hunter2"),
		`{"code":-32001,"message":"not here"}`:           fmt.Errorf("hunter2: %w", &Error{CodeRejected, "not here"}),
	} {
		if _, fault := encoded(nil, err); encode(t, fault) != said {
			t.Errorf("%v: %+v", err, fault)
		}
	}
	if text, fault := encoded(func() {}, nil); text != nil || fault == nil || fault.Code != CodeInternal {
		t.Errorf("%s, %v", text, fault)
	}
	if text, fault := encoded(nil, nil); string(text) != "null" || fault != nil {
		t.Errorf("%s, %v", text, fault)
	}
}

// TestClosed: what is written to a side that closed its end is an error, and it ends.
func TestClosed(t *testing.T) {
	s := face(t, "closes", Options{})
	for s.Notify("agent/idle", nil) == nil && time.Now().Before(deadline(t)) {
		time.Sleep(time.Millisecond)
	}
	if err := s.end(t); err == nil {
		t.Error("no error")
	}
	if _, err := s.askSoon(t, nil); err == nil {
		t.Error("it answered")
	}
}

// TestLastAnswer: what was asked before the other side hung up is told that it did, and
// what it answers is still sent.
func TestLastAnswer(t *testing.T) {
	heard := filepath.Join(t.TempDir(), "heard")
	s := face(t, "hangs up while asked", Options{Request: func(ctx context.Context, m *Message) (any, error) {
		<-ctx.Done()
		return context.Cause(ctx).Error(), nil
	}}, "BRIDGE_HEARD="+heard)
	if err := s.end(t); err != nil {
		t.Error(err)
	}
	s.in.Close()
	s.process.Wait()
	text, err := os.ReadFile(heard)
	if want := `{"jsonrpc":"2.0","id":"last","result":"` + ErrHungUp.Error() + `"}` + "\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// TestContext: Run ends when its context does, though the other side says nothing.
func TestContext(t *testing.T) {
	s := face(t, "deaf", Options{Log: unlogged})
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	p := NewPeer(neverRead{}, s, Options{Role: frames.SenderClient, Now: time.Now, Log: NewLog(s).Frame})
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	cancel(reason)
	if err := <-ended; !errors.Is(err, reason) {
		t.Error(err)
	}
	if _, err := p.Call(t.Context(), "x", nil); !errors.Is(err, ErrHungUp) {
		t.Error(err)
	}
}

type neverRead struct{}

func (neverRead) Read([]byte) (int, error) { select {} }
