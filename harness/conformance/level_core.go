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
		probe("version_unknown", versionUnknown, "a request with an unknown version of the protocol is refused on every route, 426 unsupported_protocol_version, and changes nothing", "Version negotiation"),
		probe("absent_resources", absentResources, "a request for an absent resource is answered with 404 resource_not_found on every route", "Errors"),
		probe("bad_requests", badRequests, "a page size outside 1 to 200, a task without input, and a body that is not JSON are refused, 400 invalid_request", "Pagination; Errors; SubmitTaskRequest"),
		probe("refused_clients_learn_nothing", refusedClients, "a client without a valid key is refused on every route, learns nothing about what exists, and changes nothing", "Authentication"),
		probe("hidden_is_absent", hiddenIsAbsent, "a client can neither read nor change the resources of other clients: it gets the answer for absent resources, and no list or stream contains them", "Authentication; Errors"),
		probe("task_once", taskOnce, "one Idempotency-Key creates one task, regardless of how the body is formatted and how many requests are sent at the same time", "Idempotency"),
		probe("message_once", messageOnce, "one Idempotency-Key appends one message", "Idempotency"),
		probe("list_pages", listPages, "the pages of a list contain each item once, even if items are added in the meantime", "Pagination; PageInfo"),
		probe("event_ranges", eventRanges, "reading events range by range returns the same events as reading all of them in one request", "Pagination; after_event_id"),
		probe("stale_places", stalePlaces, "a request to continue after an event that does not exist is answered only with an error, 410 cursor_expired or an error event", "Pagination; Server-Sent Events"),
		probe("event_sequences", eventSequences, "the events of a resource are numbered without gaps, and each has a unique id", "Event; sequence"),
		probe("events_tell_states", eventsTellStates, "the events of a task report each of its states in an allowed order, and end in the state in which the task ended", "Task lifecycle"),
		probe("stream_is_the_log", streamIsLog, "a stream without a Last-Event-ID begins at the first event and contains the events of the log", "Server-Sent Events"),
		probe("stream_resumes", streamResumes, "a stream after a Last-Event-ID contains all later events and no others", "Server-Sent Events; Last-Event-ID"),
		probe("stream_goes_on", streamGoesOn, "a client that reconnects with the last id that it received misses no event and receives none twice", "Server-Sent Events; Last-Event-ID"),
		probe("ended_task_stays", endedTaskStays, "a task that has ended does not change", "Task lifecycle"),
		probe("canceled_task", canceledTaskIs, "a task that is CANCELED states when, was not completed, and has the outcome CANCELED", "Task lifecycle; Task; Outcome"),
		probe("outcome_agrees", outcomeAgrees, "a task that has ended has one outcome, which agrees with the task", "Outcome"),
		probe("artifact_digests", artifactDigests, "the sha256 of an artifact is the digest of its content, as 64 hexadecimal digits without a prefix", "Artifact; sha256"),
		probe("workspace_reads_back", workspaceReadsBack, "a workspace is returned as it was posted and changed", "POST, GET, PATCH /v1/workspaces"),
		probe("session_reads_back", sessionReadsBack, "a session is returned and listed as it was posted and changed, with its initial messages in order", "POST, GET, PATCH /v1/sessions"),
		probe("message_reads_back", messageReadsBack, "a message is returned and listed as it was posted, part by part", "POST, GET /v1/sessions/{session_id}/messages"),
		probe("task_reads_back", taskReadsBack, "a task is returned and listed with the posted input and metadata", "POST, GET /v1/sessions/{session_id}/tasks"),
		probe("artifact_reads_back", artifactReadsBack, "an artifact is returned and listed as it was registered", "POST, GET /v1/artifacts"),
		probe("unknown_ids", unknownIDs, "a request that refers to a resource that does not exist is refused and creates nothing", "Errors; SubmitTaskRequest, CreateSessionRequest, RegisterArtifactRequest"),
	}, visibilityProbes(), []Probe{
		probe("key_is_not_told", keyIsNotTold, "no answer contains an API key", "Authentication"),
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

// artifactDigests reads the content of a task's artifacts and checks their digests.
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
