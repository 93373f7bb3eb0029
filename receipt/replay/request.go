package replay

import (
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Limits of a request. Its values may be nested as deeply as package canon allows.
const (
	MaxRequest   = 4 << 20 // bytes
	maxOverrides = 4096
	maxKey       = 512 // maximum bytes of an override key
)

// A Mode specifies how a task is replayed.
type Mode string

const (
	Exact          Mode = "exact"           // only with recorded answers
	WithOverrides  Mode = "with_overrides"  // except for the named substitutions
	FromCheckpoint Mode = "from_checkpoint" // from an event of the log onward; overrides are allowed
)

// The kinds of overrides.
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
// The other visibilities are public and internal.
const ReceiptOnly = "receipt_only"

// A Request describes a replay. It is the protocol's ReplayTaskRequest, and matches the JSON Schema
// replay-request.
type Request struct {
	Mode              Mode
	Overrides         []Override // in key order, by bytes
	CheckpointID      string
	CheckpointEventID string
	Reason            string
}

// An Override replaces one dependency. When printed, it shows only its key.
type Override struct {
	Key        string
	Kind       string // such as llm_provider_response
	EventID    string // ID of the event whose answer is replaced; "" if it is found by the key
	Target     string
	ArtifactID string       // ID of the artifact that contains the value; "" for an inline value
	Stated     canon.Digest // sha256 of the request; zero if there is none
	Visibility string       // public, internal, or receipt_only
	Reason     string       // its own reason, or else that of the request

	value []byte // canonical; nil for an artifact, or a secret without a value
}

// secret reports whether the value is a secret, according to its key or its kind.
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

// Format prints the key, and never the value, for every verb.
func (o Override) Format(w fmt.State, verb rune) { io.WriteString(w, o.Key) }

// Mismatches returns the overrides with inline values whose stated digest is incorrect. Such a
// request is well formed, but a server refuses it.
func (r *Request) Mismatches() (list []Mismatch) {
	for i := range r.Overrides {
		o := &r.Overrides[i]
		if d, ok := o.Digest(); ok && !o.Stated.IsZero() && o.Stated != d {
			list = append(list, Mismatch{o.Key, o.Stated, d})
		}
	}
	return list
}
