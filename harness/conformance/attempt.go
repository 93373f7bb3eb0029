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

// resources returns the ID of one resource of each kind, by the names that routes have.
func resources(ctx context.Context, s *suite) (map[string]string, error) {
	if s.own.resources != nil {
		return s.own.resources, nil
	}
	ids := map[string]string{}
	e, err := plainTask(ctx, s)
	if _, stuck := isSkip(err); stuck {
		e, err = new(ended), nil
		if e.session, err = newSession(ctx, s); err == nil {
			e.id, err = newTask(ctx, s, e.session, "a task of the run "+s.id)
		}
	}
	if err != nil {
		return nil, err
	}
	task := s.get(ctx, "v1/tasks/%s", e.id).Status(200).Object("task")
	if task.Err != nil {
		return nil, task.Err
	}
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
	return ids, nil
}

// offers reports whether a server claims to have a route.
func offers(ctx context.Context, s *suite, r *wire.Route) bool {
	return r.Needs == "" || able(ctx, s, r.Needs) == nil
}

// listens is how long a stream is read that may have no event.
const listens = 600 * time.Millisecond

// ask makes a request. A stream is read for a moment, and its events are the body.
func ask(ctx context.Context, client *wire.Client, r *wire.Route, q wire.Request) *wire.Answer {
	if !r.IsStream() {
		return client.Do(ctx, q)
	}
	a := &wire.Answer{Request: q}
	stream, err := wire.Open(ctx, client, q, firstFrame)
	if err != nil {
		a.Err = err
		return a
	}
	defer stream.Close()
	if stream.Answer != nil {
		return stream.Answer
	}
	stream.Quiet(listens)
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
	}
}

// streams reports whether a server has a stream.
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

// readings is what the first client reads of the routes with IDs, by route.
func readings(ctx context.Context, s *suite, ids map[string]string) (map[string]string, error) {
	read := map[string]string{}
	for _, r := range wire.Routes() {
		q, ok := r.Fill(ids)
		if r.Method != http.MethodGet || r.IsStream() || r.Open || !ok || !offers(ctx, s, &r) {
			continue
		}
		a := s.client.Do(ctx, q)
		switch {
		case a.Err != nil:
			return nil, a.Err
		case a.Is(404, 405, 406, 501):
		case !strings.Contains(r.Path, "{") || strings.Contains(r.Path, "workspace_id="): // other clients may add to it
			read[r.Path+r.Accept] = "list"
		case r.Answer == "":
			read[r.Path+r.Accept] = string(a.Body)
		default:
			read[r.Path+r.Accept] = fmt.Sprint(a.Code, a.Without("error", "request_id"))
		}
	}
	return read, nil
}

// An attempt is a request that has to be refused: of resources that exist, and the same of
// resources that do not.
type attempt struct {
	*wire.Route
	ids            map[string]string // of the resources that exist
	exists, absent wire.Request
}

// named reports whether the request names a resource.
func (t *attempt) named() bool {
	return t.exists.Path != t.absent.Path || !bytes.Equal(t.exists.Body, t.absent.Body)
}

// refusal is what an answer states, without the name of the request and the IDs in it.
func (t *attempt) refusal(s *suite, a *wire.Answer) string {
	text := strings.ReplaceAll(a.Without("error", "request_id"), s.absent(), "…")
	for name, id := range t.ids {
		if id != "" && strings.Contains(t.Path+t.Body, "{"+name+"}") {
			text = strings.ReplaceAll(text, id, "…")
		}
	}
	return fmt.Sprint(a.Code, " ", text)
}

// eachRoute makes an attempt on every route, and expects that none changes anything. Writes
// are of a task that is at work, if there are words for one.
func eachRoute(ctx context.Context, s *suite, try func(t *attempt) error) error {
	ids, err := resources(ctx, s)
	if err != nil {
		return err
	}
	work, err := atWork(ctx, s, ids)
	if err != nil {
		return err
	}
	before, err := readings(ctx, s, ids)
	if err != nil {
		return err
	}
	again, err := readings(ctx, s, ids)
	if err != nil {
		return err
	}

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
		if err := try(&attempt{&r, of, exists, absent}); err != nil {
			return err
		}
	}

	after, err := readings(ctx, s, ids)
	if err != nil {
		return err
	}
	for _, route := range slices.Sorted(maps.Keys(before)) {
		if before[route] == again[route] && before[route] != after[route] {
			return fmt.Errorf("GET /%s: expected refused requests to change nothing, found another answer", route)
		}
	}
	return work.unchanged(ctx, s)
}

// A running is a task at work in a session of its own.
type running struct {
	ids   map[string]string
	waits bool
}

func atWork(ctx context.Context, s *suite, ids map[string]string) (w *running, err error) {
	w = &running{ids: ids, waits: s.target.Script.Waits != ""}
	if !w.waits {
		return w, nil
	}
	w.ids = maps.Clone(ids)
	if w.ids["session"], err = newSession(ctx, s); err != nil {
		return nil, err
	}
	w.ids["task"], err = newTask(ctx, s, w.ids["session"], s.target.Script.Waits)
	return w, err
}

// unchanged expects that nobody canceled the task, that nothing of a refused request is in its
// session, and then cancels it.
func (w *running) unchanged(ctx context.Context, s *suite) error {
	if !w.waits {
		return nil
	}
	a := s.get(ctx, "v1/tasks/%s", w.ids["task"]).Status(200)
	if status, err := statusOfTask(a); err != nil || status == canceled {
		return a.Fail("expected refused requests to change nothing, found the task %s", status).Err
	}
	session := s.get(ctx, "v1/sessions/%s", w.ids["session"]).Status(200)
	if session.Err == nil && (text(session.Root(), "state") == "CLOSED" || session.Tells(wire.Words)) {
		session.Fail("expected refused requests to change nothing, found the session closed or with another summary")
	}
	if session.Err != nil {
		return session.Err
	}
	for _, of := range []string{"v1/sessions/%s/tasks", "v1/sessions/%s/messages"} {
		at := path(of, w.ids["session"])
		list, err := items(ctx, s, at, 200)
		if err != nil {
			return err
		}
		for _, item := range list {
			if strings.Contains(wire.Canonical(item), `"`+wire.Words+`"`) {
				return fmt.Errorf("GET /%s: expected nothing of refused requests, found %s", at, wire.Quote(text(item, "id")))
			}
		}
	}
	return cancel(ctx, s, w.ids["task"], "").Err
}
