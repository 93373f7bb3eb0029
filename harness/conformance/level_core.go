package conformance

import (
	"bytes"
	"context"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func levelCore() []Probe {
	return group(Ours, "level-core", slices.Concat([]Probe{
		probe("version_missing", versionMissing, "a request without the version of the protocol is refused on every route except discovery, 426 unsupported_protocol_version, and changes nothing", "Version negotiation"),
		probe("version_unknown", versionUnknown, "a request of another version of the protocol is refused on every route, 426 unsupported_protocol_version, and changes nothing", "Version negotiation"),
		probe("absent_resources", absentResources, "a request that names an absent resource is answered 404 resource_not_found on every route", "Errors"),
		probe("bad_requests", badRequests, "a page beyond 1 to 200 items, a task without input and a body that is no JSON are refused, 400 invalid_request", "Pagination; Errors; SubmitTaskRequest"),
		probe("refused_clients_learn_nothing", refusedClients, "a client without a valid key is refused on every route, learns nothing about what exists, and changes nothing", "Authentication"),
		probe("hidden_is_absent", hiddenIsAbsent, "a client can neither read nor change the resources of other clients: it gets the answer for absent resources, and no list or stream contains them", "Authentication; Errors"),
		probe("task_once", taskOnce, "one Idempotency-Key makes one task, however the body is written and however many requests come at once", "Idempotency"),
		probe("message_once", messageOnce, "one Idempotency-Key appends one message", "Idempotency"),
		probe("list_pages", listPages, "the pages of a list have each item once, also when items are added meanwhile", "Pagination; PageInfo"),
		probe("event_ranges", eventRanges, "events that are read range by range are those that are read at once", "Pagination; after_event_id"),
		probe("stale_places", stalePlaces, "a place in a log that is not there is told, 410 cursor_expired or an error event, and nothing else is in its place", "Pagination; Server-Sent Events"),
		probe("event_sequences", eventSequences, "the events of a resource are numbered without a gap, and each has an id of its own", "Event; sequence"),
		probe("events_tell_states", eventsTellStates, "the events of a task tell each of its states, in an order that is allowed, and end where the task does", "Task lifecycle"),
		probe("stream_is_the_log", streamIsLog, "a stream without a place begins at the begin, and tells the events of the log", "Server-Sent Events"),
		probe("stream_resumes", streamResumes, "a stream behind a Last-Event-ID tells all later events and no other", "Server-Sent Events; Last-Event-ID"),
		probe("stream_goes_on", streamGoesOn, "a client that comes again with the last id that it has misses no event and has none twice", "Server-Sent Events; Last-Event-ID"),
		probe("ended_task_stays", endedTaskStays, "a task that has ended stays as it ended", "Task lifecycle"),
		probe("canceled_task", canceledTaskIs, "a task that is CANCELED says when, was not completed, and has the outcome CANCELED", "Task lifecycle; Task; Outcome"),
		probe("outcome_agrees", outcomeAgrees, "a task that has ended has one outcome, which says the same of it", "Outcome"),
		probe("artifact_digests", artifactDigests, "the sha256 of an artifact is 64 hexadecimal digits without a prefix, and that of its content", "Artifact; sha256"),
		probe("workspace_reads_back", workspaceReadsBack, "a workspace is read as it was posted and changed", "POST, GET, PATCH /v1/workspaces"),
		probe("session_reads_back", sessionReadsBack, "a session is read and listed as it was posted and changed, with its first messages in their order", "POST, GET, PATCH /v1/sessions"),
		probe("message_reads_back", messageReadsBack, "a message is read and listed as it was posted, part by part", "POST, GET /v1/sessions/{session_id}/messages"),
		probe("task_reads_back", taskReadsBack, "a task is read and listed with the input and the metadata that were posted", "POST, GET /v1/sessions/{session_id}/tasks"),
		probe("artifact_reads_back", artifactReadsBack, "an artifact is read and listed as it was registered", "POST, GET /v1/artifacts"),
		probe("unknown_ids", unknownIDs, "a request that refers to a resource that does not exist is refused and creates nothing", "Errors; SubmitTaskRequest, CreateSessionRequest, RegisterArtifactRequest"),
	}, visibilityProbes(), []Probe{
		probe("key_is_not_told", keyIsNotTold, "API keys are in no answer", "Authentication"),
	})...)
}

func badRequests(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	at := path("v1/sessions/%s/tasks", session)
	for _, r := range []wire.Request{
		{Path: "v1/tasks?limit=0"}, {Path: "v1/tasks?limit=201"}, {Path: "v1/tasks?limit=x"},
		{Path: at, Method: "POST", Body: []byte(`{}`)},
		{Path: at, Method: "POST", Body: []byte(`{"input":`)},
		{Path: at, Method: "POST", Body: []byte(`[]`)},
	} {
		expect(s.client.Do(ctx, r).Status(400).Error(protocol.CodeInvalid))
	}
	if list := items(ctx, s, at, 200); len(list) > 0 {
		fail("GET /%s: expected no task of requests that were refused, found %d", at, len(list))
	}
}

// artifactDigests reads the content of the artifacts of a task.
func artifactDigests(ctx context.Context, s *suite) {
	e := plainTask(ctx, s)
	for _, a := range items(ctx, s, path("v1/artifacts?task_id=%s", e.id), 200) {
		digest := a.Member("sha256")
		if isNull(digest) {
			continue
		}
		content := s.get(ctx, "v1/artifacts/%s/content", text(a, "id"))
		want, err := canon.ParseDigest("sha256:" + string(bytes.ToLower(digest.Text())))
		switch {
		case err != nil:
			content.Fail("expected 64 hexadecimal digits as sha256, found %s", wire.Quote(digest.String()))
		case content.Code == 200 && canon.Sum(content.Body) != want:
			content.Fail("expected content with the SHA-256 %s, found %s", want, canon.Sum(content.Body))
		}
		must(content.Err)
	}
}

func keyIsNotTold(_ context.Context, s *suite) {
	if found := s.watch.Found(); len(found) > 0 {
		fail("%s: expected an answer without the API key, found it there, and in %d others", found[0], len(found)-1)
	}
}
