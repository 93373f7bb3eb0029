package conformance

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// absentAnswers returns the status codes that are accepted for a write to a route that the server
// does not have.
func absentAnswers(r *wire.Route) []int {
	if r.Method == http.MethodGet {
		return nil
	}
	return []int{404, 405, 501}
}

func versionMissing(ctx context.Context, s *suite) {
	eachRoute(ctx, s, func(t *attempt) {
		q := t.exists
		q.NoVersion = true
		if t.Open {
			expect(ask(ctx, s.client, t.Route, q).Status(200))
			return
		}
		needsVersion(ctx, s, t.Route, q)
	})
}

func versionUnknown(ctx context.Context, s *suite) {
	for _, version := range []string{protocol.Version + "-1", "x"} {
		needsVersion(ctx, s, &wire.Route{Method: http.MethodGet}, wire.Request{Path: "v1/tasks", Version: version})
	}
	eachRoute(ctx, s, func(t *attempt) {
		q := t.exists
		if q.Version = oldVersion; !t.Open {
			needsVersion(ctx, s, t.Route, q)
		}
	})
}

func needsVersion(ctx context.Context, s *suite, r *wire.Route, q wire.Request) {
	a := ask(ctx, s.client, r, q).Status(append(absentAnswers(r), 426)...)
	if a.Is(426) {
		a.Error(protocol.CodeVersion)
	}
	must(a.Err)
}

func refusedClients(ctx context.Context, s *suite) {
	if s.client.Key() == "" {
		skip("no API key was given")
	}
	without := caught(func() {
		eachRoute(ctx, s, func(t *attempt) {
			if t.Open {
				expect(ask(ctx, s.client.As(""), t.Route, t.exists).Status(200))
				return
			}
			refusesKey(ctx, s, t, "")
		})
	})
	wrong := caught(func() {
		eachRoute(ctx, s, func(t *attempt) {
			if !t.Open {
				refusesKey(ctx, s, t, "rk_conformance_wrong_"+s.id)
			}
		})
	})
	must(errors.Join(without, wrong))
}

// refusesKey expects the same refusal whether or not the resource exists.
func refusesKey(ctx context.Context, s *suite, t *attempt, key string) {
	var states [2]string
	for i, q := range []wire.Request{t.exists, t.absent} {
		a := ask(ctx, s.client.As(key), t.Route, q).Status(append(absentAnswers(t.Route), 401, 403)...)
		if a.Is(401, 403) {
			a.Error(protocol.CodeAuth, protocol.CodeForbidden)
		}
		if a.Err == nil && key != "" && a.Tells(key) {
			a.Fail("expected an answer without the key that was sent, found it there")
		}
		if states[i] = t.refusal(s, a); i == 1 && states[0] != states[1] {
			a.Fail("expected the same answer for a resource that is absent as for one that exists, found a difference")
		}
		must(a.Err)
	}
}

// hiddenIsAbsent uses the other key to read and write resources that the first client created.
func hiddenIsAbsent(ctx context.Context, s *suite) {
	if s.target.OtherKey == "" {
		skip("no key of another client was given")
	}
	stranger := s.client.As(s.target.OtherKey)
	if err := stranger.Do(ctx, wire.Request{Path: "v1/tasks"}).Status(200).List().Err; err != nil {
		fail("with the other key: %w", err)
	}
	keysAreApart(ctx, s, stranger)
	eachRoute(ctx, s, func(t *attempt) {
		if t.Open || t.Method != http.MethodGet && !t.named() {
			return // the request would create a resource that belongs to the other client
		}
		a := ask(ctx, stranger, t.Route, t.exists)
		if t.named() {
			other := ask(ctx, stranger, t.Route, t.absent)
			switch {
			case a.Err != nil:
			case t.refusal(s, a) != t.refusal(s, other):
				a.Fail("with the other key: expected the response for an absent resource, %d, found another, %d", other.Code, a.Code)
			case t.Method != http.MethodGet && a.Code < http.StatusBadRequest:
				a.Fail("with the other key: expected that nothing of the first client can be changed, found %d", a.Code)
			}
		}
		tellsNothing(a, t.ids)
	})
}

// keysAreApart repeats a request from the first client as another client, with the same
// Idempotency-Key. The response for one client must not be sent to the other client.
func keysAreApart(ctx context.Context, s *suite, stranger *wire.Client) {
	session := newSession(ctx, s)
	q := wire.Request{Method: http.MethodPost, Path: path("v1/sessions/%s/messages", session), Once: "ours-" + s.id + "-apart",
		Body: encode(object{"message": message("a message of the run " + s.id)})}
	expect(s.client.Do(ctx, q).Status(200, 201).Object("message"))
	if a := stranger.Do(ctx, q); a.Err != nil || a.Code < http.StatusBadRequest {
		must(a.Fail("with the other key and an Idempotency-Key of the first client: expected no answer of that client, found %d", a.Code).Err)
	}
}

// tellsNothing expects that a response to another client contains no IDs of the first client's
// resources.
func tellsNothing(a *wire.Answer, ids map[string]string) {
	for _, name := range []string{"task", "session", "message", "artifact", "outcome", "receipt"} {
		const shortest = 8 // shorter IDs might occur by chance
		if id := ids[name]; len(id) >= shortest && a.Err == nil && a.Code < http.StatusBadRequest && a.Tells(`"`+id+`"`) {
			a.Fail("with the other key: expected nothing of the first client, found %s", wire.Quote(id))
		}
	}
	must(a.Err)
}

// absentResources requests resources that do not exist, on every route.
func absentResources(ctx context.Context, s *suite) {
	for _, r := range wire.Routes() {
		of, _, _ := strings.Cut(r.Path, "?")
		if !strings.Contains(of, "{") || !offers(ctx, s, &r) {
			continue
		}
		statuses := []int{404}
		if isCore := r.Method == http.MethodGet && r.Answer != "" && r.Answer != "Branch" && !r.IsStream(); !isCore {
			statuses = append(statuses, 405, 406, 501)
		}
		if r.List && r.Answer == "Receipt" {
			statuses = append(statuses, 200) // a server that stores only receipts cannot determine which tasks exist
		}
		q, _ := r.Fill(s.absentIDs())
		a := ask(ctx, s.client, &r, q).Status(statuses...)
		if a.Is(200) && a.Array("data").Root().Member("data").Len() == 0 {
			continue
		}
		if a.Is(404) {
			a.Error(protocol.CodeNotFound)
		}
		must(a.Err)
	}
}
