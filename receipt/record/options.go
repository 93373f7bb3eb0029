package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Options contains values that are not in the events. Only Issuer.ID is required. A recorder reads
// no clock and no other input, so the same events and options produce the same draft.
type Options struct {
	Issuer receipt.Issuer // Kind defaults to harness

	// ReceiptID is the ID of the receipt. The default is "receipt_" followed by the task ID without
	// its prefix "task_". If Subject is neither the task nor the replay_segment, "_", its object,
	// "_", and its ID are appended.
	ReceiptID string

	IssuedAt time.Time // default: the end of the task

	// Title is the task's title for human readers, a line of at most MaxTitle characters. The draft
	// contains it as metadata.title, unless it is empty.
	Title string

	// TaskID selects a task in a log that contains several tasks. Events of other tasks are skipped
	// and counted. If it is empty, the log must contain only one task, and events of a second task
	// are an error.
	TaskID string

	// Subject is the subject of the receipt. The default is the task or, for a replay, its
	// replay_segment. Any other subject must be an outcome, event, artifact, approval, or
	// tool_call, and the log must contain such an object with this ID. The ID of an outcome is not
	// checked, because no event records outcomes.
	Subject receipt.ResourceRef

	// These values override the values in events, or supply missing values.
	WorkspaceRef, SessionID, TenantID, PersonaRef, PolicyRef string

	// Tier is the persona's tier, which is used if no event contains a tier.
	Tier string

	// WorkspaceRoot is the directory prefix that is removed from the paths of written files. If it
	// is empty, all absolute paths are treated as outside the workspace.
	WorkspaceRoot string

	// Withhold, if not nil, returns the commitment (proof_hash) to a withheld value, which is
	// always a path outside the workspace. The value is JSON in RFC 8785 form. The caller must
	// store the value and the salt.
	Withhold func(field string, value []byte) canon.Digest

	// LogURI is the location of the recorded events. Unless it is empty, the draft contains this
	// location in addition to the digest of the events.
	LogURI string

	// Keep, if not nil, receives each event that the digest in the draft covers, in canonical form
	// and followed by a line feed. Together, these bytes are the log to which the draft refers. The
	// bytes are valid only during the call. An error that Keep returns is permanent.
	Keep func(line []byte) error
}

// normal returns the options with defaults applied, or an error if an option is invalid.
func (o Options) normal() (Options, error) {
	if o.Issuer.ID == "" {
		return o, &OptionError{"Issuer.ID", "is empty: the issuer of the receipt is missing"}
	}
	o.Issuer.Kind = cmp.Or(o.Issuer.Kind, "harness")
	if kinds := []string{"harness", "host", "agent", "connector"}; !slices.Contains(kinds, o.Issuer.Kind) {
		return o, &OptionError{"Issuer.Kind", fmt.Sprintf("is %s, expected one of %s", event.Quote(o.Issuer.Kind), strings.Join(kinds, ", "))}
	}
	if o.Tier != "" && !slices.Contains(tiers(), o.Tier) {
		return o, &OptionError{"Tier", fmt.Sprintf("is %s, expected one of %s", event.Quote(o.Tier), strings.Join(tiers(), ", "))}
	}

	if utf8.RuneCountInString(o.Title) > MaxTitle || strings.ContainsFunc(o.Title, unicode.IsControl) || !utf8.ValidString(o.Title) {
		return o, &OptionError{"Title", fmt.Sprintf("is not a line of at most %d characters", MaxTitle)}
	}
	if err := checkSubject(o.Subject); err != nil {
		return o, err
	}
	if len(o.WorkspaceRoot) > 1 {
		o.WorkspaceRoot = strings.TrimRight(o.WorkspaceRoot, "/")
	}

	return o, nil
}

// MaxTitle is the maximum number of characters in a title.
const MaxTitle = 200

func tiers() []string { return []string{"shadow", "suggest", "act_with_approval", "act_auto"} }

// Objects that can be the subject of a receipt.
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

// checkSubject returns an error if the subject in the options is invalid.
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

// receiptIDOf returns the default ID of the receipt. Receipts for different subjects of one task
// have different IDs.
func receiptIDOf(r *run) string {
	id := "receipt_" + strings.TrimPrefix(r.task, "task_")
	if s := r.options.Subject; s.Object != "" && s.Object != objectTask && s.Object != objectReplay {
		id += "_" + s.Object + "_" + s.ID
	}
	return id
}

// subjectOf returns the subject of the receipt. If the options specify a subject, the log must
// contain it; otherwise, the subject is the task or the replay. The ID of an outcome is not
// checked, because no event records outcomes. The argument told specifies whether the event that is
// the subject was recorded.
func subjectOf(r *run, d *receipt.Draft, told bool) (receipt.ResourceRef, error) {
	own := receipt.ResourceRef{Object: objectTask, ID: r.task}
	if r.replay.is {
		own.Object = objectReplay
	}

	// The log must contain the subject.
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
		return own, &OptionError{"Subject", fmt.Sprintf("is the %s %s, but the log has none with this id", asked.Object, event.Quote(asked.ID))}
	}
	return asked, nil
}

// An Error describes a rejected event or frame. Index is the number of the call to Add, counting
// from 1; ID and Kind identify the event; Pointer is a JSON Pointer into the event; and Code and
// Detail state the reason. It contains no payload content.
type Error = event.Error

// A Code identifies why an event or a frame was rejected, such as conflict, gap, or limit. Codes
// are never renamed.
type Code = event.Code

// Codes of errors that a caller can resolve by selecting the task or the session, or by reading the
// log in another format.
const (
	CodeMalformed = event.CodeMalformed // not an event
	CodeOtherTask = event.CodeOtherTask // a second task
	CodeSession   = event.CodeSession   // a second session
)

// A LimitError describes an exceeded limit. Name and Most are the name and the value of the limit,
// Of describes the counted items, Do is the remedy, and Found is the number that was found.
type LimitError = event.LimitError

// A LineError is an error in a line of a log. Line is the line number, counting from 1, and Err is
// the error, such as an *[Error].
type LineError = event.LineError

// ErrNotEnded indicates that no terminal event was recorded. Receipts are created only for tasks
// that have ended.
var ErrNotEnded = errors.New("record: the task has not ended: no task.completed, task.failed, or task.canceled was recorded")

// ErrEmpty indicates that a log contains no lines.
var ErrEmpty = errors.New("record: the input is empty: expected a line for each event")

// An OptionError indicates that a field of Options has an invalid value.
type OptionError struct {
	Name   string // of the field
	Detail string // the actual value and the expected values
}

// Error returns the name of the option and the detail.
func (e *OptionError) Error() string { return "record: options: " + e.Name + " " + e.Detail }

// A MissingError lists required values that neither the events nor the options contain.
type MissingError struct{ Names []string } // names of fields in Options

// Error returns the names on one line.
func (e *MissingError) Error() string {
	return "record: missing from both the events and the options: " + strings.Join(e.Names, ", ")
}
