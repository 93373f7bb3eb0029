package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/conformance/internal/wire"
)

// secretsAreWithheld tells a secret, and looks where it must not come to be.
func secretsAreWithheld(ctx context.Context, s *suite) error {
	if err := able(ctx, s, "receipts"); err != nil {
		return err
	}
	secret, err := newSecret(s)
	if err != nil {
		return err
	}
	s.watch.Hide(secret)
	words := "deploy with the token " + secret + " in the run " + s.id
	e, err := endedTask(ctx, s, words)
	if err != nil {
		return err
	}

	look := func(a *wire.Answer) error {
		if a.Err == nil && a.Tells(secret) {
			a.Fail("expected an answer without the secret that was told, found it there")
		}
		return a.Err
	}
	for _, at := range []string{"v1/tasks/%s/events?limit=200", "v1/tasks/%s/receipts", "v1/artifacts?task_id=%s", "v1/outcomes?task_id=%s", "v1/events?task_id=%s&limit=200"} {
		if err := look(s.get(ctx, at, e.id).Status(200)); err != nil {
			return err
		}
	}
	if err := look(s.get(ctx, "v1/sessions/%s/events?limit=200", e.session).Status(200)); err != nil {
		return err
	}
	if err := look(s.post(ctx, "", object{"input": words}, "v1/sessions/%s/tasks", e.session)); err != nil {
		return err
	}
	return secretInMore(ctx, s, e, secret, look)
}

// secretInMore looks into what lists lead to.
func secretInMore(ctx context.Context, s *suite, e *ended, secret string, look func(*wire.Answer) error) error {
	if e.receipt != "" {
		if err := look(s.get(ctx, "v1/receipts/%s", e.receipt).Status(200)); err != nil {
			return err
		}
		if err := look(s.post(ctx, "", object{}, "v1/receipts/%s/verify", e.receipt).Status(200)); err != nil {
			return err
		}
	}
	artifacts, err := items(ctx, s, path("v1/artifacts?task_id=%s", e.id), 200)
	if err != nil {
		return err
	}
	for _, id := range ids(artifacts) {
		if err := look(s.get(ctx, "v1/artifacts/%s/content", id)); err != nil {
			return err
		}
	}

	events, err := eventsOfTask(ctx, s, e.id)
	if err != nil || len(events) == 0 {
		return err
	}
	frames, err := listen(ctx, s, path("v1/tasks/%s/stream", e.id), "", text(events[len(events)-1], "id"))
	if err != nil {
		return err
	}
	for _, f := range frames {
		if strings.Contains(wire.Canonical(f.Data.Root()), secret) {
			return fmt.Errorf("GET /v1/tasks/{task_id}/stream: expected no secret that was told, found it in the event %s", wire.Quote(f.ID))
		}
	}
	return nil
}

// newSecret makes up a token of a well-known form, which opens nothing.
func newSecret(s *suite) (string, error) {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var b [36]byte
	if _, err := io.ReadFull(s.options.Random, b[:]); err != nil {
		return "", fmt.Errorf("conformance: no randomness: %w", err)
	}
	for i, r := range b {
		b[i] = letters[r%32]
	}
	return "ghp_" + string(b[:]), nil
}
