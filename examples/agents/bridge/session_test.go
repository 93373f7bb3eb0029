package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	frames "github.com/receiptkit/receiptkit/receipt/record/bridge"
)

type object = map[string]any

const session = "session_1"

// A gardener is a runtime: it waters what it is told to, by a tool of its host.
type gardener struct {
	host *Peer

	mu        sync.Mutex
	inbox     Inbox
	daemon    Daemon
	catalogue Catalogue
	resumed   bool
	woken     chan struct{}
}

func newGardener() *gardener { return &gardener{woken: make(chan struct{}, 1)} }

// hear takes what the host says unasked.
func (g *gardener) hear(m *Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if said, err := ParseUserMessage(m.Method, m.Params); err == nil {
		g.inbox, _ = g.inbox.Put(said)
	}
	if m.Method == "skills/update" {
		g.catalogue = g.catalogue.Updated()
	}
	g.resumed = g.resumed || m.Method == "agent/resume"
	var woken bool
	if g.daemon, woken = g.daemon.Heard(m.Method); woken {
		select {
		case g.woken <- struct{}{}:
		default:
		}
	}
}

func (g *gardener) request(ctx context.Context, m *Message) (any, error) {
	switch {
	case FromUser(m.Method):
		g.hear(m)
		return Accept("message_1"), nil
	case m.Method != "session/prompt":
		return nil, &Error{CodeMethodNotFound, m.Method}
	}
	if err := g.prepare(ctx); err != nil {
		return nil, err
	}
	for n, plant := range []string{"beans", "cactus"} {
		g.water(ctx, fmt.Sprint("call_", n+1), plant)
	}
	if err := g.rest(ctx); err != nil {
		return nil, err
	}
	return object{"stopReason": "end_turn"}, nil
}

// prepare learns what the host has.
func (g *gardener) prepare(ctx context.Context) error {
	answer, err := g.host.Call(ctx, "host/tools/list", nil)
	if err != nil {
		return err
	}
	tools, err := ParseTools(answer)
	if err != nil || len(tools) != 2 {
		return fmt.Errorf("%+v, %w", tools, err)
	}

	search := Search{"host", "water", []string{tools[0].Name, tools[1].Name}}
	answer, err = g.host.Call(ctx, "tool_search/query", search)
	if found := search.Find(answer, err); !slices.Equal(found.Names, []string{"garden.water"}) || found.Unknown != 1 {
		return fmt.Errorf("%+v", found)
	}

	g.mu.Lock()
	asked := g.catalogue
	g.mu.Unlock()
	answer, err = g.host.Call(ctx, "skills/list", object{})
	if err != nil {
		return err
	}
	skills, err := ParseSkills(answer)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.catalogue = g.catalogue.Listed(asked, skills)
	g.mu.Unlock()
	answer, err = g.host.Call(ctx, "skills/fetch", object{"id": skills[0].ID})
	if err != nil {
		return err
	}
	skill, err := ParseSkill(answer)
	if err != nil {
		return err
	}
	m := Matching{"host", "water the beans", []string{}, []Candidate{{skill.Name, skill.Description, skill.WhenToUse, skill.Paths}}}
	answer, err = g.host.Call(ctx, "skill/match", m) // which this host has not
	if matches, why := m.Match(answer, err); why == nil || len(matches) != 1 {
		return fmt.Errorf("%+v, %w", matches, why)
	}
	return nil
}

// water asks for permission, and has the host water a plant when it is given.
func (g *gardener) water(ctx context.Context, id, plant string) {
	update := func(kind string, more object) {
		more["sessionUpdate"], more["toolCallId"] = kind, id
		g.host.Notify("session/update", object{"sessionId": session, "update": more})
	}
	args := object{"plant": plant}
	update("tool_call", object{"title": "garden.water", "status": "pending", "rawInput": args})
	p := Ask(ctx, g.host, object{
		"sessionId": session, "toolCall": object{"toolCallId": id, "title": "garden.water", "rawInput": args},
		"options": []object{{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}},
	})
	if !p.Granted {
		update("tool_call_update", object{"status": "failed", "_meta": object{"harn": object{"errorCategory": "permission_denied"}}})
		return
	}
	answer, err := g.host.Call(ctx, "builtin_call", Invoke("garden.water", args, id))
	if err != nil {
		update("tool_call_update", object{"status": "failed", "_meta": object{"harn": object{"errorCategory": CategoryOf(err)}}})
		return
	}
	update("tool_call_update", object{"status": "completed", "rawOutput": json.RawMessage(answer.Root.Member("result").Raw())})
}

// rest waits until the host lets it go, and hears what users say meanwhile.
func (g *gardener) rest(ctx context.Context) error {
	for iteration := int64(0); ; iteration++ {
		g.mu.Lock()
		if g.resumed {
			g.mu.Unlock()
			return nil
		}
		daemon, told := g.daemon.Wait(time.Now(), iteration)
		g.daemon, g.inbox = daemon, nil // what was heard needs no answer here
		g.mu.Unlock()
		if err := g.host.Notify("agent/idle", told); err != nil {
			return err
		}
		var over <-chan time.Time // of the others the host ends each
		if iteration == 0 {
			over = time.After(daemon.Left(time.Now()))
		}
		select {
		case <-over:
		case <-g.woken:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A person sits at the host.
type person struct {
	runtime *Peer
	log     *Log

	mu    sync.Mutex
	idles []Idle
	found []error
}

func (h *person) request(_ context.Context, m *Message) (any, error) {
	switch m.Method {
	case "host/tools/list":
		return []object{{"name": "garden.water", "parameters": object{"type": "object"}}, {"name": "garden.dig"}}, nil
	case "tool_search/query":
		return object{"result": object{"tool_names": []string{"garden.water", "garden.burn"}}}, nil
	case "skills/list":
		h.runtime.Notify("skills/update", nil)
		return object{"skills": []object{{"id": "watering"}}}, nil
	case "skills/fetch":
		return object{"name": "watering", "description": "How to water", "when_to_use": "water"}, nil
	case "session/request_permission":
		if m.Params.Member("toolCall").Member("rawInput").Member("plant").String() == "cactus" {
			return object{"outcome": object{"outcome": "selected", "optionId": "no"}}, nil
		}
		return object{"outcome": object{"outcome": "selected", "optionId": "yes"}}, nil
	case "builtin_call":
		return object{"litres": 2}, nil
	}
	return nil, &Error{CodeMethodNotFound, m.Method}
}

// hear says something whenever the runtime has nothing to do.
func (h *person) hear(m *Message) {
	if m.Method != "agent/idle" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	told, err := ParseIdle(m.Params)
	h.found = append(h.found, err)
	switch h.idles = append(h.idles, told); len(h.idles) {
	case 2:
		h.runtime.Notify("user_message", object{"content": "and the roses, when you are done"})
	case 3:
		go func() { // who reads does not wait for an answer
			_, err := h.runtime.Call(context.Background(), "session/inject", object{"sessionId": session, "mode": "steer", "content": "not the tulips"})
			h.mu.Lock()
			defer h.mu.Unlock()
			h.found = append(h.found, err)
		}()
	case 4:
		h.runtime.Notify("agent/resume", object{})
	}
}

// talk prompts the runtime, and says what was wrong with what it did.
func (h *person) talk(ctx context.Context) error {
	h.log.Event(time.Now(), "task.submitted", object{})
	h.log.Event(time.Now(), "task.started", object{})
	answer, err := h.runtime.Call(ctx, "session/prompt", object{"sessionId": session, "prompt": []object{{"type": "text", "text": "water the garden"}}})
	if err != nil {
		return err
	}
	h.log.Event(time.Now(), "task.completed", object{})
	h.mu.Lock()
	defer h.mu.Unlock()
	var waits []int64
	for i, told := range h.idles {
		waits = append(waits, told.BackoffMS)
		if told.Iteration != int64(i) {
			err = errors.New("it does not count")
		}
	}
	if !slices.Equal(waits, []int64{100, 500, 100, 100}) || answer.Root.Member("result").Member("stopReason").String() != "end_turn" {
		err = errors.Join(err, fmt.Errorf("%d, %s", waits, answer.Root.Raw()))
	}
	return errors.Join(append(h.found, err)...)
}

// hostMain is a host that is a process of its own; it logs to no file.
func hostMain(in io.Reader, out io.Writer) int {
	h := &person{log: NewLog(io.Discard)}
	h.runtime = NewPeer(in, out, Options{Role: frames.SenderClient, Now: time.Now, Log: h.log.Frame, Request: h.request, Notify: h.hear})
	ctx, hangUp := context.WithCancel(context.Background())
	var err error
	go func() { err = h.talk(ctx); hangUp() }()
	h.runtime.Run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		return 1
	}
	return 0
}

// runtimeMain is a runtime that is a process of its own, with a log of its own.
func runtimeMain(in io.Reader, out io.Writer) int {
	file, err := os.Create(os.Getenv("BRIDGE_LOG"))
	if err != nil {
		return 5
	}
	g := newGardener()
	g.host = NewPeer(in, out, Options{Role: frames.SenderAgent, Now: time.Now, Log: NewLog(file).Frame, Request: g.request, Notify: g.hear})
	if g.host.Run(context.Background()) != nil || file.Close() != nil {
		return 6
	}
	return 0
}

// recorded is the draft of a receipt of what a log has.
func recorded(t *testing.T, log string) *receipt.Draft {
	t.Helper()
	l, err := record.Read(strings.NewReader(log), recording(), record.FormFrames)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if c := l.Counts.Frames; c.Unknown+c.Unmatched+c.OtherSessions != 0 {
		t.Errorf("%+v", c)
	}
	return l.Draft
}

func recording() record.Options {
	return record.Options{Issuer: receipt.Issuer{ID: "harness_example_cloud"}, TaskID: "task_garden", WorkspaceRef: "garden", Tier: "act_with_approval"}
}

// TestSession: two processes talk over pipes, the one and the other way around, and of
// what passed each has a log from which a receipt is made that says what was done.
func TestSession(t *testing.T) {
	var told []string // by receipts

	t.Run("the runtime is the process", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "frames.jsonl")
		h := &person{}
		ready := make(chan struct{})
		s := face(t, "runtime", Options{Role: frames.SenderClient, Request: h.request, Notify: func(m *Message) { <-ready; h.hear(m) }}, "BRIDGE_LOG="+file)
		h.runtime, h.log = s.Peer, NewLog(io.Discard)
		close(ready)
		if err := h.talk(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.in.Close()
		if err := s.process.Wait(); err != nil {
			t.Fatal(err)
		}
		own, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, check(t, recorded(t, string(own))), check(t, recorded(t, s.logged())))
		leaveOut(t, string(own))
	})

	t.Run("the host is the process", func(t *testing.T) {
		g := newGardener()
		ready := make(chan struct{})
		s := face(t, "host", Options{Request: func(ctx context.Context, m *Message) (any, error) { <-ready; return g.request(ctx, m) }, Notify: g.hear})
		g.host = s.Peer
		close(ready)
		if err := s.end(t); err != nil {
			t.Error(err)
		}
		if err := s.process.Wait(); err != nil {
			t.Fatal(err)
		}
		told = append(told, check(t, recorded(t, s.logged())))
	})
	if len(slices.Compact(told)) != 1 {
		t.Errorf("two logs of the same tell two things: %s", strings.Join(told, "\n"))
	}
}

// check: the receipt says what was done, and no more. It returns what it says.
func check(t *testing.T, d *receipt.Draft) string {
	t.Helper()
	if _, err := receipt.Seal(d, chain.Head{}); err != nil {
		t.Fatal(err)
	}
	calls, approvals := d.SideEffects.ToolCalls, d.Approvals
	if d.Lifecycle.FinalState != "SUCCEEDED" || len(calls) != 2 || len(approvals) != 2 {
		t.Fatalf("%+v, %+v, %+v", d.Lifecycle, calls, approvals)
	}
	if c := calls[0]; c.CallID != "call_1" || c.Tool != "garden.water" || c.Status != "succeeded" ||
		c.InputHash != canon.Sum([]byte(`{"plant":"beans"}`)) || c.OutputHash != canon.Sum([]byte(`{"litres":2}`)) {
		t.Errorf("%+v", c)
	}
	if c := calls[1]; c.CallID != "call_2" || c.Status != "canceled" || !c.OutputHash.IsZero() {
		t.Errorf("%+v", c)
	}
	if approvals[0].Decision != "approved" || approvals[1].Decision != "denied" {
		t.Errorf("%+v", approvals)
	}
	for _, at := range []string{"/approvals/0/actor", "/cost/total", "/model_route/chosen_model"} { // no message tells
		if !slices.Contains(d.Metadata["unreported"].([]any), any(at)) {
			t.Errorf("%s is told: %v", at, d.Metadata["unreported"])
		}
	}
	return strings.Join(claims(d), " ")
}

// claims are what somebody could rely on.
func claims(d *receipt.Draft) (list []string) {
	for _, c := range d.SideEffects.ToolCalls {
		for _, hash := range []string{fmt.Sprint("in ", c.InputHash), fmt.Sprint("out ", c.OutputHash)} {
			list = append(list, c.CallID+" "+hash)
		}
		if c.Status == "succeeded" {
			list = append(list, c.CallID+" succeeded")
		}
	}
	for _, a := range d.Approvals {
		if a.Decision == "approved" {
			list = append(list, a.ApprovalID+" approved "+a.Action)
		}
	}
	return append(list, d.Lifecycle.FinalState)
}

// leaveOut: without any one of the messages nothing more is claimed, and without an answer
// there is no approval.
func leaveOut(t *testing.T, log string) {
	t.Helper()
	all := claims(recorded(t, log))
	lines := strings.SplitAfter(strings.TrimSpace(log), "\n")
	drafts := 0
	for i := range lines {
		l, err := record.Read(strings.NewReader(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")), recording(), record.FormFrames)
		if err != nil {
			continue // such as without its end
		}
		drafts++
		for _, claim := range claims(l.Draft) {
			if !slices.Contains(all, claim) && !strings.HasSuffix(claim, " <nil>") && !strings.HasSuffix(claim, "{}") {
				t.Errorf("without %s: %s", lines[i], claim)
			}
		}
	}
	if drafts < len(lines)-4 {
		t.Errorf("%d drafts of %d lines", drafts, len(lines))
	}
}

// TestHostEnds: a runtime whose host is gone ends by itself, and its log is whole: with the
// end of the task when it could still say that, and without any claim of one otherwise.
func TestHostEnds(t *testing.T) {
	for name, whole := range map[string]bool{"it hangs up": false, "it is gone": true} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "frames.jsonl")
			h := &person{log: NewLog(io.Discard)}
			var s *side
			ready, asked := make(chan struct{}), make(chan struct{})
			s = face(t, "runtime", Options{Role: frames.SenderClient, Notify: h.hear, Request: func(ctx context.Context, m *Message) (any, error) {
				<-ready
				if m.Method != "session/request_permission" {
					return h.request(ctx, m)
				}
				s.in.Close()
				if whole {
					s.out.Close()
				}
				close(asked)
				<-ctx.Done()
				return nil, ctx.Err()
			}}, "BRIDGE_LOG="+file)
			h.runtime = s.Peer
			close(ready)
			go h.talk(t.Context())
			<-asked
			s.end(t)
			if s.process.Wait(); !s.process.ProcessState.Exited() { // by no signal
				t.Error(s.process.ProcessState)
			}

			own, err := os.ReadFile(file)
			if err != nil || !bytes.HasSuffix(own, []byte("\n")) {
				t.Fatalf("%q, %v", own, err)
			}
			l, err := record.Read(bytes.NewReader(own), recording(), record.FormFrames)
			if err != nil && !whole {
				t.Fatal(err)
			}
			if err == nil && (l.Draft.Lifecycle.FinalState != "FAILED" || slices.ContainsFunc(claims(l.Draft), func(c string) bool { return strings.Contains(c, "approved") || strings.Contains(c, "succeeded") })) {
				t.Errorf("%+v", claims(l.Draft))
			}
		})
	}
}

// TestLive: a recorder in the place of a log gets the same, and one that refuses a message
// ends the connection: nothing passes of which no receipt could tell.
func TestLive(t *testing.T) {
	live, err := record.NewFrames(recording())
	if err != nil {
		t.Fatal(err)
	}
	g := newGardener()
	ready := make(chan struct{})
	s := face(t, "host", Options{Log: live.Add, Request: func(ctx context.Context, m *Message) (any, error) { <-ready; return g.request(ctx, m) }, Notify: g.hear})
	g.host = s.Peer
	close(ready)
	if err := s.end(t); err != nil {
		t.Error(err)
	}
	d, err := live.Draft()
	if err != nil {
		t.Fatal(err)
	}
	check(t, d)

	full := errors.New("the disk is full")
	var out bytes.Buffer
	p := NewPeer(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n"), &out, Options{
		Role: frames.SenderAgent, Now: time.Now, Log: func(time.Time, frames.Sender, []byte) error { return full },
		Request: func(context.Context, *Message) (any, error) { t.Error("it was done"); return nil, nil },
	})
	if err := p.Run(t.Context()); !errors.Is(err, full) || out.Len() > 0 {
		t.Errorf("%v, %s", err, &out)
	}
	if err := p.Notify("x", nil); !errors.Is(err, full) {
		t.Error(err)
	}
}
