package replay

import (
	"github.com/receiptkit/receiptkit/canon"
)

// Limits of a request. Its values are nested as deeply as package canon allows.
const (
	MaxRequest   = 4 << 20 // bytes
	MaxOverrides = 4096
)

// A Mode is how a task is replayed.
type Mode string

const (
	Exact          Mode = "exact"           // with what was recorded alone
	WithOverrides  Mode = "with_overrides"  // but for what is named
	FromCheckpoint Mode = "from_checkpoint" // from an event of the log on; overrides are allowed
)

// A Kind is what an override replaces.
type Kind string

const (
	LLMResponse     Kind = "llm_provider_response"
	MCPReturn       Kind = "mcp_tool_return"
	SecretValue     Kind = "secret_value"
	Time            Kind = "time"
	HostFact        Kind = "host_fact"
	ToolResult      Kind = "tool_result"
	EventPayload    Kind = "event_payload"
	CheckpointValue Kind = "checkpoint_value"
)

// A Visibility says who may see the value of an override.
type Visibility string

const (
	Public      Visibility = "public"
	Internal    Visibility = "internal"
	ReceiptOnly Visibility = "receipt_only" // no event has the value, only its digest; the default
)

// A Request asks for a replay: ReplayTaskRequest of the protocol, and the JSON Schema
// replay-request.
type Request struct {
	Mode              Mode
	Overrides         []Override // in the order of their keys, by bytes
	CheckpointID      string
	CheckpointEventID string
	Reason            string

	digest canon.Digest
}

// Digest returns the SHA-256 of the canonical form (RFC 8785) of the text that the request
// was parsed from, in which none is {}: requests of one digest ask the same. It is zero for a
// request that was not parsed.
func (r *Request) Digest() canon.Digest { return r.digest }

// An Override replaces one dependency. Printed, it shows its key only.
type Override struct {
	Key        string
	Kind       Kind
	EventID    string // of the event whose answer is replaced; "": the key says which
	Target     string
	ArtifactID string       // of the artifact that has the value; "": it is inline
	Stated     canon.Digest // sha256 of the request; zero: it states none
	Visibility Visibility
	Reason     string // its own, else that of the request

	value []byte // canonical; nil: it is an artifact, or a secret without one
}

// Value returns the inline value in canonical form; nil when there is none.
func (o *Override) Value() []byte { return append([]byte(nil), o.value...) }

// Secret reports whether the value is a secret: by its key or by its kind.
func (o *Override) Secret() bool {
	return o.Kind == SecretValue || len(o.Key) > 7 && o.Key[:7] == "secret:"
}

// Digest returns the SHA-256 of the inline value. It reports false for an artifact, whose
// bytes the request does not have, and for a secret.
func (o *Override) Digest() (canon.Digest, bool) {
	if o.value == nil || o.Secret() {
		return canon.Digest{}, false
	}
	return canon.Sum(o.value), true
}

// String returns the key, and never the value.
func (o Override) String() string { return o.Key }

// GoString returns the key, and never the value.
func (o Override) GoString() string { return o.Key }

// Mismatches returns the overrides with inline values that state another digest. Such a
// request is well-formed and says something false: a server refuses it.
func (r *Request) Mismatches() (list []Mismatch) {
	for i := range r.Overrides {
		o := &r.Overrides[i]
		if d, ok := o.Digest(); ok && !o.Stated.IsZero() && o.Stated != d {
			list = append(list, Mismatch{o.Key, o.Stated, d})
		}
	}
	return list
}
