package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

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
