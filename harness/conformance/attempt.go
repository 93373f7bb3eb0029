package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
)

// resources returns the ID of one resource of each kind, indexed by the names that routes use.
func resources(ctx context.Context, s *suite) map[string]string {
	if s.own.resources != nil {
		return s.own.resources
	}
	ids := map[string]string{}
	var e *ended
	err := caught(func() { e = plainTask(ctx, s) })
	if _, stuck := isSkip(err); stuck {
		session := newSession(ctx, s)
		e = &ended{session: session, id: newTask(ctx, s, session, "a task of the run "+s.id)}
	} else {
		must(err)
	}
	task := expect(s.get(ctx, "v1/tasks/%s", e.id).Status(200).Object("task"))
	ids["task"], ids["session"], ids["receipt"] = e.id, e.session, text(task.Root(), "receipt_id")
	ids["workspace"], ids["outcome"] = text(task.Root(), "workspace_id"), text(task.Root(), "outcome_id")

	ids["event"] = text(first(s.get(ctx, "v1/tasks/%s/events", e.id).Root().Member("data")), "id")
	ids["message"] = text(first(s.get(ctx, "v1/sessions/%s/messages", e.session).Root().Member("data")), "id")
	if ids["message"] == "" {
		ids["message"] = text(s.post(ctx, "", object{"message": message("a message of the run " + s.id)}, "v1/sessions/%s/messages", e.session).Root(), "id")
	}
	ids["artifact"] = text(first(s.get(ctx, "v1/artifacts?task_id=%s", e.id).Root().Member("data")), "id")
	if ids["artifact"] == "" {
		ids["artifact"] = text(s.post(ctx, "", s.artifact(), "v1/artifacts").Root(), "id")
	}
	s.own.resources = ids
	return ids
}

// offers reports whether the server claims to support a route.
func offers(ctx context.Context, s *suite, r *wire.Route) bool {
	return r.Needs == "" || caught(func() { able(ctx, s, r.Needs) }) == nil
}

// listens is the time limit for reading a stream whose last event is unknown. surplus is the time
// for which a stream is read to detect unexpected events.
const (
	listens = 600 * time.Millisecond
	surplus = 150 * time.Millisecond
)

// ask sends a request and returns the answer. If the answer is a stream, ask reads it for a short
// time, and returns its events as the body of the answer.
func ask(ctx context.Context, client *wire.Client, r *wire.Route, q wire.Request) *wire.Answer {
	if !r.IsStream() {
		return client.Do(ctx, q)
	}
	a := &wire.Answer{Request: q}
	began := time.Now()
	stream, err := wire.Open(ctx, client, q, firstFrame)
	if err != nil {
		a.Err = err
		return a
	}
	defer stream.Close()
	if stream.Answer != nil {
		return stream.Answer
	}

	// If no events are expected, the time limit depends on how long the server took to open the
	// stream, because the server may be slow.
	slow := 4 * time.Since(began)
	last, known := lastListed(ctx, client, q)
	switch {
	case !known:
		stream.Quiet(listens)
	case last == "":
		stream.Quiet(min(max(slow, surplus), listens))
	}
	for a.Code = stream.Code; ; {
		f, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, wire.ErrQuiet):
			return a
		case err != nil:
			a.Err = err
			return a
		}
		a.Body = append(append(a.Body, wire.Canonical(f.Data.Root())...), '\n')
		if known && f.ID == last {
			stream.Quiet(surplus)
		}
	}
}

// lastListed returns the ID of the last event in the list that corresponds to a stream, and whether
// it could be determined. The ID is "" if the list is empty.
func lastListed(ctx context.Context, client *wire.Client, stream wire.Request) (id string, known bool) {
	of, filter, _ := strings.Cut(stream.Path, "?")
	of = strings.TrimSuffix(strings.TrimSuffix(of, "/stream"), "/events") + "/events"
	for range fewPages {
		q := wire.Request{Path: of + "?limit=200&" + filter}
		if id != "" {
			q.Path += "&after_event_id=" + wire.Segment(id)
		}
		a := client.Do(ctx, q)
		if !a.Is(http.StatusOK) {
			return "", false
		}
		for _, event := range a.Root().Member("data").Elements() {
			id = text(event, "id")
		}
		if !a.Root().Member("page").Member("has_more").Bool() {
			return id, true
		}
	}
	return "", false
}

// fewPages is the number of pages that are read to find the last event.
const fewPages = 10

// streams reports whether the server serves the stream of a route.
func streams(ctx context.Context, s *suite, r *wire.Route, q wire.Request) bool {
	served, known := s.own.streams[r.Path]
	if !known {
		stream, err := wire.Open(ctx, s.client, q, firstFrame)
		if served = err == nil && stream.Answer == nil; served {
			stream.Close()
		}
		s.own.streams[r.Path] = served
	}
	return served
}

// readings returns the first client's responses on the routes that contain IDs, indexed by route.
func readings(ctx context.Context, s *suite, ids map[string]string) map[string]string {
	read := map[string]string{}
	for _, r := range wire.Routes() {
		q, ok := r.Fill(ids)
		if r.Method != http.MethodGet || r.IsStream() || r.Open || !ok || !offers(ctx, s, &r) {
			continue
		}
		a := expect(s.client.Do(ctx, q))
		switch {
		case a.Is(404, 405, 406, 501):
		case !strings.Contains(r.Path, "{") || strings.Contains(r.Path, "workspace_id="): // other clients may add items to this list
			read[r.Path+r.Accept] = "list"
		case r.Answer == "":
			read[r.Path+r.Accept] = string(a.Body)
		default:
			read[r.Path+r.Accept] = fmt.Sprint(a.Code, a.Without("error", "request_id"))
		}
	}
	return read
}

// An attempt is a request that must be rejected. It is sent twice, for existing resources and for
// nonexistent ones.
type attempt struct {
	*wire.Route
	ids            map[string]string // IDs of the existing resources
	exists, absent wire.Request
}

// named reports whether the request refers to a resource.
func (t *attempt) named() bool {
	return t.exists.Path != t.absent.Path || !bytes.Equal(t.exists.Body, t.absent.Body)
}

// refusal returns the content of a response without the request ID or the IDs of resources.
func (t *attempt) refusal(s *suite, a *wire.Answer) string {
	text := strings.ReplaceAll(a.Without("error", "request_id"), s.absent(), "…")
	for name, id := range t.ids {
		if id != "" && strings.Contains(t.Path+t.Body, "{"+name+"}") {
			text = strings.ReplaceAll(text, id, "…")
		}
	}
	return fmt.Sprint(a.Code, " ", text)
}

// eachRoute calls try for every route, and expects that the attempts change nothing. If the script
// can make a task run until it is canceled, attempted writes refer to such a task.
func eachRoute(ctx context.Context, s *suite, try func(t *attempt)) {
	ids := resources(ctx, s)
	work := atWork(ctx, s, ids)
	before := readings(ctx, s, ids)
	again := readings(ctx, s, ids)

	for _, r := range wire.Routes() {
		of := ids
		if r.Method != http.MethodGet {
			of = work.ids
		}
		exists, ok := r.Fill(of)
		absent, _ := r.Fill(s.absentIDs())
		served := before[r.Path+r.Accept] != "" || r.Method != http.MethodGet || r.Open || r.IsStream() && streams(ctx, s, &r, exists)
		if !ok || !served || !offers(ctx, s, &r) {
			continue
		}
		try(&attempt{&r, of, exists, absent})
	}

	after := readings(ctx, s, ids)
	for _, route := range slices.Sorted(maps.Keys(before)) {
		if before[route] == again[route] && before[route] != after[route] {
			fail("GET /%s: expected refused requests to change nothing, found another answer", route)
		}
	}
	work.unchanged(ctx, s)
}

// A running value identifies a task that is still running, in a separate session.
type running struct {
	ids   map[string]string
	waits bool
}

func atWork(ctx context.Context, s *suite, ids map[string]string) (w *running) {
	w = &running{ids: ids, waits: s.target.Script.Waits != ""}
	if w.waits {
		w.ids = maps.Clone(ids)
		w.ids["session"] = newSession(ctx, s)
		w.ids["task"] = newTask(ctx, s, w.ids["session"], s.target.Script.Waits)
	}
	return w
}

// unchanged expects that rejected requests neither canceled the task nor changed its session. It
// then cancels the task.
func (w *running) unchanged(ctx context.Context, s *suite) {
	if !w.waits {
		return
	}
	a := s.get(ctx, "v1/tasks/%s", w.ids["task"]).Status(200)
	if status := statusOfTask(a); status == canceled {
		must(a.Fail("expected refused requests to change nothing, found the task %s", status).Err)
	}
	session := expect(s.get(ctx, "v1/sessions/%s", w.ids["session"]).Status(200))
	if text(session.Root(), "state") == "CLOSED" || session.Tells(wire.Words) {
		must(session.Fail("expected refused requests to change nothing, found the session closed or with another summary").Err)
	}
	for _, of := range []string{"v1/sessions/%s/tasks", "v1/sessions/%s/messages"} {
		at := path(of, w.ids["session"])
		for _, item := range items(ctx, s, at, 200) {
			if strings.Contains(wire.Canonical(item), `"`+wire.Words+`"`) {
				fail("GET /%s: expected nothing of refused requests, found %s", at, wire.Quote(text(item, "id")))
			}
		}
	}
	must(cancel(ctx, s, w.ids["task"], "").Err)
}
