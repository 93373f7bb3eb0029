package conformance

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func levelCore() []Probe {
	return group(Ours, "level-core",
		probe("version_missing", versionMissing, "a request without the version of the protocol is refused, 426 unsupported_protocol_version", "Version negotiation"),
		probe("version_unknown", versionUnknown, "a request of another version of the protocol is refused, 426 unsupported_protocol_version", "Version negotiation"),
		probe("absent_resources", absentResources, "what is absent is a 404 resource_not_found, in the one form of errors", "Errors"),
		probe("bad_requests", badRequests, "a page beyond 1 to 200 items, a task without input and a body that is no JSON are refused, 400 invalid_request", "Pagination; Errors; SubmitTaskRequest"),
		probe("refused_clients_learn_nothing", refusedClients, "who is refused for want of a key is not told what exists", "Authentication"),
		probe("hidden_is_absent", hiddenIsAbsent, "what a client may not see is to it as what is absent, and in no list", "Authentication; Errors"),
		probe("task_once", taskOnce, "one Idempotency-Key makes one task, however the body is written and however many requests come at once", "Idempotency"),
		probe("message_once", messageOnce, "one Idempotency-Key appends one message", "Idempotency"),
		probe("list_pages", listPages, "the pages of a list have each item once, also when items are added meanwhile", "Pagination; PageInfo"),
		probe("event_ranges", eventRanges, "events that are read range by range are those that are read at once", "Pagination; after_event_id"),
		probe("stale_places", stalePlaces, "a place in a log that is not there is told, 410 cursor_expired or an error event, and nothing else is in its place", "Pagination; Server-Sent Events"),
		probe("event_form", eventForm, "an event has an id, a kind, a resource, a time, a sequence and a payload, and is the same wherever it is read", "Event"),
		probe("event_sequences", eventSequences, "the events of a resource are numbered without a gap, and each has an id of its own", "Event; sequence"),
		probe("events_tell_states", eventsTellStates, "the events of a task tell each of its states, in an order that is allowed, and end where the task does", "Task lifecycle"),
		probe("stream_is_the_log", streamIsLog, "a stream without a place begins at the begin, and tells the events of the log", "Server-Sent Events"),
		probe("stream_resumes", streamResumes, "a stream behind a Last-Event-ID tells all later events and no other", "Server-Sent Events; Last-Event-ID"),
		probe("stream_goes_on", streamGoesOn, "a client that comes again with the last id that it has misses no event and has none twice", "Server-Sent Events; Last-Event-ID"),
		probe("ended_task_stays", endedTaskStays, "a task that has ended stays as it ended", "Task lifecycle"),
		probe("canceled_task", canceledTaskIs, "a task that is CANCELED says when, was not completed, and has the outcome CANCELED", "Task lifecycle; Task; Outcome"),
		probe("outcome_agrees", outcomeAgrees, "a task that has ended has one outcome, which says the same of it", "Outcome"),
		probe("artifact_digests", artifactDigests, "the sha256 of an artifact is 64 hexadecimal digits without a prefix, and that of its content", "Artifact; sha256"),
		probe("key_is_not_told", keyIsNotTold, "API keys are in no answer", "Authentication"),
	)
}

func versionMissing(ctx context.Context, s *suite) error {
	return wellFormed(s.client.Do(ctx, wire.Request{Path: "v1/tasks", NoVersion: true}).Status(426).Error(protocol.CodeVersion))
}

func versionUnknown(ctx context.Context, s *suite) error {
	for _, version := range []string{oldVersion, protocol.Version + "-1", "x"} {
		if err := wellFormed(s.client.Do(ctx, wire.Request{Path: "v1/tasks", Version: version}).Status(426).Error(protocol.CodeVersion)); err != nil {
			return err
		}
	}
	return nil
}

// errorTypes are those of the protocol.
func errorTypes() []string {
	return []string{"request_error", "auth_error", "permission_error", "not_found_error", "conflict_error", "rate_limit_error", "runtime_error", "upstream_error", "server_error"}
}

// wellFormed expects the whole form of an error.
func wellFormed(a *wire.Answer) error {
	a.Members("error")
	e := a.Root().Member("error")
	kind := text(e, "type")
	switch {
	case a.Err != nil:
	case text(e, "code") == "" || text(e, "message") == "":
		a.Fail("expected texts as error.code and error.message, found one empty or none")
	case !slices.Contains(errorTypes(), kind):
		a.Fail("expected one of the protocol's nine types as error.type, found %s", wire.Quote(kind))
	case !slices.Contains(protocol.Codes(), protocol.Code(text(e, "code"))):
		a.Fail("expected one of the protocol's codes as error.code, found %s", wire.Quote(text(e, "code")))
	}
	for _, name := range []string{"param", "request_id"} {
		if n := e.Member(name); a.Err == nil && !isNull(n) && n.Kind() != canon.KindString {
			a.Fail("expected a text or null as error.%s, found %s", name, wire.KindName(n.Kind()))
		}
	}
	if n := e.Member("details"); a.Err == nil && !isNull(n) && n.Kind() != canon.KindObject {
		a.Fail("expected an object as error.details, found %s", wire.KindName(n.Kind()))
	}
	return a.Err
}

func absentResources(ctx context.Context, s *suite) error {
	absent := "conformance_absent_" + s.id
	for _, of := range []string{"tasks/%s", "sessions/%s", "messages/%s", "artifacts/%s", "events/%s", "outcomes/%s", "tasks/%s/events", "sessions/%s/messages"} {
		if err := wellFormed(s.get(ctx, "v1/"+of, absent).Status(404).Error(protocol.CodeNotFound)); err != nil {
			return err
		}
	}
	return nil
}

func badRequests(ctx context.Context, s *suite) error {
	session, err := newSession(ctx, s)
	if err != nil {
		return err
	}
	at := path("v1/sessions/%s/tasks", session)
	for _, r := range []wire.Request{
		{Path: "v1/tasks?limit=0"}, {Path: "v1/tasks?limit=201"}, {Path: "v1/tasks?limit=x"},
		{Path: at, Method: "POST", Body: []byte(`{}`)},
		{Path: at, Method: "POST", Body: []byte(`{"input":`)},
		{Path: at, Method: "POST", Body: []byte(`[]`)},
	} {
		if err := wellFormed(s.client.Do(ctx, r).Status(400).Error(protocol.CodeInvalid)); err != nil {
			return err
		}
	}
	list, err := items(ctx, s, at, 200)
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("GET /%s: expected no task of requests that were refused, found %d", at, len(list))
	}
	return err
}

// refusal is what an answer says, but for the name of the request and that of what was asked
// for.
func refusal(a *wire.Answer, id string) string {
	return fmt.Sprint(a.Code, " ", strings.ReplaceAll(a.Without("error", "request_id"), id, "…"))
}

func refusedClients(ctx context.Context, s *suite) error {
	if s.client.Key() == "" {
		return skipped("no API key was given")
	}
	e, err := plainTask(ctx, s)
	if err != nil {
		return err
	}
	wrong := s.client.As("rk_conformance_wrong_" + s.id)
	for _, client := range []*wire.Client{s.client.As(""), wrong} {
		var said [2]string
		for i, id := range []string{e.id, "conformance_absent_" + s.id} {
			a := client.Do(ctx, wire.Request{Path: path("v1/tasks/%s", id)}).Status(401, 403).Error(protocol.CodeAuth, protocol.CodeForbidden)
			if wellFormed(a) == nil && a.Tells(wrong.Key()) {
				a.Fail("expected an answer without the key that was sent, found it there")
			}
			if said[i] = refusal(a, id); i == 1 && said[0] != said[1] {
				a.Fail("expected the same of a task that is absent as of one that exists, found a difference")
			}
			if a.Err != nil {
				return a.Err
			}
		}
	}
	return nil
}

func hiddenIsAbsent(ctx context.Context, s *suite) error {
	if s.target.OtherKey == "" {
		return skipped("no key of another client was given")
	}
	e, err := plainTask(ctx, s)
	if err != nil {
		return err
	}
	stranger := s.client.As(s.target.OtherKey)
	if err := stranger.Do(ctx, wire.Request{Path: "v1/tasks"}).Status(200).List().Err; err != nil {
		return fmt.Errorf("with the other key: %w", err)
	}

	events, err := eventsOfTask(ctx, s, e.id)
	if err != nil {
		return err
	}
	artifacts, err := items(ctx, s, path("v1/artifacts?task_id=%s", e.id), 200)
	if err != nil {
		return err
	}
	event, artifact := "", ""
	if len(events) > 0 {
		event = text(events[0], "id")
	}
	if len(artifacts) > 0 {
		artifact = text(artifacts[0], "id")
	}

	absent := "conformance_absent_" + s.id
	for _, of := range []struct{ path, id string }{
		{"v1/events/%s", event}, {"v1/artifacts/%s", artifact}, {"v1/artifacts/%s/content", artifact},
		{"v1/sessions/%s/messages", e.session}, {"v1/sessions/%s/events", e.session}, {"v1/sessions/%s/events/stream", e.session},
		{"v1/tasks/%s", e.id}, {"v1/tasks/%s/events", e.id}, {"v1/tasks/%s/stream", e.id}, {"v1/tasks/%s/receipts", e.id}, {"v1/sessions/%s", e.session}, {"v1/sessions/%s/tasks", e.session},
		{"v1/outcomes/%s", text(e.task.Root(), "outcome_id")}, {"v1/receipts/%s", e.receipt}, {"v1/workspaces/%s", s.workspace},
	} {
		if of.id == "" {
			continue
		}
		hidden := stranger.Do(ctx, wire.Request{Path: path(of.path, of.id)})
		other := stranger.Do(ctx, wire.Request{Path: path(of.path, absent)})
		if hidden.Err == nil && refusal(hidden, of.id) != refusal(other, absent) {
			hidden.Fail("with the other key: expected the answer to what is absent, %d, found another, %d", other.Code, hidden.Code)
		}
		if hidden.Err != nil {
			return hidden.Err
		}
	}
	for _, of := range []string{"v1/tasks?limit=200", "v1/sessions?limit=200", "v1/outcomes?limit=200", "v1/artifacts?limit=200", path("v1/events?task_id=%s", e.id)} {
		a := stranger.Do(ctx, wire.Request{Path: of})
		for _, id := range []string{e.id, e.session} {
			if a.Tells(id) {
				return a.Fail("with the other key: expected nothing of the first client, found %s", wire.Quote(id)).Err
			}
		}
	}
	return nil
}

// artifactDigests looks at an artifact that is registered, and at those of a task.
func artifactDigests(ctx context.Context, s *suite) error {
	e, err := plainTask(ctx, s)
	if err != nil {
		return err
	}
	body := object{"kind": "log", "mime_type": "text/plain", "uri": "harn://conformance/" + s.id + "/ours.txt", "visibility": "public", "sha256": emptySHA256, "workspace_id": s.workspace}
	made := s.post(ctx, "", body, "v1/artifacts").Status(201, 200, 501)
	if made.Err == nil && made.Code != 501 && made.Equal("sha256", emptySHA256).Err != nil {
		return made.Err
	}
	if made.Err != nil {
		return made.Err
	}
	list, err := items(ctx, s, path("v1/artifacts?task_id=%s", e.id), 200)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := artifactDigest(ctx, s, a); err != nil {
			return err
		}
	}
	return nil
}

func artifactDigest(ctx context.Context, s *suite, artifact canon.Node) error {
	id, digest := text(artifact, "id"), artifact.Member("sha256")
	one := s.get(ctx, "v1/artifacts/%s", id).Status(200).Object("artifact")
	if one.Err == nil && wire.Canonical(one.Root()) != wire.Canonical(artifact) {
		one.Fail("expected the artifact that is listed, found another")
	}
	if one.Err != nil || isNull(digest) {
		return one.Err
	}
	want, err := canon.ParseDigest("sha256:" + string(bytes.ToLower(digest.Text())))
	if err != nil {
		return one.Fail("expected 64 hexadecimal digits as sha256, found %s", wire.Quote(digest.String())).Err
	}
	content := s.get(ctx, "v1/artifacts/%s/content", id)
	if content.Code == 200 && canon.Sum(content.Body) != want {
		content.Fail("expected content with the SHA-256 %s, found %s", want, canon.Sum(content.Body))
	}
	return content.Err
}

func keyIsNotTold(_ context.Context, s *suite) error {
	if found := s.watch.Found(); len(found) > 0 {
		return fmt.Errorf("%s: expected an answer without the API key, found it there, and in %d others", found[0], len(found)-1)
	}
	return nil
}
