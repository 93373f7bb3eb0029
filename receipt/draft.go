package receipt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// A Draft is the content of a receipt before it is sealed: everything except the chain and the
// signatures. Lists that are nil are written as [], and nil metadata is written as {}. Any other
// optional member that is zero is omitted, and never written as null.
//
// The functions are used in this order, each with the result of the previous one:
//
//	redacted, disclosures, err := draft.Redact(policy, rand.Reader)
//	sealed, err := receipt.Seal(redacted, head)
//	signed, err := sealed.Sign(ctx, signer)
//
// Package ledger performs the last two steps and stores the receipt.
//
// Members of type [Object] are open, so the producer decides what they contain.
type Draft struct {
	ReceiptID      string         `json:"receipt_id"`
	Subject        ResourceRef    `json:"subject"`
	Issuer         Issuer         `json:"issuer"`
	IssuedAt       Time           `json:"issued_at,omitzero"`
	Identifiers    Identifiers    `json:"identifiers"`
	Lifecycle      Lifecycle      `json:"lifecycle"`
	Approvals      []Approval     `json:"approvals"`
	Trust          TrustTiers     `json:"trust"`
	AutonomyBudget AutonomyBudget `json:"autonomy_budget"`
	ReplayInput    ReplayInput    `json:"replay_input"`
	ModelRoute     ModelRoute     `json:"model_route"`
	Cost           Cost           `json:"cost"`
	SideEffects    SideEffects    `json:"side_effects"`
	FinalArtifacts []Artifact     `json:"final_artifacts"`
	Deltas         []Delta        `json:"deltas"`
	Redactions     []Redaction    `json:"redactions"`
	Metadata       Object         `json:"metadata"`
}

// MarshalJSON returns the draft as JSON, including the schema marker. Nil lists are written as [],
// nil metadata as {}, and unset times are omitted. If the draft cannot be represented as JSON, the
// error is an *[InvalidError].
func (d Draft) MarshalJSON() ([]byte, error) {
	type content Draft // without this method
	c := content(d)
	notNil(&c.Approvals)
	notNil(&c.Deltas)
	notNil(&c.Redactions)
	notNil(&c.FinalArtifacts)
	notNil(&c.ReplayInput.Materials)
	notNil(&c.ModelRoute.AlternativesConsidered)
	notNil(&c.Cost.ProviderBreakdown)
	notNil(&c.SideEffects.FSWrites)
	notNil(&c.SideEffects.NetworkEgress)
	notNil(&c.SideEffects.ToolCalls)
	notNil(&c.SideEffects.A2AHandoffs)
	if c.Metadata == nil {
		c.Metadata = Object{}
	}

	text, err := json.Marshal(struct {
		Schema string `json:"schema"`
		content
	}{SchemaMarker, c})
	if err != nil {
		return nil, &InvalidError{[]Problem{{Code: CodeSchemaInvalid, Detail: err.Error()}}}
	}

	// encoding/json has already rejected cyclic values, so badText terminates.
	if bytes.Contains(text, []byte(`\ufffd`)) || bytes.ContainsRune(text, utf8.RuneError) {
		if problems := badText(nil, "", reflect.ValueOf(c)); len(problems) > 0 {
			return nil, &InvalidError{problems}
		}
	}

	return text, nil
}

// Document returns the draft as a document, which [SealDocument] and [redact.Policy.Redact] accept.
func (d *Draft) Document() (*canon.Document, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, err
	}

	// The text may be longer than its canonical form, and the limits of the format apply only to
	// the canonical form.
	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: 2 * MaxBytes}); err != nil {
		return nil, invalidSyntax(err)
	}
	return doc, nil
}

// Redact returns a copy of the draft without the values that the policy withholds. It also returns
// the withheld values, which must be kept secret. Each withheld value has an entry in Redactions.
// The bytes from salts must be random and secret, such as those from crypto/rand.Reader. See
// [redact.Policy.Redact].
func (d *Draft) Redact(p *redact.Policy, salts io.Reader) (*Draft, *redact.Disclosures, error) {
	doc, err := d.Document()
	if err != nil {
		return nil, nil, err
	}
	result, err := p.Redact(doc, salts)
	if err != nil {
		return nil, nil, err
	}

	redacted := new(Draft)
	if err := json.Unmarshal(result.Draft.Source(), redacted); err != nil {
		return nil, nil, fmt.Errorf("receipt: reading the redacted draft: %w", err)
	}
	return redacted, result.Disclosures, nil
}

func notNil[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// badText finds strings that are not valid UTF-8. encoding/json would replace the invalid bytes
// with U+FFFD, so the receipt would differ from what the producer stated.
func badText(problems []Problem, at string, v reflect.Value) []Problem {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			problems = append(problems, Problem{at, CodeInvalidUTF8, "the text is not UTF-8"})
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			problems = badText(problems, at, v.Elem())
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Name), ",")
			if field.IsExported() && name != "-" {
				problems = badText(problems, string(canon.AppendToken([]byte(at), cmp.Or(name, field.Name))), value)
			}
		}
	case reflect.Slice, reflect.Array:
		// Bytes are encoded in base64, so they are always valid text.
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		for i := range v.Len() {
			problems = badText(problems, fmt.Sprintf("%s/%d", at, i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			name := string(canon.AppendToken([]byte(at), key.String()))
			problems = badText(problems, name, key)
			problems = badText(problems, name, v.MapIndex(key))
		}
	}
	return problems
}

// An Object is a JSON object whose members are not defined by the format. Its values must be of
// types that encoding/json supports. When an Object is decoded, numbers have the type float64. No
// precision is lost, because receipts contain no integers beyond ±(2^53−1).
type Object map[string]any

// A ResourceRef identifies the subject of a receipt. Object is one of "task", "outcome", "event",
// "artifact", "approval", "tool_call", and "replay_segment".
type ResourceRef struct {
	Object string `json:"object"`
	ID     string `json:"id"`
}

// An Issuer identifies who issued the receipt. Kind is one of "harness", "host", "agent", and
// "connector". If PublicKeyID is set, a signature by that key is required.
type Issuer struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Name        string `json:"name,omitzero"`
	Version     string `json:"version,omitzero"`
	PublicKeyID string `json:"public_key_id,omitzero"`
}

// Identifiers identify the task and its context in the issuer's systems.
type Identifiers struct {
	WorkspaceRef string `json:"workspace_ref"`
	SessionID    string `json:"session_id"`
	TaskID       string `json:"task_id"` // also if the subject is not a task
	TenantID     string `json:"tenant_id,omitzero"`
	PersonaRef   string `json:"persona_ref,omitzero"`
	BranchID     string `json:"branch_id,omitzero"`
	TraceID      string `json:"trace_id,omitzero"`
}

// These are the final states of a task.
const (
	StateSucceeded = "SUCCEEDED"
	StateFailed    = "FAILED"
	StateCanceled  = "CANCELED"
)

// A Lifecycle states when the task ran and how it ended. For a task that was canceled, CompletedAt
// is the time of the cancellation. A nil Failure is written as null.
type Lifecycle struct {
	CreatedAt   Time   `json:"created_at,omitzero"`
	StartedAt   Time   `json:"started_at,omitzero"`
	CompletedAt Time   `json:"completed_at,omitzero"`
	FinalState  string `json:"final_state"` // SUCCEEDED, FAILED, or CANCELED
	Failure     Object `json:"failure"`
}

// An Approval is a single decision: "approved", "denied", "canceled", or "timeout".
type Approval struct {
	ApprovalID   string       `json:"approval_id,omitzero"`
	Actor        string       `json:"actor"`
	Action       string       `json:"action"`
	Decision     string       `json:"decision"`
	DecidedAt    Time         `json:"decided_at,omitzero"`
	QuorumProof  Object       `json:"quorum_proof,omitzero"`
	EvidenceHash canon.Digest `json:"evidence_hash,omitzero"`
}

// TrustTiers states the trust tier of the agent at the start and at the end of the task: "shadow",
// "suggest", "act_with_approval", or "act_auto".
type TrustTiers struct {
	StartTier string `json:"start_tier"`
	EndTier   string `json:"end_tier"`
	PolicyRef string `json:"policy_ref,omitzero"`
}

// An AutonomyBudget contains the amounts that the task was allowed to consume, and the amounts that
// it consumed.
type AutonomyBudget struct {
	Limit    *Amounts `json:"limit,omitzero"`
	Consumed Amounts  `json:"consumed"`
}

// Amounts contains either the limits in a budget or the amounts that the task consumed. Nil amounts
// are omitted.
type Amounts struct {
	USD          *float64 `json:"usd,omitzero"`
	InputTokens  *int64   `json:"input_tokens,omitzero"`
	OutputTokens *int64   `json:"output_tokens,omitzero"`
	ToolCalls    *int64   `json:"tool_calls,omitzero"`
	WallTimeMS   *int64   `json:"wall_time_ms,omitzero"` // milliseconds
}

// A ReplayInput states whether and how the task can be replayed. Determinism is
// "byte_deterministic", "best_effort", or "unavailable".
type ReplayInput struct {
	Determinism       string     `json:"determinism"`
	Materials         []Material `json:"materials"`
	UnavailableReason string     `json:"unavailable_reason,omitzero"`
}

// A Material is recorded data that a replay needs. Kind is one of "llm_provider_response",
// "mcp_tool_return", "event_log", "artifact", and "host_fact". A Material must have SHA256 and URI,
// SHA256 and BytesBase64, or Metadata.
type Material struct {
	Kind        string       `json:"kind"`
	ID          string       `json:"id,omitzero"`
	URI         string       `json:"uri,omitzero"`
	SHA256      canon.Digest `json:"sha256,omitzero"`
	ContentType string       `json:"content_type,omitzero"`
	BytesBase64 string       `json:"bytes_base64,omitzero"` // standard base64, padded
	Metadata    Object       `json:"metadata,omitzero"`
}

// A ModelRoute states which model was chosen, and why. If no model was called, both the provider
// and the model are "none".
type ModelRoute struct {
	ChosenModel            Model   `json:"chosen_model"`
	AlternativesConsidered []Model `json:"alternatives_considered"`
	RoutePolicyReason      string  `json:"route_policy_reason"`
}

// A Model identifies a model and its provider.
type Model struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Version  string `json:"version,omitzero"`
	Reason   string `json:"reason,omitzero"`
}

// Cost states what the task cost. Currency is a currency code of three capital letters (ISO 4217).
type Cost struct {
	Currency          string         `json:"currency"`
	Total             float64        `json:"total"`
	ProviderBreakdown []ProviderCost `json:"provider_breakdown"`
}

// A ProviderCost is the part of the cost that is charged by one provider, in the currency of the
// receipt.
type ProviderCost struct {
	Provider     string  `json:"provider"`
	Model        string  `json:"model,omitzero"`
	Amount       float64 `json:"amount"`
	InputTokens  *int64  `json:"input_tokens,omitzero"`
	OutputTokens *int64  `json:"output_tokens,omitzero"`
	Metadata     Object  `json:"metadata,omitzero"`
}

// SideEffects lists the effects of the task on its environment.
type SideEffects struct {
	FSWrites      []FileWrite     `json:"fs_writes"`
	NetworkEgress []NetworkEgress `json:"network_egress"`
	ToolCalls     []ToolCall      `json:"tool_calls"`
	A2AHandoffs   []Handoff       `json:"a2a_handoffs"`
}

// A FileWrite is a single change to a file. Operation is "create", "modify", "delete", or "rename".
// A digest that is omitted is unknown. There is no file before "create" or after "delete". The
// corresponding digest is written as null, even if its Null field is not set.
type FileWrite struct {
	Path         string         `json:"path"` // relative to the workspace
	Operation    string         `json:"operation"`
	BeforeSHA256 OptionalDigest `json:"before_sha256,omitzero"`
	AfterSHA256  OptionalDigest `json:"after_sha256,omitzero"`
}

// MarshalJSON writes null for a digest if no such file can exist.
func (w FileWrite) MarshalJSON() ([]byte, error) {
	type plain FileWrite
	w.BeforeSHA256.Null = w.BeforeSHA256.Null || w.Operation == "create"
	w.AfterSHA256.Null = w.AfterSHA256.Null || w.Operation == "delete"
	return json.Marshal(plain(w))
}

// A NetworkEgress is data that was sent to one destination.
type NetworkEgress struct {
	Destination string `json:"destination"`
	Purpose     string `json:"purpose"`
	BytesSent   *int64 `json:"bytes_sent,omitzero"`
	Metadata    Object `json:"metadata,omitzero"`
}

// A ToolCall is a single call of a tool, which succeeded, failed, or was canceled. The hashes are
// computed from the RFC 8785 form of JSON values and from the bytes of other values.
type ToolCall struct {
	Tool       string       `json:"tool"`
	CallID     string       `json:"call_id"`
	Status     string       `json:"status"`
	InputHash  canon.Digest `json:"input_hash,omitzero"`
	OutputHash canon.Digest `json:"output_hash,omitzero"`
	Metadata   Object       `json:"metadata,omitzero"`
}

// A Handoff is work that was handed to another agent. Status is "accepted", "rejected", "failed", or
// "completed".
type Handoff struct {
	TargetAgent string `json:"target_agent"`
	TaskID      string `json:"task_id"`
	Status      string `json:"status"`
	ReceiptID   string `json:"receipt_id,omitzero"`
}

// An Artifact is a result of the task.
type Artifact struct {
	ArtifactID string       `json:"artifact_id"`
	Kind       string       `json:"kind"`
	URI        string       `json:"uri,omitzero"`
	SHA256     canon.Digest `json:"sha256,omitzero"`
}

// A Delta is a single substitution in a replay or a repair: an addition, a replacement, or a
// removal.
type Delta struct {
	DeltaID      string         `json:"delta_id,omitzero"`
	Operation    string         `json:"operation"`
	Path         string         `json:"path"`
	OverrideKey  string         `json:"override_key,omitzero"`
	EventID      string         `json:"event_id,omitzero"`
	BeforeSHA256 OptionalDigest `json:"before_sha256,omitzero"`
	AfterSHA256  OptionalDigest `json:"after_sha256,omitzero"`
	ArtifactID   string         `json:"artifact_id,omitzero"`
	Reason       string         `json:"reason,omitzero"`
}

// A Redaction is an entry for a value that was withheld before the receipt was sealed. Field is a
// JSON Pointer into the unredacted form of the receipt.
type Redaction struct {
	Field     string       `json:"field"`
	Reason    string       `json:"reason"`
	ProofHash canon.Digest `json:"proof_hash,omitzero"`
}

// A Chain contains the hash of a receipt and its position in a stream.
type Chain struct {
	PreviousReceiptHash OptionalDigest `json:"previous_receipt_hash"` // null for the first receipt of a stream
	ReceiptHash         canon.Digest   `json:"receipt_hash"`
	MerkleRoot          canon.Digest   `json:"merkle_root,omitzero"`
}

// An OptionalDigest has three states: a digest, null (there is no content, for example before an
// addition), and absent (unknown or withheld). The zero value means absent, so the JSON option
// omitzero omits it.
type OptionalDigest struct {
	canon.Digest
	Null bool
}

// IsZero reports whether the digest is absent.
func (d OptionalDigest) IsZero() bool { return d == OptionalDigest{} }

// MarshalJSON returns the digest in quotation marks, or null.
func (d OptionalDigest) MarshalJSON() ([]byte, error) {
	if d.Digest.IsZero() {
		return []byte("null"), nil
	}
	return canon.AppendString(nil, d.String()), nil
}

// UnmarshalJSON accepts a digest in quotation marks, or null.
func (d *OptionalDigest) UnmarshalJSON(text []byte) error {
	*d = OptionalDigest{Null: string(text) == "null"}
	if d.Null {
		return nil
	}
	return json.Unmarshal(text, &d.Digest)
}
