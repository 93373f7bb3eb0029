package protocol

// A Scope is what the holder of an API key may do. Which there are, a server says when it
// reads its keys.
type Scope string

// The scopes of the protocol.
const (
	SessionsRead   Scope = "sessions:read"
	SessionsWrite  Scope = "sessions:write"
	TasksRead      Scope = "tasks:read"
	TasksWrite     Scope = "tasks:write"
	EventsRead     Scope = "events:read"
	ArtifactsRead  Scope = "artifacts:read"
	ArtifactsWrite Scope = "artifacts:write"
	ReceiptsRead   Scope = "receipts:read"

	// What is not public. Without these scopes, a client does not see it in any answer.
	InternalRead    Scope = "internal:read"
	ReceiptOnlyRead Scope = "receipt_only:read"
)

// Scopes returns the scopes of the protocol.
func Scopes() []Scope {
	return []Scope{SessionsRead, SessionsWrite, TasksRead, TasksWrite, EventsRead, ArtifactsRead, ArtifactsWrite, ReceiptsRead, InternalRead, ReceiptOnlyRead}
}

// Operator is of routes that tell about all clients together. No key can have it: only one
// without scopes and without a reach is let in.
const Operator Scope = "operator"
