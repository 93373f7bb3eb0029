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

// ErrLogGone indicates that a Replayer has the task, but no longer has its log.
var ErrLogGone = errors.New("serve: log of the task is no longer stored")

// A Replayer is a harness that replays its tasks. Its methods must be safe for concurrent use and
// should end early if the context is canceled. Task IDs are untrusted: a Replayer must only look
// them up, and must never open anything by such a name.
type Replayer interface {
	// Owner returns a task's owner. The server checks that the client may see it before anything is
	// replayed. The error is or wraps [ledger.ErrNotFound] if there is no such task, or describes
	// another failure.
	Owner(ctx context.Context, task string) (Owner, error)

	// Replay starts a replay and returns the ID of its new task, which no other task may have. It
	// may return before the replay has ended; the replay then continues independently of the
	// context. It is called once for all requests with the same Idempotency-Key, unless it returns
	// an error whose status is not 500. The error is or wraps
	//
	//   - a *[replay.RequestError] or a [replay.Mismatch]: the request cannot be run, 400;
	//   - a *[replay.UnavailableError]: something is missing, 404 for a checkpoint, otherwise 409;
	//   - [replay.ErrReplay], [record.ErrNotEnded]: this task cannot be replayed, 409;
	//   - [ErrLogGone], 410; [ledger.ErrNotFound], 404;
	//
	// as the functions of package replay return them, or any other error. Other errors are logged,
	// and must not contain any value from the request.
	Replay(ctx context.Context, q ReplayQuery) (task string, err error)
}

// An Owner is a task's owner, as stated in the task's receipt.
type Owner struct {
	Stream  chain.Stream // the issuer, the tenant, and the workspace
	Session string       // identifiers.session_id
}

// A ReplayQuery requests a replay.
type ReplayQuery struct {
	Task    string          // the task to replay
	Request *replay.Request // its stated digests are correct, except possibly those of artifacts

	// Once is equal for requests of which at most one may be replayed: those that one client sent
	// with the same Idempotency-Key. The Mux ensures this for a day; with Once, a harness can
	// ensure it for longer. Zero means that the request has no key.
	Once canon.Digest
}

// A task is the protocol's task resource, here for a newly submitted task.
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

// replayInput is the request without the overrides, which may be secret.
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

	// The request is checked before the task is looked up, so the response reveals nothing about
	// tasks.
	owner, err := c.s.options.Replay.Owner(c.r.Context(), c.id())
	switch {
	case err != nil:
		return ReplayError(err)
	case !c.r.Client.Reach.Sees(owner.Stream):
		return protocol.NotFound()
	}

	// The Mux calls this once for all requests with the same Idempotency-Key.
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

// replayRequest parses the body, which may be absent.
func replayRequest(c *call) (*replay.Request, error) {
	// An index of many values requires more memory than their text.
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

// ReplayError returns the response for a replay error, such as an error from a [Replayer]. A
// harness that serves the route itself can also use it. Errors without a specific response are
// reported as internal errors.
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

// unavailable names the first missing part in the form used by a failed replay. A checkpoint is a
// separate resource.
func unavailable(missing *replay.UnavailableError) *protocol.Error {
	f := protocol.Conflict(missing.Error())
	if missing.Checkpoint() {
		f = protocol.NotFound()
		f.Message, f.Param = "the log of the task has no such checkpoint", "checkpoint_id"
		if missing.EventID != "" {
			f.Param = "checkpoint_event_id"
		}
	}

	// Identifiers are truncated, because they come from the request or from the log.
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
