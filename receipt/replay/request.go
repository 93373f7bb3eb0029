package replay

import (
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// These are limits on a request. Values in a request may be nested as deeply as package canon
// allows.
const (
	MaxRequest   = 4 << 20 // bytes
	maxOverrides = 4096
	maxKey       = 512 // maximum length of an override key, in bytes
)

// A Mode specifies how a task is replayed.
type Mode string

const (
	Exact          Mode = "exact"           // uses only recorded answers
	WithOverrides  Mode = "with_overrides"  // uses recorded answers, except for the listed substitutions
	FromCheckpoint Mode = "from_checkpoint" // starts at an event in the log; overrides are allowed
)

// These are the kinds of overrides.
const (
	kindLLM        = "llm_provider_response"
	kindMCP        = "mcp_tool_return"
	kindSecret     = "secret_value"
	kindTime       = "time"
	kindHostFact   = "host_fact"
	kindToolResult = "tool_result"
	kindPayload    = "event_payload"
	kindCheckpoint = "checkpoint_value"
)

// ReceiptOnly is the default [Override] visibility: events contain only the digest of the value.
// The other values are public and internal.
const ReceiptOnly = "receipt_only"

// A Request specifies how a task is replayed. It represents the protocol's ReplayTaskRequest, and
// matches the JSON Schema replay-request.
type Request struct {
	Mode              Mode
	Overrides         []Override // sorted by the bytes of their keys
	CheckpointID      string
	CheckpointEventID string
	Reason            string
}

// An Override replaces one dependency. When printed, an Override shows only its key.
type Override struct {
	Key        string
	Kind       string // such as llm_provider_response
	EventID    string // ID of the event whose answer is replaced; "" if the answer is found by its key
	Target     string
	ArtifactID string       // ID of the artifact that contains the value; "" for an inline value
	Stated     canon.Digest // the sha256 member in the request; zero if absent
	Visibility string       // public, internal, or receipt_only
	Reason     string       // the override's reason; if it has none, the request's reason

	value []byte // canonical; nil for an artifact or for a secret without a value
}

// secret reports whether the value is a secret, based on the key or the kind of the override.
func (o *Override) secret() bool {
	return o.Kind == kindSecret || strings.HasPrefix(o.Key, "secret:")
}

// Digest returns the SHA-256 of the inline value. It reports false for an artifact, whose bytes the
// request does not contain, and for a secret.
func (o *Override) Digest() (canon.Digest, bool) {
	if o.value == nil || o.secret() {
		return canon.Digest{}, false
	}
	return canon.Sum(o.value), true
}

// Format prints the key, never the value, for every verb.
func (o Override) Format(w fmt.State, verb rune) { io.WriteString(w, o.Key) }

// Mismatches returns the overrides that have an inline value and an incorrect digest. A request
// with a mismatch is well formed, but a server rejects it.
func (r *Request) Mismatches() (list []Mismatch) {
	for i := range r.Overrides {
		o := &r.Overrides[i]
		if d, ok := o.Digest(); ok && !o.Stated.IsZero() && o.Stated != d {
			list = append(list, Mismatch{o.Key, o.Stated, d})
		}
	}
	return list
}
