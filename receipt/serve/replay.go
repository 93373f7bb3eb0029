package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// ErrLogGone indicates that a Replayer has a task but no longer has the log of that task.
var ErrLogGone = errors.New("serve: log of the task is no longer stored")

// A Replayer is a harness that can replay its tasks. Its methods must be safe for concurrent use
// and should return early if the context is canceled. Task IDs are untrusted: a Replayer must only
// look them up, and must never open a file or anything else under such a name.
type Replayer interface {
	// Owner returns the owner of a task. Before anything is replayed, the server checks that the
	// client may see this owner's receipts. If there is no such task, the error is or wraps
	// [ledger.ErrNotFound]; any other error describes a failure.
	Owner(ctx context.Context, task string) (Owner, error)

	// Replay starts a replay and returns the ID of the new task, which must be unique. It may
	// return before the replay has ended; the replay then continues, regardless of the context. For
	// requests with the same Idempotency-Key, it is called only once, unless it returns an error
	// that results in a status other than 500. The error is one of the following, possibly wrapped,
	// or any other error:
	//
	//   - a *[replay.RequestError] or a [replay.Mismatch] if the request cannot be run (400);
	//   - a *[replay.UnavailableError] if something is missing (404 for a checkpoint, 409
	//     otherwise);
	//   - [replay.ErrReplay] or [record.ErrNotEnded] if this task cannot be replayed (409);
	//   - [ErrLogGone] (410) or [ledger.ErrNotFound] (404).
	//
	// Any other error results in a 500 response and is logged, so it must not contain any value
	// from the request.
	Replay(ctx context.Context, q ReplayQuery) (task string, err error)
}

// An Owner describes who a task belongs to, as stated in the task's receipt.
type Owner struct {
	Stream  chain.Stream // issuer, tenant, and workspace
	Session string       // identifiers.session_id
}

// A ReplayQuery requests a replay.
type ReplayQuery struct {
	Task    string          // ID of the task to replay
	Request *replay.Request // its stated digests are correct, except possibly those of artifacts

	// Once is the same for all requests with the same Idempotency-Key from the same client. At most
	// one of these requests may start a replay. The Mux ensures this for a day; a harness can use
	// Once to ensure it for longer. The zero digest means that the request has no Idempotency-Key.
	Once canon.Digest
}

// A task represents the protocol's task resource, for a task that has just been submitted.
type task struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	CreatedAt   receipt.Time `json:"created_at"`
	UpdatedAt   receipt.Time `json:"updated_at"`
	Metadata    struct{}     `json:"metadata"`
	SessionID   string       `json:"session_id"`
	WorkspaceID string       `json:"workspace_id"`
	Status      string       `json:"status"`
	Input       replayInput  `json:"input"`
	CreatedBy   string       `json:"created_by"`
	Parent      string       `json:"parent_task_id"`
}

// replayInput is a replay request without its overrides, which may be secret.
type replayInput struct {
	Source string      `json:"source_task_id"`
	Mode   replay.Mode `json:"mode"`
}

// postReplay serves POST /v1/tasks/{id}/replay.
func postReplay(c *call) error {
	if c.s.options.Replay == nil {
		return protocol.NotFound()
	}
	request, err := replayRequest(c)
	if err != nil {
		return err
	}

	// The request is checked before the task is looked up, so that the response reveals nothing
	// about tasks.
	owner, err := c.s.options.Replay.Owner(c.r.Context(), c.id())
	switch {
	case err != nil:
		return ReplayError(err)
	case !c.r.Client.Reach.Sees(owner.Stream):
		return protocol.NotFound()
	}

	// The Mux calls this handler only once for all requests with the same Idempotency-Key.
	id, err := c.s.options.Replay.Replay(c.r.Context(), ReplayQuery{Task: c.id(), Request: request, Once: c.r.Use.Key})
	switch {
	case err != nil:
		return ReplayError(err)
	case id == "" || id == c.id():
		return protocol.Internal(errors.New("the replayer returned no new task for the replay"), "the replay could not be started")
	}

	now := receipt.At(c.s.options.Now())
	return c.json(http.StatusAccepted, task{
		ID: id, Object: "task", CreatedAt: now, UpdatedAt: now, SessionID: owner.Session, WorkspaceID: owner.Stream.Workspace,
		Status: "SUBMITTED", Input: replayInput{c.id(), request.Mode}, CreatedBy: cmp.Or(c.r.Client.Name, "anonymous"), Parent: c.id(),
	})
}

// replayRequest parses the body, which is optional.
func replayRequest(c *call) (*replay.Request, error) {
	// The turn is needed because an index of many values uses more memory than their text.
	done, err := c.turn(c.r.Context(), c.r.Bytes, stream.JSON)
	if err != nil {
		return nil, protocol.ClientClosed(err)
	}
	defer done()

	request, err := replay.ParseRequest(c.r.Bytes)
	if err != nil {
		return nil, ReplayError(err)
	}
	if wrong := request.Mismatches(); len(wrong) > 0 {
		return nil, ReplayError(wrong[0])
	}
	return request, nil
}

// ReplayError returns the error response for an error from a replay, such as an error from a
// [Replayer]. A harness that serves the route itself can use it, too. An error without a specific
// response becomes an internal error.
func ReplayError(err error) error {
	var request *replay.RequestError
	var wrong replay.Mismatch
	var missing *replay.UnavailableError
	switch {
	case errors.As(err, &request):
		return &protocol.Error{Code: protocol.CodeInvalid, Param: request.Param, Message: request.Detail}
	case errors.As(err, &wrong):
		return &protocol.Error{Code: protocol.CodeInvalid, Param: wrong.Param(), Message: fmt.Sprintf("stated %s, computed %s", wrong.Stated, wrong.Computed)}
	case errors.As(err, &missing):
		return unavailable(missing)
	case errors.Is(err, replay.ErrReplay):
		return protocol.Conflict("the task is a replay itself; replay the task that it replays")
	case errors.Is(err, record.ErrNotEnded):
		return protocol.Conflict("the task has not ended; a task is replayed after its end")
	case errors.Is(err, ErrLogGone):
		return &protocol.Error{Code: protocol.CodeExpired, Message: "the log of the task is no longer stored"}
	case errors.Is(err, ledger.ErrNotFound):
		return protocol.NotFound()
	case errors.Is(err, context.Canceled):
		return protocol.ClientClosed(err)
	}
	return protocol.Internal(err, "the task cannot be replayed")
}

// unavailable returns the error for the first missing item, with details in the form that a failed
// replay uses. A missing checkpoint is reported as a resource that was not found.
func unavailable(missing *replay.UnavailableError) *protocol.Error {
	f := protocol.Conflict(missing.Error())
	if missing.Checkpoint() {
		f = protocol.NotFound()
		f.Message, f.Param = "the log of the task has no such checkpoint", "checkpoint_id"
		if missing.EventID != "" {
			f.Param = "checkpoint_event_id"
		}
	}

	// Identifiers are truncated, because they are taken from the request or from the log.
	first := map[string]any{"object": missing.Object, "id": untrusted.Cut(missing.ID, protocol.MaxID)}
	if missing.Key != "" {
		first["override_key"] = missing.Key
	}
	if missing.EventID != "" {
		first["original_event_id"] = untrusted.Cut(missing.EventID, protocol.MaxID)
	}
	f.Details = map[string]any{"first_unavailable": first}
	return f
}
