package record_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
)

// TestDrafts verifies that the events and the frames of a task produce the same draft, which must
// equal the draft in testdata byte for byte.
func TestDrafts(t *testing.T) {
	for _, s := range scenarios() {
		events := read(t, s.options(), s.read(t, ".jsonl"), record.FormUnknown)
		got := asJSON(t, events.Draft)
		if *update {
			if err := os.WriteFile(filepath.Join("testdata", s.name+".draft.json"), []byte(got+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := strings.TrimSpace(string(s.read(t, ".draft.json"))); got != want {
			t.Errorf("%s: another draft; look at it and run go test -update\n%s", s.name, differ(got, want))
		}
		if c := events.Counts; c.UnknownMembers != 0 || c.Unknown > 1 { // the table must contain every member in these logs
			t.Errorf("%s: %+v", s.name, c)
		}
		frames := read(t, s.options(), s.read(t, ".frames.jsonl"), record.FormUnknown)
		if events.Form != record.FormEvents || frames.Form != record.FormFrames {
			t.Errorf("%s: %v and %v", s.name, events.Form, frames.Form)
		}
		if other := asJSON(t, frames.Draft); other != got {
			t.Errorf("%s: the frames give another draft\n%s", s.name, differ(other, got))
		}
	}
}

// TestFramesMakeTheLog verifies that the events from frames equal the manually written events, and
// that the digest in the draft covers these events.
func TestFramesMakeTheLog(t *testing.T) {
	for _, s := range scenarios() {
		var want, got []byte
		for _, line := range s.lines(t) {
			doc, err := canon.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			want = append(doc.AppendCanonical(want), '\n')
			if kind := doc.Root().Member("event").String(); kind == "task.completed" || kind == "task.failed" || kind == "task.canceled" {
				break // the digest does not cover later events
			}
		}
		o := s.options()
		o.Keep = func(line []byte) error {
			got = append(got, line...)
			return nil
		}
		f, err := record.NewFrames(o)
		if err != nil {
			t.Fatal(err)
		}
		eachFrame(t, f, s.read(t, ".frames.jsonl"))
		if string(got) != string(want) {
			t.Errorf("%s: other events\n%s", s.name, differ(string(got), string(want)))
		}
		d, err := f.Draft()
		if err != nil {
			t.Fatal(err)
		}
		if s.name == "replay" { // the draft refers to the log of the replayed task
			if m := d.ReplayInput.Materials[0]; !m.SHA256.IsZero() || m.ID != "event_log:task_01K0RUN" {
				t.Errorf("%+v", m)
			}
			continue
		}
		if d.ReplayInput.Materials[0].SHA256 != canon.Sum(got) {
			t.Errorf("%s: the digest is not that of the events", s.name)
		}
	}
}

// eachFrame passes the lines of a log with frames to the methods of Frames.
func eachFrame(t *testing.T, f *record.Frames, text []byte) {
	t.Helper()
	for line := range bytes.Lines(text) {
		doc, err := canon.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		root := doc.Root()
		at, err := receipt.ParseTime(root.Member("at").Text())
		if err != nil {
			t.Fatal(err)
		}
		if frame := root.Member("frame"); !frame.IsZero() {
			err = f.Add(at, bridge.Sender(root.Member("from").String()), frame.Raw())
		} else {
			err = f.Event(at, root.Member("event").String(), root.Member("payload").Raw())
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

// TestSealSignVerify verifies that the drafts can be turned into receipts that are verified without
// a warning.
func TestSealSignVerify(t *testing.T) {
	signer, trust := issuerKey(t)
	v, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	head := chain.Head{}
	for _, s := range scenarios() {
		d := read(t, s.options(), s.read(t, ".jsonl"), record.FormEvents).Draft
		sealed, err := receipt.Seal(d, head)
		if err != nil {
			t.Fatal(err)
		}
		if sealed, err = sealed.Sign(t.Context(), signer); err != nil {
			t.Fatal(err)
		}
		head = sealed.Head()
		if _, err := v.Open(sealed.JSON()); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		doc, rep := new(canon.Document), new(receipt.Report)
		v.VerifyBytes(sealed.JSON(), doc, rep)
		for _, w := range rep.Warnings {
			if (s.name == "run" || s.name == "canceled") && w.Code == "counts_differ" { // a denied call is listed, but it was not dispatched
				continue
			}
			t.Errorf("%s: warning %s at %s: %s", s.name, w.Code, w.Pointer, w.Detail)
		}
		fromJSON, err := canon.Parse([]byte(asJSON(t, d)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receipt.SealDocument(fromJSON, chain.Head{}); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// TestEveryKind verifies that the logs in testdata contain every kind of event in the protocol.
func TestEveryKind(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		for _, line := range s.lines(t) {
			doc, err := canon.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			seen[doc.Root().Member("event").String()] = true
		}
	}
	upstream := strings.Fields(`
		user.message user.input_submitted user.tool_confirmation user.cancel_requested
		agent.message agent.reasoning_summary agent.tool_use agent.tool_result agent.mcp_tool_use agent.handoff agent.memory_read agent.memory_write
		task.submitted task.started task.input_required task.auth_required task.completed task.failed task.canceled task.status_changed
		session.created session.closed session.message_appended session.compacted session.truncated session.thread_forked session.thread_merged session.replayed
		branch.created branch.updated branch.merged branch.abandoned
		artifact.created artifact.updated artifact.linked artifact.redacted
		span.started span.updated span.completed span.failed
		tool.requested tool.approval_required tool.approved tool.denied tool.completed tool.failed
		connector.delivery_received connector.delivery_deduped connector.normalized connector.task_submitted connector.failed
		receipt.issued receipt.verified receipt.verification_failed
		replay.started replay.event_replayed replay.completed replay.failed`)
	if len(upstream) != 58 {
		t.Fatalf("%d kinds", len(upstream))
	}
	upstream = append(upstream, record.KindNames()...)
	for _, kind := range upstream {
		if !seen[kind] {
			t.Errorf("no log has %s", kind)
		}
	}
}

// TestNoReasoning verifies that no draft contains a model's reasoning.
func TestNoReasoning(t *testing.T) {
	for _, s := range scenarios() {
		for _, suffix := range []string{".jsonl", ".frames.jsonl"} {
			got := asJSON(t, read(t, s.options(), s.read(t, suffix), record.FormUnknown).Draft)
			for _, thought := range []string{"never in a receipt", "never see this thought"} {
				if strings.Contains(got, thought) {
					t.Errorf("%s%s: the draft holds %q", s.name, suffix, thought)
				}
			}
		}
	}
}
