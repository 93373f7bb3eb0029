package record

import (
	"cmp"
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

	// Sealer checks drafts. Who makes many keeps one; nil: one is made for each.
	Sealer *receipt.Sealer
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
