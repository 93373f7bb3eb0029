package conformance

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// secretsAreWithheld submits a secret, and searches for it in all places where it must not appear.
func secretsAreWithheld(ctx context.Context, s *suite) {
	able(ctx, s, "receipts")
	secret := newSecret(s)
	s.watch.Hide(secret)
	words := "deploy with the token " + secret + " in the run " + s.id
	e := endedTask(ctx, s, words)

	look := func(_ *wire.Route, a *wire.Answer) {
		if a.Err == nil && a.Tells(secret) {
			a.Fail("expected a response without the submitted secret, found the secret")
		}
		must(a.Err)
	}
	look(nil, s.post(ctx, "", object{"input": words}, "v1/sessions/%s/tasks", e.session))
	if verification := s.post(ctx, "", object{}, "v1/receipts/%s/verify", e.receipt); e.receipt != "" {
		look(nil, verification)
	}
	everywhere(ctx, s, s.client, e, func(r *wire.Route, a *wire.Answer) {
		if r.Answer == "Task" || r.Answer == "Message" {
			must(a.Err) // these contain the client's own words
			return
		}
		look(r, a)
	})
}

// everywhere reads every route of a task and of its resources, as the given client.
func everywhere(ctx context.Context, s *suite, client *wire.Client, e *ended, look func(*wire.Route, *wire.Answer)) {
	task := expect(s.get(ctx, "v1/tasks/%s", e.id).Status(200))
	events := eventsOfTask(ctx, s, e.id)
	messages := items(ctx, s, path("v1/sessions/%s/messages", e.session), 200)
	artifacts := items(ctx, s, path("v1/artifacts?task_id=%s", e.id), 200)

	every := map[string][]string{"event": ids(events), "message": ids(messages), "artifact": ids(artifacts)}
	of := map[string]string{
		"task": e.id, "session": e.session, "receipt": e.receipt,
		"workspace": text(task.Root(), "workspace_id"), "outcome": text(task.Root(), "outcome_id"),
	}
	for _, r := range wire.Routes() {
		if r.Method != http.MethodGet || r.Open || !offers(ctx, s, &r) {
			continue
		}
		for _, filled := range fillings(&r, of, every) {
			q, ok := r.Fill(filled)
			if !ok {
				continue
			}
			if r.List {
				q.Path += separator(q.Path) + "limit=200"
			}
			look(&r, ask(ctx, client, &r, q))
		}
	}
}

// fillings returns the IDs to insert into a route. If the route is for a single event, message, or
// artifact, fillings returns one set of IDs for each resource of that kind. Otherwise, it returns
// only one set.
func fillings(r *wire.Route, of map[string]string, every map[string][]string) (list []map[string]string) {
	for name, ids := range every {
		if !strings.Contains(r.Path, "{"+name+"}") {
			continue
		}
		for _, id := range ids {
			filled := maps.Clone(of)
			filled[name] = id
			list = append(list, filled)
		}
		return list
	}
	return []map[string]string{of}
}

func visibilityProbes() []Probe {
	const where = "Message, Part; visibility"
	return []Probe{
		probe("internal_parts", func(ctx context.Context, s *suite) { hiddenParts(ctx, s, "internal") },
			"with a key that may read only public parts, no list, stream, event, outcome, or artifact contains an internal part", where),
		probe("receipt_only_parts", func(ctx context.Context, s *suite) { hiddenParts(ctx, s, "receipt_only") },
			"with a key that may read only public parts, a receipt_only part appears only in receipts", where),
	}
}

// hiddenParts posts parts that a client with PublicKey must not see, and searches for them as that
// client. A server may refuse such parts.
func hiddenParts(ctx context.Context, s *suite, visibility string) {
	if s.target.PublicKey == "" {
		skip("no key that sees public parts alone was given")
	}
	session := newSession(ctx, s)
	words := "hidden-" + visibility + "-" + s.id
	says := message("a public part of the run " + s.id)
	says["parts"] = append(says["parts"].([]object), object{"type": "text", "text": words, "visibility": visibility},
		object{"type": "json", "value": object{words: words}, "visibility": visibility})
	refused := false
	for _, of := range []struct {
		path string
		body object
	}{{"v1/sessions/%s/messages", object{"message": says}}, {"v1/sessions/%s/tasks", object{"input": says}}} {
		a := expect(s.post(ctx, "", of.body, of.path, session).Status(200, 201, 202, 400, 403, 422, 501))
		refused = a.Code >= http.StatusBadRequest
	}
	if refused {
		skip("the server refuses parts that are %s", visibility)
	}

	list := items(ctx, s, path("v1/sessions/%s/tasks", session), 200)
	if len(list) == 0 {
		return
	}
	e := end(ctx, s, text(list[0], "id"))
	public := s.client.As(s.target.PublicKey)
	everywhere(ctx, s, public, e, func(r *wire.Route, a *wire.Answer) {
		if inReceipt := r.Answer == "Receipt" || r.Accept != ""; inReceipt && visibility == "receipt_only" {
			must(a.Err)
			return
		}
		if r.Path == "v1/tasks/{task}" {
			a.Status(200) // the client may see the task itself
		}
		if a.Err == nil && a.Tells(words) {
			a.Fail("with the public key: expected no part that is %s, found one", visibility)
		}
		must(a.Err)
	})
}

// newSecret returns a random token that has a well-known format but grants no access.
func newSecret(s *suite) string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var b [36]byte
	if _, err := io.ReadFull(s.options.Random, b[:]); err != nil {
		fail("conformance: no randomness: %w", err)
	}
	for i, r := range b {
		b[i] = letters[r%32]
	}
	return "ghp_" + string(b[:])
}
