package serve

// A Scope is what the holder of an API key may do.
type Scope string

// Scopes of API keys.
const (
	ScopeRead   Scope = "receipts:read"   // get and list receipts, and their proofs
	ScopeVerify Scope = "receipts:verify" // verify what is sent, and what is stored
	ScopeReplay Scope = "tasks:replay"    // replay tasks
)

// scopeOperator is of routes that tell about all clients together: only a key without
// scopes and without a reach is let in.
const scopeOperator Scope = "operator"

// allScopes are those that a key can have.
func allScopes() []Scope { return []Scope{ScopeRead, ScopeVerify, ScopeReplay} }
