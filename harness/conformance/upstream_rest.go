package conformance

import (
	"bytes"
	"context"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func authProbes() []Probe {
	return group(Upstream, "auth-and-scopes",
		probe("authenticated_request_succeeds", withKey, "a request with an API key is accepted", "Authentication"),
		probe("missing_auth_rejected", withoutKey, "a request without an API key is refused, 401 or 403, and the answer contains no key", "Authentication; Errors"),
		probe("unsupported_protocol_version_rejected", otherVersion, "an unsupported version of the protocol is refused, 426", "Version negotiation"),
	)
}

func withKey(ctx context.Context, s *suite) {
	if s.client.Key() == "" {
		skip("no API key was given")
	}
	expect(s.get(ctx, "v1/tasks").Status(200).List())
}

func withoutKey(ctx context.Context, s *suite) {
	a := s.client.Do(ctx, wire.Request{Path: "v1/tasks", NoKey: true}).Status(401, 403).Error(protocol.CodeAuth, protocol.CodeForbidden)
	if key := s.client.Key(); key != "" && a.Tells(key) {
		a.Fail("expected an answer without the API key, found it there")
	}
	must(a.Err)
}

// oldVersion is a protocol version that never existed.
const oldVersion = "agents-protocol-1900-01-01"

func otherVersion(ctx context.Context, s *suite) {
	expect(s.client.Do(ctx, wire.Request{Path: "v1/tasks", Version: oldVersion}).Status(426).Error(protocol.CodeVersion))
}

func rangeProbes() []Probe {
	const where = "Replay level; GET /v1/tasks/{task_id}/events"
	return group(Upstream, "replay",
		probe("event_range_is_byte_deterministic", sameRange, "repeated reads return the same events of a task", where),
		probe("event_resume_cursor", resumeRange, "reading continues after an event that the client already has", where),
	)
}

// advertises skips the probe unless discovery advertised a capability in this run.
func advertises(s *suite, capability string) {
	if !s.advertised[capability] {
		skip("discovery did not advertise %s in this run", capability)
	}
}

func sameRange(ctx context.Context, s *suite) {
	advertises(s, "replay")
	id := ensureTask(ctx, s)
	lasts, stop := context.WithTimeout(ctx, min(s.client.Timeout(), pollLasts))
	defer stop()
	one := expect(s.get(ctx, "v1/tasks/%s/events", id).Status(200).JSON())
	for {
		two := expect(s.get(ctx, "v1/tasks/%s/events", id).Status(200).JSON())
		if wire.Canonical(one.Root()) == wire.Canonical(two.Root()) {
			return
		}
		// The task may be running, and an event about the receipt may follow its end.
		if !extends(one.Root().Member("data"), two.Root().Member("data")) || !wait(lasts, pollEvery) {
			must(two.Fail("expected the events that were read before, found others").Err)
		}
		one = two
	}
}

// extends reports whether a list consists of all items of the list before and some more.
func extends(before, list canon.Node) bool {
	var items []string
	for _, n := range before.Elements() {
		items = append(items, wire.Canonical(n))
	}
	for i, n := range list.Elements() {
		if i < len(items) && wire.Canonical(n) != items[i] {
			return false
		}
	}
	return list.Len() > len(items)
}

func resumeRange(ctx context.Context, s *suite) {
	advertises(s, "replay")
	id := ensureTask(ctx, s)
	list := s.get(ctx, "v1/tasks/%s/events", id).Status(200).List()
	from := text(first(list.Root().Member("data")), "id")
	if list.Err == nil && from == "" {
		list.Fail("expected an event with an id, found none")
	}
	must(list.Err)
	expect(s.get(ctx, "v1/tasks/%s/events?after_event_id=%s", id, from).Status(200).List())
}

func receiptProbes() []Probe {
	return group(Upstream, "receipts",
		probe("task_receipts", taskReceipts, "the receipts of a task are listed and read", "GET /v1/tasks/{task_id}/receipts, GET /v1/receipts/{receipt_id}"),
		probe("receipt_verification", receiptVerification, "the server reports whether a receipt is valid and when it was checked", "POST /v1/receipts/{receipt_id}/verify"),
	)
}

func taskReceipts(ctx context.Context, s *suite) {
	advertises(s, "receipts")
	id := ensureTask(ctx, s)
	list := s.get(ctx, "v1/tasks/%s/receipts", id).Status(200).List()
	item := first(list.Root().Member("data"))
	switch {
	case list.Err != nil:
	case item.IsZero():
		list.Fail("expected a receipt, found none")
	case text(item, "object") != "receipt" || text(item, "id") == "":
		list.Fail("expected the object \"receipt\" with an id, found %s", wire.Quote(text(item, "object")))
	}
	must(list.Err)
	s.receiptID = text(item, "id")
	expect(s.get(ctx, "v1/receipts/%s", s.receiptID).Status(200).Object("receipt").Has("format"))
}

func receiptVerification(ctx context.Context, s *suite) {
	advertises(s, "receipts")
	if s.receiptID == "" {
		taskReceipts(ctx, s)
	}
	expect(s.post(ctx, s.id+"-receipt-verify", object{}, "v1/receipts/%s/verify", s.receiptID).Status(200).Bool("valid").Has("checked_at"))
}

func vaultProbes() []Probe {
	return group(Upstream, "vaults", probe("vault_crud", vault, "a vault never returns the secrets that it contains", "POST, GET /v1/vaults"))
}

func vault(ctx context.Context, s *suite) {
	ensureWorkspace(ctx, s)
	body := object{"workspace_id": s.workspace, "provider": "conformance-oauth", "capabilities": []string{"oauth_refresh"}, "metadata": s.meta()}
	made := s.post(ctx, s.id+"-vault", body, "v1/vaults").Status(201, 200, 501)
	if made.Is(501) {
		skip("vaults are not implemented")
	}
	expect(made.Object("vault").Has("id"))
	for _, name := range []string{"access_token", "refresh_token", "client_secret", "private_key"} {
		if bytes.Contains(made.Body, []byte(name)) {
			must(made.Fail("expected no %s in a vault, found one", name).Err)
		}
	}
	expect(s.get(ctx, "v1/vaults/%s", text(made.Root(), "id")).Status(200))
}

func outcomeProbes() []Probe {
	return group(Upstream, "outcomes", probe("outcome_reads", outcomes, "outcomes are listed and read", "GET /v1/outcomes, GET /v1/outcomes/{outcome_id}"))
}

func outcomes(ctx context.Context, s *suite) {
	ensureTask(ctx, s)
	list := expect(s.get(ctx, "v1/outcomes").Status(200).List())
	id := s.outcome
	if id == "" {
		id = text(first(list.Root().Member("data")), "id")
	}
	if id == "" {
		skip("there is no outcome")
	}
	expect(s.get(ctx, "v1/outcomes/%s", id).Status(200).Object("outcome").Has("status"))
}

func webhookProbes() []Probe {
	return group(Upstream, "webhooks", probe("webhook_connector_shape", webhooks, "a connector with a webhook lists the kinds of events that it delivers", "GET /v1/connectors"))
}

func webhooks(ctx context.Context, s *suite) {
	list := s.get(ctx, "v1/connectors").Status(200, 501)
	if list.Is(501) {
		skip("connectors are not implemented")
	}
	expect(list.List())
	for i, c := range list.Root().Member("data").Elements() {
		if !hasWebhook(c) {
			continue
		}
		if text(c, "object") != "connector" || c.Member("event_kinds").Kind() != canon.KindArray {
			list.Fail("expected the object \"connector\" with event_kinds as item %d, found %s", i, wire.Quote(text(c, "object")))
		}
		must(list.Err)
		return
	}
	skip("no connector has a webhook")
}

func hasWebhook(connector canon.Node) bool {
	if !connector.Member("webhook").IsZero() {
		return true
	}
	for _, kind := range connector.Member("event_kinds").Elements() {
		if bytes.Contains(kind.Text(), []byte("webhook")) {
			return true
		}
	}
	return false
}
