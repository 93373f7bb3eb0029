package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt"
)

type object = map[string]any

// A suite contains the state of a run, including results that later probes use.
type suite struct {
	target  Target
	options Options
	client  *wire.Client
	watch   *wire.Watch
	judge   *receipt.Verifier // verifies the receipts that the server returns
	now     func() time.Time
	id      string // ID of the run, a UUID
	note    string // note of the probe that is running

	// The protocol's own runner also keeps the following state between probes.
	advertised map[string]bool // capabilities that discovery advertised in this run
	dialect    string
	workspace  string
	session    string
	task       string
	event      string
	outcome    string
	receiptID  string

	own own
}

// usualTimeout is the timeout that the protocol's own runner uses.
const usualTimeout = 30 * time.Second

func newSuite(base string, t Target, o Options) (*suite, error) {
	if o.Timeout <= 0 {
		o.Timeout = usualTimeout
	}
	watch := new(wire.Watch)
	watch.Add(t.Key)
	watch.Add(t.OtherKey)
	watch.Add(t.PublicKey)
	s := &suite{target: t, options: o, watch: watch, now: o.Now, own: own{streams: map[string]bool{}}, client: wire.New(base, t.Key, t.Client, o.Timeout, watch), advertised: map[string]bool{}}

	// If there are no trusted keys, only the content of receipts is verified. In that case, a
	// policy with further requirements is an error, because the requirements could not be checked.
	policy := o.Policy
	if o.Trust == nil {
		policy.IntegrityOnly = true
	}
	var err error
	if s.judge, err = receipt.NewVerifier(o.Trust, policy); err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	s.id, err = s.uuid()
	return s, err
}

// uuid returns a random UUID, version 4 (RFC 9562, section 5.4).
func (s *suite) uuid() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.options.Random, b[:]); err != nil {
		return "", fmt.Errorf("conformance: no randomness: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// get requests a path.
func (s *suite) get(ctx context.Context, format string, ids ...any) *wire.Answer {
	return s.client.Do(ctx, wire.Request{Path: path(format, ids...)})
}

// post sends a value, with an Idempotency-Key if once is not empty.
func (s *suite) post(ctx context.Context, once string, body any, format string, ids ...any) *wire.Answer {
	return s.send(ctx, "POST", once, body, format, ids...)
}

func (s *suite) patch(ctx context.Context, once string, body any, format string, ids ...any) *wire.Answer {
	return s.send(ctx, "PATCH", once, body, format, ids...)
}

func (s *suite) send(ctx context.Context, method, once string, body any, format string, ids ...any) *wire.Answer {
	return s.client.Do(ctx, wire.Request{Method: method, Path: path(format, ids...), Body: encode(body), Once: once})
}

// raw is a part of a path that is already escaped.
type raw string

// path inserts IDs into a path, each as a single segment or query value.
func path(format string, ids ...any) string {
	for i, id := range ids {
		if text, ok := id.(string); ok {
			ids[i] = wire.Segment(text)
		}
	}
	return fmt.Sprintf(format, ids...)
}

// encode encodes a body of plain values, which cannot fail.
func encode(body any) []byte {
	if raw, ok := body.(json.RawMessage); ok {
		return raw
	}
	text, _ := json.Marshal(body)
	return text
}

// message returns a user message with the given text.
func message(text string) object {
	return object{"role": "user", "parts": []object{{"type": "text", "text": text, "visibility": "public"}}}
}

// meta returns metadata that marks a resource as belonging to this run.
func (s *suite) meta() object { return object{"harn_agents_conformance": true, "run_id": s.id} }

// words returns a message in which many kinds of changes can be detected, because it contains
// several scripts, escapes, numbers, and parts whose order matters.
func (s *suite) words(text string) object {
	part := func(text string) object { return object{"type": "text", "text": text, "visibility": "public"} }
	return object{"role": "user", "parts": []object{
		part(text + " of the run " + s.id), part("  3 × 4 = 12 – “naïve”, 日本語, \\ / \" <&>\n\ttabs and two  spaces "),
		{"type": "json", "visibility": "public", "value": object{"a": 9007199254740991, "b": []any{0.1, -1e21, true, nil, ""}, "c": object{}}},
	}}
}

// artifact returns an artifact in the workspace of the run.
func (s *suite) artifact() object {
	return object{
		"kind": "diff", "mime_type": "text/x-diff", "uri": "harn://conformance/" + s.id + "/ours.diff", "visibility": "public",
		"sha256": strings.TrimPrefix(canon.Sum([]byte(s.id)).String(), "sha256:"), "workspace_id": s.workspace, "metadata": s.meta(),
	}
}

// absentIDs returns IDs of resources that do not exist, indexed by kind.
func (s *suite) absentIDs() map[string]string {
	ids := map[string]string{}
	for _, name := range []string{"workspace", "session", "task", "message", "artifact", "event", "outcome", "receipt"} {
		ids[name] = s.absent()
	}
	return ids
}

// absent returns an ID that no resource has.
func (s *suite) absent() string { return "conformance_absent_" + s.id }

// wait waits for the duration d. It returns false if the context ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// These are the states of a task.
const (
	submitted = "SUBMITTED"
	working   = "WORKING"
	input     = "INPUT_REQUIRED"
	auth      = "AUTH_REQUIRED"
	completed = "COMPLETED"
	failed    = "FAILED"
	canceled  = "CANCELED"
)

// next returns the states that may follow a state, or nil if the state is unknown.
func next(state string) []string {
	switch state {
	case submitted:
		return []string{working, canceled, failed}
	case working:
		return []string{input, auth, completed, failed, canceled}
	case input, auth:
		return []string{working, failed, canceled}
	case completed, failed, canceled:
		return []string{}
	}
	return nil
}

func isTerminal(state string) bool { return state == completed || state == failed || state == canceled }

// statusOfTask expects that a task is in one of the seven states, and returns the state.
func statusOfTask(a *wire.Answer) string {
	a.Object("task").Has("status")
	status := a.Root().Member("status").String()
	if a.Err == nil && next(status) == nil {
		a.Fail("expected one of the seven states as status, found %s", wire.Quote(status))
	}
	must(a.Err)
	return status
}

// text returns a string member, or "" if the member is not a string.
func text(n canon.Node, name string) string { return n.Member(name).String() }

// first returns the first element of an array.
func first(n canon.Node) canon.Node {
	for _, e := range n.Elements() {
		return e
	}
	return canon.Node{}
}

// isNull reports whether a member is absent or null.
func isNull(n canon.Node) bool { return n.IsZero() || n.Kind() == canon.KindNull }
