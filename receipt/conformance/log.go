package conformance

import (
	"bytes"
	"context"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// logOf reads the events of a task as the log that its receipt is of.
func logOf(ctx context.Context, s *suite, task string) (*replay.Log, error) {
	list, err := eventsOfTask(ctx, s, task)
	if err != nil {
		return nil, err
	}
	var lines []byte
	for _, n := range list {
		lines = append(n.AppendCanonical(lines), '\n')
	}
	log, err := replay.ReadLog(bytes.NewReader(lines), task)
	if err != nil {
		return nil, fmt.Errorf("GET /v1/tasks/{task_id}/events: expected the log of a task that can be read, found none: %w", err)
	}
	return log, nil
}

// materials are what a receipt has as replay_input.materials, by id, but for the log.
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

// receiptCoversEvents computes the digest of the log anew.
func receiptCoversEvents(ctx context.Context, s *suite) error {
	e, g, err := plainReceipt(ctx, s)
	if err != nil {
		return err
	}
	_, material := materials(g.doc)
	if material.IsZero() {
		return g.answer.Fail("expected a material of the kind event_log, found none").Err
	}
	log, err := logOf(ctx, s, e.id)
	if err != nil {
		return err
	}
	if stated := text(material, "sha256"); stated != log.Digest.String() {
		return g.answer.Fail("expected the event_log with the SHA-256 %s, as the events have it, found %s", log.Digest, wire.Quote(stated)).Err
	}
	return nil
}
