package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Options say what events do not. Only Issuer.ID is required. A recorder reads
// no clock and makes nothing up: the same events and options give the same draft.
type Options struct {
	Issuer    receipt.Issuer // Kind "" is harness
	ReceiptID string         // "": "receipt_" and the task's id without "task_", then "_" and the object and the id of another Subject
	IssuedAt  time.Time      // zero: when the task ended

	// TaskID names the task in a log of several: events of others are passed over
	// and counted. "": the log is of one task, and a second one is an error.
	TaskID string

	// Subject is what the receipt is about. Zero: the task, or the replay_segment for
	// a replay. Else Object is outcome, event, artifact, approval or tool_call, and ID
	// that of one of which the log tells; no event tells of an outcome, so that its ID
	// is taken as it is given.
	Subject receipt.ResourceRef

	// These take the place of what events say, or fill in what they do not.
	WorkspaceRef, SessionID, TenantID, PersonaRef, PolicyRef string

	// Tier is the persona's tier, for a task whose events name none.
	Tier string

	// WorkspaceRoot is cut off the paths of files that were written. "": absolute
	// paths lie outside the workspace.
	WorkspaceRoot string

	// Withhold, if it is not nil, returns the commitment (proof_hash) to a value that the
	// draft withholds: to a path outside the workspace. The value is JSON in RFC 8785 form.
	// The caller keeps it, and the salt.
	Withhold func(field string, value []byte) canon.Digest

	// LogURI is where the recorded events are kept. The draft names it beside
	// their digest. "": the draft has the digest alone.
	LogURI string

	// Keep, when it is not nil, gets each event that the digest in the draft covers:
	// its canonical form and a line feed. Who writes them out has the log that the
	// draft names. The bytes are only valid during the call. An error is final.
	Keep func(line []byte) error
}

// normal returns the options with their defaults, or says what is wrong.
func (o Options) normal() (Options, error) {
	if o.Issuer.ID == "" {
		return o, &OptionError{"Issuer.ID", "is empty: who issues the receipt?"}
	}
	o.Issuer.Kind = cmp.Or(o.Issuer.Kind, "harness")
	if kinds := []string{"harness", "host", "agent", "connector"}; !slices.Contains(kinds, o.Issuer.Kind) {
		return o, &OptionError{"Issuer.Kind", fmt.Sprintf("is %s, expected one of %s", event.Quote(o.Issuer.Kind), strings.Join(kinds, ", "))}
	}
	if o.Tier != "" && !slices.Contains(tiers(), o.Tier) {
		return o, &OptionError{"Tier", fmt.Sprintf("is %s, expected one of %s", event.Quote(o.Tier), strings.Join(tiers(), ", "))}
	}

	if err := checkSubject(o.Subject); err != nil {
		return o, err
	}
	if len(o.WorkspaceRoot) > 1 {
		o.WorkspaceRoot = strings.TrimRight(o.WorkspaceRoot, "/")
	}

	return o, nil
}

func tiers() []string { return []string{"shadow", "suggest", "act_with_approval", "act_auto"} }

// Objects that a receipt can be about.
const (
	objectTask     = "task"
	objectReplay   = "replay_segment"
	objectOutcome  = "outcome"
	objectEvent    = "event"
	objectArtifact = "artifact"
	objectApproval = "approval"
	objectCall     = "tool_call"
)

func objects() []string {
	return []string{objectTask, objectReplay, objectOutcome, objectEvent, objectArtifact, objectApproval, objectCall}
}

// checkSubject says what is wrong with the subject that the options name.
func checkSubject(s receipt.ResourceRef) error {
	switch {
	case s == (receipt.ResourceRef{}):
		return nil
	case !slices.Contains(objects(), s.Object):
		return &OptionError{"Subject", fmt.Sprintf("is of the object %s, expected one of %s", event.Quote(s.Object), strings.Join(objects(), ", "))}
	case s.ID == "" || len(s.ID) > event.MaxText:
		return &OptionError{"Subject", fmt.Sprintf("has an id of %d bytes, expected 1 to %d", len(s.ID), event.MaxText)}
	}
	return nil
}

// receiptIDOf is made of the task's id, and of the subject's where that is not the
// task: receipts of one task differ in their ids.
func receiptIDOf(r *run) string {
	id := "receipt_" + strings.TrimPrefix(r.task, "task_")
	if s := r.options.Subject; s.Object != "" && s.Object != objectTask && s.Object != objectReplay {
		id += "_" + s.Object + "_" + s.ID
	}
	return id
}

// subjectOf returns what the receipt is about: what the options name, when the log
// tells of it, else the task or the replay. No event tells of an outcome, so that the
// caller's word is taken for its id. told says whether the event came that is asked for.
func subjectOf(r *run, d *receipt.Draft, told bool) (receipt.ResourceRef, error) {
	own := receipt.ResourceRef{Object: objectTask, ID: r.task}
	if r.replay.is {
		own.Object = objectReplay
	}

	// The log has to tell of what the receipt is about.
	asked, found := r.options.Subject, false
	switch asked.Object {
	case "":
		return own, nil
	case objectTask, objectReplay:
		if asked != own {
			return own, &OptionError{"Subject", fmt.Sprintf("is the %s %s, expected the %s %s, of which the log is", asked.Object, event.Quote(asked.ID), own.Object, event.Quote(own.ID))}
		}
		return own, nil
	case objectOutcome:
		found = true
	case objectEvent:
		found = told
	case objectArtifact:
		found = slices.ContainsFunc(d.FinalArtifacts, func(a receipt.Artifact) bool { return a.ArtifactID == asked.ID })
	case objectApproval:
		found = slices.ContainsFunc(d.Approvals, func(a receipt.Approval) bool { return a.ApprovalID == asked.ID })
	case objectCall:
		found = slices.ContainsFunc(d.SideEffects.ToolCalls, func(c receipt.ToolCall) bool { return c.CallID == asked.ID })
	}

	if !found {
		return own, &OptionError{"Subject", fmt.Sprintf("is the %s %s, and the log tells of none with this id", asked.Object, event.Quote(asked.ID))}
	}
	return asked, nil
}

// An Error describes an event or a frame that was refused: Index, which call of Add it was,
// from 1; ID and Kind of the event; Pointer, a JSON Pointer into it; Code; and Detail. It
// holds no content of payloads.
type Error = event.Error

// A Code is the cause for which an event or a frame is refused, such as conflict, gap, or
// limit. Codes are never renamed.
type Code = event.Code

// Causes that a caller can remove, by naming the task or the session that is meant, or by
// reading the log as another kind.
const (
	CodeMalformed = event.CodeMalformed // not an event
	CodeOtherTask = event.CodeOtherTask // a second task
	CodeSession   = event.CodeSession   // a second session
)

// A LimitError describes a limit that was exceeded: its Name, Most, what it counts, what to
// do, and how many were Found.
type LimitError = event.LimitError

// A LineError is an error at a line of a log: Line, from 1, and Err, such as an *[Error].
type LineError = event.LineError

// ErrNotEnded says that no terminal event has come yet: only a task that has
// ended gets a receipt.
var ErrNotEnded = errors.New("record: the task has not ended: no task.completed, task.failed or task.canceled was recorded")

// ErrEmpty says that a log has no line.
var ErrEmpty = errors.New("record: the input is empty: expected a line for each event")

// An OptionError says that a field of Options has a value that cannot be.
type OptionError struct {
	Name   string // of the field
	Detail string // what was found and what was expected
}

// Error gives both.
func (e *OptionError) Error() string { return "record: options: " + e.Name + " " + e.Detail }

// A MissingError names what neither the events nor the options say and a receipt
// cannot do without.
type MissingError struct{ Names []string } // names of fields of Options

// Error lists the names.
func (e *MissingError) Error() string {
	return "record: neither the events nor the options say: " + strings.Join(e.Names, ", ")
}
