package conformance

import (
	"bytes"
	"context"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// A given receipt is a receipt as returned by the server, together with the result of its
// verification.
type given struct {
	answer *wire.Answer
	raw    []byte // the exact bytes
	doc    *canon.Document
	report receipt.Report
}

// payloadOf returns the receipt in a resource, or the resource itself if it is a receipt.
func payloadOf(n canon.Node) canon.Node {
	if !n.Member("schema").IsZero() {
		return n
	}
	return n.Member("wire").Member("payload")
}

// readReceipt reads a receipt and verifies its bytes. A server may omit the member "wire" from the
// resource and serve the receipt only under its media type.
func readReceipt(ctx context.Context, s *suite, id string) *given {
	a := s.get(ctx, "v1/receipts/%s", id).Status(200).JSON()
	payload := payloadOf(a.Root())
	if a.Err == nil && payload.IsZero() {
		alone := s.client.Do(ctx, wire.Request{Path: path("v1/receipts/%s", id), Accept: wire.MediaReceipt})
		if alone.Is(200) && strings.HasPrefix(alone.Header.Get("Content-Type"), wire.MediaReceipt) {
			payload = alone.JSON().Root()
			a.Err = alone.Err
		}
	}
	if a.Err == nil && payload.Kind() != canon.KindObject {
		a.Fail("expected the receipt as wire.payload, found %s", wire.KindName(payload.Kind()))
	}
	must(a.Err)
	g := &given{answer: a, raw: bytes.Clone(payload.Raw()), doc: new(canon.Document)}
	s.judge.VerifyBytes(g.raw, g.doc, &g.report)
	return g
}

// receiptOf reads the receipt for a task that has ended.
func receiptOf(ctx context.Context, s *suite, e *ended) *given {
	if e.receipt == "" {
		must(e.task.Fail("expected a receipt_id of a task that is %s, found none", e.status).Err)
	}
	return readReceipt(ctx, s, e.receipt)
}

// plainReceipt returns the plain task and the receipt for it.
func plainReceipt(ctx context.Context, s *suite) (*ended, *given) {
	able(ctx, s, "receipts")
	e := plainTask(ctx, s)
	return e, receiptOf(ctx, s, e)
}

// verified expects that the receipt is verified.
func (g *given) verified() error {
	if g.report.Verdict == receipt.Verified {
		return nil
	}
	found := g.report.Finding()
	return g.answer.Fail("expected a receipt that is verified, found it %s: %s at %s", g.report.Verdict, found.Code, wire.Quote(found.Pointer)).Err
}

// isOfTask expects that the receipt identifies the given task and states its final state.
func (g *given) isOfTask(e *ended) error {
	root := g.doc.Root()
	subject, state := root.Member("subject"), text(root.Member("lifecycle"), "final_state")
	switch named := text(root.Member("identifiers"), "task_id"); {
	case named != e.id && text(subject, "id") != e.id:
		g.answer.Fail("expected a receipt of the task %s, found one of %s", wire.Quote(e.id), wire.Quote(named))
	case text(subject, "object") == "task" && text(subject, "id") != e.id:
		g.answer.Fail("expected the task %s as subject, found %s", wire.Quote(e.id), wire.Quote(text(subject, "id")))
	case state != outcomeStatus(e.status):
		g.answer.Fail("expected the final_state %s of a task that is %s, found %s", outcomeStatus(e.status), e.status, wire.Quote(state))
	}
	return g.answer.Err
}

// logOf returns the events of a task in the form of the log that the task's receipt covers.
func logOf(ctx context.Context, s *suite, task string) *replay.Log {
	var lines []byte
	for _, n := range eventsOfTask(ctx, s, task) {
		lines = append(n.AppendCanonical(lines), '\n')
	}
	log, err := replay.ReadLog(bytes.NewReader(lines), task)
	if err != nil {
		fail("GET /v1/tasks/{task_id}/events: expected the log of a task that can be read, found none: %w", err)
	}
	return log
}

// materials returns the entries of replay_input.materials, indexed by ID. The event log is returned
// separately.
func materials(doc *canon.Document) (byID map[string]canon.Node, log canon.Node) {
	byID = map[string]canon.Node{}
	for _, m := range doc.Root().Member("replay_input").Member("materials").Elements() {
		if text(m, "kind") == "event_log" {
			log = m
		} else {
			byID[text(m, "id")] = m
		}
	}
	return byID, log
}

// receiptCoversEvents recomputes the digest of the event log and compares it with the receipt.
func receiptCoversEvents(ctx context.Context, s *suite) {
	e, g := plainReceipt(ctx, s)
	_, material := materials(g.doc)
	if material.IsZero() {
		must(g.answer.Fail("expected a material of the kind event_log, found none").Err)
	}
	log := logOf(ctx, s, e.id)
	if stated := text(material, "sha256"); stated != log.Digest.String() {
		must(g.answer.Fail("expected the event_log with the SHA-256 %s, as the events have it, found %s", log.Digest, wire.Quote(stated)).Err)
	}
}
