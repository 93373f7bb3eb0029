package conformance

import (
	"bytes"
	"context"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/conformance/internal/wire"
)

// A given is a receipt as a server gave it, and what we find of it.
type given struct {
	answer *wire.Answer
	raw    []byte // the very bytes
	doc    *canon.Document
	report receipt.Report
}

// payloadOf is the receipt in a resource, or the resource that is one itself.
func payloadOf(n canon.Node) canon.Node {
	if !n.Member("schema").IsZero() {
		return n
	}
	return n.Member("wire").Member("payload")
}

// readReceipt gets a receipt, and judges its bytes.
func readReceipt(ctx context.Context, s *suite, id string) (*given, error) {
	a := s.get(ctx, "v1/receipts/%s", id).Status(200).JSON()
	payload := payloadOf(a.Root())
	if a.Err == nil && payload.Kind() != canon.KindObject {
		a.Fail("expected the receipt as wire.payload, found %s", wire.KindName(payload.Kind()))
	}
	if a.Err != nil {
		return nil, a.Err
	}
	g := &given{answer: a, raw: bytes.Clone(payload.Raw()), doc: new(canon.Document)}
	s.judge.VerifyBytes(g.raw, g.doc, &g.report)
	return g, nil
}

// receiptOf reads the receipt of a task that has ended.
func receiptOf(ctx context.Context, s *suite, e *ended) (*given, error) {
	if e.receipt == "" {
		return nil, e.task.Fail("expected a receipt_id of a task that is %s, found none", e.status).Err
	}
	return readReceipt(ctx, s, e.receipt)
}

// plainReceipt is the receipt of the plain task.
func plainReceipt(ctx context.Context, s *suite) (*ended, *given, error) {
	if err := able(ctx, s, "receipts"); err != nil {
		return nil, nil, err
	}
	e, err := plainTask(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	g, err := receiptOf(ctx, s, e)
	return e, g, err
}

// verified expects a receipt to be what was asked for.
func (g *given) verified() error {
	if g.report.Verdict == receipt.Verified {
		return nil
	}
	found := g.report.Finding()
	return g.answer.Fail("expected a receipt that is verified, found it %s: %s at %s", g.report.Verdict, found.Code, wire.Quote(found.Pointer)).Err
}

// isOfTask expects a receipt to be about a task as it ended.
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
